import { Clock, Effect } from "effect"
import { redateTicket, repairClock } from "../decisions/repairClock.js"
import { retryNotificationNow } from "../decisions/sendNotification.js"
import type { ShopId } from "../domain/Identifier.js"
import { type Instant, LAST_INSTANT, toIso } from "../domain/Instant.js"
import { ServiceLimits } from "../domain/Limits.js"
import { Messages } from "../ports/Messages.js"
import { Reads, type SeenTickets } from "../ports/Reads.js"
import { Store } from "../ports/Store.js"
import { auditing } from "./Actor.js"

/** What a repair came to. */
export interface ClockRepaired {
  /** The instant at which the shop was; null where it was not ahead of the clock. */
  readonly ahead_until: Instant | null
  /** How many tickets bore instants that were yet to come, and were dated anew. */
  readonly tickets: number
}

/**
 * Brings a shop that was dated ahead back to the present clock, with its tickets; what waits to be delivered is due at once.
 * Cut short, it goes on when it is called again. The shop may work meanwhile.
 */
export const repairShopClock = Effect.fn("repairShopClock")(function* (shop_id: ShopId) {
  const store = yield* Store
  const reads = yield* Reads
  const messages = yield* Messages
  const begun_at = yield* Clock.currentTimeMillis
  const ahead_until = yield* auditing(store)(repairClock(shop_id), (until) =>
    until === null ? null : { act: "shop.clock_repaired", details: { ahead_until: toIso(until) } }
  )
  if (ahead_until !== null) {
    const waiting = yield* messages.due(LAST_INSTANT, ServiceLimits.list_max)
    yield* Effect.forEach(
      waiting.filter((message) => message.shop_id === shop_id),
      (message) => store.transact(retryNotificationNow(message)),
      { concurrency: 16 }
    )
  }
  // Until all are dated anew the order of changes is not that of time, so one that was cut short begins with the first change.
  const since = ahead_until === null ? 0 : begun_at
  const last = ((yield* reads.shop(shop_id))?.head.change_seq ?? 1) - 1
  let tickets = 0
  for (let after: number | null = null; after === null || after < last; ) {
    const found: SeenTickets = yield* reads.tickets(
      shop_id,
      {},
      { _tag: "Changes", since, after },
      ServiceLimits.clock_repair_batch_tickets
    )
    const now = yield* Clock.currentTimeMillis
    const answers = yield* Effect.forEach(
      found.tickets.filter(({ record }) => record.updated_at > now),
      ({ record }) => store.transact(redateTicket(shop_id, record.id)),
      { concurrency: 16 }
    )
    tickets += answers.filter(({ answer }) => answer).length
    after = found.tickets.at(-1)?.record.change_seq ?? last
  }
  const repaired: ClockRepaired = { ahead_until, tickets }
  return repaired
})
