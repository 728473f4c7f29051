import { describe, expect, it } from "vitest"
import { importProgress } from "../../src/transfer/importProgress.js"

/** The progress line after 120 rows of a file of 200 bytes, unless other numbers are given. */
const drawn = (
  screen: { readonly isTTY?: boolean; readonly columns?: number },
  {
    size = 200,
    read = 100,
    rows = 120
  }: { readonly size?: number; readonly read?: number; readonly rows?: number } = {}
): string => {
  const stream = {
    ...screen,
    text: "",
    // Like the `write` of a stream, it needs its `this`.
    write(more: string) {
      this.text += more
    }
  }
  importProgress(size, () => read, stream)?.({ rows })
  return stream.text
}

describe("the progress of an import (docs/import.md)", () => {
  it("the progress of an import is drawn only on a terminal", () => {
    expect(drawn({ isTTY: true })).toBe("\r[###############               ] 50 % 120 rows")
    expect(drawn({ isTTY: false })).toBe("")
    expect(drawn({})).toBe("")
  })

  it("the progress of an import counts the rows of standard input, whose size is unknown", () => {
    expect(drawn({ isTTY: true }, { size: 0 })).toBe("\r120 rows")
  })

  it("the progress of an import uses a singular noun after 1", () => {
    expect(drawn({ isTTY: true }, { size: 0, rows: 1 })).toBe("\r1 row")
  })

  it("the progress of an import does not exceed 100 % of a file that grows while it is read", () => {
    expect(drawn({ isTTY: true }, { read: 300 })).toBe(`\r[${"#".repeat(30)}] 100 % 120 rows`)
  })

  it("the progress of an import stays within the terminal's width", () => {
    expect(drawn({ isTTY: true, columns: 20 })).toBe(`\r[${"#".repeat(15)}   `)
  })
})
