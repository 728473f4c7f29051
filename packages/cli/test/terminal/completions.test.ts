import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { stripVTControlCharacters } from "node:util"
import { Effect } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { command, jsonFlag, optionalFlag } from "../../src/terminal/commands.js"
import { completionScript } from "../../src/terminal/completions.js"
import { oneOf, text } from "../../src/terminal/decoders.js"
import { group, Operand } from "../../src/terminal/program.js"

const name = optionalFlag("--name <text>", "The shop's name: as shown.", { decoder: text })
const store = optionalFlag("--store <store>", "Where it is kept.", oneOf(["memory", "postgres"]))
const html = optionalFlag("--html <file>", "A page.", { decoder: text })
const dir = optionalFlag("--dir <folder>", "A folder.", { decoder: text })
const does = (name: string, description: string, options: Parameters<typeof command>[0]["options"]) =>
  command({ name, description, examples: [], options, run: () => Effect.void })
const outline = group({ name: "workshop", description: "", examples: [] }, [
  does("serve", "Serve", { store, html, dir, json: jsonFlag }),
  group({ name: "shop", description: "Shops", examples: [] }, [
    does("create", "Open a shop: it's yours", { name, json: jsonFlag }),
    does("show", "Show a shop", { json: jsonFlag, id: new Operand<string>("<id>", "Its id.") }),
    does("set", "Set", { state: new Operand<string>("<state>", "The state.").choices(["open", "closed"]) })
  ])
])

/** The completions that bash offers for a line of words, the last of which is incomplete. */
const offered = (...words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const script = [
    completionScript("bash", outline),
    `cd ${folder}`,
    `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")})`,
    `COMP_CWORD=${words.length - 1}`,
    words[0] === "npx" ? "_workshop_npx" : "_workshop",
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

/** The completions that fish offers for a text, each with its description. */
const offeredByFish = (typed: string): ReadonlyArray<string> =>
  said("fish", ["--no-config", "-c", `source ${scriptOf("fish")}; complete -C '${typed}'`])
    .trim()
    .split("\n")

/** Types a text and two Tabs into zsh on a terminal, and reads until zsh shows the expected text. */
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

describe("completions (Specification, Commands)", () => {
  it("bash completes commands and flags at every level", () => {
    expect(offered("workshop", "")).toEqual(["serve", "shop", "--help"])
    expect(offered("workshop", "sh")).toEqual(["shop"])
    expect(offered("workshop", "shop", "")).toEqual(["create", "show", "set", "--help"])
    expect(offered("workshop", "shop", "set", "")).toEqual(["open", "closed", "--help"])
    expect(offered("workshop", "shop", "create", "--")).toEqual(["--name", "--json", "--help"])
    expect(offered("workshop", "shop", "create", "--name", "serve", "--j")).toEqual(["--json"])
    expect(offered("workshop", "shop", "create", "--name", "")).toEqual([""])
  })

  it("bash completes the values of a flag, after npx workshop too", () => {
    writeFileSync(join(folder, "page.html"), "")
    mkdirSync(join(folder, "sub"))
    for (const begun of [["workshop"], ["npx", "workshop"]]) {
      expect(offered(...begun, "serve", "--store", "")).toEqual(["memory", "postgres"])
      expect(offered(...begun, "serve", "--store", "=", "p")).toEqual(["postgres"])
      expect(offered(...begun, "serve", "--store", "=")).toEqual(["memory", "postgres"])
      expect(offered(...begun, "serve", "--html", "pa")).toEqual(["page.html"])
      expect(offered(...begun, "serve", "--dir", "su")).toEqual(["sub"])
      expect(offered(...begun, "serve", "--store", "memory", "--h")).toEqual(["--html", "--help"])
    }
    expect(offered("npx", "work")).toEqual(["workshop"])
    expect(offered("npx", "eslint", "")).toEqual([""])
  })

  it("the scripts of zsh and fish have the same words with their descriptions, safely quoted", () => {
    const zsh = completionScript("zsh", outline)
    expect(zsh).toMatch(/^#compdef workshop npx\n/)
    expect(zsh).toContain(
      `("workshop shop") entries=('create:Open a shop\\: it'\\''s yours' 'show:Show a shop' 'set:Set' '--help:Show this help') ;;`
    )
    const fish = completionScript("fish", outline)
    expect(fish).toContain(
      "complete -c $command -n '__workshop_at workshop shop' -f -a create -d 'Open a shop: it\\'s yours'"
    )
    expect(fish).toContain(
      "complete -c $command -n '__workshop_at workshop shop create' -l name -x -d 'The shop\\'s name'"
    )
  })

  it.skipIf(!has("fish"))("fish completes commands, flags and values at every level, with their descriptions", () => {
    expect(offeredByFish("workshop s")).toEqual(["serve\tServe", "shop\tShops"])
    expect(offeredByFish("workshop shop ")).toEqual([
      "create\tOpen a shop: it's yours",
      "set\tSet",
      "show\tShow a shop"
    ])
    expect(offeredByFish("workshop shop create --name serve --j")).toEqual([
      "--json\tPrint JSON, for a program to read"
    ])
    for (const begun of ["workshop", "npx workshop"]) {
      expect(offeredByFish(`${begun} shop c`)).toEqual(["create\tOpen a shop: it's yours"])
      expect(offeredByFish(`${begun} serve --store `)).toEqual([
        "memory\tWhere it is kept",
        "postgres\tWhere it is kept"
      ])
      expect(offeredByFish(`${begun} serve --store=p`)).toEqual(["--store=postgres\tWhere it is kept"])
    }
    expect(offeredByFish("npx work")).toContain("workshop")
  })

  it.skipIf(!has("zsh"))(
    "zsh completes commands, flags and values at every level, with their descriptions",
    {
      timeout: 60_000
    },
    () => {
      expect(shownByZsh("workshop shop ", "Show a shop")).toMatch(
        /create {2}-- Open a shop: it's yours\s+set {5}-- Set\s+show {4}-- Show a/
      )
      expect(shownByZsh("workshop shop create --name serve --j", "--json")).toContain("--json")
      for (const begun of ["workshop", "npx workshop"]) {
        expect(shownByZsh(`${begun} serve --store `, "postgres")).toMatch(/memory\s+postgres/)
      }
      expect(shownByZsh("npx workshop sh", "shop")).toContain("shop")
    }
  )
})
