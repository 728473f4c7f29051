import { Effect } from "effect"
import type { ShopId } from "../domain/Identifier.js"
import { Limits } from "../domain/Limits.js"
import type { TicketRecord } from "../domain/Ticket.js"
import type { TicketState } from "../domain/TicketLifecycle.js"
import { Reads } from "../ports/StorePorts.js"
import type { TicketFilter } from "../ports/TicketList.js"
import { expectSame, expectThat, makeCases, pluck } from "./ContractCase.js"
import {
  createTestTicket,
  FIRST_PAGE,
  makeChanges,
  newTicket,
  openAccount,
  openShop,
  putChanges,
  putTickets,
  runCommand
} from "./Fixtures.js"

/**
 * The expected order (Specification, Lists and sync). Sorting by id is correct because the ids of a shop's tickets
 * increase.
 */
const sortNewestFirst = (tickets: ReadonlyArray<TicketRecord>): ReadonlyArray<TicketRecord> =>
  [...tickets].sort((a, b) => (a.id < b.id ? 1 : -1))

/** Reads all pages of the list. */
const walk = Effect.fnUntraced(function* (shop_id: ShopId, filter: TicketFilter, size: number) {
  const reads = yield* Reads
  const found: Array<TicketRecord> = []
  for (let pages = 0; pages < 300; pages++) {
    const last = found.at(-1)
    const after = last?.id ?? null
    const { tickets } = yield* reads.tickets(shop_id, filter, { _tag: "Newest", after }, size)
    found.push(...pluck(tickets, "record"))
    if (tickets.length < size) break
  }
  return found
})

const idsOf = (tickets: ReadonlyArray<TicketRecord>) => pluck(tickets, "id")

/** The service reads one ticket more than a page has, to know whether another page follows. */
const PAGE = Limits.page_default + 1

const STATES: ReadonlyArray<TicketState> = ["workshop", "ready", "impossible", "collected", "abandoned"]

const subsetsOf = (filter: TicketFilter): ReadonlyArray<TicketFilter> => {
  const fields = Object.entries(filter)
  return Array.from({ length: 2 ** fields.length }, (_, chosen) =>
    Object.fromEntries(fields.filter((_, at) => (chosen >> at) % 2 === 1))
  )
}

const isMatch = (filter: TicketFilter, ticket: TicketRecord): boolean => {
  if (filter.state !== undefined && !filter.state.some((state) => state === ticket.state)) return false
  if (filter.number !== undefined && filter.number !== ticket.number) return false
  if (filter.client_id !== undefined && filter.client_id !== ticket.client_id) return false
  if (filter.phone !== undefined && filter.phone !== ticket.client_phone) return false
  if (filter.external_ref !== undefined && filter.external_ref !== ticket.external_ref) return false
  if (filter.created_after !== undefined && ticket.created_at < filter.created_after) return false
  if (filter.tracking_code !== undefined && filter.tracking_code !== ticket.tracking_code) return false
  return filter.created_before === undefined || ticket.created_at < filter.created_before
}

/** The order, the pages and the filters of the list by creation (Specification, Endpoints; Lists and sync). */
export const listContract = makeCases({
  "externalRefs returns the given references that tickets of this shop have": function* ({ reads, shop }) {
    const other = yield* openShop()
    yield* runCommand(
      putTickets(shop.id, [{ external_ref: "A-1" }, { external_ref: "A-2" }, { external_ref: "A-2" }, {}])
    )
    yield* runCommand(putTickets(other.id, [{ external_ref: "B-1" }]))
    const [own, theirs] = [yield* newTicket(shop.id), yield* newTicket(other.id)]
    const found = yield* reads.externalRefs(shop.id, ["A-2", "B-1", "C-1", "A-1", theirs, own, own.toUpperCase()])
    yield* expectSame("found", [...found].toSorted(), [own, "A-1", "A-2"])
    yield* expectSame("of no reference", (yield* reads.externalRefs(shop.id, [])).size, 0)
  },

  "tickets created in the same millisecond are listed once each, newest first, at every page size": function* ({
    clock,
    shop
  }) {
    const other = yield* openShop()
    const all: Array<TicketRecord> = []
    for (const [step, n] of [
      [0, 9],
      [0, 4],
      [1, 1],
      [7, 6],
      [-3, 2]
    ] as const) {
      clock.advance(step)
      all.push(...(yield* runCommand(putTickets(shop.id, Array(n).fill({})))))
      yield* runCommand(putTickets(other.id, [{}]))
    }
    const expected = idsOf(sortNewestFirst(all))
    for (let size = 1; size <= all.length + 1; size++) {
      yield* expectSame(`pages of ${size}`, idsOf(yield* walk(shop.id, {}, size)), expected)
    }
  },

  "tickets are listed in the order of their creation, even in one millisecond or after the clock is set back (Specification, Lists and sync)":
    function* (bench) {
      const { clock, shop } = bench
      const createdIds: Array<string> = []
      for (const step of [0, 0, 0, 0, -3_600_000, 0, 0, 1, 0, 3_700_000, 0, 0]) {
        clock.advance(step)
        const many = Array.from({ length: 3 }, () => runCommand(createTestTicket(shop.id)))
        const created = yield* Effect.all(many, { concurrency: "unbounded" })
        createdIds.push(
          ...pluck(
            [...created].sort((a, b) => Number(a.number) - Number(b.number)),
            "id"
          )
        )
      }
      yield* expectSame("newest first", idsOf(yield* walk(shop.id, {}, 5)), [...createdIds].reverse())
      yield* expectSame("ids rise", [...createdIds].sort(), createdIds)
    },

  "a ticket created between two pages does not change the later pages": function* ({ reads, shop }) {
    const old = sortNewestFirst(yield* runCommand(putTickets(shop.id, Array(6).fill({}))))
    const first = yield* reads.tickets(shop.id, {}, FIRST_PAGE, 3)
    yield* runCommand(putTickets(shop.id, [{}, {}]))
    const rest: Array<string> = []
    let after = first.tickets.at(-1)!.record.id
    for (let pages = 0; pages < 9; pages++) {
      const { tickets } = yield* reads.tickets(shop.id, {}, { _tag: "Newest", after }, 1)
      if (tickets[0] === undefined) break
      after = tickets[0].record.id
      rest.push(after)
    }
    const missed = idsOf(old.slice(3)).filter((id) => !rest.includes(id))
    yield* expectSame("missed", missed, [])
  },

  "every combination of filters returns exactly the tickets that match": function* (bench) {
    const { clock, shop, start } = bench
    const [amira, sami] = [yield* openAccount(), yield* openAccount()]
    for (const { id } of [amira, sami]) {
      const row = { shop_id: shop.id, client_id: id, known_at: start, blocked_at: null }
      yield* runCommand(putChanges(shop.id, { _tag: "LinkPut", row }))
    }
    const all: Array<TicketRecord> = []
    for (let i = 0; i < 48; i++) {
      clock.set(start + Math.floor(i / 4))
      const [row] = yield* runCommand(
        putTickets(shop.id, [
          {
            state: STATES[i % 5]!,
            number: 40 + (i % 3),
            client_id: [amira.id, null, sami.id, amira.id][i % 4]!,
            client_phone: [amira.phone, sami.phone, null][(i >> 1) % 3]!,
            external_ref: ["A-1", null, "a-1", "A-1 "][(i * 7) % 4]!
          }
        ])
      )
      all.push(row!)
    }
    const filter: TicketFilter = {
      state: ["ready", "workshop", "collected"],
      number: 40,
      client_id: amira.id,
      phone: amira.phone,
      external_ref: "A-1",
      tracking_code: all[0]!.tracking_code,
      created_after: start + 2,
      created_before: start + 11
    }
    for (const chosen of subsetsOf(filter)) {
      const expected = idsOf(sortNewestFirst(all.filter((ticket) => isMatch(chosen, ticket))))
      for (const size of [2, PAGE]) {
        yield* expectSame(
          `${Object.keys(chosen).join(", ") || "no filter"}; pages of ${size}`,
          idsOf(yield* walk(shop.id, chosen, size)),
          expected
        )
      }
    }
    yield* expectSame("of no state", idsOf(yield* walk(shop.id, { state: [] }, PAGE)), [])
  },

  "the filter created_after is inclusive, and created_before is not": function* ({ clock, shop, start }) {
    const found: Array<TicketRecord> = []
    for (const at of [0, 1, 2]) {
      clock.set(start + at)
      found.push(...(yield* runCommand(putTickets(shop.id, [{}]))))
    }
    const [first, second, third] = idsOf(found)
    const list = (filter: TicketFilter) => Effect.map(walk(shop.id, filter, 10), idsOf)
    yield* expectSame("after", yield* list({ created_after: start + 1 }), [third, second])
    yield* expectSame("before", yield* list({ created_before: start + 1 }), [first])
    yield* expectSame("both", yield* list({ created_after: start + 1, created_before: start + 2 }), [second])
    yield* expectSame("none", yield* list({ created_after: start + 1, created_before: start + 1 }), [])
  },

  "another shop's ticket is not found": function* ({ reads, shop }) {
    const other = yield* openShop()
    const [ticket] = yield* runCommand(putTickets(other.id, [{ number: 3 }]))
    yield* expectSame("by id", (yield* reads.ticket(shop.id, ticket!.id)).tickets, [])
    yield* expectSame("by number", (yield* reads.ticketsOfNumber(shop.id, 3, 9)).tickets, [])
    yield* expectSame("listed", idsOf(yield* walk(shop.id, {}, 9)), [])
    yield* expectSame("it is where it belongs", idsOf(yield* walk(other.id, {}, 9)), [ticket!.id])
  },

  "ticketsOfNumber returns first the newest open ticket, or else the newest, and then others newest first up to a limit":
    function* (bench) {
      const { clock, reads, shop } = bench
      const placed: Array<string> = []
      const place = Effect.fnUntraced(function* (state: TicketState, number = 42) {
        clock.advance(1000)
        const [row] = yield* runCommand(putTickets(shop.id, [{ state, number }]))
        if (number === 42) placed.push(row!.id)
      })
      const read = (limit: number) =>
        Effect.map(reads.ticketsOfNumber(shop.id, 42, limit), ({ tickets }) =>
          tickets.map(({ record }) => placed.indexOf(record.id))
        )
      yield* expectSame("none", yield* read(9), [])
      yield* place("collected")
      yield* place("abandoned")
      yield* place("workshop", 43)
      yield* expectSame("none open: the newest", yield* read(9), [1, 0])
      yield* place("impossible")
      yield* place("ready")
      yield* place("collected")
      yield* place("collected")
      yield* expectSame("the newest open", yield* read(9), [3, 5, 4, 2, 1, 0])
      yield* expectSame("limit", yield* read(2), [3, 5, 4])
      yield* expectSame("limit 0", yield* read(0), [3])
      yield* place("workshop")
      yield* expectSame("a newer open one", yield* read(3), [6, 5, 4, 3])
    },

  "ticketsOfNumber returns up to a hundred others in one call": function* ({ reads, shop }) {
    const rows = yield* runCommand(putTickets(shop.id, Array(120).fill({ number: 7, state: "collected" })))
    const expected = idsOf(sortNewestFirst(rows)).slice(0, 101)
    const { tickets } = yield* reads.ticketsOfNumber(shop.id, 7, 100)
    yield* expectSame("the newest and a hundred", idsOf(pluck(tickets, "record")), expected)
  }
})

/** Saves a ticket again, which only moves it to the end of the list by change. */
const touch = (shop_id: ShopId, ticket: TicketRecord) =>
  runCommand(makeChanges(shop_id, (changes) => changes.putTicket(ticket, null)))

const listChanges = (shop_id: ShopId, since: number, after: number | null, limit: number, filter: TicketFilter = {}) =>
  Effect.flatMap(Reads, (reads) =>
    Effect.map(reads.tickets(shop_id, filter, { _tag: "Changes", since, after }, limit), ({ tickets }) =>
      pluck(tickets, "record")
    )
  )

/** The list by change, with which a till syncs (Specification, Endpoints; Lists and sync). */
export const syncContract = makeCases({
  "the list by change contains each ticket once, in the order of the last changes": function* ({ clock, shop, start }) {
    const rows = yield* runCommand(putTickets(shop.id, Array(5).fill({})))
    clock.advance(10)
    yield* touch(shop.id, rows[1]!)
    yield* touch(shop.id, rows[3]!)
    yield* touch(shop.id, rows[1]!)
    const order = (tickets: ReadonlyArray<TicketRecord>) =>
      tickets.map(({ id }) => rows.findIndex((row) => row.id === id))
    const all = yield* listChanges(shop.id, start, null, PAGE)
    yield* expectSame("order", order(all), [0, 2, 4, 3, 1])
    yield* expectThat(
      "change_seq rises",
      all.every((row, i) => i === 0 || row.change_seq > all[i - 1]!.change_seq)
    )
    yield* expectThat(
      "updated_at never falls",
      all.every((row, i) => i === 0 || row.updated_at >= all[i - 1]!.updated_at)
    )
    yield* expectSame("since is inclusive", order(yield* listChanges(shop.id, start + 10, null, PAGE)), [3, 1])
    yield* expectSame("nothing later", order(yield* listChanges(shop.id, start + 11, null, PAGE)), [])
    for (const [at, { change_seq }] of all.entries()) {
      yield* expectSame(
        "after a change",
        order(yield* listChanges(shop.id, start, change_seq, PAGE)),
        order(all.slice(at + 1))
      )
      yield* expectSame(
        "one more",
        order(yield* listChanges(shop.id, start, change_seq, 1)),
        order(all.slice(at + 1, at + 2))
      )
    }
  },

  "a sync at any page size misses no ticket, even if all changes are in the same millisecond": function* ({
    shop,
    start
  }) {
    const rows = [...(yield* runCommand(putTickets(shop.id, Array(12).fill({}))))]
    for (const i of [3, 3, 7, 0, 11]) yield* touch(shop.id, rows[i]!)
    for (let size = 1; size <= 13; size++) {
      const found: Array<TicketRecord> = []
      while (true) {
        const page = yield* listChanges(shop.id, start, found.at(-1)?.change_seq ?? null, size)
        found.push(...page)
        if (page.length < size) break
      }
      const expected = [1, 2, 4, 5, 6, 8, 9, 10, 3, 7, 0, 11].map((i) => rows[i]!.id)
      yield* expectSame(`pages of ${size}`, pluck(found, "id"), expected)
    }
  },

  "a ticket that changes between two pages is listed again, and no ticket after it is skipped": function* (bench) {
    const { clock, shop, start } = bench
    const rows = yield* runCommand(putTickets(shop.id, Array(6).fill({})))
    const first = yield* listChanges(shop.id, start, null, 2)
    clock.advance(-5000)
    yield* touch(shop.id, rows[0]!)
    yield* touch(shop.id, rows[4]!)
    const [fresh] = yield* runCommand(putTickets(shop.id, [{}]))
    const rest = yield* listChanges(shop.id, start, first.at(-1)!.change_seq, PAGE)
    yield* expectSame("the rest", pluck(rest, "id"), [...[2, 3, 5, 0, 4].map((i) => rows[i]!.id), fresh!.id])
  },

  "the list by change returns the instant of the shop's last change, with every filter (Specification, Lists and sync)":
    function* (bench) {
      const { clock, reads, shop, start } = bench
      const lastChange = (filter: TicketFilter, since: number, limit: number) =>
        Effect.map(
          reads.tickets(shop.id, filter, { _tag: "Changes", since, after: null }, limit),
          ({ last_change_at }) => last_change_at
        )
      yield* expectSame("no ticket", yield* lastChange({}, start, 9), null)
      const rows = yield* runCommand(putTickets(shop.id, [{}, {}]))
      clock.set(start + 10)
      yield* touch(shop.id, rows[0]!)
      yield* expectSame("a page of it", yield* lastChange({}, start, 1), start + 10)
      yield* expectSame("nothing found", yield* lastChange({ external_ref: "nobody" }, start, 9), start + 10)
      yield* expectSame("a future instant", yield* lastChange({}, start + 99, PAGE), start + 10)
    },

  "filters apply to the list by change too": function* ({ shop, start }) {
    const rows = yield* runCommand(
      putTickets(shop.id, [
        { state: "ready", external_ref: "x" },
        { external_ref: "x" },
        { state: "ready" },
        { state: "ready", external_ref: "x" }
      ])
    )
    yield* touch(shop.id, rows[0]!)
    const found = yield* listChanges(shop.id, start, null, PAGE, { state: ["ready"], external_ref: "x" })
    yield* expectSame("found", pluck(found, "id"), [rows[3]!.id, rows[0]!.id])
    yield* expectSame("limit", (yield* listChanges(shop.id, start, null, 1, { state: ["ready"] }))[0]?.id, rows[2]!.id)
  },

  "a page of a filtered list by change reads a limited number of changes, or its index's tickets if these are no more (Specification, Lists and sync)":
    function* (bench) {
      const { clock, reads, shop, start } = bench
      const rows: Array<TicketRecord> = []
      for (let i = 0; i < 12; i++) {
        clock.set(start + i)
        const external_ref = i === 10 ? "rare" : "common"
        rows.push(
          ...(yield* runCommand(putTickets(shop.id, [{ external_ref, state: i % 4 === 3 ? "ready" : "collected" }])))
        )
      }
      const page = (filter: TicketFilter, after: number | null, limit = PAGE) =>
        Effect.map(
          reads.tickets(shop.id, filter, { _tag: "Changes", since: start, after, max: 4 }, limit),
          ({ tickets, unread_from }) => ({
            found: tickets.map(({ record }) => rows.findIndex(({ id }) => id === record.id)),
            unread_from
          })
        )
      const from = (at: number) => ({ change_seq: rows[at]!.change_seq, updated_at: start + at })
      const after = (at: number) => rows[at]!.change_seq
      const combinedFilter = {
        state: ["collected", "ready"] as const,
        created_after: start + 3,
        external_ref: "common"
      }
      yield* expectSame("the first changes, of which one is meant", yield* page(combinedFilter, null), {
        found: [3],
        unread_from: from(4)
      })
      yield* expectSame("the next", yield* page(combinedFilter, after(3)), {
        found: [4, 5, 6, 7],
        unread_from: from(8)
      })
      yield* expectSame("the last", yield* page(combinedFilter, after(7)), { found: [8, 9, 11], unread_from: null })
      const late = { created_after: start + 5 }
      yield* expectSame("none among the first", yield* page(late, null), { found: [], unread_from: from(4) })
      yield* expectSame("a full page", (yield* page(late, after(3), 2)).found, [5, 6])
      yield* expectSame("few by reference", yield* page({ external_ref: "rare" }, null), {
        found: [10],
        unread_from: null
      })
      yield* expectSame("few by state", yield* page({ state: ["ready"] }, after(3)), {
        found: [7, 11],
        unread_from: null
      })
      yield* expectSame("few by creation", yield* page({ created_after: start + 8 }, null), {
        found: [8, 9, 10, 11],
        unread_from: null
      })
      yield* expectSame("of nobody", yield* page({ external_ref: "none" }, null), { found: [], unread_from: null })
      yield* expectSame("no filter", (yield* page({}, null, 9)).found.length, 9)
    },

  "hundreds of changes of three tickets leave one row for each ticket": function* ({ shop, start }) {
    const rows = yield* runCommand(putTickets(shop.id, Array(3).fill({})))
    for (let i = 0; i < 200; i++) yield* touch(shop.id, rows[i % 3]!)
    const found = yield* listChanges(shop.id, start, null, PAGE)
    yield* expectSame(
      "found",
      pluck(found, "id"),
      [2, 0, 1].map((i) => rows[i]!.id)
    )
    yield* expectSame("seq", pluck(found, "change_seq"), [201, 202, 203])
  }
})
