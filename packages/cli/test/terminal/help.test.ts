import { describe, expect, it } from "vitest"
import { makeWorkshop } from "../../src/commandLine.js"
import { everyCommand } from "../../src/terminal/program.js"
import { everyHelp, runCommandLine } from "../runCommandLine.js"

describe("help (Specification, Commands)", { timeout: 60_000 }, () => {
  it("the help of every command has a description and an example", async () => {
    const helps = await everyHelp()
    expect(helps.map(({ words }) => words)).toEqual(
      expect.arrayContaining(["workshop", "workshop serve", "workshop receive", "workshop shop create"])
    )
    for (const { words, description, examples } of helps) {
      expect(description, words).not.toBe("")
      for (const line of examples) expect(line, words).toContain(words)
    }
  })

  it("no line of any help is longer than 80 columns", async () => {
    const longer = (await everyHelp()).flatMap(({ words, help }) =>
      help.split("\n").flatMap((line) => (line.length > 80 ? [`${words}: ${line}`] : []))
    )
    expect(longer).toEqual([])
  })

  it("a flag has the same placeholder in every command, unless its values are of different kinds", async () => {
    const make = await makeWorkshop()
    const placeholders = new Map<string, Set<string>>()
    for (const { flags } of everyCommand(make(() => undefined)).flatMap(({ options }) => options)) {
      const [, flag = "", placeholder = ""] = /^(--\S+) (<.+>)$/.exec(flags) ?? []
      if (flag !== "") placeholders.set(flag, (placeholders.get(flag) ?? new Set()).add(placeholder))
    }
    const different = [...placeholders].filter(([, names]) => names.size > 1)
    expect(different.map(([flag, names]) => `${flag} ${[...names].sort().join(" ")}`)).toEqual([
      // A receiver responds with a status; `workshop logs` filters by a status or a class such as 4xx.
      "--status <number> <status>",
      // The cases of `workshop conform` have ids; scenarios are chosen by a part of their name.
      "--only <id> <text>"
    ])
    expect([...(placeholders.get("--base-url") ?? [])]).toEqual(["<url>"])
    expect([...(placeholders.get("--duration") ?? [])]).toEqual(["<duration>"])
  })

  it("workshop --help shows the exit statuses, how a file sets a variable, and each group once", async () => {
    const { status, stdout, stderr } = await runCommandLine(["--help"])
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
    expect(stdout).toMatch(
      /Exit status:\n {2}0 {4}The command succeeded.*\n {7}.*\n {2}1 {4}The command was refused.*\n {7}.*\n {2}130 {2}Ctrl-C/
    )
    expect(stdout.match(/^ {2}shop /gm)).toHaveLength(1)
    for (const word of ["--no-color", "--version", "NAME_FILE"]) expect(stdout).toContain(word)
  })

  it("a group lists its commands, and the usage of a command below it is written in full", async () => {
    const group = await runCommandLine(["key", "--help"])
    expect(group.stdout).toMatch(/^ {2}create +Create an API key, and show its text, which cannot be shown again$/m)
    const create = await runCommandLine(["key", "create", "--help"])
    expect(create.stdout).toMatch(/^Usage: workshop key create \[options\] <shop>\n/)
    expect(create.stdout).toMatch(/Examples:\n {2}workshop key create /)
  })

  it("the help shows a flag with its choices, its default and its variable", async () => {
    const help = (await runCommandLine(["serve", "--help"])).stdout.replaceAll(/\s+/g, " ")
    expect(help).toContain(
      "--log-level <level> The lowest level of the lines that are logged. (choices: debug, info, warning, error, none; default: info; env: WORKSHOP_LOG_LEVEL)"
    )
    expect(help).toContain("(default: 4010; env: WORKSHOP_PORT)")
    expect(help).toContain("(env: DATABASE_URL)")
  })

  it("workshop serve --help shows each flag below the heading of its group", async () => {
    const help = (await runCommandLine(["serve", "--help"])).stdout
    expect(help.match(/^[A-Z][\w' ]+:$/gm)).toEqual([
      "Store:",
      "Server:",
      "Connections:",
      "Webhooks:",
      "Sandbox:",
      "Clients' pages:",
      "Logs and traces:",
      "Other:",
      "Examples:"
    ])
    expect(help).toMatch(/^Sandbox:\n {2}--sandbox /m)
    expect(help).toMatch(/^Other:\n {2}-h, --help +Show this help\.\n\n/m)
    expect((await runCommandLine(["dispatch", "--help"])).stdout).toMatch(/^Options:\n {2}--database-url /m)
  })

  it("workshop webhook replay --help says which flags are required, and how to send all events", async () => {
    const help = (await runCommandLine(["webhook", "replay", "--help"])).stdout.replaceAll(/\s+/g, " ")
    expect(help).toContain(
      "Give at least one of --ids, --since, --until and --state. --since 2020-01-01 sends all events again."
    )
  })

  it("a group that is typed without a command lists its commands", async () => {
    expect(await runCommandLine(["key"])).toEqual({
      status: 1,
      stdout: "",
      stderr: "Give one of the commands create, list, revoke. workshop key --help describes them.\n"
    })
  })
})

describe("workshop verify and openapi (Specification, Commands)", { timeout: 30_000 }, () => {
  it("workshop verify exits with 1 and prints the reason, as text or as JSON", async () => {
    const args = ["verify", "--secret", "whsec_x", "--signature", "hello", "--json", "package.json"]
    const { status, stdout, stderr } = await runCommandLine(args)
    expect(status).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ valid: false, reason: "malformed", t: null })
    expect(stderr).toMatch(/^The value of --signature does not have the form t=<seconds>,v1=<64 hex digits>/)
  })

  it("workshop openapi prints one document, as JSON and as YAML", async () => {
    const [json, yaml] = await Promise.all([runCommandLine(["openapi"]), runCommandLine(["openapi", "--yaml"])])
    expect(JSON.parse(json.stdout).openapi).toBe("3.1.0")
    const { parse } = await import("yaml")
    expect(parse(yaml.stdout)).toEqual(JSON.parse(json.stdout))
  })
})
