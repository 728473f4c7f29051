import type { ImportReport } from "@workshop/core"
import { pluralize } from "@workshop/core/internal/terminal"

/** The output that shows the progress: standard error. */
interface Screen {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly write: (text: string) => unknown
}

const BAR = 30

/**
 * Shows a bar of how much of the file was read and the number of rows, only on a terminal. There is no bar for standard
 * input, because its size is unknown. The line is shortened to the width of the terminal, because a line that wraps
 * cannot be overwritten.
 */
export const importProgress = (size: number, bytesRead: () => number, screen: Screen) => {
  if (screen.isTTY !== true) return undefined
  return ({ rows }: Pick<ImportReport, "rows">) => {
    const share = size === 0 ? 0 : Math.min(1, bytesRead() / size)
    const full = Math.round(share * BAR)
    const bar = size === 0 ? "" : `[${"#".repeat(full)}${" ".repeat(BAR - full)}] ${Math.round(share * 100)} % `
    screen.write(`\r${`${bar}${pluralize(rows, "row")}`.slice(0, (screen.columns ?? 80) - 1)}`)
  }
}
