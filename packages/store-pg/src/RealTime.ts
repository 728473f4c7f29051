import { Clock, Context, Effect, Layer } from "effect"
import { currentServices } from "effect/DefaultServices"

const withRealClock = Context.add(Clock.Clock, Clock.make())

/**
 * Makes a store wait in real time under Effect's TestClock, because its database does. Otherwise an adjustment by months would run millions of
 * heartbeats, one for each second, and time-outs would pass while a test adjusts the clock. Commands still use the test's time.
 */
export const inRealTime = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  Layer.unwrapEffect(
    Effect.map(Effect.clock, (clock) =>
      "adjust" in clock ? Layer.locallyWith(layer, currentServices, withRealClock) : layer
    )
  )
