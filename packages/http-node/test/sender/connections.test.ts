import { Socket } from "node:net"
import type { ShopId } from "@workshop/core"
import { Cause, Effect, Exit, Fiber, TestContext } from "effect"
import { describe, expect, it } from "vitest"
import { ConnectionPool } from "../../src/sender/ConnectionPool.js"
import { answer, answering, post, receiver, until, withSender } from "./Receiver.js"

const OK = answer("200 OK", [], "ok")

describe("kept-alive connections of the sender", () => {
  it("the sender reuses a connection for the next event of the same shop and address", async () => {
    await using at = await answering(OK)
    await withSender({}, async (send, sender) => {
      const first = await send(post(at.url))
      const second = await send(post(at.url))
      expect([first.timings.connect_ms, second.timings.connect_ms]).toEqual([expect.any(Number), null])
      expect(second).toMatchObject({ status: 200, address: "127.0.0.1", head: first.head })
      expect(sender.counts()).toMatchObject({ open: 1, idle: 1 })
    })
    expect(at.requests).toHaveLength(2)
    expect(at.connections).toHaveLength(1)
  })

  it("connections are not shared between shops, nor between hosts at one address", async () => {
    await using at = await answering(OK)
    await withSender({}, async (send) => {
      await send(post(at.url))
      await send(post(at.url, { shop_id: "shop_2" as ShopId }))
      await send(post(`http://localhost:${at.port}/`))
    })
    expect(at.connections).toHaveLength(3)
  })

  it("each shop has at most four connections, even for more concurrent requests", async () => {
    await using at = await receiver({
      onRequest: (socket) => void setTimeout(() => socket.write(OK), 20)
    })
    await withSender({}, async (send, sender) => {
      const sent = await Promise.all(Array.from({ length: 12 }, () => send(post(at.url))))
      expect(sent.map(({ status }) => status)).toEqual(Array(12).fill(200))
      expect(sender.counts()).toMatchObject({ open: 4, idle: 4 })
    })
    expect(at.connections).toHaveLength(4)
  })

  it("a shop that uses all its connections does not delay another shop", async () => {
    await using dead = await receiver({})
    await using at = await answering(OK)
    await withSender({ deadlineMs: 400 }, async (send) => {
      const stuck = Promise.all(Array.from({ length: 6 }, () => send(post(dead.url))))
      expect(await send(post(at.url, { shop_id: "shop_2" as ShopId }))).toMatchObject({ status: 200 })
      expect((await stuck).map(({ error }) => error)).toEqual(Array(6).fill("timeout"))
    })
  })

  it("the sender closes an idle connection after its idle timeout", async () => {
    await using at = await answering(OK)
    await withSender({ idleMs: 40 }, async (send, sender) => {
      await send(post(at.url))
      await until(() => sender.counts().open === 0)
      expect(await send(post(at.url))).toMatchObject({ status: 200 })
    })
    expect(at.connections).toHaveLength(2)
  })

  it.each([
    ["sends Connection: close", answer("200 OK", ["Connection: close"], "ok")],
    ["speaks HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"],
    ["sends a Keep-Alive timeout of 0", answer("200 OK", ["Keep-Alive: timeout=0"], "ok")]
  ])("a connection is not reused if the receiver %s", async (_, text) => {
    await using at = await answering(text)
    await withSender({}, async (send, sender) => {
      expect(await send(post(at.url))).toMatchObject({ status: 200 })
      await until(() => sender.counts().open === 0)
    })
  })

  it("a connection is not reused if the response came before the request was sent whole, because the receiver would read the rest as the next request", async () => {
    await using at = await receiver({
      onConnection: (socket) => void socket.once("data", () => socket.pause().write(OK))
    })
    await withSender({ deadlineMs: 5000 }, async (send, sender) => {
      const { status, error } = await send(post(at.url, { body: "x".repeat(32 * 1024 * 1024) }))
      expect([status, error]).toEqual([200, null])
      await until(() => sender.counts().open === 0)
    })
  })

  it("the sender keeps at most 1,024 idle connections in all, and closes further connections after use", () => {
    const pool = new ConnectionPool(60_000)
    const open = Array.from({ length: 1025 }, (_, i) => pool.add(`pool ${i}`, new Socket()))
    for (const connection of open) pool.release(connection, null)
    expect(pool.counts.idle).toBe(1024)
    expect(open.filter(({ socket }) => socket.destroyed)).toHaveLength(1)
    pool.closeAll()
  })

  it("the sender does not reuse a connection that the receiver has closed", async () => {
    await using at = await receiver({
      onRequest: (socket) => void socket.write(OK, () => setTimeout(() => socket.end(), 5))
    })
    await withSender({}, async (send, sender) => {
      for (let i = 0; i < 3; i++) {
        expect(await send(post(at.url))).toMatchObject({ status: 200 })
        await until(() => sender.counts().open === 0)
      }
    })
    expect(at.connections).toHaveLength(3)
  })

  it("an idle connection is closed if the receiver sends data, which must not count as the response to the next event", async () => {
    let first: Socket | undefined
    await using at = await receiver({
      onRequest: (socket) => {
        first ??= socket
        socket.write(OK)
      }
    })
    await withSender({}, async (send, sender) => {
      await send(post(at.url))
      first!.write(answer("408 Request Timeout"))
      await until(() => sender.counts().open === 0)
      expect(await send(post(at.url))).toMatchObject({ status: 200 })
    })
  })

  it("the idle timeout does not close a connection that waits for a response", async () => {
    await using at = await receiver({ onRequest: (socket) => void setTimeout(() => socket.write(OK), 120) })
    await withSender({ idleMs: 30 }, async (send) => {
      for (const _ of [1, 2]) expect(await send(post(at.url))).toMatchObject({ status: 200 })
    })
  })

  it.each([
    ["resets", (socket: Socket) => void socket.resetAndDestroy()],
    ["closes", (socket: Socket) => void socket.end()]
  ])(
    "if the receiver %s a reused connection before a response, the attempt reconnects and sends the request again",
    async (_, leave) => {
      await using at = await receiver({
        onRequest: (socket, _, nth) => (nth === 2 ? leave(socket) : void socket.write(OK))
      })
      await withSender({}, async (send, sender) => {
        for (let i = 0; i < 3; i++)
          expect(await send(post(at.url))).toMatchObject({ status: 200, error: null, address: "127.0.0.1" })
        expect(sender.counts()).toMatchObject({ open: 1, idle: 1 })
      })
      expect(at.requests).toHaveLength(4)
      expect(at.connections).toHaveLength(2)
    }
  )

  it("an attempt reconnects once after a broken connection, but a connection that breaks during the response is a reset", async () => {
    await using leaving = await receiver({
      onRequest: (socket, _, nth) => void (nth === 1 ? socket.write(OK) : socket.resetAndDestroy())
    })
    await using stammering = await receiver({
      onRequest: (socket, _, nth) => void (nth === 1 ? socket.write(OK) : socket.end("HTTP/1.1 2"))
    })
    for (const [at, requests] of [
      [leaving, 3],
      [stammering, 2]
    ] as const) {
      await withSender({}, async (send) => {
        expect(await send(post(at.url))).toMatchObject({ status: 200 })
        expect(await send(post(at.url))).toMatchObject({ status: null, error: "reset", address: "127.0.0.1" })
      })
      expect(at.requests).toHaveLength(requests)
    }
  })

  it("no delivery fails if the receiver closes the connection after each response without Connection: close", async () => {
    await using at = await receiver({ onRequest: (socket) => void socket.end(OK) })
    await withSender({}, async (send) => {
      const sent = await Promise.all(Array.from({ length: 100 }, () => send(post(at.url))))
      expect(sent.map(({ status }) => status)).toEqual(Array(100).fill(200))
    })
  })

  it("if the receiver half-closes the connection before the next request, the result is the true one: delivered or reset", async () => {
    let first: Socket | undefined
    await using at = await receiver({
      onRequest: (socket) => {
        first ??= socket
        socket.write(OK)
      }
    })
    await withSender({}, async (send) => {
      await send(post(at.url))
      first!.end()
      const sent = await send(post(at.url))
      // The result depends on a race between the close and the request.
      expect([sent.status === 200, sent.error === "reset"]).toContain(true)
      expect(at.requests.length).toBeGreaterThanOrEqual(sent.status === 200 ? 2 : 1)
    })
  })
})

describe("the deadline of the sender", () => {
  it("the sender's deadline runs in real time, even if the caller's Clock stands still", async () => {
    await using dead = await receiver({})
    await withSender({ deadlineMs: 60 }, async (_, sender) => {
      const sent = await Effect.runPromise(Effect.provide(sender.send(post(dead.url)), TestContext.TestContext))
      expect(sent).toMatchObject({ error: "timeout" })
      expect(sent.timings.total_ms).toBeGreaterThanOrEqual(50)
    })
  })
})

describe("the end of a sender and of a call", () => {
  it("a call that ends, even one whose request could not be written, lets the next waiting call start", async () => {
    await using at = await receiver({ onRequest: (socket) => void setTimeout(() => socket.write(OK), 20) })
    await withSender({}, async (send, sender) => {
      const good = Array.from({ length: 4 }, () => send(post(at.url)))
      const bad = Effect.runPromiseExit(sender.send(post(at.url, { headers: { "X-Bad": "a\r\nb" } })))
      const late = send(post(at.url))
      expect((await Promise.all([...good, late])).map(({ status }) => status)).toEqual(Array(5).fill(200))
      const exit = await bad
      expect(Exit.isFailure(exit) && Cause.isDieType(exit.cause)).toBe(true)
    })
    expect(at.requests).toHaveLength(5)
  })

  it("closing the sender's scope closes every connection", async () => {
    await using at = await answering(OK)
    await withSender({}, (send) => send(post(at.url)))
    await until(() => at.connections.every(({ destroyed, readableEnded }) => destroyed || readableEnded))
  })

  it("interrupting a call closes its connection and frees the shop's slot", async () => {
    await using dead = await receiver({})
    await withSender({}, async (_, sender) => {
      const fibers = Array.from({ length: 4 }, () => Effect.runFork(sender.send(post(dead.url))))
      await until(() => dead.connections.length === 4)
      await Effect.runPromise(Fiber.interruptAll(fibers))
      await until(() => sender.counts().open === 0)
      await using at = await answering(OK)
      expect((await Effect.runPromise(sender.send(post(at.url)))).status).toBe(200)
    })
  })
})
