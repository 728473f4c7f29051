import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Outlined } from "@workshop/cli/terminal/CommandOutline"
import { readArguments } from "@workshop/cli/terminal/readArguments"
import { Either } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { typed } from "../commandLine.js"
import { build, run } from "../Workshop.js"

const PATIENT = { timeout: 60_000 }
const folder = mkdtempSync(join(tmpdir(), "workshop-arguments-"))
afterAll(() => rmSync(folder, { recursive: true }))

const nothing = { does: "", flags: [], operands: [], subcommands: [] }
const flag = (name: string, value: string | null, isRepeatable = false) => ({ name, does: name, value, isRepeatable })
const commands: readonly [Outlined, ...ReadonlyArray<Outlined>] = [
  { ...nothing, words: ["workshop"], subcommands: ["shop"] },
  { ...nothing, words: ["workshop", "shop"], subcommands: ["show", "set"] },
  { ...nothing, words: ["workshop", "shop", "set"] },
  {
    ...nothing,
    words: ["workshop", "shop", "show"],
    flags: [flag("--json", null), flag("--name", "text"), flag("--word", "text", true)],
    operands: [{ name: "shop", isOptional: false, isRepeatable: false }]
  }
]
const read = (line: string) => Either.merge(readArguments(line.split(" "), commands))

describe("the words of a command line", () => {
  it.each([
    ["shop show 1 --json", ["shop", "show", "--json", "--", "1"]],
    ["shop show --json 1", ["shop", "show", "--json", "--", "1"]],
    ["shop show --name=a=b --word x --word y 1", "shop show --name a=b --word x --word y -- 1".split(" ")],
    ["shop show --name - -- --json", ["shop", "show", "--name", "-", "--", "--json"]],
    ["shop show --nam x --help", ["shop", "show", "--help"]],
    ["shop --help show", ["shop", "show", "--help"]],
    ["shop show --version", ["--version"]]
  ])("%s", (line, words) => {
    expect(read(line)).toEqual(words)
  })

  it.each([
    [
      "shop show --jsn 1",
      "workshop shop show has no flag --jsn; did you mean --json? workshop shop show --help lists what there is."
    ],
    [
      "shop show -json 1",
      "workshop shop show has no flag -json; did you mean --json? workshop shop show --help lists what there is."
    ],
    ["shop shwo 1", "workshop shop has no command shwo; did you mean show? workshop shop --help lists what there is."],
    [
      "shop set 1 --name Lac",
      "workshop shop set has no flag --name, because a shop keeps its name, currency, decimals, time zone and tracking address for good: workshop shop create opens another shop."
    ],
    ["nonsense", "workshop has no command nonsense: workshop --help lists what there is."],
    ["shop show 1 --name", "--name lacks its value: give it as --name <text>. --name."],
    ["shop show 1 --name --json", "--name lacks its value: give it as --name <text>. --name."],
    ["shop show 1 --name a --name b", "--name is given twice: give it once."],
    ["shop show 1 --json=yes", "--json takes no value: give it alone, or leave it out."],
    ["shop show", "workshop shop show lacks its <shop>: workshop shop show --help shows how it is written."],
    [
      "shop show 1 2",
      'workshop shop show takes <shop> besides its flags, and "2" is one too many: workshop shop show --help lists what there is.'
    ]
  ])("%s is refused with what to do", (line, sentence) => {
    expect(read(line)).toBe(sentence)
  })
})

describe("mistyped words, in a process of their own", PATIENT, () => {
  beforeAll(build, 120_000)

  it("a mistyped flag is no file", async () => {
    const file = join(folder, "hem.yaml")
    writeFileSync(file, "name: Hem\nsteps:\n  - create ticket: { service: Hem }\n")
    expect(await run(["scenario", "run", "--bial", file])).toEqual({
      status: 1,
      stdout: "",
      stderr:
        "workshop scenario run has no flag --bial; did you mean --bail? workshop scenario run --help lists what there is.\n"
    })
    expect((await run(["scenario", "run", file, "--bail"])).status).toBe(0)
  })

  it("--help after other flags is help, even after one that lacks its value or is not known", async () => {
    const help = await typed(["serve", "--help"])
    for (const before of [["--store", "memory"], ["--port"], ["--sandbox"], ["--nonsense"]]) {
      expect(await typed(["serve", ...before, "--help"])).toEqual(help)
    }
    expect(await run(["serve", "--port", "1", "--help"])).toEqual(help)
  })

  it("one of a few words is named with them", async () => {
    expect((await typed(["completions", "fis"])).stderr).toBe(
      'workshop completions takes one of bash, zsh, fish, and not "fis"; did you mean fish?\n'
    )
  })
})
