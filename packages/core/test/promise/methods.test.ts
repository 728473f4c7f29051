import { readFileSync } from "node:fs"
import { type AnyRefusal, refusalResponse, start, withClient } from "@workshop/core/promise"
import * as MemoryStore from "@workshop/store-memory"
import { describe, expect, it } from "vitest"

const page = readFileSync(new URL("../../../../docs/embed.md", import.meta.url), "utf8")
const [, table = ""] = /<!-- methods: generated -->([\s\S]*?)<!-- methods: end -->/.exec(page) ?? []
const rows = [...table.matchAll(/^\| `([\w.]+)\(.*?\)` \| (.*?) \| (.*?) \| (.*?) \|$/gm)]

it("the page for embedders has a row with a sentence for every method", async () => {
  const { orThrow, export: exported, stop } = await start({ store: MemoryStore.layer, background: false })
  const names = Object.entries({ ...orThrow, export: exported }).flatMap(([group, methods]) =>
    typeof methods === "function" ? [group] : Object.keys(methods).map((name) => `${group}.${name}`)
  )
  expect(rows.map(([, name]) => name).toSorted()).toEqual(names.toSorted())
  for (const [, name, sentence] of rows) expect(sentence, name).toMatch(/^[A-Z].*\.$/)
  await stop()
})

it("the types of a move and of a creation have their refusals by tag", () => {
  const of = (name: string) => rows.find((row) => row[1] === name)?.[4]
  const tags = (...names: ReadonlyArray<AnyRefusal["_tag"]>) => names.map((tag) => `\`${tag}\``).join(", ")
  expect(of("tickets.create")).toBe(tags("ClientNotFound", "ForbiddenWord", "IdempotencyKeyReused", "LimitReached"))
  expect(of("tickets.changeStatus")).toBe(
    tags(
      "IdempotencyKeyReused",
      "InvalidTransition",
      "LimitReached",
      "ReopenWindowPassed",
      "SameState",
      "TicketAbandoned",
      "TicketNotFound"
    )
  )
  expect(of("shops.create")).toBe("")
})

it("the listed result type of a method shows its fields, and only names of exported types", () => {
  const of = (name: string) => rows.find((row) => row[1] === name)?.[3]
  expect(of("tickets.create")).toBe("`{ data: Ticket, replayed, limitStatuses: LimitStatus[] }`")
  expect(of("tickets.changeStatus")).toBe("`{ data: Ticket, replayed }`")
  expect(of("keys.create")).toBe("`{ record: ApiKeyRecord, key }`")
  expect([of("tickets.history"), of("offers.accept")]).toEqual(["`TicketChange[]`", ""])
})

describe("a call with arguments that the method does not have", () => {
  const SHOP = "01980000-0000-7000-8000-000000000001"

  it.each<[string, ReadonlyArray<unknown>, string]>([
    ["shops.list", [{ limit: 10 }], "limit is required; the arguments are (after, limit), in this order"],
    ["shops.list", [], "limit is required; the arguments are (after, limit), in this order"],
    ["keys.list", [{ shop_id: SHOP }], "shop_id must be a string; the only argument is shop_id"],
    [
      "tickets.list",
      [{ limit: 2 }],
      "ticket_query is required; the arguments are (caller, ticket_query), in this order"
    ],
    ["webhooks.events", [{ limit: 2 }], "shop_id must be a string; the arguments are (shop_id, page), in this order"],
    ["webhooks.events", [SHOP, 10], "page must be an object; the arguments are (shop_id, page), in this order"],
    ["quotes.accept", [SHOP, SHOP], "argument 1 must be an object; the only argument is { client_id, ticket_id }"]
  ])("the refusal of %s with %j lists the arguments of the method", async (name, args, ending) => {
    const workshop = await start({ store: MemoryStore.layer, background: false })
    const [group = "", method = ""] = name.split(".")
    const api = workshop.orThrow as unknown as Record<
      string,
      Record<string, (...args: ReadonlyArray<unknown>) => unknown>
    >
    const error = await Promise.resolve(api[group]![method]!(...args)).catch((error: Error) => error)
    expect((error as Error).message).toSatisfy((message: string) => message.endsWith(ending), ending)
    // Responses of the API do not contain the names of arguments.
    expect(JSON.stringify(refusalResponse(error).body)).not.toContain("the arguments are")
    await workshop.stop()
  })

  it("a refusal of a wrong value does not list the arguments", async () => {
    const { orThrow, stop } = await start({ store: MemoryStore.layer, background: false })
    await expect(orThrow.shops.list(null, "10" as never)).rejects.toThrow(/^limit must be a number$/)
    await expect(orThrow.webhooks.set(SHOP, undefined as never)).rejects.toThrow(/^webhook_address is required$/)
    await stop()
  })

  it("withClient refuses an object that is not a pool, such as a query builder's database", async () => {
    for (const pool of [{ $client: {} }, "postgres://localhost/shop", undefined])
      await expect(withClient(pool as never, async () => 1)).rejects.toMatchObject({
        _tag: "TransactionRefused",
        message: "The argument is not a pool of pg. Pass the Pool itself, not its url or a query builder's wrapper."
      })
  })

  it("as and onEvent throw for a wrong argument, because they return no promise", async () => {
    const workshop = await start({ store: MemoryStore.layer, background: false })
    expect(() => workshop.as({ actor: "amira" } as never)).toThrow("The actor of as must be a string")
    expect(() => workshop.onEvent({ listener: () => {} } as never)).toThrow(
      "The listener of onEvent must be a function"
    )
    await workshop.stop()
  })
})
