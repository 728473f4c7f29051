import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { stripVTControlCharacters } from "node:util"
import { Args, Command } from "@effect/cli"
import { outlineOf } from "@workshop/cli/terminal/CommandOutline"
import { completionScript } from "@workshop/cli/terminal/completionScripts"
import { json, value } from "@workshop/cli/terminal/Flags"
import { text } from "@workshop/cli/terminal/Readers"
import { Effect } from "effect"
import { afterAll, describe, expect, it } from "vitest"

const name = value({
  name: "name",
  placeholder: "text",
  description: "The shop's name: as shown.",
  read: text,
  fallback: ""
})
const nothing = () => Effect.void
const shop = Command.make("shop").pipe(
  Command.withDescription("Shops"),
  Command.withSubcommands([
    Command.make("create", { name, json }, nothing).pipe(Command.withDescription("Open a shop: it's yours")),
    Command.make("show", { json, id: Args.text({ name: "id" }) }, nothing).pipe(Command.withDescription("Show a shop"))
  ])
)
const serve = Command.make("serve", { json }, nothing).pipe(Command.withDescription("Serve"))
const outline = outlineOf(Command.make("workshop").pipe(Command.withSubcommands([serve, shop])))

/** What bash offers after these words, the last one being typed. */
const offered = (...words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const script = [
    completionScript("bash", outline),
    `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")})`,
    `COMP_CWORD=${words.length - 1}`,
    "_workshop",
    'printf "%s " $' + "{COMPREPLY[@]}"
  ]
  return execFileSync("bash", ["--norc", "-c", script.join("\n")], { encoding: "utf8" })
    .trim()
    .split(" ")
}

const folder = mkdtempSync(join(tmpdir(), "completions-"))
afterAll(() => rmSync(folder, { recursive: true }))

const said = (shell: string, args: ReadonlyArray<string>): string =>
  execFileSync(shell, args, { encoding: "utf8", timeout: 30_000 })

const has = (shell: string): boolean => spawnSync(shell, ["--version"]).status === 0

const scriptOf = (shell: "zsh" | "fish"): string => {
  const file = join(folder, shell)
  writeFileSync(file, completionScript(shell, outline))
  return file
}

/** What fish offers after a text, each with what it does. */
const offeredByFish = (typed: string): ReadonlyArray<string> =>
  said("fish", ["--no-config", "-c", `source ${scriptOf("fish")}; complete -C '${typed}'`])
    .trim()
    .split("\n")

/** Types a text and Tab twice into zsh on a terminal, and reads until it shows what is waited for. */
const ZSH = `zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PS1=; autoload -Uz compinit && compinit -u -D; source $1; COLUMNS=200; echo RE''ADY"
zpty -r -m z seen '*READY*'
zpty -w -n z "$2"$'\\t\\t'
zpty -r -m z seen "*$3*"
print -r -- $seen`

const shownByZsh = (typed: string, waitedFor: string): string => {
  const args = ["-f", "-c", ZSH, "zsh", scriptOf("zsh"), typed, waitedFor]
  return stripVTControlCharacters(said("zsh", args))
}

describe("completions (contract §11)", () => {
  it("know every command by its words, with its flags and what it does", () => {
    expect(outline).toEqual([
      { words: ["workshop"], does: "", flags: [], subcommands: ["serve", "shop"] },
      {
        words: ["workshop", "serve"],
        does: "Serve",
        flags: [{ name: "--json", does: "Print JSON, for a program to read" }],
        subcommands: []
      },
      { words: ["workshop", "shop"], does: "Shops", flags: [], subcommands: ["create", "show"] },
      {
        words: ["workshop", "shop", "create"],
        does: "Open a shop: it's yours",
        flags: [
          { name: "--name", does: "The shop's name" },
          { name: "--json", does: "Print JSON, for a program to read" }
        ],
        subcommands: []
      },
      {
        words: ["workshop", "shop", "show"],
        does: "Show a shop",
        flags: [{ name: "--json", does: "Print JSON, for a program to read" }],
        subcommands: []
      }
    ])
  })

  it("bash offers what can follow, at every level", () => {
    expect(offered("workshop", "")).toEqual(["serve", "shop", "--help"])
    expect(offered("workshop", "sh")).toEqual(["shop"])
    expect(offered("workshop", "shop", "")).toEqual(["create", "show", "--help"])
    expect(offered("workshop", "shop", "create", "--")).toEqual(["--name", "--json", "--help"])
    expect(offered("workshop", "shop", "create", "--name", "serve", "--j")).toEqual(["--json"])
  })

  it("zsh and fish are told the same, with what it does, safely quoted", () => {
    const zsh = completionScript("zsh", outline)
    expect(zsh).toMatch(/^#compdef workshop\n/)
    expect(zsh).toContain(
      `("workshop shop") entries=('create:Open a shop\\: it'\\''s yours' 'show:Show a shop' '--help:How it is used') ;;`
    )
    const fish = completionScript("fish", outline)
    expect(fish).toContain(
      "complete -c workshop -n '__workshop_at workshop shop' -f -a create -d 'Open a shop: it\\'s yours'"
    )
    expect(fish).toContain(
      "complete -c workshop -n '__workshop_at workshop shop create' -l name -d 'The shop\\'s name'"
    )
  })

  it.skipIf(!has("fish"))("fish offers what can follow, at every level, with what it does", () => {
    expect(offeredByFish("workshop s")).toEqual(["serve\tServe", "shop\tShops"])
    expect(offeredByFish("workshop shop ")).toEqual(["create\tOpen a shop: it's yours", "show\tShow a shop"])
    expect(offeredByFish("workshop shop create --name serve --j")).toEqual([
      "--json\tPrint JSON, for a program to read"
    ])
  })

  it.skipIf(!has("zsh"))("zsh offers what can follow, at every level, with what it does", { timeout: 60_000 }, () => {
    expect(shownByZsh("workshop shop ", "Show a shop")).toMatch(
      /create {2}-- Open a shop: it's yours\s+show {4}-- Show a/
    )
    expect(shownByZsh("workshop shop create --name serve --j", "--json")).toContain("--json")
  })
})
