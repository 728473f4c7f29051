import { Clock, Deferred, Effect, FiberId } from "effect"

interface Result<A> {
  readonly begun_at: number
  /** Waits for the work; once it is done, this is its Exit, so no fiber suspends. */
  exit: Effect.Effect<A>
}

/**
 * Does a piece of work once for all who ask for it within this many milliseconds of real time. It goes on when the first
 * of them leaves.
 */
export const coalesce = <A>(
  work: Effect.Effect<A>,
  fresh_ms: number,
  clock: Pick<Clock.Clock, "unsafeCurrentTimeMillis"> = Clock.make()
): Effect.Effect<A> => {
  let latest: Result<A> | undefined
  return Effect.suspend(() => {
    const now = clock.unsafeCurrentTimeMillis()
    if (latest !== undefined && now >= latest.begun_at && now < latest.begun_at + fresh_ms) return latest.exit
    const done = Deferred.unsafeMake<A>(FiberId.none)
    const result: Result<A> = { begun_at: now, exit: Deferred.await(done) }
    latest = result
    const worked = Effect.onExit(work, (exit) =>
      Effect.sync(() => {
        result.exit = exit
      })
    )
    const begun = Effect.uninterruptible(Effect.forkDaemon(Effect.interruptible(Effect.intoDeferred(worked, done))))
    return Effect.zipRight(begun, Deferred.await(done))
  })
}

/** Does a piece of work when it is first asked for, and never again. */
export const onceAsked = <A>(work: Effect.Effect<A>): Effect.Effect<A> =>
  coalesce(work, Number.POSITIVE_INFINITY, { unsafeCurrentTimeMillis: () => 0 })
