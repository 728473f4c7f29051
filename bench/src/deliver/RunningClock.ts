import { Effect } from "effect"
import { SettableClock } from "../../../packages/core/dist/testing/SettableClock.js"

/** A clock that shows the real time, for fixtures of the contract suite that require a settable clock. */
export class RunningClock extends SettableClock {
  override readonly currentTimeMillis = Effect.sync(() => this.unsafeCurrentTimeMillis())

  override unsafeCurrentTimeMillis(): number {
    return Math.floor(performance.timeOrigin + performance.now())
  }

  override unsafeCurrentTimeNanos(): bigint {
    return process.hrtime.bigint()
  }
}
