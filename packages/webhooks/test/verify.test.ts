import { createHmac } from "node:crypto"
import { readFileSync } from "node:fs"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Limits } from "../../core/src/domain/Limits.js"
import { signatureHeader } from "../../core/src/domain/Signature.js"
import { verify } from "../src/verify.js"
import { bytesOf, vectors } from "./vectors.js"

const AT = 1_732_000_000_000
const SECRET = "whsec_test"

describe("verify returns the verdicts of the test vectors", () => {
  it.each(vectors)(
    "verify returns the verdict of the test vector: $name",
    async ({ body, header, secrets, now, tolerance_seconds, ok, reason }) => {
      const options = { toleranceSeconds: tolerance_seconds, now: new Date(now * 1000) }
      const bytes = bytesOf(body)
      const judged = await verify(bytes, header, secrets, options)
      expect(judged).toEqual(ok ? { ok, t: Number(/t=(\d+)/.exec(header!)![1]) } : { ok, reason })
      if (body.base64 !== undefined) return
      expect(await verify(bytes.toString("utf8"), header, secrets, options)).toEqual(judged)
    }
  )

  it("the test vectors have unique names, and cover every verdict", () => {
    expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length)
    const outcomes = new Set(vectors.map(({ ok, reason }) => reason ?? ok))
    expect([...outcomes].sort()).toEqual(["malformed", "mismatch", "missing", "too_new", "too_old", true].sort())
  })

  it("the signatures of valid test vectors equal those that node:crypto makes", () => {
    for (const { header, body, secrets } of vectors.filter(({ ok }) => ok)) {
      const t = /t=(\d+)/.exec(header!)![1]
      const signatures = secrets.map((secret) =>
        createHmac("sha256", secret).update(`${t}.`).update(bytesOf(body)).digest("hex")
      )
      expect(signatures.some((hex) => header!.includes(`v1=${hex}`))).toBe(true)
    }
  })
})

describe("verify, and the signatures of the service", () => {
  const whole = fc.string({ unit: "grapheme", maxLength: 50 })
  const secret = fc.string({ minLength: 1, maxLength: 50 })

  it("verify accepts the service's signature for every body and secret", async () => {
    await fc.assert(
      fc.asyncProperty(whole, secret, fc.integer({ min: 0, max: 4e12 }), async (body, secret, at) => {
        const header = signatureHeader(body, [secret, "another"], at)
        const options = { now: new Date(at) }
        const t = Math.floor(at / 1000)
        expect(await verify(body, header, secret, options)).toEqual({ ok: true, t })
        expect(await verify(`${body}.`, header, secret, options)).toEqual({ ok: false, reason: "mismatch" })
        expect(await verify(body, header, `${secret}.`, options)).toEqual({ ok: false, reason: "mismatch" })
      })
    )
  })

  it("verify refuses a header that is changed in one place", async () => {
    const header = signatureHeader("{}", [SECRET], AT)
    const place = fc.nat({ max: header.length - 1 })
    await fc.assert(
      fc.asyncProperty(place, fc.string({ minLength: 1, maxLength: 1 }), async (at, put) => {
        fc.pre(header[at] !== put)
        const changed = header.slice(0, at) + put + header.slice(at + 1)
        expect(await verify("{}", changed, SECRET, { now: new Date(AT) })).toMatchObject({ ok: false })
      })
    )
  })

  it("verify never throws because of a header", async () => {
    const part = fc.oneof(fc.constantFrom("t", "v1", "=", ",", " ", "\t", "1732000000", "ab".repeat(32)), fc.string())
    await fc.assert(
      fc.asyncProperty(fc.array(part), async (parts) => {
        expect(await verify("{}", parts.join(""), SECRET, { now: new Date(AT) })).toMatchObject({ ok: false })
      })
    )
  })
})

describe("verify's own rules", () => {
  const header = signatureHeader("{}", [SECRET], AT)

  it("verify uses the receiver's clock by default", async () => {
    const fresh = signatureHeader("{}", [SECRET], Date.now())
    expect(await verify("{}", fresh, SECRET)).toMatchObject({ ok: true })
    expect(await verify("{}", header, SECRET)).toEqual({ ok: false, reason: "too_old" })
  })

  it("verify accepts times up to five minutes in the past or the future by default (Specification, Limits)", async () => {
    const off = (ms: number) => verify("{}", header, SECRET, { now: new Date(AT + ms) })
    const max = Limits.webhook_tolerance_ms
    for (const ms of [max, -max]) expect(await off(ms)).toMatchObject({ ok: true })
    expect(await off(max + 1000)).toEqual({ ok: false, reason: "too_old" })
    expect(await off(-max - 1000)).toEqual({ ok: false, reason: "too_new" })
  })

  it("verify accepts nothing if the clock or the tolerance is not a number", async () => {
    for (const options of [{ now: new Date(Number.NaN) }, { now: new Date(AT), toleranceSeconds: Number.NaN }]) {
      expect(await verify("{}", header, SECRET, options)).toMatchObject({ ok: false })
    }
  })

  it("verify throws if the receiver passes no secret, an empty secret, or a parsed body", async () => {
    for (const secrets of ["", [], [SECRET, ""], undefined, null, [undefined]]) {
      await expect(verify("{}", header, secrets as string)).rejects.toThrow(TypeError)
    }
    for (const body of [{}, undefined, null, 5]) {
      await expect(verify(body as string, header, SECRET)).rejects.toThrow(/raw body/)
    }
  })

  it("verify reads only the part of a larger buffer that a view selects", async () => {
    const whole = new TextEncoder().encode("[{}]")
    expect(await verify(whole.subarray(1, 3), header, SECRET, { now: new Date(AT) })).toMatchObject({ ok: true })
  })

  it("the module imports nothing and uses nothing of Node, so that it runs, and can be copied, anywhere", () => {
    const source = readFileSync(new URL("../src/verify.ts", import.meta.url), "utf8")
    expect(source).not.toMatch(/\bimport\b.*["']|\brequire\(|\bBuffer\b|\bprocess\b/)
  })
})
