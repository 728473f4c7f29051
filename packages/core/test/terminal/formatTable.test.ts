import { describe, expect, it } from "vitest"
import { type Column, formatTable, shorten, widthOf } from "../../src/terminal/formatTable.js"
import { paintColoured } from "../../src/terminal/Paint.js"

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

describe("tables (Specification, Commands)", () => {
  it("a table without a limit is as wide as its content", () => {
    expect(formatTable(rows, columns)).toEqual([
      "ID      NAME                              N",
      "0197-a  Atelier Lac                       7",
      "0197-b  The cobbler by the old harbour  120"
    ])
  })

  it("a table is no wider than the terminal, and never shortens values that are meant to be copied", () => {
    const lines = formatTable(rows, columns, { width: 30 })
    expect(lines).toEqual([
      "ID      NAME                 N",
      "0197-a  Atelier Lac          7",
      "0197-b  The cobbler by...  120"
    ])
  })

  it("a table never shortens the titles of its columns", () => {
    const long = [{ title: "CURRENCY", cell: ({ name }: Row) => name }, ...columns.slice(0, 1)]
    expect(formatTable(rows, long, { width: 16 })).toEqual(["CURRENCY  ID", "Ateli...  0197-a", "The c...  0197-b"])
  })

  it("a table becomes a block of lines for each row on a narrower terminal, without empty cells", () => {
    expect(formatTable(rows, columns, { width: 15 })).toEqual([
      "ID    0197-a",
      "NAME  Atelie...",
      "N     7",
      "",
      "ID    0197-b",
      "NAME  The co...",
      "N     120"
    ])
    const nameless = [{ id: "0197-a", name: "", n: 7 }]
    expect(formatTable(nameless, columns, { width: 5 })).toEqual(["ID    0197-a", "N     7"])
  })

  it("a table measures the visible width: colours have none, wide letters have two", () => {
    expect(widthOf(paintColoured("good", "ready"))).toBe(5)
    expect(widthOf("\u4fee\u7406")).toBe(4)
    expect(widthOf("e\u0301")).toBe(1)
    expect(shorten(paintColoured("good", "impossible"), 6)).toBe("\u001b[32mimp\u001b[39m...")
    expect(shorten("\u4fee\u7406\u4fee\u7406", 6)).toBe("\u4fee...")
  })

  it("a table prints a cell with line breaks on one line", () => {
    expect(formatTable([{ id: "a", name: "two\n lines", n: 1 }], columns)[1]).toBe("a   two lines  1")
  })

  it("a table without rows says so", () => {
    expect(formatTable([], columns, { empty: "No shop yet." })).toEqual(["No shop yet."])
  })
})
