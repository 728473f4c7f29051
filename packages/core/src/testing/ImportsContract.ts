import { Effect, Schema, Stream } from "effect"
import { changeStatus } from "../decisions/changeStatus.js"
import { type CheckedRow, ImportRow, importTickets } from "../decisions/importTickets.js"
import type { ClientId, ShopId } from "../domain/Identifier.js"
import { DAY_MS, toIso } from "../domain/Instant.js"
import { Reads } from "../ports/StorePorts.js"
import { type ExportedRow, Imports } from "../services/Imports.js"
import { expectSame, makeCases, pluck, ticketIds } from "./ContractCase.js"
import { createTestTicket, FIRST_PAGE, newTicket, openAccount, runCommand } from "./Fixtures.js"

const makeCheckedRow = (row: object, client_id: ClientId | null = null): CheckedRow => ({
  row: Schema.decodeUnknownSync(ImportRow)(row),
  client_id
})

const importRows = (shop_id: ShopId, rows: ReadonlyArray<CheckedRow>, raises = false) =>
  runCommand(importTickets(shop_id, rows, { raises }))

/** Imported tickets behave like created ones (Specification, Tickets). */
export const importsContract = makeCases({
  "an imported ticket keeps its number, and later tickets get numbers above the highest": function* ({ reads, shop }) {
    const numbers = [7, null, 3, 9, null]
    const rows = numbers.map((number, i) => makeCheckedRow({ service: "Hem", external_ref: `A-${i}`, number }))
    yield* importRows(shop.id, rows)
    yield* importRows(shop.id, [makeCheckedRow({ service: "Hem", external_ref: "B" })])
    const created = yield* runCommand(createTestTicket(shop.id))
    const { tickets } = yield* reads.tickets(shop.id, {}, { _tag: "Changes", since: 0, after: null }, 10)
    yield* expectSame(
      "numbers",
      tickets.map(({ record }) => record.number),
      [7, 8, 3, 9, 10, 11, 12]
    )
    yield* expectSame("of the next ticket", created.number, 12)
  },

  "an imported ticket is listed and closed by its own dates, and synced as a new one": function* (bench) {
    const { clock, closures, reads, shop, start } = bench
    const before = yield* newTicket(shop.id)
    clock.set(start + 10)
    const old = { created_at: toIso(start - 100 * DAY_MS), ready_at: toIso(start - 59 * DAY_MS) }
    yield* importRows(shop.id, [makeCheckedRow({ service: "Hem", external_ref: "A", state: "ready", ...old })])
    const after = yield* newTicket(shop.id)
    const changes = yield* reads.tickets(shop.id, {}, { _tag: "Changes", since: start + 10, after: null }, 9)
    const [imported] = ticketIds(changes.tickets)
    yield* expectSame("synced", ticketIds(changes.tickets), [imported, after])
    const listed = yield* reads.tickets(shop.id, {}, FIRST_PAGE, 9)
    yield* expectSame("listed", ticketIds(listed.tickets), [after, before, imported])
    const earlier = yield* reads.tickets(shop.id, { created_before: start }, FIRST_PAGE, 9)
    yield* expectSame("by its date", ticketIds(earlier.tickets), [imported])
    const due = (yield* closures.due(start + DAY_MS, 100_000)).filter(({ shop_id }) => shop_id === shop.id)
    yield* expectSame("due to close", due, [{ shop_id: shop.id, id: imported, due_at: start + DAY_MS }])
  },

  "an imported client is known to the shop with the given card, which a repeated import does not add again":
    function* ({ reads, shop }) {
      const { id, phone, given_name, family_name } = yield* openAccount()
      const card = { balance: 3, lifetime: 13, rewards_redeemed: 1 }
      const row = (card: object) => makeCheckedRow({ client: { phone, given_name, family_name, card: card } }, id)
      yield* importRows(shop.id, [row(card)])
      const client = yield* reads.client(shop.id, { id })
      yield* expectSame("the card", pluck([client!.card], "balance", "lifetime", "rewards_redeemed"), [[3, 13, 1]])
      yield* importRows(shop.id, [row({ ...card, balance: 13, rewards_redeemed: 0 })])
      yield* expectSame("as it was", yield* reads.client(shop.id, { id }), client)
    },

  "an export contains each ticket once, in its state when its page was read, even if tickets change meanwhile":
    function* ({ shop }) {
      const refs = Array.from({ length: 501 }, (_, i) => `A-${i}`)
      for (const some of [refs.slice(0, 500), refs.slice(500)])
        yield* importRows(
          shop.id,
          some.map((external_ref) => makeCheckedRow({ service: "Hem", external_ref }))
        )
      const rows = yield* Effect.provide(Imports.exported(shop.id), Imports.Default)
      // Before the second page is read, a ticket of each page is made ready.
      const changingAll = Effect.gen(function* () {
        const { tickets } = yield* (yield* Reads).tickets(shop.id, {}, FIRST_PAGE, 501)
        const [first, last] = [tickets[0]!.record.id, tickets[500]!.record.id]
        yield* runCommand(changeStatus(shop.id, first, "ready"))
        yield* runCommand(changeStatus(shop.id, last, "ready"))
        yield* newTicket(shop.id)
        return undefined
      })
      let pages = 0
      const exported: Array<ExportedRow> = []
      yield* Stream.runForEachChunk(rows, (page) => {
        exported.push(...page)
        return ++pages === 1 ? changingAll : Effect.void
      })
      yield* expectSame("each once", pluck(exported, "external_ref").map(String).sort(), [...refs].sort())
      yield* expectSame("of the first page", exported[0]?.state, "workshop")
      yield* expectSame("of the second page", exported[500]?.state, "ready")
    },

  "concurrent imports of one file create each ticket once, even while other tickets are created": function* ({
    reads,
    shop
  }) {
    const lines = Array.from({ length: 700 }, (_, i) => ({
      line: i + 1,
      row: { service: "Hem", external_ref: `A-${i}` }
    }))
    const imports = Array.from({ length: 3 }, () => Effect.provide(Imports.run(shop.id, { lines }), Imports.Default))
    const [reports] = yield* Effect.all(
      [Effect.all(imports, { concurrency: 3 }), Effect.replicateEffect(newTicket(shop.id), 5)],
      {
        concurrency: 2
      }
    )
    const sum = (of: "tickets" | "already") => reports.reduce((all, report) => all + report[of], 0)
    yield* expectSame("made", [sum("tickets"), sum("already")], [700, 1400])
    const { tickets } = yield* reads.tickets(shop.id, {}, FIRST_PAGE, 800)
    yield* expectSame("there", tickets.length, 705)
  },

  "an import raises events only if it asks for them": function* ({ reads, shop }) {
    yield* importRows(shop.id, [makeCheckedRow({ service: "Hem", external_ref: "A" })])
    yield* expectSame("none", yield* reads.events(shop.id), [])
    const rows = ["B", "C"].map((external_ref) => makeCheckedRow({ service: "Hem", external_ref }))
    yield* importRows(shop.id, rows, true)
    const events = yield* Effect.map(reads.events(shop.id), (all) => pluck(all, "type", "seq"))
    yield* expectSame("one each", events, [
      ["ticket.created", 1],
      ["ticket.created", 2]
    ])
  }
})
