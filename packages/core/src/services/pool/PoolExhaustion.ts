import { Effect, Layer, Metric, Runtime } from "effect"
import { isLoggedNow } from "../background/BackgroundFailure.js"

/** The error message of `pg` if no client became free in time and the pool may open no more. */
const NO_CLIENT = "timeout exceeded when trying to connect"

/** Whether an error of a `Pool` of `pg` says that no client became free in time. */
export const isNoClientError = (cause: unknown): boolean => cause instanceof Error && cause.message === NO_CLIENT

/**
 * The properties of a `Pool` of `pg` that show whether its clients are in use. Those with `_` are private; `pool.test.ts` of the store fails
 * without them. Tested with pg 8.23, whose pool is pg-pool 3.14.
 */
interface PoolState {
  readonly totalCount?: number
  readonly options?: { readonly max?: number; readonly connectionTimeoutMillis?: number }
  readonly _clients?: ReadonlyArray<{ readonly _connected?: boolean }>
}

/** How many clients a `Pool` of `pg` has, if all of them are in use; undefined if it may open more, or still connects one. */
export const countClientsInUse = (pool: object): number | undefined => {
  const { totalCount, options, _clients } = pool as PoolState
  const max = options?.max
  if (max === undefined || totalCount === undefined || totalCount < max) return undefined
  // While Postgres does not respond, the pool is full of clients that are connecting. No public property distinguishes them from borrowed
  // ones.
  return _clients?.some((client) => client._connected === false) ? undefined : max
}

/**
 * The error message if all clients of a pool were in use, such as `All 5 clients of your pool were in use for 2000 ms`.
 */
export const describeInUse = (clients: number, noun: string, owner: string, waited_ms: number): string =>
  `${clients === 1 ? `The only ${noun} of ${owner} was` : `All ${clients} ${noun}s of ${owner} were`} in use for ${waited_ms} ms`

/** The error and what to do about it, if the `connectionTimeoutMillis` of an embedder's pool ran out; undefined if not all clients were in use. */
export const describeExhaustion = (pool: object): string | undefined => {
  const clients = countClientsInUse(pool)
  if (clients === undefined) return undefined
  const waited_ms = (pool as PoolState).options?.connectionTimeoutMillis ?? 0
  return `${describeInUse(clients, "client", "your pool", waited_ms)}, the pool's connectionTimeoutMillis. If the transactions are of one shop, raise connectionTimeoutMillis. If they are of several shops, raise the pool's max. Or return its clients sooner.`
}

const exhaustionCounter = Metric.counter("workshop_pg_pool_exhausted_total", {
  description: "Calls that were refused because all clients of a connection pool stayed in use for too long.",
  incremental: true
})

/**
 * Counts how often no client of a pool became free in time, by owner: the store, whose pool is for reads, or the
 * embedder.
 */
export const poolsExhausted = {
  store: Metric.tagged(exhaustionCounter, "pool", "store"),
  embedder: Metric.tagged(exhaustionCounter, "pool", "embedder")
} as const

const loggedAt = new WeakMap<object, number>()

const logExhaustion = (pool: object, message: string): Effect.Effect<void> =>
  Effect.whenEffect(Effect.logWarning(message), isLoggedNow(loggedAt, pool))

/** Counts that a pool had no free client, and logs it at most once a minute for each pool. */
export const recordExhaustion = (
  owner: keyof typeof poolsExhausted,
  pool: object,
  message: string
): Effect.Effect<void> => Effect.zipRight(Metric.increment(poolsExhausted[owner]), logExhaustion(pool, message))

const logs = new Set<(pool: object, message: string) => void>()

/** Like {@link recordExhaustion}, for an embedder's pool and for code outside of Effect. The workshops of this process log it. */
export const recordExhaustionOutside = (pool: object, message: string): void => {
  poolsExhausted.embedder.unsafeUpdate(1, [])
  for (const log of logs) log(pool, message)
}

/** Logs what {@link recordExhaustionOutside} records, while the layer exists. */
export const exhaustionLog = Layer.scopedDiscard(
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<never>()
    const log = (pool: object, message: string) => void Runtime.runFork(runtime)(logExhaustion(pool, message))
    yield* Effect.acquireRelease(
      Effect.sync(() => logs.add(log)),
      () => Effect.sync(() => logs.delete(log))
    )
  })
)
