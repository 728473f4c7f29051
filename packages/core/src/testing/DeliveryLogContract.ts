import { Effect } from "effect"
import type { ShopId } from "../domain/Identifier.js"
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../domain/Instant.js"
import { DeliveryLog } from "../ports/DeliveryLog.js"
import { cases, each, same } from "./ContractCase.js"
import { openShop, run } from "./Fixtures.js"
import { answered, raising, record, unanswered } from "./TestDispatcher.js"

const DOWN = answered(503)

const logOf = (shop_id: ShopId) => Effect.flatMap(DeliveryLog, (log) => log.deliveries(shop_id))

const states = (shop_id: ShopId) => Effect.map(logOf(shop_id), (log) => each(log, "state", "next_attempt_at"))

/** What an owner may look up of deliveries (Specification, Sandbox). */
export const deliveryLogContract = cases({
  "events raised without a webhook have no delivery, and one set later does not make any": function* ({ dispatcher }) {
    const { id } = yield* openShop()
    yield* run(raising(id, [null]))
    yield* same("none", yield* logOf(id), [])
    yield* same("and nothing is due", yield* dispatcher.claim(), [])
  },

  "lists without pages end: a shop's events and deliveries are its latest ten thousand": function* (bench) {
    const { dispatcher, reads, deliveryLog } = bench

    const shop = yield* dispatcher.open
    for (const n of [3, 4000, 4000, 2000]) yield* dispatcher.raise(shop, ...Array(n).fill(null))
    const events = yield* reads.events(shop)
    yield* same("events", [events.length, events[0]?.seq, events.at(-1)?.seq], [10_000, 4, 10_003])
    const log = yield* logOf(shop)
    yield* same("deliveries", [log.length, log[0]?.event_id], [10_000, events[0]?.id])
    yield* same("the last", log.at(-1)?.event_id, events.at(-1)?.id)
    for (const [part, first, last] of [
      [{ limit: 2 }, 10_002, 10_003],
      [{ before: 10_002, limit: 3 }, 9_999, 10_001],
      [{ before: 6_000, limit: 5_500 }, 500, 5_999],
      [{ before: 4 }, 1, 3]
    ] as const) {
      const seqs = yield* reads.events(shop, part)
      yield* same("part of the events", [seqs[0]?.seq, seqs.at(-1)?.seq, seqs.length], [first, last, last - first + 1])
      const logged = yield* deliveryLog.deliveries(shop, part)
      yield* same(
        "of the deliveries",
        [logged[0]?.seq, logged.at(-1)?.seq, logged.length],
        [first, last, last - first + 1]
      )
    }
    yield* same("before the first", yield* reads.events(shop, { before: 1 }), [])
    yield* same("nor a delivery", yield* deliveryLog.deliveries(shop, { before: 1 }), [])
  },

  "deliveries are told in the order of their events, with every attempt as it was": function* (bench) {
    const { dispatcher, clock, start, reads } = bench

    const shop = yield* dispatcher.open
    yield* dispatcher.raise(shop, 1, 2)
    const events = yield* reads.events(shop)
    const [first, second] = yield* dispatcher.claim()
    yield* record(second!, unanswered("reset"))
    yield* record(first!, DOWN)
    clock.advance(MINUTE_MS)
    for (const claim of yield* dispatcher.claim()) yield* record(claim, answered(204))
    const attempt = (at: number, n: number, sent: object) => ({
      ...sent,
      shop_id: shop,
      event_id: events[at]!.id,
      n,
      started_at: start + (n - 1) * MINUTE_MS
    })
    const told = (at: number, failure: object) => ({
      event_id: events[at]!.id,
      seq: events[at]!.seq,
      type: "ping",
      state: "delivered",
      next_attempt_at: null,
      attempts: [attempt(at, 1, failure), attempt(at, 2, answered(204))]
    })
    yield* same("log", yield* logOf(shop), [told(0, DOWN), told(1, unanswered("reset"))])
  },

  "pending until the receiver takes it; dead after the eighth attempt; parked while the webhook is off": function* (
    bench
  ) {
    const { dispatcher, clock, start } = bench

    const shop = yield* dispatcher.open
    yield* dispatcher.raise(shop, null)
    yield* same("raised", yield* states(shop), [["pending", start]])
    for (const wait of [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS, DAY_MS]) {
      yield* same("failed", yield* record((yield* dispatcher.claim())[0]!, DOWN), "retry")
      yield* same("waits", yield* states(shop), [["pending", clock.unsafeCurrentTimeMillis() + wait]])
      clock.advance(wait)
    }
    yield* same("given up", yield* record((yield* dispatcher.claim())[0]!, DOWN), "dead")
    yield* dispatcher.raise(shop, null)
    yield* same("dead", yield* states(shop), [
      ["dead", null],
      ["pending", clock.unsafeCurrentTimeMillis()]
    ])
    yield* dispatcher.turnOff(shop)
    yield* same("parked", yield* states(shop), [
      ["dead", null],
      ["parked", null]
    ])
  },

  "the owner's notices, oldest first: warned twice on the way to the switch-off (Specification, Webhooks)": function* (
    bench
  ) {
    const { dispatcher, clock, start, deliveryLog } = bench

    const shop = yield* dispatcher.open
    yield* dispatcher.raise(shop, ...Array(4).fill(null))
    yield* dispatcher.hook(shop, () => ({ failures_in_row: 18, first_failure_at: start - 30 * HOUR_MS }))
    const claims = yield* dispatcher.claim()
    for (const [at, hours] of [0, 20, 42].entries()) {
      clock.set(start + hours * HOUR_MS)
      yield* record(claims[at]!, DOWN)
    }
    yield* same("a 410 when it is off already", yield* record(claims[3]!, answered(410)), "parked")
    const notices = yield* deliveryLog.notices(shop)
    const brief = notices.map(({ kind, created_at, off_reason, failures_in_row }) => [
      kind,
      created_at,
      off_reason,
      failures_in_row
    ])
    yield* same("notices", brief, [
      ["webhook_failing", start, null, 19],
      ["webhook_failing", start + 20 * HOUR_MS, null, 20],
      ["webhook_off", start + 42 * HOUR_MS, "failing", 21]
    ])
  }
})
