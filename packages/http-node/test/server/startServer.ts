import { Entropy, KeyInput, Keys, Profanity, ShopInput, Shops } from "@workshop/core"
import { pipeline, type RouteGroup, workshopRoutes } from "@workshop/core/http"
import { respond } from "@workshop/core/internal/http"
import { type ConnectionLimits, makeHttpMetrics, pages, SERVER_TIMEOUTS, serve } from "@workshop/http-node"
import * as MemoryStore from "@workshop/store-memory"
import { Deferred, Effect, Exit, Layer, Logger, Schema, Scope } from "effect"
import { layer as services } from "../../../core/src/services/Workshop.js"
import type { ServerTimeouts } from "../../src/serverLimits.js"
import { RawClient } from "./RawClient.js"

const layer = services.pipe(
  Layer.provideMerge(MemoryStore.layer),
  Layer.provideMerge(Profanity.layer),
  Layer.provideMerge(Entropy.layer),
  Layer.provideMerge(Logger.remove(Logger.defaultLogger))
)

/** A route group whose requests wait until the test opens the gate. */
export interface Gate {
  readonly branch: RouteGroup
  /** Resolves when a request has arrived. */
  readonly entered: Promise<void>
  /** Resolves when a request was interrupted. */
  readonly interrupted: Promise<void>
  readonly open: () => void
}

/** Creates a gate for all requests under `/slow`. */
export const gate = (): Gate => {
  const opened = Effect.runSync(Deferred.make<void>())
  let enter = () => {}
  let interrupt = () => {}
  return {
    entered: new Promise((resolve) => {
      enter = resolve
    }),
    interrupted: new Promise((resolve) => {
      interrupt = resolve
    }),
    open: () => Effect.runSync(Deferred.succeed(opened, undefined)),
    branch: {
      prefix: "/slow",
      handle: (arrival, context) =>
        Effect.sync(() => enter()).pipe(
          Effect.zipRight(Deferred.await(opened)),
          Effect.as(respond({ data: { path: arrival.path } }, context)),
          Effect.onInterrupt(() => Effect.sync(() => interrupt()))
        )
    }
  }
}

/** A server with all real components and one shop. */
export interface Running {
  readonly port: number
  /** An Authorization header line with a valid key. */
  readonly key: string
  readonly client: () => Promise<RawClient>
  readonly stop: () => Promise<void>
}

/** Starts a server on a free port. */
export const start = async (
  options: {
    readonly timeouts?: Partial<ServerTimeouts>
    readonly trustProxy?: boolean
    readonly limits?: Partial<ConnectionLimits>
    readonly branches?: ReadonlyArray<RouteGroup>
  } = {}
): Promise<Running> => {
  const scope = Effect.runSync(Scope.make())
  const begin = Effect.gen(function* () {
    const shop = yield* (yield* Shops).create(
      Schema.decodeSync(ShopInput)({ name: "Atelier", currency: "EUR", decimals: 2, time_zone: "Europe/Paris" })
    )
    const { key } = yield* (yield* Keys).create(
      shop.id,
      Schema.decodeSync(KeyInput)({ name: "till", scopes: ["tickets:read", "tickets:write"] })
    )
    const branches = [
      yield* workshopRoutes({ validateResponses: true }),
      ...(yield* pages({ freshMs: 0 })),
      ...(options.branches ?? [])
    ]
    // Metrics are on, as in `workshop serve`, because they must handle every kind of request that these tests send.
    const at = yield* serve(yield* pipeline(branches, makeHttpMetrics()), {
      host: "127.0.0.1",
      port: 0,
      trustProxy: options.trustProxy ?? false,
      ...(options.limits && { limits: options.limits }),
      timeouts: { ...SERVER_TIMEOUTS, checkMs: 10, ...options.timeouts }
    })
    return { port: at.port, key: `Authorization: Bearer ${key}` }
  })
  const running = await Effect.runPromise(
    Layer.buildWithScope(layer, scope).pipe(
      Effect.flatMap((context) => Effect.provide(begin, context)),
      Scope.extend(scope)
    )
  )
  return {
    ...running,
    client: () => RawClient.connect(running.port),
    stop: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
