import { Effect } from "effect"
import { changeStatus, closeTicket } from "../decisions/changeStatus.js"
import { redateTicket, repairClock } from "../decisions/repairClock.js"
import { DAY_MS, toIso } from "../domain/Instant.js"
import type { TicketFilter } from "../ports/TicketList.js"
import { repairShopClock } from "../services/clock/ClockRepair.js"
import { expectSame, makeCases, pluck, ticketIds } from "./ContractCase.js"
import { FIRST_PAGE, failingNotice, makeChanges, newTicket, putTickets, runCommand } from "./Fixtures.js"

const AHEAD = 61 * DAY_MS

/** A repair moves a shop's future dates back to the current time (Specification, Lists and sync). */
export const clockRepairContract = makeCases({
  "a repair moves the future dates of all rows of a shop to the present": function* (bench) {
    const { dispatcher, clock, reads, start, auditLog, closures, notificationQueue } = bench
    const shop = yield* dispatcher.open
    const early = yield* newTicket(shop)
    clock.set(start + AHEAD)
    const ahead = yield* newTicket(shop)
    yield* runCommand(changeStatus(shop, ahead, "ready"))
    yield* runCommand(closeTicket(shop, early))
    yield* runCommand(makeChanges(shop, (changes) => changes.notifyOwner(failingNotice)))

    const now = start + 1000
    clock.set(now)
    yield* expectSame("repaired", yield* repairShopClock(shop), { ahead_until: start + AHEAD, tickets: 2 })
    const auditEntries = yield* auditLog.list(shop, null, 9)
    yield* expectSame("written down", pluck(auditEntries, "act", "details"), [
      ["shop.clock_repaired", { ahead_until: toIso(start + AHEAD) }]
    ])
    yield* expectSame("its head", (yield* reads.shop(shop))?.head.last_recorded_at, now)
    const { tickets } = yield* reads.tickets(shop, {}, { _tag: "Changes", since: now, after: null }, 9)
    const shown = tickets.map(({ record: { id, state, created_at, updated_at, ready_at, abandoned_at } }) =>
      [id === early ? "early" : "ahead", state, created_at, updated_at, ready_at, abandoned_at].join(" ")
    )
    yield* expectSame("tickets", [...shown].sort(), [
      `ahead ready ${now} ${now} ${now} `,
      `early workshop ${start} ${now}  `
    ])
    const open = (yield* closures.due(now + AHEAD, 1_000)).filter(({ shop_id }) => shop_id === shop)
    yield* expectSame("closures", open, [
      { shop_id: shop, id: early, due_at: start + 60 * DAY_MS },
      { shop_id: shop, id: ahead, due_at: now + 60 * DAY_MS }
    ])
    const claims = yield* dispatcher.claim()
    yield* expectSame("what waits is due", claims.length, 2)
    const ofShop = (yield* notificationQueue.due(now, 1_000)).filter(({ shop_id }) => shop_id === shop)
    yield* expectSame("and so is the notification", ofShop.length, 1)

    clock.set(now + 1)
    const later = yield* newTicket(shop)
    const listed = (filter: TicketFilter) =>
      Effect.map(reads.tickets(shop, filter, FIRST_PAGE, 9), ({ tickets }) => ticketIds(tickets))
    yield* expectSame("newest first", yield* listed({}), [later, ahead, early])
    yield* expectSame("created until then", yield* listed({ created_before: now + 1 }), [ahead, early])
    yield* expectSame("created before", yield* listed({ created_before: now, state: ["workshop", "ready"] }), [early])
    yield* expectSame("created since", yield* listed({ created_after: now }), [later, ahead])
    const since = yield* reads.tickets(shop, {}, { _tag: "Changes", since: now + 1, after: null }, 9)
    yield* expectSame(
      "the sync goes on",
      since.tickets.map(({ record }) => [record.id, record.updated_at]),
      [[later, now + 1]]
    )
    yield* expectSame("nothing is left", yield* repairShopClock(shop), { ahead_until: null, tickets: 0 })
  },

  "a repair that is called again after an interruption moves the tickets that are left": function* ({
    dispatcher,
    clock,
    reads,
    start
  }) {
    const shop = yield* dispatcher.open
    yield* runCommand(putTickets(shop, Array(150).fill({})))
    clock.set(start + AHEAD)
    const ahead = pluck(yield* runCommand(putTickets(shop, Array(130).fill({}))), "id")
    const now = start + 1000
    clock.set(now)
    yield* runCommand(repairClock(shop))
    yield* runCommand(redateTicket(shop, ahead[7]!))
    clock.set(now + 5)
    const later = yield* newTicket(shop)
    yield* expectSame("the others", yield* repairShopClock(shop), { ahead_until: null, tickets: 129 })
    const newest = yield* reads.tickets(shop, {}, FIRST_PAGE, 131)
    const ids = ticketIds(newest.tickets)
    yield* expectSame("in the order of their creation", ids, [later, ...[...ahead].reverse()])
    const latest = Math.max(...newest.tickets.map(({ record }) => record.updated_at))
    yield* expectSame("none is ahead", latest, now + 5)
  }
})
