import * as MemoryStore from "@workshop/store-memory"
import { Effect, Layer, Logger, LogLevel, ManagedRuntime, Random, type Scope } from "effect"
import { handling, make as makeReceiver } from "../receive/Receiver.js"
import { Api } from "../testkit/Api.js"
import { inProcessFetch, inProcessService } from "../testkit/InProcessService.js"
import type { Handler } from "../testkit/Receiver.js"
import { EnvironmentFailed, type ScenarioReceiver } from "./Action.js"

/** The environment of a scenario: a service of the specification with its sandbox, and receivers that it can reach. */
export interface Environment {
  readonly api: Api
  /** Needed by `/sandbox`; null where it asks for none. */
  readonly sandbox_token: string | null
  /** A phone number that no client has yet. */
  readonly nextPhone: Effect.Effect<string>
  readonly openReceiver: Effect.Effect<ScenarioReceiver, EnvironmentFailed, Scope.Scope>
}

/** The instant at which every scenario begins in process: a Monday, 10 o'clock in Tunis. */
const START = Date.UTC(2026, 0, 5, 9)

const phone = (n: number): string => `+2162${String(n).padStart(7, "0")}`

const logs = Layer.merge(
  Logger.replace(
    Logger.defaultLogger,
    Logger.make((entry) => console.error(Logger.logfmtLogger.log(entry)))
  ),
  Logger.minimumLogLevel(LogLevel.Warning)
)

/** A service of its own in this process, on the memory store, without sockets. Everything that is due runs when its clock is moved. */
export const inProcessEnvironment: Effect.Effect<Environment, never, Scope.Scope> = Effect.gen(function* () {
  const handlers = new Map<string, Handler>()
  const service = inProcessService({
    store: MemoryStore.layer,
    receiverAt: (url) => handlers.get(url),
    seed: 1,
    start: START
  })
  const runtime = yield* Effect.acquireRelease(
    Effect.sync(() => ManagedRuntime.make(Layer.provideMerge(service, logs))),
    (runtime) => runtime.disposeEffect
  )
  const fetch = yield* Effect.promise(() => runtime.runPromise(inProcessFetch))
  let phones = 0
  return {
    api: new Api("http://127.0.0.1", { fetch }),
    sandbox_token: null,
    nextPhone: Effect.sync(() => phone(++phones)),
    openReceiver: Effect.map(handling({ keep: Number.POSITIVE_INFINITY }), ({ handler, receiver }) => {
      const url = `http://127.0.0.1:4011/receiver-${handlers.size + 1}`
      handlers.set(url, handler)
      return { ...receiver, url }
    })
  }
})

/** The sandbox's clock is moved at will, so a signature's age by the receiver's own clock means nothing. */
const ANY_AGE_S = 1e12

/** A service that is running somewhere, with its sandbox; receivers listen on loopback. */
export const remoteEnvironment = (remote: {
  readonly base_url: string
  readonly sandbox_token: string | null
  /** The header in which it signs. */
  readonly signature_header: string
}): Environment => ({
  api: new Api(remote.base_url),
  sandbox_token: remote.sandbox_token,
  // Clients of earlier runs are still there.
  nextPhone: Effect.map(Random.nextIntBetween(0, 10_000_000), phone),
  openReceiver: Effect.mapError(
    makeReceiver({ tolerance_seconds: ANY_AGE_S, header: remote.signature_header }),
    ({ message }) => new EnvironmentFailed({ message: `No receiver can be opened here: ${message}` })
  )
})
