import { Effect } from "effect"
import { changeStatus } from "../decisions/changeStatus.js"
import { closeTicket } from "../decisions/closeTicket.js"
import { createTicket } from "../decisions/createTicket.js"
import { recordNotified } from "../decisions/recordNotified.js"
import type { ShopId, TicketId } from "../domain/Identifier.js"
import { DAY_MS } from "../domain/Instant.js"
import { Closures, type DueClosure } from "../ports/Closures.js"
import { cases, each, holds, same } from "./ContractCase.js"
import { openShop, run, ticketInput } from "./Fixtures.js"

const SIXTY_DAYS = 60 * DAY_MS
/** More than other cases leave behind. */
const PLENTY = 100_000

const create = (shop_id: ShopId) =>
  Effect.map(run(createTicket(shop_id, ticketInput(), { via: "api", found: [] })), ({ id }) => id as TicketId)

/** The closures of these shops due by then: others may share the store. */
const dueIn = (shops: ReadonlyArray<{ readonly id: ShopId }>, until: number) =>
  Effect.flatMap(Closures, (closures) =>
    Effect.map(closures.due(until, PLENTY), (due) =>
      due.filter(({ shop_id }) => shops.some((shop) => shop.id === shop_id))
    )
  )

/** Which tickets await their automatic closure, and when (Specification, States). */
export const closuresContract = cases({
  "a ticket is due at exactly sixty days, and not a millisecond before": function* ({ shop, start }) {
    const id = yield* create(shop.id)
    yield* same("before", yield* dueIn([shop], start + SIXTY_DAYS - 1), [])
    const expected = [{ shop_id: shop.id, id, due_at: start + SIXTY_DAYS }]
    yield* same("then", yield* dueIn([shop], start + SIXTY_DAYS), expected)
    yield* same("and later", yield* dueIn([shop], start + 2 * SIXTY_DAYS), expected)
  },

  "news from the shop puts a workshop ticket off, nothing puts a ready one off": function* ({ clock, shop, start }) {
    const [waiting, ready] = [yield* create(shop.id), yield* create(shop.id)]
    clock.set(start + DAY_MS)
    yield* run(changeStatus(shop.id, ready, "ready"))
    clock.set(start + 2 * DAY_MS)
    yield* run(recordNotified(shop.id, ready, "call"))
    clock.set(start + 3 * DAY_MS)
    yield* run(recordNotified(shop.id, waiting, "sms"))
    const due = yield* dueIn([shop], start + 2 * SIXTY_DAYS)
    yield* same("due", due, [
      { shop_id: shop.id, id: ready, due_at: start + DAY_MS + SIXTY_DAYS },
      { shop_id: shop.id, id: waiting, due_at: start + 3 * DAY_MS + SIXTY_DAYS }
    ])
  },

  "collected, impossible and closed tickets are never due; one that is reopened is due anew": function* (bench) {
    const { clock, shop, start } = bench

    const [impossible, collected, reopened, closed] = yield* Effect.replicateEffect(create(shop.id), 4)
    yield* run(changeStatus(shop.id, impossible!, "impossible"))
    for (const id of [collected!, reopened!]) {
      yield* run(changeStatus(shop.id, id, "ready"))
      yield* run(changeStatus(shop.id, id, "collected"))
    }
    clock.set(start + 1000)
    yield* run(changeStatus(shop.id, reopened!, "workshop"))
    clock.set(start + SIXTY_DAYS)
    yield* holds("closed", (yield* run(closeTicket(shop.id, closed!))) !== null)
    yield* holds("not yet", (yield* run(closeTicket(shop.id, reopened!))) === null)
    const expected = [{ shop_id: shop.id, id: reopened, due_at: start + 1000 + SIXTY_DAYS }]
    yield* same("due", yield* dueIn([shop], start + 9 * SIXTY_DAYS), expected)
  },

  "the earliest come first, across shops, and a limit leaves the later ones for next time": function* (bench) {
    const { clock, closures, start } = bench

    const shops = yield* Effect.replicateEffect(openShop(), 3)
    const made: Array<DueClosure> = []
    for (const [step, at] of [2, 0, 1, 1, 2, 0, 0, 2].entries()) {
      clock.set(start + step)
      const shop_id = shops[at]!.id
      made.push({ shop_id, id: yield* create(shop_id), due_at: start + step + SIXTY_DAYS })
    }
    const until = start + SIXTY_DAYS + 6
    yield* same("due", yield* dueIn(shops, until), made.slice(0, 7))
    const all = yield* closures.due(until, PLENTY)
    yield* holds(
      "in order",
      all.every(({ due_at }, i) => i === 0 || due_at >= all[i - 1]!.due_at)
    )
    for (const limit of [1, 3, all.length]) {
      const some = yield* closures.due(until, limit)
      const instants = each(all.slice(0, limit), "due_at")
      yield* same(`limit ${limit}`, each(some, "due_at"), instants)
    }
  },

  "a clock that was ahead closes nothing before its time, nor later than sixty days (Specification, States)":
    function* (bench) {
      const { clock, shop, start } = bench

      const early = yield* create(shop.id)
      clock.set(start + SIXTY_DAYS)
      const ahead = yield* create(shop.id)
      clock.set(start)
      yield* holds("not yet", (yield* run(closeTicket(shop.id, early))) === null)
      clock.set(start + DAY_MS)
      const late = yield* create(shop.id)
      yield* same("due", yield* dueIn([shop], start + 2 * SIXTY_DAYS), [
        { shop_id: shop.id, id: early, due_at: start + SIXTY_DAYS },
        { shop_id: shop.id, id: late, due_at: start + DAY_MS + SIXTY_DAYS },
        { shop_id: shop.id, id: ahead, due_at: start + 2 * SIXTY_DAYS }
      ])
    },

  "found twice, closed once, as of the instant at which it was due": function* ({ clock, reads, shop, start }) {
    const id = yield* create(shop.id)
    clock.set(start + SIXTY_DAYS + 12_345)
    const closings = yield* Effect.replicateEffect(run(closeTicket(shop.id, id)), 5, { concurrency: "unbounded" })
    yield* same("closings", closings.filter((ticket) => ticket !== null).length, 1)
    const record = (yield* reads.ticket(shop.id, id)).tickets[0]!.record
    yield* same("abandoned_at", record.abandoned_at, start + SIXTY_DAYS)
    yield* same("events", each(yield* reads.events(shop.id), "type"), ["ticket.created", "ticket.abandoned"])
  }
})
