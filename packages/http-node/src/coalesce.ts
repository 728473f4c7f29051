import { Clock, Deferred, Effect, FiberId } from "effect"

interface Result<A> {
  readonly begun_at: number
  /** Waits for the work. Once the work is done, this is its Exit, so that no fiber suspends. */
  exit: Effect.Effect<A>
}

/**
 * Runs `work` once for all callers within `fresh_ms` milliseconds of real time. Interrupting a caller does not
 * interrupt the work.
 */
export const coalesce = <A>(
  work: Effect.Effect<A>,
  fresh_ms: number,
  clock: Pick<Clock.Clock, "unsafeCurrentTimeMillis"> = Clock.make()
): Effect.Effect<A> => {
  let latestResult: Result<A> | undefined
  return Effect.suspend(() => {
    const now = clock.unsafeCurrentTimeMillis()
    if (latestResult !== undefined && now >= latestResult.begun_at && now < latestResult.begun_at + fresh_ms)
      return latestResult.exit
    const deferred = Deferred.unsafeMake<A>(FiberId.none)
    const result: Result<A> = { begun_at: now, exit: Deferred.await(deferred) }
    latestResult = result
    const recordedWork = Effect.onExit(work, (exit) =>
      Effect.sync(() => {
        result.exit = exit
      })
    )
    const beginWork = Effect.uninterruptible(
      Effect.forkDaemon(Effect.interruptible(Effect.intoDeferred(recordedWork, deferred)))
    )
    return Effect.zipRight(beginWork, Deferred.await(deferred))
  })
}

/** Runs `work` at the first call only. Later calls get the same result. */
export const runOnce = <A>(work: Effect.Effect<A>): Effect.Effect<A> =>
  coalesce(work, Number.POSITIVE_INFINITY, { unsafeCurrentTimeMillis: () => 0 })
