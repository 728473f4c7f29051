import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { suite } from "@workshop/testers/conform"
import { describe, expect, it } from "vitest"

const root = fileURLToPath(new URL("../../../..", import.meta.url))
const page = readFileSync(`${root}docs/specification.md`, "utf8")

interface Rule {
  readonly text: string
  readonly anchor: string | undefined
  /** Ids of cases, in which `*` matches any characters. */
  readonly cases: ReadonlyArray<string>
  readonly paths: ReadonlyArray<string>
}

const rules: ReadonlyArray<Rule> = page
  .split("\n")
  .filter((line) => line.startsWith("- "))
  .map((line) => {
    const [, anchor, text = "", proof = ""] = /^- (?:<a id="([\w-]+)"><\/a>)?(.*?)(?: → (.*))?$/.exec(line) ?? []
    const named = [...proof.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name)
    return {
      text,
      anchor,
      cases: named.filter((name) => !name.includes("/")),
      paths: named.filter((name) => name.includes("/"))
    }
  })

const isNamedBy = (id: string) => (pattern: string) => new RegExp(`^${pattern.replaceAll("*", ".*")}$`).test(id)

describe("docs/specification.md and the cases of conform", () => {
  it("every rule names a case or another test that proves it", () => {
    expect(rules.length).toBeGreaterThan(100)
    expect(rules.filter(({ cases, paths }) => cases.length + paths.length === 0).map(({ text }) => text)).toEqual([])
  })

  it("every case and every test that the page names exists", () => {
    const names = rules.flatMap(({ cases }) => cases)
    expect(names.filter((name) => !suite.some(({ id }) => isNamedBy(id)(name)))).toEqual([])
    const paths = rules.flatMap(({ paths }) => paths)
    expect(paths.filter((path) => !existsSync(`${root}${path}`))).toEqual([])
  })

  it("every case names the anchor of a rule that names the case", () => {
    const astray = suite.filter(({ id, anchor }) => {
      const rule = rules.find((rule) => rule.anchor === anchor)
      return rule === undefined || !rule.cases.some(isNamedBy(id))
    })
    expect(astray.map(({ id, anchor }) => `${id} at ${anchor}`)).toEqual([])
  })

  it("every rule that a check of simulate can name is on the page", () => {
    const auditor = `${root}packages/testers/src/simulate/auditor`
    const checks = readdirSync(auditor)
      .filter((file) => file.startsWith("check"))
      .map((file) => readFileSync(`${auditor}/${file}`, "utf8"))
      .join("\n")
    expect(checks.match(/makeBreach\(/g)?.length).toBeGreaterThan(50)
    const anchors = [...new Set(checks.match(/(?<=")rule-[\w-]+(?=")/g))]
    expect(anchors.length).toBeGreaterThan(50)
    expect(anchors.filter((anchor) => !rules.some((rule) => rule.anchor === anchor))).toEqual([])
  })

  it("no page and no source names a section of a document that is not in the repository", () => {
    const files = ["docs", "packages", "examples", "scripts", "bench", "test"].flatMap((folder) =>
      readdirSync(`${root}${folder}`, { recursive: true, encoding: "utf8" })
        .filter((file) => /\.(ts|mjs|md|svg|yaml)$/.test(file) && !/(^|\/)(node_modules|dist)\//.test(file))
        .map((file) => `${folder}/${file}`)
    )
    const elsewhere = /\b(spec|contract|design)(\s|&#160;)(§|\\u00a7)(\d|\$\{)|\(design[ :)]/
    expect(files.filter((file) => elsewhere.test(readFileSync(`${root}${file}`, "utf8")))).toEqual([])
  })

  it("docs/conformance.md states the number of cases that exist", () => {
    const shown = readFileSync(`${root}docs/conformance.md`, "utf8")
    expect(/^(\d+) cases against/m.exec(shown)?.[1]).toBe(String(suite.length))
  })

  it("every anchor of the page is unique", () => {
    const anchors = rules.flatMap(({ anchor }) => anchor ?? [])
    expect(new Set(anchors).size).toBe(anchors.length)
  })
})
