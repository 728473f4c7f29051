import { Clock, Context, Effect, Layer } from "effect"
import { currentServices } from "effect/DefaultServices"

const withRealClock = Context.add(Clock.Clock, Clock.make())

/**
 * Makes a store's timers run in real time under Effect's TestClock, because the database does too. Otherwise adjusting
 * the clock by months would run millions of heartbeats and end every timeout. Commands still use the test's time.
 */
export const inRealTime = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  Layer.unwrapEffect(
    Effect.map(Effect.clock, (clock) =>
      "adjust" in clock ? Layer.locallyWith(layer, currentServices, withRealClock) : layer
    )
  )
