import { shorten } from "@workshop/core/internal/terminal"
import { realMs, type SimulationProgress } from "@workshop/testers/internal/simulate"
import { Effect } from "effect"
import { type Outlet, widthFor } from "../terminal/Output.js"

const REDRAWN_MS = 100
const MAX_BAR_WIDTH = 24
const MIN_BAR_WIDTH = 8
const ERASE = "\r\u001b[K"

/** The output on which a bar is drawn: standard error, if that is a terminal. */
interface Screen extends Outlet {
  readonly write: (text: string) => unknown
}

/** The bar fills the rest of the line after the words. If the rest is too short, the last words are omitted. */
const formatBar = (share: number, words: ReadonlyArray<string>, width: number): string => {
  const text = words.join(", ")
  const cells = Math.min(MAX_BAR_WIDTH, width - text.length - "[] ".length)
  if (cells < MIN_BAR_WIDTH)
    return words.length > 1 ? formatBar(share, words.slice(0, -1), width) : shorten(text, width)
  const filledCells = Math.min(cells, Math.floor(cells * share))
  return `[${"#".repeat(filledCells)}${".".repeat(cells - filledCells)}] ${text}`
}

const formatProgress = (
  { step, now, requests, deliveries }: SimulationProgress,
  steps: number,
  since_ms: number,
  width: number
) => {
  const seconds = Math.max(0.001, since_ms / 1000)
  const rate = (n: number) => Math.round(n / seconds).toLocaleString("en-US")
  const day = new Date(now).toISOString().slice(0, 10)
  const words = [`${step}/${steps} steps`, day, `${rate(requests)} requests/s`, `${rate(deliveries)} deliveries/s`]
  return formatBar(step / steps, words, width)
}

/** Shows the progress of a simulation, only on a terminal. */
export const progressBar = (steps: number, screen: Screen, redrawn_ms = REDRAWN_MS) => {
  const began = realMs()
  let last = began
  return {
    show: (progress: SimulationProgress): Effect.Effect<void> =>
      Effect.sync(() => {
        const now = realMs()
        if (screen.isTTY === true && now - last >= redrawn_ms) {
          last = now
          // The last column stays empty, because a line that fills it wraps, and the wrapped part is not erased.
          screen.write(`${ERASE}${formatProgress(progress, steps, now - began, widthFor(screen) - 1)}`)
        }
      }),
    clear: Effect.sync(() => {
      if (screen.isTTY === true) screen.write(ERASE)
    })
  }
}
