import { DAY_MS, MINUTE_MS } from "../domain/Instant.js"
import { ServiceLimits } from "../domain/Limits.js"
import { cases, each, holds, same } from "./ContractCase.js"
import { answered, eventsOf, record, recordLate } from "./TestDispatcher.js"

const OK = answered(200)
const DOWN = answered(500)

/** What becomes of a claim whose lease ends, and of deliveries whose clock was set back (Specification, Webhooks). */
export const leasesContract = cases({
  "after the clock was set back, what is raised is due at once, and a retry after its minute (Specification, Webhooks)":
    function* (bench) {
      const { dispatcher, clock, reads, start, deliveries } = bench

      const shop = yield* dispatcher.open
      clock.set(start + DAY_MS)
      yield* dispatcher.raise(shop, null)
      const [first] = yield* dispatcher.claim()
      yield* record(first!, OK)
      clock.set(start)
      yield* dispatcher.raise(shop, null)
      const [claim] = yield* dispatcher.claim()
      const [, event] = yield* reads.events(shop)
      yield* same("at once", claim?.event_id, event!.id)
      yield* same("recorded in its order", event!.created_at, start + DAY_MS)
      yield* record(claim!, DOWN)
      yield* same("its retry", yield* deliveries.next(start + DAY_MS), start + MINUTE_MS)
      clock.set(start + MINUTE_MS)
      yield* same("after a minute", eventsOf(yield* dispatcher.claim()), [claim!.event_id])
    },

  "a lease holds for fifteen seconds; then the delivery is handed out anew, with all its attempts (docs/how-it-is-built.md)":
    function* (bench) {
      const { dispatcher, clock, deliveryLog: log, reads, deliveries } = bench

      const { reclaim } = deliveries
      const shop = yield* dispatcher.open
      yield* dispatcher.raise(shop, 1, 1)
      const [lost] = yield* dispatcher.claim()
      clock.advance(ServiceLimits.delivery_lease_ms - 1)
      yield* reclaim
      yield* same("held", yield* dispatcher.claim(), [])
      clock.advance(1)
      yield* holds("reclaimed", (yield* reclaim) >= 1)
      const [again] = yield* dispatcher.claim()
      yield* same("the same", again?.event_id, lost!.event_id)
      yield* holds("under another token", again!.token !== lost!.token)
      yield* same("no attempt was used", (yield* log.deliveries(shop))[0]?.attempts, [])
      const before = [yield* log.deliveries(shop), (yield* reads.shop(shop))?.webhook]
      yield* same("whoever comes late", yield* record(lost!, DOWN), "superseded")
      yield* same("changes nothing", [yield* log.deliveries(shop), (yield* reads.shop(shop))?.webhook], before)
      yield* same("the holder's word counts", yield* record(again!, OK), "delivered")
      yield* same("and an echo does not", yield* record(again!, OK), "superseded")
      yield* same("one attempt", (yield* log.deliveries(shop))[0]?.attempts.length, 1)
    },

  "an attempt whose delivery was claimed anew is logged, counts for the webhook's health, and once (Specification, Webhooks)":
    function* (bench) {
      const { dispatcher, clock, reads, deliveryLog: log, deliveries } = bench

      const shop = yield* dispatcher.open
      yield* dispatcher.raise(shop, null)
      const [slow] = yield* dispatcher.claim()
      clock.advance(ServiceLimits.delivery_lease_ms)
      yield* deliveries.reclaim
      const [again] = yield* dispatcher.claim()
      clock.advance(1)
      yield* same("superseded", yield* record(slow!, DOWN), "superseded")
      for (let echo = 0; echo < 2; echo++) yield* recordLate(slow!, DOWN)
      yield* same("one failure", (yield* reads.shop(shop))?.webhook?.failures_in_row, 1)
      clock.advance(1)
      yield* recordLate(slow!, answered(410))
      yield* same("a 410 turns it off", (yield* reads.shop(shop))?.webhook?.off_reason, "gone")
      yield* same("logged", each((yield* log.deliveries(shop))[0]?.attempts, "status"), [500, 410])
      yield* same("the holder's word counts for the delivery", yield* record(again!, OK), "delivered")
    },

  "a failure that is told twice, as its first answer was lost, counts once": function* (bench) {
    const { dispatcher, reads, deliveryLog } = bench

    const shop = yield* dispatcher.open
    yield* dispatcher.raise(shop, null)
    const [claim] = yield* dispatcher.claim()
    yield* same("told", yield* record(claim!, DOWN), "retry")
    yield* same("told again", yield* record(claim!, DOWN), "superseded")
    yield* same("one attempt", (yield* deliveryLog.deliveries(shop))[0]?.attempts.length, 1)
    yield* same("one failure", (yield* reads.shop(shop))?.webhook?.failures_in_row, 1)
  }
})
