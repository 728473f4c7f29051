import { Effect } from "effect"
import type { Outlet } from "../terminal/Style.js"
import { shortened, widthFor } from "../terminal/Table.js"
import { realMs } from "./Recorder.js"
import type { Progress } from "./simulation.js"

const REDRAWN_MS = 100
const BREATH_STEPS = 25
const MOST_CELLS = 24
const FEWEST_CELLS = 8
const ERASE = "\r\u001b[K"

/** The output on which a bar is drawn: standard error, if that is a terminal. */
export interface Screen extends Outlet {
  readonly write: (text: string) => unknown
}

/** Lets signals and sockets have their turn. */
const breathe = Effect.async<void>((resume) => {
  const immediate = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(immediate))
})

/** The bar takes what the words leave of the line; where that is too little, the last of the words go first. */
const fitted = (share: number, words: ReadonlyArray<string>, width: number): string => {
  const text = words.join(", ")
  const cells = Math.min(MOST_CELLS, width - text.length - "[] ".length)
  if (cells < FEWEST_CELLS) return words.length > 1 ? fitted(share, words.slice(0, -1), width) : shortened(text, width)
  const filled = Math.min(cells, Math.floor(cells * share))
  return `[${"#".repeat(filled)}${".".repeat(cells - filled)}] ${text}`
}

const drawn = ({ step, now, requests, deliveries }: Progress, steps: number, since_ms: number, width: number) => {
  const seconds = Math.max(0.001, since_ms / 1000)
  const rate = (n: number) => Math.round(n / seconds).toLocaleString("en-US")
  const day = new Date(now).toISOString().slice(0, 10)
  const words = [`${step}/${steps} steps`, day, `${rate(requests)} requests/s`, `${rate(deliveries)} deliveries/s`]
  return fitted(step / steps, words, width)
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
          // A line that fills the last column wraps, and what wrapped is not erased.
          screen.write(`${ERASE}${drawn(progress, steps, now - began, widthFor(screen) - 1)}`)
        }
        return progress.step % BREATH_STEPS === 0 ? breathe : Effect.void
      }),
    clear: Effect.sync(() => {
      if (screen.isTTY === true) screen.write(ERASE)
    })
  }
}
