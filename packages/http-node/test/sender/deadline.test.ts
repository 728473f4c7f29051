import type { Socket } from "node:net"
import { productionAddresses, type SendResult, sandboxAddresses } from "@workshop/core"
import { Effect, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { make, type NodeSenderOptions } from "../../src/sender/NodeSender.js"
import { authority, forShop, key } from "./certificates.js"
import { fakeTime, waitFor } from "./FakeTime.js"
import { answer, post, receiver } from "./Receiver.js"

const SECOND = 1000

/** Sends one request with a sender that has the default time limits. */
const sending = (url: string, options: NodeSenderOptions, use: (sent: Promise<SendResult>) => Promise<void>) =>
  Effect.gen(function* () {
    const { send } = yield* make(options)
    const fiber = yield* Effect.fork(send(post(url)))
    yield* Effect.promise(() => use(Effect.runPromise(Fiber.join(fiber))))
  }).pipe(Effect.scoped, Effect.runPromise)

const outcome = ({ status, error }: SendResult) => status ?? error

describe("An attempt has ten seconds by default for everything up to the status line (Specification, Webhooks)", () => {
  it.each([
    [9.9, 200],
    [10.1, "timeout"]
  ])("a response at %s s has the result %s", async (at_s, expected) => {
    const setTime = fakeTime()
    let asking: Socket | undefined
    await using at = await receiver({
      onRequest: (socket) => {
        asking = socket
      }
    })
    await sending(at.url, { policy: sandboxAddresses }, async (sent) => {
      const socket = await waitFor(() => asking)
      await setTime(at_s * SECOND)
      socket.write(answer("200 OK"))
      expect(outcome(await sent)).toBe(expected)
    })
  })

  it.each([
    ["a look-up until 4 s, a handshake until 8 s and a response at 9.9 s", 9.9, 200],
    ["a look-up until 4 s, a handshake until 8 s and a response at 10.1 s", 10.1, "timeout"]
  ])("all phases share one deadline, so the result of %s depends on their total time", async (_, at_s, expected) => {
    const setTime = fakeTime()
    let resolved: (() => void) | undefined
    let greeted: (() => void) | undefined
    let asking: Socket | undefined
    await using at = await receiver({
      tls: {
        key,
        cert: forShop,
        SNICallback: (_name, done) => {
          greeted = () => done(null)
        }
      },
      onRequest: (socket) => {
        asking = socket
      }
    })
    const options: NodeSenderOptions = {
      policy: { ...productionAddresses, ports: [at.port] },
      resolve: () =>
        Effect.async((resume) => {
          resolved = () => resume(Effect.succeed(["127.0.0.1"]))
        }),
      isPublic: (ip) => ip === "127.0.0.1",
      ca: authority
    }
    await sending(`https://shop.test:${at.port}/`, options, async (sent) => {
      const answerLookup = await waitFor(() => resolved)
      await setTime(4 * SECOND)
      answerLookup()
      const shakeHands = await waitFor(() => greeted)
      await setTime(8 * SECOND)
      shakeHands()
      const socket = await waitFor(() => asking)
      await setTime(at_s * SECOND)
      socket.write(answer("200 OK"))
      const came = await sent
      expect(outcome(came)).toBe(expected)
      expect(came.timings).toMatchObject({ lookup_ms: 4 * SECOND, tls_ms: 4 * SECOND })
    })
  })
})
