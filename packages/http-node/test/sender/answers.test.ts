import { acknowledges } from "@workshop/core/store"
import { describe, expect, it } from "vitest"
import { isGone } from "../../../core/src/domain/Webhook.js"
import { answer, answering, post, receiver, sendOnce, until, withSender } from "./Receiver.js"

describe("the request to a receiver (Specification, Webhooks)", () => {
  it("the sender sends a POST with the exact body and the given headers, which cannot replace its own headers", async () => {
    await using at = await answering(answer("200 OK"))
    const headers = {
      "Service-Signature": "t=1,v1=ab",
      host: "inside",
      "Content-length": "1",
      "Transfer-Encoding": "x"
    }
    await withSender({ userAgent: "Test/1" }, (send) => send(post(at.url, { headers, body: '{"a":"é€😀"}' })))
    const [head, body] = at.requests[0]!.split("\r\n\r\n")
    expect(body).toBe('{"a":"é€😀"}')
    expect(head!.split("\r\n")).toEqual([
      "POST /hook?from=us HTTP/1.1",
      `Host: 127.0.0.1:${at.port}`,
      "Content-Type: application/json; charset=utf-8",
      "Content-Length: 17",
      "User-Agent: Test/1",
      "Accept-Encoding: identity",
      "Service-Signature: t=1,v1=ab",
      "Connection: keep-alive"
    ])
  })

  it.each([
    ["a name", { "bad name": "x" }],
    ["a value", { "X-Own": "a\r\nB: c" }]
  ])("a request with %s that is invalid in a header is not sent, and fails its own caller only", async (_, headers) => {
    await using at = await answering(answer("200 OK"))
    await withSender({}, async (send) => {
      await expect(send(post(at.url, { headers }))).rejects.toThrow(/header/i)
      expect(await send(post(at.url))).toMatchObject({ status: 200 })
    })
    expect(at.requests).toHaveLength(1)
  })
})

describe("the result of an attempt", () => {
  it.each([
    ["200 OK", true, false],
    ["201 Created", true, false],
    ["204 No Content", true, false],
    ["299 Strange", true, false],
    ["300 Multiple Choices", false, false],
    ["400 Bad Request", false, false],
    ["410 Gone", false, true],
    ["500 Oh no", false, false],
    ["999 ", false, false]
  ])(
    "the status %s: acknowledges the event: %s; means that the webhook is gone: %s",
    async (status, acknowledged, gone) => {
      await using at = await answering(answer(status))
      const sent = await sendOnce(at.url)
      expect(sent).toMatchObject({
        status: Number(status.slice(0, 3)),
        error: null,
        detail: null,
        address: "127.0.0.1"
      })
      expect([acknowledges(sent), isGone(sent)]).toEqual([acknowledged, gone])
    }
  )

  it.each([301, 302, 303, 307, 308])("the sender does not follow a %i redirect", async (status) => {
    await using inside = await answering(answer("200 OK"))
    await using at = await answering(answer(`${status} Elsewhere`, [`Location: ${inside.url}`]))
    const sent = await sendOnce(at.url)
    expect(sent.status).toBe(status)
    expect(sent.head).toContain(`Location: ${inside.url}`)
    expect(inside.connections).toHaveLength(0)
  })

  it("informational responses are ignored", async () => {
    const early = "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    await using at = await answering(early + answer("200 OK"))
    expect(await sendOnce(at.url)).toMatchObject({ status: 200, error: null })
  })

  it("a 101 response fails the attempt", async () => {
    const switching = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: chat\r\nConnection: Upgrade\r\n\r\n"
    await using at = await receiver({
      onRequest: (socket, _, nth) => void socket.write(nth === 1 ? answer("200 OK") : switching)
    })
    await withSender({}, async (send, sender) => {
      expect(await send(post(at.url))).toMatchObject({ status: 200, error: null })
      expect(await send(post(at.url))).toMatchObject({ status: 101, error: null })
      await until(() => sender.counts().open === 0)
    })
  })

  it("the sender accepts a response that arrives before the receiver has read the request", async () => {
    await using at = await receiver({ onConnection: (socket) => void socket.pause().end(answer("200 OK")) })
    const body = "x".repeat(8_000_000)
    const sent = await withSender({}, (send) => send(post(at.url, { body })))
    expect(sent).toMatchObject({ status: 200, error: null })
  })

  it("the sender accepts a response whose body ends with the connection", async () => {
    await using at = await receiver({ onRequest: (socket) => void socket.end("HTTP/1.0 200 OK\r\n\r\nthanks") })
    expect(await sendOnce(at.url)).toMatchObject({ status: 200, head: "HTTP/1.0 200 OK\n\nthanks" })
  })

  it("the result of an attempt depends only on the status line, even if the rest stalls, breaks off or is too long", async () => {
    const after = {
      "stalls in the head": "HTTP/1.1 200 OK\r\nX-Slow",
      "stalls in the body": "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
      "garbles the body": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnot a size\r\n"
    }
    for (const text of Object.values(after)) {
      await using stalling = await answering(text)
      await using breaking = await receiver({ onRequest: (socket) => void socket.end(text) })
      for (const at of [stalling, breaking]) expect(await sendOnce(at.url)).toMatchObject({ status: 200, error: null })
    }
  })

  it("the result of an attempt is a timeout if no complete status line arrives", async () => {
    for (const text of ["", "HTTP/1.1 200 OK", "HTTP/1.1 103 Early Hints\r\n\r\n"]) {
      await using at = await answering(text)
      const sent = await sendOnce(at.url, { deadlineMs: 150 })
      expect(sent).toMatchObject({ status: null, error: "timeout", address: "127.0.0.1" })
      expect(acknowledges(sent)).toBe(false)
    }
  })

  // The test runs in real time, so a busy machine may exceed the margin of a tenth. Hence the retries.
  it("a 2xx response at 0.9 of the deadline succeeds, and one at 1.1 is a timeout", { retry: 2 }, async () => {
    const late = (ms: number) =>
      receiver({ onRequest: (socket) => void setTimeout(() => socket.write(answer("200 OK")), ms) })
    await using before = await late(1080)
    await using after = await late(1320)
    const options = { deadlineMs: 1200 }
    const sent = await Promise.all([sendOnce(before.url, options), sendOnce(after.url, options)])
    expect(sent.map(({ status, error }) => [status, error])).toEqual([
      [200, null],
      [null, "timeout"]
    ])
  })

  it("a 2xx response succeeds even if its body arrives after the deadline", async () => {
    await using at = await answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", {
      onConnection: (socket) => void setTimeout(() => socket.write("ok"), 250)
    })
    const sent = await sendOnce(at.url, { deadlineMs: 200, bodyMs: 10_000 })
    expect(sent).toMatchObject({ status: 200, error: null })
    expect(sent.head).toMatch(/\n\nok$/)
  })
})

describe("the excerpt of a response for the log", () => {
  it("the excerpt is the start of the response, with unprintable characters replaced", async () => {
    const body = Buffer.concat([Buffer.from("é\u0000\u001b[31m\u202e\r\n\tfine"), Buffer.from([0xff, 0xc3])])
    await using at = await receiver({
      onRequest: (socket) => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`)
        socket.write(body)
      }
    })
    const { head } = await sendOnce(at.url)
    expect(head).toBe(`HTTP/1.1 200 OK\nContent-Length: ${body.length}\n\né??[31m?\n\tfine??`)
  })

  it("the excerpt has at most 4 KiB of UTF-8", async () => {
    await using at = await answering(answer("200 OK", [], "é".repeat(5000)))
    const { head } = await sendOnce(at.url)
    expect(Buffer.byteLength(head)).toBeLessThanOrEqual(4096)
    expect(head.length).toBeGreaterThan(2000)
  })

  it("the result has the durations of the phases that the attempt reached", async () => {
    await using at = await answering(answer("200 OK"))
    const { timings } = await sendOnce(at.url)
    expect(timings).toEqual({
      lookup_ms: null,
      connect_ms: expect.any(Number),
      tls_ms: null,
      first_byte_ms: expect.any(Number),
      total_ms: expect.any(Number)
    })
  })
})
