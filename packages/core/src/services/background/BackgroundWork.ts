import { Context, Effect, ExecutionStrategy, Exit, Layer, Scope } from "effect"

/**
 * Starts and stops the background work of a process. Start it once the server listens, and stop it before the server
 * closes.
 */
export class BackgroundWork extends Context.Tag("@workshop/core/BackgroundWork")<
  BackgroundWork,
  {
    /** Begins the work. Does nothing if it has begun. */
    readonly start: Effect.Effect<void>
    /**
     * Ends the work, and waits at most five real seconds for deliveries and notifications in flight. Does nothing if it
     * has ended.
     */
    readonly stop: Effect.Effect<void>
  }
>() {
  /**
   * Makes the service. `work` forks its loops into its scope. The work also ends with the layer, and cannot begin again
   * after that.
   */
  static readonly layer = <R>(work: Effect.Effect<void, never, Scope.Scope | R>) =>
    Layer.scoped(
      BackgroundWork,
      Effect.gen(function* () {
        const services = yield* Effect.context<Exclude<R, Scope.Scope>>()
        const serially = Effect.unsafeMakeSemaphore(1).withPermits(1)
        let running: Scope.CloseableScope | null = null
        let isClosed = false
        const start = Effect.gen(function* () {
          if (running !== null || isClosed) return
          // All kinds of work end at the same time, so that none starts more work while another waits for its own to finish.
          running = yield* Scope.make(ExecutionStrategy.parallel)
          // The fibers inherit interruptibility, and could not be ended if they were forked in an uninterruptible
          // region.
          yield* Effect.interruptible(Effect.provide(Scope.extend(work, running), services))
        }).pipe(Effect.uninterruptible, serially)
        const stop = Effect.suspend(() => {
          const scope = running
          running = null
          return scope === null ? Effect.void : Scope.close(scope, Exit.void)
        }).pipe(Effect.uninterruptible, serially)
        yield* Effect.addFinalizer(() => {
          isClosed = true
          return stop
        })
        return { start, stop }
      })
    )
}
