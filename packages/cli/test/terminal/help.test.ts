import { examples } from "@workshop/cli/terminal/examples"
import { describe, expect, it } from "vitest"
import { typed } from "../commandLine.js"

/** The words and the description of every command, as the completions of fish tell them. */
const commandsIn = (fish: string) =>
  [
    ...fish.matchAll(/^ {2}complete -c \$command -n '__workshop_at workshop ?([a-z -]*)' -f -a ([\w-]+) -d '(.*)'$/gm)
  ].map(([, above = "", word = "", does = ""]) => ({ words: [above, word].filter(Boolean).join(" "), does }))

describe("help (Specification, Commands)", () => {
  it("every command says what it does and has an example, and no example is left over", async () => {
    const { status, stdout } = await typed(["completions", "fish"])
    expect(status).toBe(0)
    const commands = commandsIn(stdout)
    expect(commands.map(({ words }) => words)).toEqual(expect.arrayContaining(["serve", "receive", "shop create"]))
    expect(commands.filter(({ does }) => does === "")).toEqual([])
    expect(commands.filter(({ words }) => (examples[words] ?? []).length === 0)).toEqual([])
    const known = ["", ...commands.map(({ words }) => words)]
    expect(Object.keys(examples).filter((words) => !known.includes(words))).toEqual([])
    for (const [words, lines] of Object.entries(examples)) {
      for (const line of lines) expect(line).toContain(words === "" ? "workshop " : `workshop ${words}`)
    }
  })

  it("workshop --help tells the exit statuses, and each group once", async () => {
    const { stdout } = await typed(["--help"])
    expect(stdout).toMatch(/EXIT STATUS\n\n {2}0 {4}done.*\n {2}1 {4}refused.*\n {2}130 {2}interrupted/)
    expect(stdout.match(/^ {2}workshop shop/gm)).toEqual(["  workshop shop"])
    expect(stdout).toContain("--no-color")
  })

  it("a group lists its commands, and a command below it is written in full", async () => {
    const group = await typed(["key", "--help"])
    expect(group.stdout).toMatch(/^ {2}workshop key create {2}Make a key; its text is shown once$/m)
    const create = await typed(["key", "create", "--help"])
    expect(create.stdout).toContain("\n$ workshop key create [options] <shop>\n")
    expect(create.stdout).toContain("EXAMPLES\n\n  workshop key create ")
  })

  it("a group alone is no command: it says what to name", async () => {
    expect(await typed(["key"])).toEqual({
      status: 1,
      stdout: "",
      stderr: "Name what to do, such as workshop key list 0197...; workshop key --help lists all.\n"
    })
  })

  it("an argument that is missing is named", async () => {
    const { status, stderr } = await typed(["client", "show"])
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: "workshop client show lacks its <client>: workshop client show --help shows how it is written.\n"
    })
  })
})

describe("workshop verify and openapi (Specification, Commands)", { timeout: 30_000 }, () => {
  it("verify exits with 1 and tells why, also as JSON", async () => {
    const args = ["verify", "--secret", "whsec_x", "--signature", "hello", "--json", "package.json"]
    const { status, stdout, stderr } = await typed(args)
    expect(status).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ valid: false, reason: "malformed", t: null })
    expect(stderr).toMatch(/^The header is not t=<seconds>,v1=<64 hex digits>/)
  })

  it("openapi prints one document, as JSON and as YAML", async () => {
    const [json, yaml] = await Promise.all([typed(["openapi"]), typed(["openapi", "--yaml"])])
    expect(JSON.parse(json.stdout).openapi).toBe("3.1.0")
    const { parse } = await import("yaml")
    expect(parse(yaml.stdout)).toEqual(JSON.parse(json.stdout))
  })
})
