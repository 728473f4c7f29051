import type { Socket } from "node:net"
import { gzipSync } from "node:zlib"
import { type SendResult, type ShopId, sandboxAddresses } from "@workshop/core"
import { Effect, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { make } from "../../src/sender/NodeSender.js"
import { fakeTime, waitFor } from "./FakeTime.js"
import { answer, answering, post, receiver } from "./Receiver.js"

const KIB = 1024
const CROWD = 256

const BOMB = gzipSync(Buffer.alloc(8 * KIB * KIB))
const bombed = Buffer.concat([Buffer.from("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"), BOMB])
const flooded = Buffer.from(`HTTP/1.1 200 OK\r\n\r\n${"x".repeat(256 * KIB)}`)

/**
 * The expected result of each kind of receiver, and its response. Some receivers keep the connection open until the
 * timeout.
 */
const hostile: ReadonlyArray<
  readonly [expected: SendResult["status"] | SendResult["error"], says: string | Buffer | null]
> = [
  ["timeout", ""],
  ["timeout", "HTTP/1.1 20"],
  [200, "HTTP/1.1 200 OK\r\nX-Slow"],
  [200, `HTTP/1.1 200 OK\r\n\r\n${"x".repeat(15 * KIB)}`],
  [200, "HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n"],
  [200, flooded],
  [200, bombed],
  ["too_large_head", `HTTP/1.1 200 OK\r\nX: ${"x".repeat(100_000)}\r\n\r\n`],
  ["malformed", "SSH-2.0-OpenSSH_9.6\r\n"],
  ["reset", null],
  [301, answer("301 Moved", ["Location: http://127.0.0.1/"])],
  [410, answer("410 Gone")]
]

const meanings = (socket: Socket, request: string) => {
  const [, says] = hostile[Number(/^POST \/(\d+)/.exec(request)![1])]!
  if (says === null) socket.resetAndDestroy()
  else socket.write(says)
}

const shop = (n: number) => ({ shop_id: `shop_${n}` as ShopId })

describe("256 hostile receivers at the same time (Specification, Webhooks)", () => {
  it("each attempt at a hostile receiver gets the right result and reads at most 88 KiB, and does not delay a healthy receiver's shop", async () => {
    const setTime = fakeTime()
    await using bad = await receiver({ onRequest: meanings })
    await using good = await answering(answer("200 OK"))
    const body = Effect.gen(function* () {
      const { send, counts } = yield* make({ policy: sandboxAddresses })
      const attempt = (n: number) => {
        const kind = n % hostile.length
        const sent = send(post(`http://127.0.0.1:${bad.port}/${kind}`, shop(n)))
        return Effect.map(sent, ({ status, error }) => [kind, status ?? error])
      }
      const numbers = Array.from({ length: CROWD }, (_, n) => n)
      const crowd = yield* Effect.fork(Effect.forEach(numbers, attempt, { concurrency: "unbounded" }))
      yield* Effect.promise(() => waitFor(() => (bad.requests.length === CROWD ? true : undefined)))
      // The fake time does not advance, so all open attempts stay open until the healthy shop has all its events.
      for (let i = 0; i < 20; i++)
        expect(yield* send(post(good.url, shop(CROWD)))).toMatchObject({ status: 200, error: null })
      expect(counts().bytes_read).toBeLessThanOrEqual(CROWD * 88 * KIB)
      yield* Effect.promise(() => setTime(10_000))
      for (const [kind, came] of yield* Fiber.join(crowd))
        expect([kind, came]).toEqual([kind, hostile[kind as number]![0]])
      yield* Effect.promise(() => waitFor(() => (counts().open === counts().idle ? true : undefined)))
    })
    await Effect.runPromise(Effect.scoped(body))
  })
})
