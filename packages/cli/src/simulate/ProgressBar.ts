import { Effect } from "effect"
import { realMs } from "./realMs.js"
import type { Progress } from "./simulation.js"

const REDRAWN_MS = 100
const BREATH_STEPS = 25
const CELLS = 24
const ERASE = "\r\u001b[K"

/** Where a bar is drawn: standard error, if that is a terminal. */
export interface Screen {
  readonly isTTY?: boolean
  readonly write: (text: string) => unknown
}

/** Lets signals and sockets have their turn. */
const breathe = Effect.async<void>((resume) => {
  const immediate = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(immediate))
})

const drawn = ({ step, now, requests, deliveries }: Progress, steps: number, since_ms: number): string => {
  const filled = Math.min(CELLS, Math.floor((CELLS * step) / steps))
  const seconds = Math.max(0.001, since_ms / 1000)
  const rate = (n: number) => Math.round(n / seconds).toLocaleString("en-US")
  const bar = `[${"#".repeat(filled)}${".".repeat(CELLS - filled)}]`
  return `${bar} ${step}/${steps} steps, ${new Date(now).toISOString().slice(0, 10)}, ${rate(requests)} requests/s, ${rate(deliveries)} deliveries/s`
}

/** Shows how far a simulation is, on a terminal and nowhere else. */
export const progressBar = (steps: number, screen: Screen, redrawn_ms = REDRAWN_MS) => {
  const began = realMs()
  let last = began
  return {
    show: (progress: Progress): Effect.Effect<void> =>
      Effect.suspend(() => {
        const now = realMs()
        if (screen.isTTY === true && now - last >= redrawn_ms) {
          last = now
          screen.write(`${ERASE}${drawn(progress, steps, now - began)}`)
        }
        return progress.step % BREATH_STEPS === 0 ? breathe : Effect.void
      }),
    clear: Effect.sync(() => {
      if (screen.isTTY === true) screen.write(ERASE)
    })
  }
}
