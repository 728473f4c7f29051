import { Effect } from "effect"
import type { ShopId } from "../domain/Identifier.js"
import type { TicketRecord } from "../domain/Ticket.js"
import { Reads, type TicketFilter } from "../ports/Reads.js"
import { cases, each, holds, same } from "./ContractCase.js"
import { changing, placing, run } from "./Fixtures.js"

/** Changes a ticket in nothing but its place in the order of changes. */
const touch = (shop_id: ShopId, ticket: TicketRecord) =>
  run(changing(shop_id, (changes) => changes.ticket(ticket, null)))

const changed = (shop_id: ShopId, since: number, after: number | null, limit: number, filter: TicketFilter = {}) =>
  Effect.flatMap(Reads, (reads) =>
    Effect.map(reads.tickets(shop_id, filter, { _tag: "Changes", since, after }, limit), ({ tickets }) =>
      each(tickets, "record")
    )
  )

/** The list by change: what a till follows (Specification, Endpoints; Lists and sync). */
export const syncContract = cases({
  "changes are listed in their order, each ticket once at its last change": function* ({ clock, shop, start }) {
    const rows = yield* run(placing(shop.id, Array(5).fill({})))
    clock.advance(10)
    yield* touch(shop.id, rows[1]!)
    yield* touch(shop.id, rows[3]!)
    yield* touch(shop.id, rows[1]!)
    const order = (found: ReadonlyArray<TicketRecord>) => found.map(({ id }) => rows.findIndex((row) => row.id === id))
    const all = yield* changed(shop.id, start, null, 99)
    yield* same("order", order(all), [0, 2, 4, 3, 1])
    yield* holds(
      "change_seq rises",
      all.every((row, i) => i === 0 || row.change_seq > all[i - 1]!.change_seq)
    )
    yield* holds(
      "updated_at never falls",
      all.every((row, i) => i === 0 || row.updated_at >= all[i - 1]!.updated_at)
    )
    yield* same("since is inclusive", order(yield* changed(shop.id, start + 10, null, 99)), [3, 1])
    yield* same("nothing later", order(yield* changed(shop.id, start + 11, null, 99)), [])
    for (const [at, { change_seq }] of all.entries()) {
      yield* same("after a change", order(yield* changed(shop.id, start, change_seq, 99)), order(all.slice(at + 1)))
      yield* same("one more", order(yield* changed(shop.id, start, change_seq, 1)), order(all.slice(at + 1, at + 2)))
    }
  },

  "followed at every page size, with every change in one millisecond, none is missed": function* ({ shop, start }) {
    const rows = [...(yield* run(placing(shop.id, Array(12).fill({}))))]
    for (const i of [3, 3, 7, 0, 11]) yield* touch(shop.id, rows[i]!)
    for (let size = 1; size <= 13; size++) {
      const found: Array<TicketRecord> = []
      while (true) {
        const page = yield* changed(shop.id, start, found.at(-1)?.change_seq ?? null, size)
        found.push(...page)
        if (page.length < size) break
      }
      const expected = [1, 2, 4, 5, 6, 8, 9, 10, 3, 7, 0, 11].map((i) => rows[i]!.id)
      yield* same(`pages of ${size}`, each(found, "id"), expected)
    }
  },

  "a ticket that changes between two pages comes again, and none behind it is skipped": function* (bench) {
    const { clock, shop, start } = bench

    const rows = yield* run(placing(shop.id, Array(6).fill({})))
    const first = yield* changed(shop.id, start, null, 2)
    clock.advance(-5000)
    yield* touch(shop.id, rows[0]!)
    yield* touch(shop.id, rows[4]!)
    const [fresh] = yield* run(placing(shop.id, [{}]))
    const rest = yield* changed(shop.id, start, first.at(-1)!.change_seq, 99)
    yield* same("the rest", each(rest, "id"), [...[2, 3, 5, 0, 4].map((i) => rows[i]!.id), fresh!.id])
  },

  "the list by change tells when the shop last changed, whatever its filter (Specification, Lists and sync)":
    function* (bench) {
      const { clock, reads, shop, start } = bench

      const lastChange = (filter: TicketFilter, since: number, limit: number) =>
        Effect.map(
          reads.tickets(shop.id, filter, { _tag: "Changes", since, after: null }, limit),
          ({ last_change_at }) => last_change_at
        )
      yield* same("no ticket", yield* lastChange({}, start, 9), null)
      const rows = yield* run(placing(shop.id, [{}, {}]))
      clock.set(start + 10)
      yield* touch(shop.id, rows[0]!)
      yield* same("a page of it", yield* lastChange({}, start, 1), start + 10)
      yield* same("nothing found", yield* lastChange({ external_ref: "nobody" }, start, 9), start + 10)
      yield* same("a future instant", yield* lastChange({}, start + 99, 9), start + 10)
    },

  "filters hold for the list by change too": function* ({ shop, start }) {
    const rows = yield* run(
      placing(shop.id, [
        { state: "ready", external_ref: "x" },
        { external_ref: "x" },
        { state: "ready" },
        { state: "ready", external_ref: "x" }
      ])
    )
    yield* touch(shop.id, rows[0]!)
    const found = yield* changed(shop.id, start, null, 9, { state: ["ready"], external_ref: "x" })
    yield* same("found", each(found, "id"), [rows[3]!.id, rows[0]!.id])
    yield* same("limit", (yield* changed(shop.id, start, null, 1, { state: ["ready"] }))[0]?.id, rows[2]!.id)
  },

  "with a filter a page looks at so many changes, or at the tickets of its index where they are no more (Specification, Lists and sync)":
    function* (bench) {
      const { clock, reads, shop, start } = bench

      const rows: Array<TicketRecord> = []
      for (let i = 0; i < 12; i++) {
        clock.set(start + i)
        const external_ref = i === 10 ? "rare" : "common"
        rows.push(...(yield* run(placing(shop.id, [{ external_ref, state: i % 4 === 3 ? "ready" : "collected" }]))))
      }
      const page = (filter: TicketFilter, after: number | null, limit = 9) =>
        Effect.map(
          reads.tickets(shop.id, filter, { _tag: "Changes", since: start, after, most: 4 }, limit),
          ({ tickets, unread_from }) => ({
            found: tickets.map(({ record }) => rows.findIndex(({ id }) => id === record.id)),
            unread_from
          })
        )
      const from = (at: number) => ({ change_seq: rows[at]!.change_seq, updated_at: start + at })
      const after = (at: number) => rows[at]!.change_seq
      const many = { state: ["collected", "ready"] as const, created_after: start + 3, external_ref: "common" }
      yield* same("the first changes, of which one is meant", yield* page(many, null), {
        found: [3],
        unread_from: from(4)
      })
      yield* same("the next", yield* page(many, after(3)), { found: [4, 5, 6, 7], unread_from: from(8) })
      yield* same("the last", yield* page(many, after(7)), { found: [8, 9, 11], unread_from: null })
      const late = { created_after: start + 5 }
      yield* same("none among the first", yield* page(late, null), { found: [], unread_from: from(4) })
      yield* same("a full page", (yield* page(late, after(3), 2)).found, [5, 6])
      yield* same("few by reference", yield* page({ external_ref: "rare" }, null), { found: [10], unread_from: null })
      yield* same("few by state", yield* page({ state: ["ready"] }, after(3)), { found: [7, 11], unread_from: null })
      yield* same("few by creation", yield* page({ created_after: start + 8 }, null), {
        found: [8, 9, 10, 11],
        unread_from: null
      })
      yield* same("of nobody", yield* page({ external_ref: "none" }, null), { found: [], unread_from: null })
      yield* same("no filter", (yield* page({}, null)).found.length, 9)
    },

  "hundreds of changes of few tickets leave one place for each": function* ({ shop, start }) {
    const rows = yield* run(placing(shop.id, Array(3).fill({})))
    for (let i = 0; i < 200; i++) yield* touch(shop.id, rows[i % 3]!)
    const found = yield* changed(shop.id, start, null, 99)
    yield* same(
      "found",
      each(found, "id"),
      [2, 0, 1].map((i) => rows[i]!.id)
    )
    yield* same("seq", each(found, "change_seq"), [201, 202, 203])
  }
})
