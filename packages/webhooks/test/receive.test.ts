import { describe, expect, it } from "vitest"
import { signatureHeader } from "../../core/src/domain/Signature.js"
import { receive, sign, verify } from "../src/index.js"

const SECRET = "whsec_test"
const now = new Date(1_732_000_000_000)
const event = { id: "0198c5f2-8a10-7001-b3c1-5d2f9a7e4b60", type: "ping", data: {} }

const received = async (body: string, secret = SECRET) => receive(body, await sign(body, secret, now), SECRET, { now })

describe("receive (Specification, Webhooks)", () => {
  it("receive returns the event of a validly signed delivery, as text and as bytes", async () => {
    const body = JSON.stringify(event)
    expect(await received(body)).toEqual({ ok: true, event })
    const bytes = new TextEncoder().encode(body)
    expect(await receive(bytes, await sign(bytes, SECRET, now), SECRET, { now })).toEqual({ ok: true, event })
  })

  it("receive accepts a test's time in milliseconds, with which it checks the age of a delivery", async () => {
    const body = JSON.stringify(event)
    const sent = now.getTime()
    const signature = await sign(body, SECRET, sent)
    expect(await receive(body, signature, SECRET, { now: sent })).toEqual({ ok: true, event })
    expect(await receive(body, signature, SECRET, { now: sent + 301_000 })).toEqual({ ok: false, reason: "too_old" })
    expect(await receive(body, signature, SECRET, { now: sent - 301_000 })).toEqual({ ok: false, reason: "too_new" })
    expect(await receive(body, signature, SECRET)).toEqual({ ok: false, reason: "too_old" })
  })

  it("receive returns events of unknown types, because more types will be added", async () => {
    const unknown = { ...event, type: "ticket.teleported" }
    expect(await received(JSON.stringify(unknown))).toEqual({ ok: true, event: unknown })
  })

  it("receive refuses a body that was signed with another secret", async () => {
    expect(await received(JSON.stringify(event), "whsec_other")).toEqual({ ok: false, reason: "mismatch" })
  })

  it.each(["hello", "null", "[]", "{}", '{"type":5,"id":"x"}'])("a signed %s is not an event", async (body) => {
    expect(await received(body)).toEqual({ ok: false, reason: "not_an_event" })
  })
})

describe("sign (Specification, Webhooks)", () => {
  it("sign makes the same signatures as the service, with one secret and with two", async () => {
    const body = '{"name":"Zoë 👞"}'
    for (const secrets of [[SECRET], [SECRET, "whsec_before"]])
      expect(await sign(body, secrets, now)).toBe(signatureHeader(body, secrets, now.getTime()))
  })

  it("sign uses the current time by default, so that verify accepts its signature at once", async () => {
    expect(await verify("{}", await sign("{}", SECRET), SECRET)).toMatchObject({ ok: true })
  })

  it("sign refuses an empty list of secrets and an empty secret", async () => {
    for (const secrets of ["", []]) await expect(sign("{}", secrets)).rejects.toThrow(/whsec_/)
    const sentence = "The time must be a Date or milliseconds since 1970, or an object { now } with one of these"
    for (const time of ["2026-11-20", new Date("soon"), Number.NaN, null, { now: "today" }])
      await expect(sign("{}", SECRET, time as never)).rejects.toThrow(new TypeError(sentence))
    expect(await sign("{}", SECRET, { now })).toBe(await sign("{}", SECRET, now))
  })
})
