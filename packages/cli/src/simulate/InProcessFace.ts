import type { Sent } from "@workshop/core/domain/Attempt"
import { sandbox } from "@workshop/core/domain/WebhookAddress"
import { type Arrival, bodyText } from "@workshop/core/http/Arrival"
import { type Pipeline, pipeline } from "@workshop/core/http/Pipeline"
import { workshopBranch } from "@workshop/core/http/workshopBranch"
import { Entropy } from "@workshop/core/ports/Entropy"
import type { StorePorts } from "@workshop/core/ports/StorePorts"
import { WebhookSender } from "@workshop/core/ports/WebhookSender"
import { Closer } from "@workshop/core/services/Closer"
import { Dispatcher } from "@workshop/core/services/Dispatcher"
import { Messenger } from "@workshop/core/services/Messenger"
import * as Notifiers from "@workshop/core/services/Notifiers"
import * as Profanity from "@workshop/core/services/Profanity"
import { SandboxClock } from "@workshop/core/services/SandboxClock"
import { TimeWalk } from "@workshop/core/services/TimeWalk"
import { layer as workshopLayer } from "@workshop/core/services/Workshop"
import { sandboxBranch } from "@workshop/http-node/sandbox/sandboxBranch"
import { Effect, Exit, Fiber, Layer, Logger, LogLevel } from "effect"
import type { Answer, Envelope } from "./auditor/Evidence.js"
import type { Call, Face } from "./Face.js"
import type { Receivers } from "./Receivers.js"
import { StillClock } from "./StillClock.js"

const HOST = "http://127.0.0.1:9/"

const NO_TIMINGS = { lookup_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null, total_ms: 0 }

const sent = (status: number | null): Sent => ({
  status,
  error: status === null ? "reset" : null,
  detail: null,
  address: null,
  timings: NO_TIMINGS,
  head: ""
})

const pause = (times: number): Effect.Effect<void> =>
  times <= 0 ? Effect.void : Effect.zipRight(Effect.yieldNow(), pause(times - 1))

/** Hands deliveries to the receivers without a socket. */
const sender = (receivers: Receivers): Layer.Layer<WebhookSender> =>
  Layer.succeed(WebhookSender, {
    send: ({ url, headers, body }) =>
      Effect.map(pause(receivers.pauses()), () => {
        const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
        return sent(receivers.hear(url.slice(HOST.length), lower, body))
      })
  })

/** The service and its sandbox over a store, with seeded randomness, on a clock that moves only when told. */
export const layer = <E>(store: Layer.Layer<StorePorts, E, Entropy>, seed: number, receivers: Receivers) => {
  const services = Messenger.Default.pipe(
    Layer.provide(Layer.merge(Notifiers.inboxOnly, Notifiers.ownerLog)),
    Layer.provideMerge(workshopLayer),
    Layer.provideMerge(store),
    Layer.provideMerge(Profanity.layer),
    Layer.provideMerge(Entropy.layerSeeded(seed))
  )
  return TimeWalk.layer([Closer, Dispatcher, Messenger]).pipe(
    Layer.provideMerge(Dispatcher.layer({ signatureHeader: receivers.signatureHeader, isJittered: false })),
    Layer.provide(sender(receivers)),
    Layer.provideMerge(services),
    Layer.provideMerge(SandboxClock.layer),
    Layer.provideMerge(Layer.setClock(new StillClock())),
    // Owners are told in the log, and receivers fail by design.
    Layer.provideMerge(Logger.minimumLogLevel(LogLevel.Fatal))
  )
}

const arrival = ({ method, path, query, headers, body, pauses }: Call): Arrival => ({
  method,
  path,
  query,
  header: (name) => headers[name],
  repeats: () => false,
  address: "127.0.0.1",
  body: () => Effect.as(pause(pauses), new TextEncoder().encode(body ?? ""))
})

const answerOf = ({ status, headers, ...rest }: Effect.Effect.Success<ReturnType<Pipeline>>): Answer => ({
  status,
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  body: JSON.parse(bodyText(rest)) as Envelope
})

/** Begins the request, and cuts it off after its pauses: perhaps it was done by then. */
const cutOff = (pipe: Pipeline, call: Call) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.fork(pipe(arrival(call)))
    yield* pause(call.pauses)
    const exit = yield* Fiber.interrupt(fiber)
    return Exit.isSuccess(exit) ? answerOf(exit.value) : null
  })

/** The service in this process, met through its HTTP pipeline. */
export const inProcessFace = Effect.gen(function* () {
  const v1 = yield* workshopBranch({ isHeld: true })
  const pipe = yield* pipeline([v1, yield* sandboxBranch({ token: null, webhookPolicy: sandbox, isHeld: true })])
  const face: Face = {
    ask: (call) => (call.fate === "cut" ? cutOff(pipe, call) : Effect.map(pipe(arrival(call)), answerOf)),
    receiverOf: (shop) => `${HOST}${shop}`
  }
  return face
})
