import { Clock, Effect } from "effect"

/** When every simulation begins: a Friday morning. */
export const START = Date.parse("2026-11-20T08:00:00.000Z")

/** A clock that always tells the same time, so that a run does not depend on the day it is made on. Sleeping takes real time. */
export class StillClock implements Clock.Clock {
  readonly [Clock.ClockTypeId]: Clock.ClockTypeId = Clock.ClockTypeId
  readonly currentTimeMillis = Effect.succeed(START)
  readonly #real = Clock.make()
  readonly currentTimeNanos = this.#real.currentTimeNanos
  readonly sleep = this.#real.sleep

  unsafeCurrentTimeMillis(): number {
    return START
  }

  unsafeCurrentTimeNanos(): bigint {
    return this.#real.unsafeCurrentTimeNanos()
  }
}
