import { Clock, Deferred, Effect, FiberId } from "effect"

/**
 * Does a piece of work once for all who ask for it within so many milliseconds of real time. It goes on when the first
 * of them leaves.
 */
export const sharedWork = <A>(
  work: Effect.Effect<A>,
  fresh_ms: number,
  clock: Pick<Clock.Clock, "unsafeCurrentTimeMillis"> = Clock.make()
): Effect.Effect<A> => {
  let latest: { readonly begun_at: number; readonly result: Deferred.Deferred<A> } | undefined
  return Effect.suspend(() => {
    const now = clock.unsafeCurrentTimeMillis()
    if (latest !== undefined && now >= latest.begun_at && now < latest.begun_at + fresh_ms)
      return Deferred.await(latest.result)
    const result = Deferred.unsafeMake<A>(FiberId.none)
    latest = { begun_at: now, result }
    const begun = Effect.uninterruptible(Effect.forkDaemon(Effect.interruptible(Effect.intoDeferred(work, result))))
    return Effect.zipRight(begun, Deferred.await(result))
  })
}
