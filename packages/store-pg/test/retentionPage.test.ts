import { readFileSync } from "node:fs"
import { expect, it } from "vitest"

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")

it("the retention section of docs/operating.md lists every table of the schema exactly once", () => {
  const [, page] = read("../../../docs/operating.md").split("\n## Retention\n")
  const rows = page!
    .split("\n## ")[0]!
    .split("\n")
    .filter((line) => line.startsWith("| "))
  const named = rows.flatMap((row) => [...row.split("|")[2]!.matchAll(/`(\w+)`/g)].map(([, table]) => table))
  const tables = [...read("../schema.sql").matchAll(/^create (?:unlogged )?table (\w+)/gm)].map(([, table]) => table)
  expect(tables.length).toBeGreaterThan(30)
  expect(named.sort()).toEqual(tables.sort())
})
