import { Effect, type Scope } from "effect"
import { drainInput } from "../fast/drainInput.js"

/** The work of a {@link batchLoop}: the commands of a lane, or the requests that the rate limits count. */
interface Batches {
  /** Whether anything waits for the next batch. */
  readonly hasWaiting: () => boolean
  /** Runs the next batch. It is not interrupted. */
  readonly runBatch: Effect.Effect<void>
  /** Called when the scope closes, after the current batch, to fail all waiting work. */
  readonly close: () => void
}

/** The loop, for the code that queues the work. */
interface BatchLoop {
  /** Starts a batch if none is running, because work was queued. */
  readonly wake: () => void
  /** Whether the scope has closed, so that nothing may be queued any more. */
  readonly isClosed: () => boolean
}

/**
 * Runs one batch after another until the scope closes. A batch begins once work waits and the input of the process is
 * drained. Work that is queued during a batch is in the next batch.
 */
export const batchLoop = ({ hasWaiting, runBatch, close }: Batches): Effect.Effect<BatchLoop, never, Scope.Scope> =>
  Effect.gen(function* () {
    let wake = (): void => undefined
    let isClosed = false
    const waitForWork = Effect.async<void>((resume) => {
      wake = () => resume(Effect.void)
      if (hasWaiting()) wake()
    })
    const next = waitForWork.pipe(Effect.zipRight(drainInput), Effect.zipRight(Effect.uninterruptible(runBatch)))
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        isClosed = true
        close()
      })
    )
    yield* Effect.forkScoped(Effect.forever(next))
    return { wake: () => wake(), isClosed: () => isClosed }
  })
