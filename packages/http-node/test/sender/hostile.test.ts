import type { Socket } from "node:net"
import { constants, gzipSync } from "node:zlib"
import type { ShopId } from "@workshop/core"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { answer, answering, post, receiver, sendOnce, until, withSender } from "./Receiver.js"

const MEBIBYTE = Buffer.alloc(1024 * 1024, "x")

/** Sends as many bytes as the other side reads, up to a gibibyte. */
const flood = (socket: Socket) => {
  let written = 0
  const more = () => {
    while (written < 1024 && !socket.destroyed) {
      written += 1
      if (!socket.write(MEBIBYTE)) return
    }
  }
  socket.on("drain", more)
  more()
}

const ENDLESS = "HTTP/1.1 200 OK\r\n\r\n"
/** 8 KiB of head, 16 KiB of body, and the 64 KiB that Node reads from a socket at once. */
const MAX_BYTES_READ = (8 + 16 + 64) * 1024

describe("hostile bodies", () => {
  it.each([
    ["of no stated length", ENDLESS],
    ["of a gibibyte", "HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n"],
    ["in a chunk of a gibibyte", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40000000\r\n"],
    ["in a chunk with an endless extension", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;"]
  ])("the sender reads at most 16 KiB of a body %s, and closes the connection", async (_, head) => {
    await using at = await receiver({
      onRequest: (socket) => {
        socket.write(head)
        flood(socket)
      }
    })
    await withSender({}, async (send, sender) => {
      expect(await send(post(at.url))).toMatchObject({ status: 200, error: null })
      expect(sender.counts().bytes_read).toBeLessThanOrEqual(MAX_BYTES_READ)
      await until(() => sender.counts().open === 0)
    })
  })

  it.each([
    ["17 KiB of body, and then nothing", `HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n${"x".repeat(17 * 1024)}`],
    [
      "5 KiB of body in 30 KiB of chunks",
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\nx\r\n".repeat(5000)}`
    ]
  ])("the sender does not wait for the rest of a body after %s", async (_, text) => {
    await using at = await answering(text)
    await withSender({ bodyMs: 60_000 }, async (send, sender) => {
      expect(await send(post(at.url))).toMatchObject({ status: 200, error: null })
      await until(() => sender.counts().open === 0)
    })
  })

  it("at the deadline the sender abandons a body that arrives slowly without an end", async () => {
    await using at = await receiver({
      onRequest: (socket) => {
        socket.write(ENDLESS)
        const drip = setInterval(() => socket.write("."), 5)
        socket.on("close", () => clearInterval(drip))
      }
    })
    await withSender({}, async (send, sender) => {
      expect(await send(post(at.url))).toMatchObject({ status: 200, error: null })
      await until(() => sender.counts().open === 0)
    })
  })

  it("the sender never decompresses a body", async () => {
    const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024), { level: constants.Z_BEST_COMPRESSION })
    await using at = await receiver({
      onRequest: (socket) => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`)
        socket.write(bomb)
      }
    })
    await withSender({}, async (send, sender) => {
      const sent = await send(post(at.url))
      expect(sent.status).toBe(200)
      expect(Buffer.byteLength(sent.head)).toBeLessThanOrEqual(4096)
      expect(sender.counts().bytes_read).toBeLessThanOrEqual(bomb.length + 100)
    })
  })

  it("256 concurrent attempts with endless bodies read a bounded number of bytes each, and leave no open connection", async () => {
    await using at = await receiver({
      onRequest: (socket) => {
        socket.write(ENDLESS)
        socket.write(MEBIBYTE.subarray(0, MAX_BYTES_READ + 8192))
      }
    })
    await withSender({ deadlineMs: 5000 }, async (_, sender) => {
      const posts = Array.from({ length: 256 }, (_, i) => post(at.url, { shop_id: `shop_${i}` as ShopId }))
      const sent = await Effect.runPromise(Effect.forEach(posts, sender.send, { concurrency: "unbounded" }))
      expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([200]))
      expect(sender.counts().bytes_read).toBeLessThanOrEqual(256 * MAX_BYTES_READ)
      await until(() => sender.counts().open === 0)
    })
  })
})

describe("hostile heads", () => {
  it.each([
    ["a header of 100 KB", answer("200 OK", [`X-Large: ${"x".repeat(100_000)}`])],
    ["8 KiB of small headers", answer("200 OK", Array(60).fill(`X-Some: ${"x".repeat(160)}`))],
    ["65 headers", answer("200 OK", Array(64).fill("X-Some: x"))],
    ["an endless status line", `HTTP/1.1 200 ${"x".repeat(100_000)}`]
  ])("a response head with %s is refused as too large", async (_, text) => {
    await using at = await answering(text)
    expect(await sendOnce(at.url)).toMatchObject({ status: null, error: "too_large_head" })
  })

  it("a response head with 64 headers is accepted", async () => {
    await using at = await answering(answer("200 OK", Array(63).fill("X-Some: x")))
    expect(await sendOnce(at.url)).toMatchObject({ status: 200, error: null })
  })

  it("endless informational responses are refused", async () => {
    await using at = await receiver({
      onRequest: (socket) => {
        const more = setInterval(() => socket.write("HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n".repeat(100)), 1)
        socket.on("close", () => clearInterval(more))
      }
    })
    await withSender({}, async (send, sender) => {
      expect(await send(post(at.url))).toMatchObject({ status: null, error: "too_large_head" })
      expect(sender.counts().bytes_read).toBeLessThanOrEqual(MAX_BYTES_READ)
    })
  })

  it.each([
    ["another protocol", "SSH-2.0-OpenSSH_9.6\r\n"],
    ["HTTP/2", "HTTP/2 200 OK\r\n\r\n"],
    ["a page without a head", "<!doctype html><title>hello</title>\r\n\r\n"],
    ["a header with a control character", "HTTP/1.1 200 OK\r\nX-Bad: a\u0000b\r\n\r\n"],
    ["a header without a colon", "HTTP/1.1 200 OK\r\nbroken header\r\n\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
    ["a length and chunks", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"]
  ])("a response of %s fails the attempt as malformed, and the delivery log has its text", async (_, text) => {
    await using at = await answering(text)
    const sent = await sendOnce(at.url)
    expect(sent).toMatchObject({ status: null, error: "malformed", detail: expect.stringMatching(/^HPE_/) })
    expect(sent.head.slice(0, 8)).toBe(text.slice(0, 8))
  })
})

describe("connections that break during an attempt", () => {
  it.each([
    [
      "before the request is read",
      { onConnection: (socket: Socket) => void setTimeout(() => socket.resetAndDestroy(), 20) }
    ],
    ["after the request", { onRequest: (socket: Socket) => void socket.resetAndDestroy() }],
    ["without a response, in an orderly close", { onRequest: (socket: Socket) => void socket.end() }],
    ["within the status line", { onRequest: (socket: Socket) => void socket.end("HTTP/1.1 20") }]
  ])("the result of a connection that ends %s is reset", async (_, behaviour) => {
    await using at = await receiver(behaviour)
    expect(await sendOnce(at.url)).toMatchObject({ status: null, error: "reset", address: "127.0.0.1" })
  })

  it("a connection that breaks during the body does not change the result", async () => {
    await using at = await receiver({
      onRequest: (socket) => {
        const head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"
        socket.write(head, () => setTimeout(() => socket.resetAndDestroy(), 20))
      }
    })
    const sent = await sendOnce(at.url)
    expect(sent).toMatchObject({ status: 200, error: null })
    expect(sent.head).toMatch(/half$/)
  })

  it("the result is connect if no server listens on the port", async () => {
    const { url } = await receiver({}).then(async (at) => {
      await at[Symbol.asyncDispose]()
      return at
    })
    expect(await sendOnce(url)).toMatchObject({ status: null, error: "connect", detail: "ECONNREFUSED" })
  })
})
