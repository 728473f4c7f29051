import { coloured } from "@workshop/cli/terminal/Style"
import { type Column, shortened, table, widthFor, widthOf } from "@workshop/cli/terminal/Table"
import { describe, expect, it } from "vitest"

interface Row {
  readonly id: string
  readonly name: string
  readonly n: number
}

const columns: ReadonlyArray<Column<Row>> = [
  { title: "ID", cell: ({ id }) => id, isWhole: true },
  { title: "NAME", cell: ({ name }) => name },
  { title: "N", cell: ({ n }) => String(n), align: "right" }
]
const rows = [
  { id: "0197-a", name: "Atelier Lac", n: 7 },
  { id: "0197-b", name: "The cobbler by the old harbour", n: 120 }
]

describe("tables (contract §11)", () => {
  it("are as wide as their content where nothing bounds them", () => {
    expect(table(rows, columns)).toEqual([
      "ID      NAME                              N",
      "0197-a  Atelier Lac                       7",
      "0197-b  The cobbler by the old harbour  120"
    ])
  })

  it("are no wider than the terminal, and never shorten what is to be copied", () => {
    const lines = table(rows, columns, { width: 30 })
    expect(lines).toEqual([
      "ID      NAME                 N",
      "0197-a  Atelier Lac          7",
      "0197-b  The cobbler by...  120"
    ])
    expect(table(rows, columns, { width: 5 })[2]).toBe("0197-b  The...  120")
  })

  it("count what a terminal shows: colours take no room, wide letters two", () => {
    expect(widthOf(coloured("good", "ready"))).toBe(5)
    expect(widthOf("\u4fee\u7406")).toBe(4)
    expect(widthOf("e\u0301")).toBe(1)
    expect(shortened(coloured("good", "impossible"), 6)).toBe("\u001b[32mimp\u001b[39m...")
    expect(shortened("\u4fee\u7406\u4fee\u7406", 6)).toBe("\u4fee...")
  })

  it("keep a cell with line breaks on its line", () => {
    expect(table([{ id: "a", name: "two\n lines", n: 1 }], columns)[1]).toBe("a   two lines  1")
  })

  it("say so where there is nothing", () => {
    expect(table([], columns, { empty: "No shop yet." })).toEqual(["No shop yet."])
  })

  it("have bounds only on a terminal", () => {
    expect(widthFor({ isTTY: true, columns: 80 })).toBe(80)
    expect(widthFor({ isTTY: false, columns: 80 })).toBe(Number.POSITIVE_INFINITY)
    expect(widthFor({ isTTY: true })).toBe(Number.POSITIVE_INFINITY)
  })
})
