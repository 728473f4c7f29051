import { Context, Effect, ExecutionStrategy, Exit, Layer, Scope } from "effect"

/** The background work of a process, which begins and ends while the services live: after a server listens, and before it closes. */
export class BackgroundWork extends Context.Tag("@workshop/core/BackgroundWork")<
  BackgroundWork,
  {
    /** Begins the work, unless it has begun. */
    readonly start: Effect.Effect<void>
    /** Ends the work, unless it has ended, and waits at most five real seconds for what is in flight. */
    readonly stop: Effect.Effect<void>
  }
>() {
  /** The given work, which forks into the scope that it gets. It ends with the layer too, and does not begin again after that. */
  static readonly layer = <R>(work: Effect.Effect<void, never, Scope.Scope | R>) =>
    Layer.scoped(
      BackgroundWork,
      Effect.gen(function* () {
        const services = yield* Effect.context<Exclude<R, Scope.Scope>>()
        const oneByOne = Effect.unsafeMakeSemaphore(1).withPermits(1)
        let running: Scope.CloseableScope | null = null
        let isClosed = false
        const start = Effect.gen(function* () {
          if (running !== null || isClosed) return
          // All kinds of work end at the same time, so that none begins more while another waits for what is in flight.
          running = yield* Scope.make(ExecutionStrategy.parallel)
          // A fiber that is forked where nothing can be interrupted could never be ended.
          yield* Effect.interruptible(Effect.provide(Scope.extend(work, running), services))
        }).pipe(Effect.uninterruptible, oneByOne)
        const stop = Effect.suspend(() => {
          const ending = running
          running = null
          return ending === null ? Effect.void : Scope.close(ending, Exit.void)
        }).pipe(Effect.uninterruptible, oneByOne)
        yield* Effect.addFinalizer(() => {
          isClosed = true
          return stop
        })
        return { start, stop }
      })
    )
}
