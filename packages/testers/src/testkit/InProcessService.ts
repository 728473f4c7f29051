import {
  Closer,
  Dispatcher,
  Entropy,
  Limits,
  NotificationSender,
  Notifiers,
  OwnerNotifier,
  Profanity,
  SendResult,
  type StorePorts,
  sandboxAddresses,
  WebhookSender,
  Workshop
} from "@workshop/core"
import { pipeline, webHandler, workshopRoutes } from "@workshop/core/http"
import { ClockAdvance, SandboxClock } from "@workshop/core/sandbox"
import { SandboxReceivers, sandboxRoutes, sandboxSender } from "@workshop/http-node/sandbox"
import { Clock, Effect, Layer } from "effect"
import type { Fetch } from "./Api.js"
import type { Handler, Reply } from "./LoopbackServer.js"

/**
 * A clock that always shows one instant, so that a run does not depend on the current date. Sleeping takes real time.
 */
const fixedClock = (instant: number): Clock.Clock =>
  Object.assign(Clock.make(), { currentTimeMillis: Effect.succeed(instant), unsafeCurrentTimeMillis: () => instant })

/** Notifies no owner: tests read the stored notices. */
const silentOwner = Layer.succeed(OwnerNotifier, { notify: () => Effect.void })

/** The result that a sender reports for a reply. No real time passes. */
const outcomeOf = (reply: Reply, delay_ms: number): SendResult => {
  if (delay_ms >= Limits.webhook_timeout_ms || reply.kind === "silent") return SendResult.failed("timeout")
  if (reply.kind === "cut") return SendResult.failed("reset")
  if (reply.kind === "status") return SendResult.responded(reply.status)
  return SendResult.responded(reply.kind === "redirect" ? (reply.status ?? 307) : 200)
}

/**
 * Passes deliveries to handlers in this process, without a socket. If an address has no handler, the connection fails.
 */
const makeSenderLayer = (handlerOf: (url: string) => Handler | undefined): Layer.Layer<WebhookSender> =>
  Layer.succeed(WebhookSender, {
    send: ({ url, headers, body }) => {
      const lowerCaseHeaders = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
      const incoming = {
        method: "POST",
        path: new URL(url).pathname,
        headers: { "content-type": "application/json; charset=utf-8", ...Object.fromEntries(lowerCaseHeaders) },
        body: Buffer.from(body),
        isKept: false
      }
      const response = handlerOf(url)?.(incoming)
      return response === undefined
        ? Effect.succeed(SendResult.failed("connect"))
        : Effect.map(response, ({ reply, delay_ms = 0 }) => outcomeOf(reply, delay_ms))
    }
  })

/** The parts of a service in this process. */
interface ServiceParts<E> {
  readonly store: Layer.Layer<StorePorts, E, Entropy>
  /** The receiver at an address, if any. */
  readonly receiverAt: (url: string) => Handler | undefined
  /** The seed of all randomness. */
  readonly seed: number
  /** The instant at which its clock begins; the clock moves through the sandbox only. */
  readonly start: number
  /** The header in which the service signs deliveries. */
  readonly signatureHeader?: string
}

/**
 * The service with its sandbox over a store, without sockets. Moving its clock runs the closures and deliveries that
 * become due.
 */
export const inProcessServiceLayer = <E>({ store, receiverAt, seed, start, signatureHeader }: ServiceParts<E>) => {
  const services = NotificationSender.Default.pipe(
    Layer.provide(Layer.merge(Notifiers.inboxOnly, silentOwner)),
    Layer.provideMerge(Workshop.layer),
    Layer.provideMerge(store),
    Layer.provideMerge(Profanity.layer),
    Layer.provideMerge(Entropy.layerSeeded(seed))
  )
  const signatureOptions = signatureHeader === undefined ? {} : { signatureHeader }
  return ClockAdvance.layer([Closer, Dispatcher, NotificationSender]).pipe(
    Layer.provideMerge(Dispatcher.layer({ ...signatureOptions, isJittered: false })),
    Layer.provide(sandboxSender),
    Layer.provide(makeSenderLayer(receiverAt)),
    Layer.provideMerge(services),
    Layer.provideMerge(Layer.merge(SandboxClock.layer, SandboxReceivers.layer)),
    Layer.provideMerge(Layer.setClock(fixedClock(start)))
  )
}

/**
 * The HTTP pipeline of the service and its sandbox. With `validateResponses`, every response is checked against its
 * schema.
 */
export const makeInProcessPipeline = (validateResponses: boolean) =>
  Effect.gen(function* () {
    const api = yield* workshopRoutes({ validateResponses })
    return yield* pipeline(
      yield* sandboxRoutes({ token: null, webhookPolicy: sandboxAddresses, validateResponses, api })
    )
  })

/** A function that replaces `fetch` and calls the service in this process. */
export const inProcessFetch = Effect.gen(function* () {
  const fetch: Fetch = webHandler(yield* makeInProcessPipeline(false), yield* Effect.runtime<never>())
  return fetch
})
