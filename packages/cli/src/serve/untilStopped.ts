import { probe } from "@workshop/core"
import { Clock, Effect } from "effect"

/** The reason in `/readyz` of a process that will stop soon. */
const STOPPING = "This process is stopping. Send requests to other nodes."

/**
 * Waits until the process is interrupted. After SIGTERM it reports that it is not ready and serves for `delay_ms` more,
 * so that a load balancer stops sending requests before connections are refused. After Ctrl-C there is no delay.
 */
export const waitUntilStopped = (delay_ms: number) =>
  Effect.gen(function* () {
    let isTerminated = false
    let isStopping = false
    const onSigterm = () => {
      isTerminated = true
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => process.on("SIGTERM", onSigterm)),
      () => Effect.sync(() => process.off("SIGTERM", onSigterm))
    )
    yield* probe({ complaint: Effect.sync(() => (isStopping ? STOPPING : null)) })
    const serveOn = Effect.suspend(() => {
      if (!isTerminated) return Effect.void
      isStopping = true
      return Effect.sleep(delay_ms)
    })
    return yield* Effect.onInterrupt(Effect.never, () => Effect.withClock(serveOn, Clock.make()))
  })
