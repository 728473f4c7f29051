import type { ImportReport } from "@workshop/core"
import { counted } from "../terminal/counted.js"

/** The output for the progress: standard error. */
interface Screen {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly write: (text: string) => unknown
}

const BAR = 30

/**
 * A bar of how much of the file was read, with the rows so far, on a terminal and nowhere else. Standard input has no size, so it has no
 * bar. The line is cut to the terminal's width, because a line that wraps cannot be drawn over.
 */
export const importProgress = (size: number, bytesRead: () => number, screen: Screen) => {
  if (screen.isTTY !== true) return undefined
  return ({ rows }: Pick<ImportReport, "rows">) => {
    const share = size === 0 ? 0 : Math.min(1, bytesRead() / size)
    const full = Math.round(share * BAR)
    const bar = size === 0 ? "" : `[${"#".repeat(full)}${" ".repeat(BAR - full)}] ${Math.round(share * 100)} % `
    screen.write(`\r${`${bar}${counted(rows, "row")}`.slice(0, (screen.columns ?? 80) - 1)}`)
  }
}
