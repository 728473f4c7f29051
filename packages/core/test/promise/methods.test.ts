import { readFileSync } from "node:fs"
import { type AnyRefusal, start } from "@workshop/core/promise"
import * as MemoryStore from "@workshop/store-memory"
import { expect, it } from "vitest"

const page = readFileSync(new URL("../../../../docs/embed.md", import.meta.url), "utf8")
const [, table = ""] = /<!-- methods: generated -->([\s\S]*?)<!-- methods: end -->/.exec(page) ?? []
const rows = [...table.matchAll(/^\| `([\w.]+)\(.*?\)` \| (.*?) \| (.*?) \| (.*?) \|$/gm)]

it("the page for embedders has a row for every method, with a sentence", async () => {
  const { orThrow, export: exported, stop } = await start({ store: MemoryStore.layer, background: false })
  const names = Object.entries({ ...orThrow, export: exported }).flatMap(([group, methods]) =>
    typeof methods === "function" ? [group] : Object.keys(methods).map((name) => `${group}.${name}`)
  )
  expect(rows.map(([, name]) => name).toSorted()).toEqual(names.toSorted())
  for (const [, name, sentence] of rows) expect(sentence, name).toMatch(/^[A-Z].*\.$/)
  await stop()
})

it("names the refusals of a move and of a creation by their tags", () => {
  const of = (name: string) => rows.find((row) => row[1] === name)?.[4]
  const tags = (...names: ReadonlyArray<AnyRefusal["_tag"]>) => names.map((tag) => `\`${tag}\``).join(", ")
  expect(of("tickets.create")).toBe(tags("ClientNotFound", "ForbiddenWord", "IdempotencyKeyReused", "LimitReached"))
  expect(of("tickets.changeStatus")).toBe(
    tags("InvalidTransition", "LimitReached", "ReopenWindowPassed", "SameState", "TicketAbandoned", "TicketNotFound")
  )
  expect(of("shops.create")).toBe("")
})

it("names the fields of a method's value, and the types that the entry exports", () => {
  const of = (name: string) => rows.find((row) => row[1] === name)?.[3]
  expect(of("tickets.create")).toBe("`{ data: Ticket, replayed, usages: LimitStatus[] }`")
  expect(of("tickets.changeStatusOnce")).toBe("`{ data: Ticket, replayed }`")
  expect(of("keys.create")).toBe("`{ record: ApiKeyRecord, key }`")
  expect([of("tickets.history"), of("offers.accept")]).toEqual(["`TicketChange[]`", ""])
})
