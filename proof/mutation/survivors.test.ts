import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { parts, tables } from "./parts.mjs"
import { complaints, listed, scores } from "./survivors.mjs"

const SOURCE = "const a = 1\nconst isMore = (n: number) => n > a || n > a\n"
const mutant = (status: string, column = 31) => ({
  mutatorName: "EqualityOperator",
  replacement: "n >= a",
  status,
  location: { start: { line: 2, column }, end: { line: 2, column: column + 5 } }
})
const run = (...mutants: ReadonlyArray<ReturnType<typeof mutant>>) => ({
  "packages/core/src/domain/More.ts": { source: SOURCE, mutants: [...mutants] }
})
const MORE = "domain/More.ts: n > a → n >= a"

describe("the list of mutants that may survive", () => {
  it("the check reports a survivor that is not on the list", () => {
    expect(complaints(run(mutant("Survived")), "At most 0 lines\n")).toEqual([`survived: ${MORE}`])
    expect(complaints(run(mutant("NoCoverage")), "At most 0 lines\n")).toEqual([`survived: ${MORE}`])
    expect(complaints(run(mutant("Killed")), "At most 0 lines\n")).toEqual([])
  })

  it("the check accepts one survivor for each line of the list", () => {
    const list = `At most 1 lines\n${MORE} # equal\n`
    expect(complaints(run(mutant("Survived")), list)).toEqual([])
    expect(complaints(run(mutant("Survived"), mutant("Survived", 40)), list)).toEqual([`survived: ${MORE}`])
  })

  it("the check reports a line whose mutant is killed or gone, if its file was in the run", () => {
    const list = `At most 1 lines\n${MORE} # equal\n`
    expect(complaints(run(mutant("Killed")), list)).toEqual([`on the list, but killed or gone: ${MORE}`])
    expect(complaints(run(), list)).toEqual([`on the list, but killed or gone: ${MORE}`])
    expect(complaints({}, list)).toEqual([])
  })

  it("the list has exactly as many lines as its first line says, each with a reason", () => {
    expect(complaints(run(mutant("Survived")), `At most 2 lines\n${MORE} # equal\n`)).toEqual([
      "the list has 1 lines and says at most 2"
    ])
    expect(() => listed(`At most 1 lines\n${MORE}\n`)).toThrow("gives no reason")
    const { max, rows } = listed(readFileSync(new URL("survivors.txt", import.meta.url), "utf8"))
    expect(rows.length).toBe(max)
  })

  it("the score counts the killed mutants and all that were tested", () => {
    const mutants = [mutant("Killed"), mutant("Timeout"), mutant("Survived"), mutant("NoCoverage"), mutant("Ignored")]
    expect(scores(run(...mutants))).toEqual([{ file: "domain/More.ts", found: 2, all: 4 }])
  })
})

describe("the files that are mutated", () => {
  it("all files of the domain and of the decisions are mutated, except tables that another check compares", () => {
    const sources = new URL("../../packages/core/src/", import.meta.url)
    const files = ["decisions", "domain"].flatMap((folder) =>
      readdirSync(new URL(folder, sources))
        .filter((name) => name.endsWith(".ts"))
        .map((name) => `${folder}/${name.replace(".ts", "")}`)
    )
    const named = [...Object.values(parts).flatMap((part) => part.files), ...Object.keys(tables)]
    expect(named.toSorted()).toEqual(files.toSorted())
  })
})
