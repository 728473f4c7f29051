import { Clock, Context, Effect, Layer } from "effect"
import { redateTicket, repairClock } from "../../decisions/repairClock.js"
import { retryNotificationNow } from "../../decisions/sendNotification.js"
import type { ShopId } from "../../domain/Identifier.js"
import { durationInWords, type Instant, toIso } from "../../domain/Instant.js"
import { ServiceLimits } from "../../domain/Limits.js"
import type { ShopsAhead } from "../../domain/Shop.js"
import { Directory, NotificationQueue, Reads, Store, type StoreUnavailable } from "../../ports/StorePorts.js"
import type { SeenTickets } from "../../ports/TicketList.js"
import { makeAuditedCommandRunner } from "../CommandRunner.js"

/** The result of a repair. */
export interface ClockRepairResult {
  /** The shop's last recorded instant before the repair; null if the shop was not ahead of the clock. */
  readonly ahead_until: Instant | null
  /** How many tickets had future instants, which the repair set to the current time. */
  readonly tickets: number
}

/**
 * Sets the future instants of a shop and its tickets to the current time; waiting deliveries become due at once. If the
 * repair is interrupted, call it again. The shop can be used during the repair.
 */
export const repairShopClock = Effect.fn("repairShopClock")(function* (shop_id: ShopId) {
  const store = yield* Store
  const reads = yield* Reads
  const queue = yield* NotificationQueue
  const batch = ServiceLimits.clock_repair_batch_tickets
  const begun_at = yield* Clock.currentTimeMillis
  const ahead_until = yield* makeAuditedCommandRunner(store)(repairClock(shop_id), (until) =>
    until === null ? null : { act: "shop.clock_repaired", details: { ahead_until: toIso(until) } }
  )
  if (ahead_until !== null) {
    while (true) {
      const laterDue = yield* queue.dueAfter(shop_id, yield* Clock.currentTimeMillis, batch)
      yield* Effect.forEach(laterDue, (notification) => store.transact(retryNotificationNow(notification)), {
        concurrency: 16
      })
      if (laterDue.length < batch) break
    }
  }
  // Until all tickets are repaired, the order of changes is not the order of their times, so a repair that was interrupted begins with the
  // first change again.
  const since = ahead_until === null ? 0 : begun_at
  const lastSeq = ((yield* reads.shop(shop_id))?.head.change_seq ?? 1) - 1
  let tickets = 0
  for (let after: number | null = null; after === null || after < lastSeq; ) {
    const page: SeenTickets = yield* reads.tickets(shop_id, {}, { _tag: "Changes", since, after }, batch)
    const now = yield* Clock.currentTimeMillis
    const outcomes = yield* Effect.forEach(
      page.tickets.filter(({ record }) => record.updated_at > now),
      ({ record }) => store.transact(redateTicket(shop_id, record.id)),
      { concurrency: 16 }
    )
    tickets += outcomes.filter(({ result }) => result).length
    after = page.tickets.at(-1)?.record.change_seq ?? lastSeq
  }
  const repaired: ClockRepairResult = { ahead_until, tickets }
  return repaired
})

const { data_ahead_max_ms, data_ahead_check_every_ms } = ServiceLimits

const aheadMessage = ({ count, first }: ShopsAhead, ms: number): string => {
  const shops = count === 1 ? "1 shop" : `${count} shops`
  const shopNames = first.length < count ? `${first.join(", ")} and ${count - first.length} more` : first.join(", ")
  return `The data of ${shops} are up to ${durationInWords(Math.round(ms / 1000))} ahead of this server's clock (${shopNames}). If this clock is wrong, correct it. If the data were written with a wrong clock or by a sandbox, run workshop shop repair-clock --all.`
}

type AheadCheck = Effect.Effect<string | null, StoreUnavailable>

const makeAheadCheck = ({ latest, shopsAhead }: Context.Tag.Service<Directory>): AheadCheck => {
  let lastFine: { readonly at: Instant; readonly ns: bigint } | undefined

  const compare = (clock: Clock.Clock) =>
    Effect.flatMap(latest, (latest) => {
      const at = clock.unsafeCurrentTimeMillis()
      const isAhead = latest - at > data_ahead_max_ms
      lastFine = isAhead ? undefined : { at, ns: clock.unsafeCurrentTimeNanos() }
      return isAhead
        ? Effect.map(shopsAhead(at + data_ahead_max_ms), (shops) => aheadMessage(shops, latest - at))
        : Effect.succeed(null)
    })
  return Effect.clockWith((clock) => {
    // If the clock was set back since the last comparison, the data must be compared with it again.
    const isFine =
      lastFine !== undefined &&
      clock.unsafeCurrentTimeMillis() >= lastFine.at &&
      clock.unsafeCurrentTimeNanos() - lastFine.ns < BigInt(data_ahead_check_every_ms) * 1_000_000n
    return isFine ? Effect.succeed(null) : compare(clock)
  })
}

/**
 * The comparison of the data with the clock, which caches its last result; null if every comparison queries the store.
 */
export class ClockComparison extends Context.Reference<ClockComparison>()("@workshop/core/ClockComparison", {
  defaultValue: (): AheadCheck | null => null
}) {
  static readonly layer: Layer.Layer<never, never, Directory> = Layer.effect(
    ClockComparison,
    Effect.map(Directory, makeAheadCheck)
  )
}

/**
 * Compares the data with the clock. Returns a sentence if the data are more than ten seconds ahead, else null. The data or the clock are
 * then wrong, and new data get future instants.
 */
export const dataAheadReason: Effect.Effect<string | null, StoreUnavailable, Directory> = Effect.flatMap(
  ClockComparison,
  (known) => known ?? Effect.flatMap(Directory, makeAheadCheck)
)

/** Logs a warning if the data are ahead of the clock. It ignores a store that does not respond, because the first real use reports that. */
export const warnIfDataAhead: Effect.Effect<void, never, Directory> = Effect.flatMap(
  Effect.catchAll(dataAheadReason, () => Effect.succeed(null)),
  (warning) => (warning === null ? Effect.void : Effect.logWarning(warning))
)
