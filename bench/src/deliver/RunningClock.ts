import { Effect } from "effect"
import { SettableClock } from "../../../packages/core/dist/testing/SettableClock.js"

/** The real time, for the fixtures of the contract suite, which want a clock that could be set. */
export class RunningClock extends SettableClock {
  override readonly currentTimeMillis = Effect.sync(() => this.unsafeCurrentTimeMillis())

  override unsafeCurrentTimeMillis(): number {
    return Math.floor(performance.timeOrigin + performance.now())
  }

  override unsafeCurrentTimeNanos(): bigint {
    return process.hrtime.bigint()
  }
}
