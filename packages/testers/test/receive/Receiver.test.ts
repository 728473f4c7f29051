import { Agent, request } from "node:http"
import { paintPlain } from "@workshop/core/internal/terminal"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { untilAsync } from "../../../../test/until.js"
import { signatureHeader } from "../../../core/src/domain/Signature.js"
import { eventLine } from "../../src/receive/eventLine.js"
import { makeForwarder } from "../../src/receive/forward.js"
import { type Reply, statusReply } from "../../src/testkit/LoopbackServer.js"
import { eventText, NOON, SECRET, Sender } from "./Sender.js"

describe("a receiver checks each request (Specification, Webhooks)", () => {
  it("a receiver accepts an event with a valid signature, and responds 200", async () => {
    await using sender = await Sender.open()
    expect((await sender.send(eventText("e1", "ticket.ready"))).status).toBe(200)
    const [received] = sender.received
    expect(received).toMatchObject({ n: 1, at: NOON, outcome: "event", refused_as: null, answered: 200 })
    expect(received?.event).toMatchObject({ id: "e1", type: "ticket.ready" })
  })

  it.each([
    [
      "with another secret",
      signatureHeader(eventText("e1"), ["whsec_other"], NOON),
      "mismatch",
      /does not match this body and this secret/
    ],
    [
      "of another body",
      signatureHeader(eventText("e2"), [SECRET], NOON),
      "mismatch",
      /does not match this body and this secret/
    ],
    ["that is missing", null, "missing", /no signature header/],
    ["that is malformed", "v1=abc", "malformed", /does not have the form t=<seconds>/],
    ["that is 301 s old", signatureHeader(eventText("e1"), [SECRET], NOON - 301_000), "too_old", /too far behind/],
    ["that is 301 s ahead", signatureHeader(eventText("e1"), [SECRET], NOON + 301_000), "too_new", /too far ahead/]
  ])("a receiver refuses a signature %s with 400, and says why", async (_, header, refused_as, says) => {
    await using sender = await Sender.open()
    const answer = await sender.send(eventText("e1"), header)
    expect(answer.status).toBe(400)
    expect(await answer.text()).toMatch(says)
    expect(sender.received).toMatchObject([{ outcome: "refused", refused_as, answered: 400 }])
  })

  it("a receiver accepts either of two secrets during a rotation", async () => {
    await using sender = await Sender.open({ secrets: ["whsec_new", SECRET] })
    expect((await sender.send(eventText("e1"))).status).toBe(200)
  })

  it("a receiver fetches the current secret if none of its secrets matches, and accepts signatures with the new one", async () => {
    let asked = 0
    const secretNow = Effect.sync(() => {
      asked += 1
      return "whsec_new"
    })
    await using sender = await Sender.open({ secretNow })
    expect((await sender.send(eventText("e1"))).status).toBe(200)
    expect(asked).toBe(0)
    const renewed = signatureHeader(eventText("e2"), ["whsec_new"], NOON)
    expect((await sender.send(eventText("e2"), renewed)).status).toBe(200)
    expect((await sender.send(eventText("e3"), signatureHeader(eventText("e3"), ["whsec_else"], NOON))).status).toBe(
      400
    )
  })

  it("a receiver accepts a signature that is up to 300 seconds old or ahead", async () => {
    await using sender = await Sender.open()
    const early = signatureHeader(eventText("e1"), [SECRET], NOON - 300_000)
    const late = signatureHeader(eventText("e2"), [SECRET], NOON + 300_000)
    expect((await sender.send(eventText("e1"), early)).status).toBe(200)
    expect((await sender.send(eventText("e2"), late)).status).toBe(200)
  })

  it("a receiver accepts an unknown type, and refuses a body that is not an event", async () => {
    await using sender = await Sender.open()
    expect((await sender.send(eventText("e1", "ticket.painted"))).status).toBe(200)
    expect((await sender.send("[]")).status).toBe(400)
    expect(sender.received.map(({ refused_as }) => refused_as)).toEqual([null, "not_an_event"])
  })

  it("a receiver refuses methods other than POST with 405, and a body over 1 MiB with 413", async () => {
    await using sender = await Sender.open()
    expect((await fetch(sender.receiver.url)).status).toBe(405)
    expect((await sender.send("x".repeat(1_048_577))).status).toBe(413)
    expect(sender.received.map(({ refused_as }) => refused_as)).toEqual(["not_a_post", "too_large"])
  })

  it("a receiver without a secret waits for one before it responds", async () => {
    await using sender = await Sender.open({ secrets: [] })
    const answer = sender.send(eventText("e1"))
    await Effect.runPromise(sender.receiver.trust([SECRET]))
    expect((await answer).status).toBe(200)
  })
})

describe("a receiver drops duplicates (Specification, Webhooks)", () => {
  it("a receiver recognises a duplicate by the event's id, drops it, and still acknowledges it", async () => {
    await using sender = await Sender.open()
    expect(await sender.statuses("e1", "e2", "e1")).toEqual([200, 200, 200])
    expect(sender.received.map(({ outcome }) => outcome)).toEqual(["event", "event", "again"])
    expect(Effect.runSync(sender.receiver.totals)).toEqual({ event: 2, again: 1, failed: 0, refused: 0 })
  })

  it("a receiver counts the retry of an event that it failed as new, because it was not acknowledged", async () => {
    await using sender = await Sender.open({ behaviour: { reply: { kind: "status", status: 503 } } })
    expect(await sender.statuses("e1")).toEqual([503])
    await Effect.runPromise(sender.receiver.setBehaviour({ reply: { kind: "status", status: 204 } }))
    expect(await sender.statuses("e1", "e1")).toEqual([204, 204])
    expect(sender.received.map(({ outcome }) => outcome)).toEqual(["failed", "event", "again"])
  })

  it("a receiver remembers a limited number of the latest ids, and keeps a limited number of requests", async () => {
    await using sender = await Sender.open({ remember: 2, keep: 3 })
    await sender.statuses("e1", "e2", "e1", "e3", "e1", "e2")
    expect(sender.received.map(({ event, outcome }) => `${event?.id} ${outcome}`)).toEqual([
      "e3 event",
      "e1 again",
      "e2 event"
    ])
  })
})

describe("a receiver misbehaves as its flags say (Specification, Commands)", () => {
  it("a receiver can respond with a redirect", async () => {
    await using sender = await Sender.open({ behaviour: { reply: { kind: "redirect", to: "http://127.0.0.1:9/" } } })
    const answer = await sender.send(eventText("e1"))
    expect([answer.status, answer.headers.get("location")]).toEqual([307, "http://127.0.0.1:9/"])
    expect(sender.received).toMatchObject([{ outcome: "failed", answered: "redirect" }])
  })

  it("a receiver can send a response that does not end", async () => {
    await using sender = await Sender.open({ behaviour: { reply: { kind: "endless" } } })
    const answer = await sender.send(eventText("e1"))
    expect(answer.status).toBe(200)
    const reader = answer.body!.getReader()
    let length = 0
    while (length < 1_000_000) length += (await reader.read()).value?.length ?? Number.NaN
    await reader.cancel()
    expect(length).toBeGreaterThanOrEqual(1_000_000)
  })

  it("a receiver recognises an attempt that was sent again because a kept connection was closed, and counts it once", async () => {
    const answers: ReadonlyArray<Reply> = [statusReply(200), { kind: "cut" }, statusReply(200), statusReply(200)]
    await using sender = await Sender.open({ behaviour: { reply: ({ n }) => answers[n - 1]! } })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const send = (id: string) =>
      new Promise((resolve) => {
        const body = eventText(id)
        const headers = { "service-signature": signatureHeader(body, [SECRET], NOON) }
        request(sender.receiver.url, { method: "POST", agent, headers }, (response) => {
          response.resume().once("end", () => resolve(response.statusCode))
        })
          .on("error", () => resolve(null))
          .end(body)
      })
    const statuses = [await send("e1"), await send("e2"), await send("e2"), await send("e2")]
    agent.destroy()
    expect(statuses).toEqual([200, null, 200, 200])
    expect(sender.received.map(({ outcome, redialled }) => [outcome, redialled])).toEqual([
      ["event", false],
      ["failed", false],
      ["event", true],
      ["again", false]
    ])
    expect(Effect.runSync(sender.receiver.totals)).toEqual({ event: 2, again: 1, failed: 0, refused: 0 })
    expect(eventLine(sender.received[2]!, { kind: "first" }, paintPlain)).toMatch(/ {2}sent again on a new connection$/)
  })

  it("a receiver can close the connection without a response", async () => {
    await using sender = await Sender.open({ behaviour: { reply: { kind: "cut" } } })
    await expect(sender.send(eventText("e1"))).rejects.toThrow()
    expect(sender.received).toMatchObject([{ outcome: "failed", answered: "cut" }])
  })

  it("a receiver can withhold its response until it is stopped", async () => {
    const sender = await Sender.open({ behaviour: { reply: { kind: "silent" } } })
    const answer = sender.send(eventText("e1")).then(
      () => "answered",
      () => "cut off"
    )
    await untilAsync(
      "the request",
      () => sender.received.length,
      (count) => count > 0
    )
    await sender.close()
    expect(await answer).toBe("cut off")
  })

  it("a receiver with a delay checks the request, and then waits before it responds", async () => {
    await using sender = await Sender.open({ behaviour: { delay_ms: 60_000 } })
    const leaving = new AbortController()
    const body = eventText("e1")
    const headers = { "service-signature": signatureHeader(body, [SECRET], NOON) }
    const answer = fetch(sender.receiver.url, { method: "POST", headers, body, signal: leaving.signal })
    await untilAsync(
      "the request",
      () => sender.received.length,
      (count) => count > 0
    )
    leaving.abort()
    await expect(answer).rejects.toThrow()
    expect(sender.received).toMatchObject([{ outcome: "event", answered: 200 }])
  })

  it("a receiver can fail a fraction of events, the same ones with the same seed", async () => {
    const ids = Array.from({ length: 40 }, (_, i) => `e${i}`)
    const run = async (seed: number) => {
      await using sender = await Sender.open({ behaviour: { failShare: 0.3 }, seed })
      return await sender.statuses(...ids)
    }
    const [first, same, other] = [await run(7), await run(7), await run(8)]
    expect(first).toEqual(same)
    expect(first).not.toEqual(other)
    const failed = first.filter((status) => status === 500).length
    expect(first.filter((status) => status === 200)).toHaveLength(40 - failed)
    expect(failed).toBeGreaterThan(3)
    expect(failed).toBeLessThan(25)
  })

  it("a receiver with several responses chooses one for each request", async () => {
    await using sender = await Sender.open({
      behaviour: { reply: ({ event }) => ({ kind: "status", status: event?.id === "bad" ? 500 : 200 }) }
    })
    expect(await sender.statuses("good", "bad", "good2")).toEqual([200, 500, 200])
  })
})

describe("a receiver that forwards (Specification, Sandbox)", () => {
  it("a receiver that forwards sends valid requests on unchanged, and responds with the status that it gets", async () => {
    await using behind = await Sender.open({ behaviour: { reply: statusReply(503) } })
    await using sender = await Sender.open({ behaviour: { forward: makeForwarder(behind.receiver.url) } })
    expect((await sender.send(eventText("e1"))).status).toBe(503)
    expect((await sender.send(eventText("e2"), null)).status).toBe(400)
    expect(sender.received.map(({ outcome, answered }) => [outcome, answered])).toEqual([
      ["failed", 503],
      ["refused", 400]
    ])
    // The signature was forwarded unchanged, so it is valid at the second receiver too.
    expect(behind.received).toMatchObject([{ outcome: "failed", refused_as: null, event: { id: "e1" } }])
  })

  it("a receiver that forwards closes the connection if the other address does not respond", async () => {
    await using sender = await Sender.open({ behaviour: { forward: makeForwarder("http://127.0.0.1:9/") } })
    await expect(sender.send(eventText("e1"))).rejects.toThrow()
    expect(sender.received).toMatchObject([{ outcome: "failed", answered: "cut" }])
  })
})
