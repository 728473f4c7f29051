import { Clock } from "effect"

const real = Clock.make()

/** Real time in milliseconds, for rates and latencies; nothing that is played depends on it. */
export const realMs = (): number => Number(real.unsafeCurrentTimeNanos() / 1000n) / 1000
