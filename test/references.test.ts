import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Entropy } from "@workshop/core"
import { SettableClock } from "@workshop/core/testing"
import { layer as memoryStore } from "@workshop/store-memory"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { healthStory } from "../packages/core/test/deliveries/HealthStory.js"

const root = fileURLToPath(new URL("..", import.meta.url))
const read = (path: string) => readFileSync(join(root, path), "utf8")
const filesBelow = (folder: string, name: RegExp) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => name.test(path) && !/(^|\/)(node_modules|dist|generated|\.workshop)\//.test(path))
    .map((path) => join(folder, path))

const prose = (path: string) => read(path).replaceAll(/^```[\s\S]*?^```/gm, "")
const headingsOf = (page: string) => [...prose(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => heading)
/** The anchors of a page: those that GitHub generates for its headings, and those that the page defines. */
const anchorsOf = (page: string) => [
  ...[...prose(page).matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, anchor = ""]) => anchor),
  ...headingsOf(page).map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-")
  )
]

const pages = filesBelow("docs", /^[\w-]+\.md$/)
const REFERENCE = /\bdocs\/[\w-]+\.md(?:#[\w-]+|, (?!docs\/)[^():;"`]+(?=\)))?/g

/** The reason why a reference has no target; undefined if it has one. A reference names a heading after a comma. */
const faultOf = (reference: string) => {
  const [, page = "", anchor, heading] = /^([^#,]+)(?:#(.*)|, (.*))?$/.exec(reference) ?? []
  if (!pages.includes(page)) return "no such page"
  if (anchor !== undefined && !anchorsOf(page).includes(anchor)) return "no such anchor"
  if (heading !== undefined && !headingsOf(page).includes(heading)) return "no such heading"
  return undefined
}

describe("references from code to pages", () => {
  it("every page, anchor and heading that a title or a comment names exists", () => {
    const sources = ["packages", "test", "examples", "proof", "bench", "scripts"].flatMap((folder) =>
      filesBelow(folder, /\.(ts|tsx|mjs|sql)$/)
    )
    const references = sources.flatMap((path) =>
      [...read(path).matchAll(REFERENCE)].map(([reference]) => [path, reference] as const)
    )
    const faults = references.flatMap(([path, reference]) => {
      const fault = faultOf(reference)
      return fault === undefined ? [] : [`${path}: ${reference}: ${fault}`]
    })
    expect(faults).toEqual([])
    expect(references.length).toBeGreaterThan(200)
  })

  it("the check reports a page, an anchor or a heading that does not exist, and the number of a list item", () => {
    expect(faultOf(`docs/${"nothing"}.md`)).toBe("no such page")
    expect(faultOf(`docs/${"operating"}.md#nothing`)).toBe("no such anchor")
    expect(faultOf(`docs/${"how-it-is-built"}.md, point 4`)).toBe("no such heading")
    expect(faultOf("docs/operating.md, Database roles")).toBeUndefined()
    expect(faultOf("docs/operating.md#database-roles")).toBeUndefined()
  })
})

/** Messages of other programs that pages quote. */
const OF_OTHERS = ["Cannot use import statement outside a module", "Two different types with this name exist"]

/** A value that the code inserts into a message, for which a page has an example. */
const INSERTED = String.raw`(?:\$\{.+?\}+|[\w.:/-]+)`
const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
const patternOf = (part: string) =>
  new RegExp(
    part
      .split(/(\b[\w-]+\.(?:example|csv)\b|\b\d+\b)/)
      .map((piece, i) => (i % 2 === 0 ? escaped(piece) : INSERTED))
      .join("")
  )

describe("messages that pages quote", () => {
  it("docs/operating.md quotes the log lines on a webhook's health as the dispatcher writes them", () =>
    Effect.gen(function* () {
      const store = yield* Layer.build(Layer.provideMerge(memoryStore, Entropy.layerSeeded(1)))
      const { failing, recovered } = yield* healthStory(store)
      const written = [...failing, ...recovered].map(([, line]) =>
        line.replace("shop.example", "hooks.example").replace("responded 503", "responded 500")
      )
      const quotes = [...read("docs/operating.md").matchAll(/`(Deliveries to [^`…]+)…?`/g)].map(
        ([, quote = ""]) => quote
      )
      expect(quotes.map((quote, i) => written[i]?.slice(0, quote.length))).toEqual(quotes)
      expect(quotes).toHaveLength(written.length)
    }).pipe(Effect.scoped, Effect.withClock(new SettableClock()), Effect.runPromise))

  it("every sentence of a message that a page quotes is in the source code", () => {
    const source = ["core", "store-pg", "store-memory", "http-node", "testers", "cli", "client", "webhooks"]
      .flatMap((name) => filesBelow(`packages/${name}/src`, /\.ts$/))
      .map(read)
      .join("\n")
    const quotes = [...pages, "README.md"].flatMap((page) =>
      [
        ...prose(page)
          .replaceAll(/<[^>]+>/g, "")
          .matchAll(/`([A-Z][\w']* [a-z][^`=;{}()<>|]*)`|"([A-Z][\w']* [a-z]\w* [^"`=;{}()<>|]*)"/g)
      ].map(([, code, quotation]) => [page, code ?? quotation ?? ""] as const)
    )
    const missing = quotes.filter(
      ([, quote]) =>
        !OF_OTHERS.includes(quote) &&
        !quote.split(/\.? ?…|(?<=[.:]) /).every((part) => patternOf(part.replace(/[.:]$/, "")).test(source))
    )
    expect(missing.map(([page, quote]) => `${page}: ${quote}`)).toEqual([])
    expect(quotes.length).toBeGreaterThan(5)
  })
})
