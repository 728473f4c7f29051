import type { Entropy, StorePorts } from "@workshop/core"
import type { HttpRequest, Pipeline } from "@workshop/core/http"
import { bodyText } from "@workshop/core/internal"
import { Effect, Exit, Fiber, Layer, Logger, LogLevel, Option, type Scope } from "effect"
import { Api, type Envelope, EnvironmentFailed, envelopeOf } from "../testkit/Api.js"
import { requestOf } from "../testkit/Calls.js"
import { inProcessServiceLayer, makeInProcessPipeline } from "../testkit/InProcessService.js"
import { listenOnLoopback } from "../testkit/LoopbackServer.js"
import { DAY } from "../testkit/Time.js"
import { type PlannedRequest, successData } from "./Actors.js"
import type { RecordedResponse } from "./auditor/Trace.js"
import { type SimulatedReceivers, yieldTimes } from "./Observers.js"
import { SimulatedStore } from "./SimulatedStore.js"

/** The part of a planned request that is sent. */
type SentRequest = Pick<PlannedRequest, "key" | "method" | "path" | "query" | "idempotency_key" | "body" | "fault">

/** A service with its sandbox, and receivers that it can reach. */
export interface SimulationEnvironment {
  /**
   * Sends a request. Returns the response, or null if the request was cut off. Other fibers run `pauses` times while
   * the body is sent.
   */
  readonly send: (request: SentRequest, pauses?: number) => Effect.Effect<RecordedResponse | null, EnvironmentFailed>
  /** The address of a shop's receiver. */
  readonly receiverOf: (shop: string) => string
}

/** The instant at which every simulation in this process begins: a Friday morning. */
const START = Date.parse("2026-11-20T08:00:00.000Z")

const HOST = "http://127.0.0.1:9/"

/** The service and its sandbox over a store, with seeded randomness, on a clock that only the sandbox moves. */
export const simulatedServiceLayer = <E>(
  store: Layer.Layer<StorePorts, E, Entropy>,
  seed: number,
  { pausingHandler, signatureHeader }: SimulatedReceivers
) =>
  Effect.map(SimulatedStore, (replace) =>
    inProcessServiceLayer({
      store: replace(store),
      receiverAt: () => pausingHandler,
      seed,
      start: START,
      signatureHeader
    })
  ).pipe(
    Layer.unwrapEffect,
    // The log shows only fatal errors, because receivers fail on purpose.
    Layer.provideMerge(Logger.minimumLogLevel(LogLevel.Fatal))
  )

const httpRequestOf = (
  { method, path, query = "", key, idempotency_key, body }: SentRequest,
  pauses: number
): HttpRequest => {
  const headers: Readonly<Record<string, string | undefined>> = {
    authorization: key === undefined ? undefined : `Bearer ${key.text}`,
    "idempotency-key": idempotency_key,
    "content-type": body === undefined ? undefined : "application/json"
  }
  const text = body === undefined ? "" : JSON.stringify(body)
  return {
    method,
    path,
    query,
    header: (name) => headers[name],
    repeats: () => false,
    address: "127.0.0.1",
    body: () => Effect.as(yieldTimes(pauses), new TextEncoder().encode(text))
  }
}

const responseOf = ({ status, headers, ...rest }: Effect.Effect.Success<ReturnType<Pipeline>>): RecordedResponse => ({
  status,
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  body: JSON.parse(bodyText(rest)) as Envelope
})

/**
 * The service in this process, called through its HTTP pipeline. A request that was cut off may have been carried out.
 */
export const inProcessSimulation = Effect.map(makeInProcessPipeline(true), (pipe): SimulationEnvironment => {
  const sendAndCutOff = (request: HttpRequest, pauses: number) =>
    Effect.gen(function* () {
      const fiber = yield* Effect.fork(pipe(request))
      yield* yieldTimes(pauses)
      const exit = yield* Fiber.interrupt(fiber)
      return Exit.isSuccess(exit) ? responseOf(exit.value) : null
    })
  return {
    send: (request, pauses = 0) => {
      const httpRequest = httpRequestOf(request, pauses)
      return request.fault === "cut" ? sendAndCutOff(httpRequest, pauses) : Effect.map(pipe(httpRequest), responseOf)
    },
    receiverOf: (shop) => `${HOST}${shop}`
  }
})

/** The time after which a request is cut off, in milliseconds. */
const CUT_AFTER_MS = 3

/** A running server with its sandbox, called over HTTP; its webhooks reach receivers on a free port of this machine. */
export const remoteSimulation = (
  baseUrl: string,
  sandboxToken: string | null,
  receivers: SimulatedReceivers
): Effect.Effect<SimulationEnvironment, EnvironmentFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const api = new Api(baseUrl, { sandboxToken })
    const url = yield* Effect.orDie(listenOnLoopback({ host: "127.0.0.1", port: 0 }, receivers.handler))
    const toFailure = (why: string) =>
      new EnvironmentFailed({
        message: `The server at ${api.origin} does not respond like a workshop service (${why}). Start a server with workshop serve --sandbox --store memory, and give its address with --base-url.`
      })
    const send = ({ method, path, query = "", key, idempotency_key, body }: SentRequest) => {
      const options = { bearer: key?.text, idempotencyKey: idempotency_key, body }
      return api.call(method, query === "" ? path : `${path}?${query}`, options).pipe(
        Effect.mapError(({ detail }) => toFailure(detail)),
        Effect.flatMap(({ response }) => {
          const envelope = envelopeOf(response)
          return envelope === undefined
            ? toFailure(`status ${response.status} without JSON`)
            : Effect.succeed({ ...response, body: envelope })
        })
      )
    }
    return {
      send: (request) =>
        request.fault === "cut"
          ? Effect.map(Effect.timeoutOption(send(request), CUT_AFTER_MS), Option.getOrNull)
          : send(request),
      receiverOf: (shop) => `${url}${shop}`
    }
  })

/** The instant of a sandbox clock, and whether it is frozen. */
interface ClockState {
  readonly now: number
  readonly frozen: boolean
}

const requestClock = (
  { send }: SimulationEnvironment,
  request: SentRequest
): Effect.Effect<ClockState, EnvironmentFailed> =>
  Effect.flatMap(send(request), (response) => {
    const { now = "", frozen = false } = successData<{ readonly now: string; readonly frozen: boolean }>(response) ?? {}
    return Number.isNaN(Date.parse(now))
      ? new EnvironmentFailed({
          message:
            "The server has no sandbox, or its sandbox requires another token. Start the server with --sandbox, and set WORKSHOP_SANDBOX_TOKEN to its token."
        })
      : Effect.succeed({ now: Date.parse(now), frozen })
  })

/** Reads the sandbox clock. */
export const readClock = (environment: SimulationEnvironment) => requestClock(environment, requestOf("read clock"))

const formatClockReport = (before: ClockState, after: ClockState): string => {
  const days = ((after.now - before.now) / DAY).toFixed(1)
  const state = before.frozen ? "stays frozen" : "runs again"
  return `The sandbox clock ${state}, as before the simulation. It shows ${new Date(after.now).toISOString()}, which is ${days} days later than before, because it cannot be moved back.`
}

/**
 * Runs a program on a sandbox, then freezes its clock or lets it run as it did before; reports the final state of the
 * clock.
 */
export const withClockRestored = <A, E, R>(
  environment: SimulationEnvironment,
  program: Effect.Effect<A, E, R>
): Effect.Effect<{ readonly result: A; readonly clock: string }, E | EnvironmentFailed, R> =>
  Effect.gen(function* () {
    const clockBefore = yield* readClock(environment)
    const restore = requestClock(environment, { ...requestOf("move clock"), body: { freeze: clockBefore.frozen } })
    // A failure to restore the clock is ignored, because it means that the server does not respond, which the program
    // reports.
    const result = yield* Effect.onError(program, () => Effect.option(restore))
    return { result, clock: formatClockReport(clockBefore, yield* restore) }
  })
