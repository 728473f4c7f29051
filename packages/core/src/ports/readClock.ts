import { Clock, Context, Effect } from "effect"

/**
 * Does something with the clock that counts here. The same as `Effect.clockWith` in one step of the fiber instead of
 * several: for what every request passes.
 */
export const readClock = <A, E, R>(use: (clock: Clock.Clock) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiberRuntime((fiber) => use(Context.get(fiber.currentDefaultServices, Clock.Clock)))
