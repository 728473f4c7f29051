import type { Instant, ShopId } from "@workshop/core"
import {
  type Claim,
  type Deliveries,
  type DeliveryLog,
  type NumberedClaims,
  ServiceLimits,
  TURNS_PER_CLAIM
} from "@workshop/core/store"
import { type Clock, type Context, Effect } from "effect"
import type { Memory } from "./Memory.js"
import { deliveryLogOf, matchingEvents } from "./ShopData.js"
import type { ShopDeliveryQueue } from "./ShopDeliveryQueue.js"

const NANOS_PER_MS = 1_000_000n

/** The monotonic real time, which a frozen sandbox clock does not affect. */
const realNanos = (clock: Clock.Clock): bigint => clock.unsafeCurrentTimeNanos()

/**
 * The number of the next claim. All stores of the process share it, because the turns of several cells are compared.
 */
let nextClaim = 0

/** The port for deliveries. It has a queue for each shop, and serves the shops in the order of `ShopTurns`. */
export const memoryDeliveries = (
  memory: Memory
): Context.Tag.Service<Deliveries> & {
  readonly claimNumbered: (now: Instant, max: number) => Effect.Effect<NumberedClaims>
} => {
  /** The queues that may have deliveries in flight, whose leases may expire. */
  const leasedQueues = new Map<ShopId, ShopDeliveryQueue>()

  const claimOne = (shop_id: ShopId, now: number, lease_until: bigint): Claim | undefined => {
    const { queue, state, events } = memory.dataOf(shop_id)
    const row = queue.claim(now, lease_until)
    if (row === undefined || state.webhook === null) return undefined
    leasedQueues.set(shop_id, queue)
    const { event_id, token, seq } = row
    return { shop_id, event_id, token, webhook: state.webhook, body: events[seq - 1]!.body }
  }

  const claimNumbered = (now: Instant, max: number) =>
    Effect.clockWith((clock) =>
      Effect.sync(() => {
        const lease_until = realNanos(clock) + BigInt(ServiceLimits.delivery_lease_ms) * NANOS_PER_MS
        const claims: Array<Claim> = []
        const number = nextClaim++
        while (claims.length < max) {
          const shop_id = memory.turns.next(now)
          if (shop_id === undefined) break
          const claim = claimOne(shop_id, now, lease_until)
          if (claim !== undefined) {
            claims.push(claim)
            memory.turns.recordServed(shop_id, number * TURNS_PER_CLAIM + claims.length)
          }
          memory.turns.schedule(shop_id, memory.dataOf(shop_id).queue.next())
        }
        return { number, claims }
      })
    )

  return {
    claim: (now, max) => Effect.map(claimNumbered(now, max), ({ claims }) => claims),
    claimNumbered,
    reclaim: Effect.clockWith((clock) =>
      Effect.sync(() => {
        const now = realNanos(clock)
        let reclaimedCount = 0
        for (const [shop_id, queue] of leasedQueues) {
          const endedCount = queue.reclaim(now)
          if (endedCount > 0) memory.turns.schedule(shop_id, queue.next())
          if (queue.inFlight === 0) leasedQueues.delete(shop_id)
          reclaimedCount += endedCount
        }
        return reclaimedCount
      })
    ),
    next: (until) =>
      Effect.sync(() => {
        // A turn may be outdated, because the delivery may be due later by now or the webhook may be off, so it is
        // corrected.
        for (let turn = memory.turns.first(); turn !== undefined && turn.due_at <= until; turn = memory.turns.first()) {
          const due_at = memory.dataOf(turn.shop_id).queue.next()
          if (due_at === turn.due_at) return due_at
          memory.turns.correctDueAt(turn.shop_id, due_at)
        }
        return null
      }),
    changed: Effect.async<void>((resume) => {
      const wake = () => resume(Effect.void)
      memory.turns.waiters.add(wake)
      return Effect.sync(() => memory.turns.waiters.delete(wake))
    }),
    replays: Effect.sync(() =>
      [...memory.openReplays.values()]
        .slice(0, ServiceLimits.replays_per_look)
        .map(({ shop_id, id }) => ({ shop_id, id }))
    )
  }
}

/** The port for the delivery log, which a shop's owner can read. */
export const memoryDeliveryLog = (memory: Memory): Context.Tag.Service<DeliveryLog> => ({
  deliveries: (shop_id, part) => Effect.sync(() => deliveryLogOf(memory.dataOf(shop_id), part)),
  count: (shop_id, filter) => Effect.sync(() => [...matchingEvents(memory.dataOf(shop_id), filter)].length),
  notices: (shop_id) => Effect.sync(() => memory.dataOf(shop_id).notices.slice(-ServiceLimits.list_max))
})
