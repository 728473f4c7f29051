import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ConfigProvider, Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { command, jsonFlag, optionalFlag, repeatableFlag } from "../../src/terminal/commands.js"
import { text } from "../../src/terminal/decoders.js"
import { group, Operand, parseCommand } from "../../src/terminal/program.js"
import { runCommandLine } from "../runCommandLine.js"
import { build, run } from "../Workshop.js"

const LONG = { timeout: 60_000 }
const folder = mkdtempSync(join(tmpdir(), "workshop-arguments-"))
afterAll(() => rmSync(folder, { recursive: true }))

let read: unknown
const help = { description: "Shops", examples: [] }
const show = command({
  ...help,
  name: "show",
  options: {
    json: jsonFlag,
    name: optionalFlag("--name <text>", "Its name.", { decoder: text }),
    words: repeatableFlag("--word <text>", "Words.", { decoder: text }),
    shop: new Operand<string>("<shop>", "The shop's id.")
  },
  run: (values) =>
    Effect.sync(() => {
      read = values
    })
})
const workshop = group({ ...help, name: "workshop" }, [group({ ...help, name: "shop" }, [show])])

/** The parsed values of a command line, or its error. */
const readLine = (line: string) => {
  read = undefined
  const parsed = parseCommand(workshop, line.split(" "))
  if (parsed.kind !== "run") return parsed.kind === "refuse" ? parsed.message : parsed.text
  return Effect.runSync(
    Effect.match(Effect.withConfigProvider(parsed.run, ConfigProvider.fromMap(new Map())), {
      onFailure: ({ message }) => message,
      onSuccess: () => read
    })
  )
}

const nothing = { json: false, name: null, words: [], shop: "1" }
const USAGE = ". See workshop shop show --help."

describe("the words of a command line", () => {
  it.each([
    ["shop show 1 --json", { ...nothing, json: true }],
    ["shop show --json 1", { ...nothing, json: true }],
    ["shop show --json --json 1", { ...nothing, json: true }],
    ["shop show --name=a=b --word x --word y,z 1", { ...nothing, name: "a=b", words: ["x", "y", "z"] }],
    ["shop show --name -x 1", { ...nothing, name: "-x" }],
    ["shop show --name=--json 1", { ...nothing, name: "--json" }],
    ["shop show --name - -- --json", { ...nothing, name: "-", shop: "--json" }]
  ])("the line %j is parsed into its flags and arguments", (line, values) => {
    expect(readLine(line)).toEqual(values)
  })

  it.each([
    ["shop show --jsn 1", `error: unknown option '--jsn' (Did you mean --json?)${USAGE}`],
    ["shop show -json 1", `error: unknown option '-json' (Did you mean --json?)${USAGE}`],
    [
      "shop show --shop 1",
      "error: unknown option '--shop'. Give the shop without a flag, as in workshop shop show <shop>. See workshop shop show --help."
    ],
    ["shop shwo 1", "error: unknown command 'shwo' (Did you mean show?). See workshop shop --help."],
    ["nonsense", "error: unknown command 'nonsense'. See workshop --help."],
    ["shop show 1 --name", `error: option '--name <text>' argument missing${USAGE}`],
    ["shop show 1 --name --json", `error: option '--name <text>' argument missing${USAGE}`],
    ["shop show --name -- 1", `error: option '--name <text>' argument missing${USAGE}`],
    ["shop show 1 --name a --name b", "--name is given more than once. Give it once."],
    ["shop show 1 --json=yes", `error: option '--json' takes no value${USAGE}`],
    ["shop show", `error: missing required argument 'shop'${USAGE}`],
    ["shop show 1 2", `error: too many arguments for 'show'. Expected 1 argument but got 2${USAGE}`]
  ])("the line %j is refused with what to do", (line, sentence) => {
    expect(readLine(line)).toBe(sentence)
  })
})

describe("mistyped command lines, each in its own process", LONG, () => {
  beforeAll(build, 120_000)

  it("a mistyped flag is refused, and not read as a file name", async () => {
    const file = join(folder, "hem.yaml")
    writeFileSync(file, "name: Hem\nsteps:\n  - create ticket: { service: Hem }\n")
    expect(await run(["scenario", "run", "--bial", file])).toEqual({
      status: 1,
      stdout: "",
      stderr: "error: unknown option '--bial' (Did you mean --bail?). See workshop scenario run --help.\n"
    })
    expect((await run(["scenario", "run", file, "--bail"])).status).toBe(0)
  })

  it("--help at any position shows the help, even after an unknown flag or one without its value", async () => {
    const help = await runCommandLine(["serve", "--help"])
    expect(help.stdout).toMatch(/^Usage: workshop serve /)
    for (const before of [["--store", "memory"], ["--port"], ["--sandbox"], ["--nonsense"]]) {
      expect(await runCommandLine(["serve", ...before, "--help"])).toEqual(help)
    }
    expect(await runCommandLine(["--help", "serve"])).toEqual(help)
    expect(await run(["serve", "--port", "1", "--help"])).toEqual(help)
  })

  it("--version at any position shows the version", async () => {
    for (const words of [["--version"], ["shop", "show", "--version"]])
      expect(await runCommandLine(words)).toEqual({
        status: 0,
        stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
        stderr: ""
      })
  })

  it("the error for an argument with a fixed set of values names the values", async () => {
    expect((await runCommandLine(["completions", "fis"])).stderr).toMatch(
      /^error: .*'fis' is invalid for argument 'shell'. Allowed choices are bash, zsh, fish\. See workshop completions --help\.\n/
    )
  })

  it("the error for a setting that cannot be changed later says so", async () => {
    expect((await runCommandLine(["shop", "set", "1", "--name", "Lac"])).stderr).toMatch(
      /^error: unknown option '--name'\. A shop's name, currency, .* cannot be changed\. Create another shop with workshop shop create\. See workshop shop set --help\.\n/
    )
  })
})
