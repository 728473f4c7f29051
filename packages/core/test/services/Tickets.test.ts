import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { DAY_MS, HOUR_MS } from "../../src/domain/Instant.js"
import type { Ticket } from "../../src/domain/Ticket.js"
import { Quotes } from "../../src/services/Quotes.js"
import { Shops } from "../../src/services/Shops.js"
import { Tickets } from "../../src/services/Tickets.js"
import { ticketInput } from "../../src/testing/Fixtures.js"
import { inWorkshop, key, openShop, query, quote, refusalOf, shopPatch, ticketId } from "./WorkshopFixture.js"

describe("Specification, Resources: numbers follow the app's numbering", () => {
  it(
    "the numbers 9998, 9999, 1, 2 follow each other without gaps, and a failed create uses none",
    inWorkshop(() =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const tickets = yield* Tickets
        yield* (yield* Shops).change(caller.shop_id, shopPatch({ next_number: 9998 }))
        const numbers: Array<string | null> = []
        for (let n = 0; n < 4; n++) {
          expect(yield* refusalOf(tickets.create(caller, ticketInput({ service: "damn hem" })))).toBe("ForbiddenWord")
          numbers.push((yield* tickets.create(caller, ticketInput())).data.number_label)
        }
        expect(numbers).toEqual(["9998", "9999", "0001", "0002"])
      })
    )
  )

  it(
    "by-number returns the newest open ticket, and the rest in meta.others with id, number, label, state and creation",
    inWorkshop((clock) =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const tickets = yield* Tickets
        const created: Array<Ticket> = []
        for (let n = 0; n < 3; n++) {
          yield* (yield* Shops).change(caller.shop_id, shopPatch({ next_number: 42 }))
          created.push((yield* tickets.create(caller, ticketInput())).data)
          clock.advance(HOUR_MS)
        }
        for (const to of ["ready", "collected"] as const) yield* tickets.changeStatus(caller, ticketId(created[2]!), to)
        const { data, others } = yield* tickets.byNumber(caller, 42)
        expect(data.id).toBe(created[1]!.id)
        const summary = (n: number, state: string) => ({
          id: created[n]!.id,
          number: 42,
          number_label: "0042",
          state,
          created_at: created[n]!.created_at
        })
        expect(others).toEqual([summary(2, "collected"), summary(0, "workshop")])
        expect(yield* refusalOf(tickets.byNumber(caller, 43))).toBe("TicketNotFound")
      })
    )
  )
})

describe("Specification, States: a collected ticket", () => {
  it(
    "a collected ticket can be moved back to the workshop for 24 hours, inclusive, and later refuses every status",
    inWorkshop((clock) =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const tickets = yield* Tickets
        const { data } = yield* tickets.create(caller, ticketInput())
        const move = (to: "ready" | "impossible" | "workshop" | "collected") =>
          Effect.map(tickets.changeStatus(caller, ticketId(data), to), ({ data }) => data)
        yield* move("ready")
        expect(yield* move("collected")).toMatchObject({ state: "collected", outcome: "ready" })
        clock.advance(DAY_MS)
        expect([yield* refusalOf(move("collected")), yield* refusalOf(move("ready"))]).toEqual([
          "SameState",
          "InvalidTransition"
        ])
        const cleared = { state: "workshop", outcome: null, ready_at: null, collected_at: null }
        expect(yield* move("workshop")).toMatchObject(cleared)
        yield* move("impossible")
        expect(yield* move("collected")).toMatchObject({ outcome: "impossible" })
        clock.advance(DAY_MS + 1)
        for (const to of ["collected", "ready", "workshop", "impossible"] as const) {
          expect(yield* refusalOf(move(to))).toBe("ReopenWindowPassed")
        }
      })
    )
  )
})

describe("Specification, Endpoints: GET /v1/tickets", () => {
  it(
    "a cursor is valid only for its shop and its filters, with any page size",
    inWorkshop(() =>
      Effect.gen(function* () {
        const [caller, other] = [yield* openShop(), yield* openShop()]
        const tickets = yield* Tickets
        for (let n = 0; n < 5; n++) yield* tickets.create(caller, ticketInput())
        const first = yield* tickets.list(caller, query({ limit: "2", state: "workshop,ready" }))
        expect(first.meta).toMatchObject({ has_more: true })
        const cursor = first.meta.next_cursor!
        const rest = yield* tickets.list(caller, query({ limit: "3", state: "workshop,ready", cursor }))
        expect([rest.data.length, rest.meta]).toEqual([3, { has_more: false, next_cursor: null }])
        const queries = [
          tickets.list(caller, query({ cursor })),
          tickets.list(caller, query({ state: "workshop", cursor })),
          tickets.list(caller, query({ state: "workshop,ready", updated_since: "2026-01-01", cursor })),
          tickets.list(other, query({ state: "workshop,ready", cursor })),
          tickets.list(
            caller,
            query({ state: "workshop,ready", cursor: `${cursor.slice(0, -1)}${cursor.endsWith("0") ? 1 : 0}` })
          ),
          tickets.list(caller, query({ state: "workshop,ready", cursor: "x" })),
          tickets.list(caller, query({ state: "workshop,ready", cursor: "" }))
        ]
        for (const list of queries) expect(yield* refusalOf(list)).toBe("InvalidInput")
      })
    )
  )

  it(
    "a full last page has no more, and synced_until is the shop's last change with every filter (Specification, Lists and sync)",
    inWorkshop((clock) =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const tickets = yield* Tickets
        for (let n = 0; n < 2; n++) yield* tickets.create(caller, ticketInput())
        const { meta } = yield* tickets.list(caller, query({ limit: "2", updated_since: "2026-01-01" }))
        const now = new Date(clock.unsafeCurrentTimeMillis()).toISOString()
        expect(meta).toEqual({ has_more: false, next_cursor: null, synced_until: now })
        clock.advance(1000)
        for (const queries of [
          { updated_since: "2027-01-01" },
          { updated_since: now },
          { updated_since: "2026-01-01", external_ref: "nobody" }
        ]) {
          expect((yield* tickets.list(caller, query(queries))).meta.synced_until).toBe(now)
        }
        clock.advance(-61_000)
        const behind = yield* tickets.list(caller, query({ updated_since: "2026-01-01" }))
        expect(behind.meta.synced_until).toBe(new Date(clock.unsafeCurrentTimeMillis()).toISOString())
      })
    )
  )
})

describe("Specification, Endpoints: every call for another shop's ticket is a 404", () => {
  it(
    "another shop's ticket can be neither read nor moved, and gets no note or quote",
    inWorkshop(() =>
      Effect.gen(function* () {
        const [caller, other] = [yield* openShop(), yield* openShop()]
        const tickets = yield* Tickets
        const { data } = yield* tickets.create(caller, ticketInput())
        const id = ticketId(data)
        const refusals = [
          yield* refusalOf(tickets.byId(other, id)),
          yield* refusalOf(tickets.changeStatus(other, id, "ready")),
          yield* refusalOf(tickets.recordNotified(other, id, "sms")),
          yield* refusalOf((yield* Quotes).propose(other, id, quote({ price_minor: 1 }))),
          yield* refusalOf((yield* Quotes).recordAnswer(other, id, "accepted"))
        ]
        expect(refusals).toEqual(Array(5).fill("TicketNotFound"))
        expect(yield* tickets.byId(caller, id)).toEqual(data)
      })
    )
  )
})

describe("Idempotency (Specification, Idempotency)", () => {
  it(
    "a refused request stores no idempotency record, so the corrected body with the same key succeeds",
    inWorkshop(() =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const tickets = yield* Tickets
        expect(yield* refusalOf(tickets.create(caller, ticketInput({ service: "damn hem" }), key("k")))).toBe(
          "ForbiddenWord"
        )
        expect((yield* tickets.create(caller, ticketInput({ service: "hem" }), key("k"))).replayed).toBe(false)
      })
    )
  )

  it(
    "requests that differ only in an explicit default, a null or the order of fields are the same",
    inWorkshop(() =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const tickets = yield* Tickets
        const first = yield* tickets.create(caller, ticketInput({ service: "Hem", item: "Coat" }), key("k"))
        for (const same of [
          { item: " Coat ", service: "Hem" },
          { service: "Hem", item: "Coat", type: "repair" as const },
          { service: "Hem", item: "Coat", description: null, type: null, items: null }
        ]) {
          const replay = yield* tickets.create(caller, ticketInput(same), key("k"))
          expect([replay.replayed, replay.data]).toEqual([true, first.data])
        }
        const other = ticketInput({ service: "Hem", item: "Coat", type: "prepare" })
        expect(yield* refusalOf(tickets.create(caller, other, key("k")))).toBe("IdempotencyKeyReused")
      })
    )
  )

  it(
    "a replay returns the ticket as it was for thirty days, and then the key can be used again",
    inWorkshop((clock) =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const tickets = yield* Tickets
        const first = yield* tickets.create(caller, ticketInput(), key("k"))
        yield* tickets.changeStatus(caller, ticketId(first.data), "ready")
        clock.advance(30 * DAY_MS - 1)
        const replay = yield* tickets.create(caller, ticketInput(), key("k"))
        expect([replay.replayed, replay.data]).toEqual([true, first.data])
        clock.advance(1)
        const anew = yield* tickets.create(caller, ticketInput({ service: "Zip" }), key("k"))
        expect([anew.replayed, anew.data.number]).toEqual([false, 2])
      })
    )
  )
})
