import { type Effect, Exit } from "effect"

/** Whether an effect is a result already, so that it can be used without another step of the runtime. */
export const isDone = <A, E>(effect: Effect.Effect<A, E>): effect is Exit.Exit<A, E> => Exit.isExit(effect)
