import { DAY_MS, MINUTE_MS } from "../domain/Instant.js"
import { ServiceLimits } from "../domain/Limits.js"
import { Deliveries } from "../ports/Deliveries.js"
import { DeliveryLog } from "../ports/DeliveryLog.js"
import { Reads } from "../ports/Reads.js"
import { holds, same } from "./ContractCase.js"
import { answered, courierCase, eventsOf, record, recordLate } from "./Courier.js"
import { SettableClock } from "./SettableClock.js"

const OK = answered(200)
const DOWN = answered(500)

/** What becomes of a claim whose lease ends, and of deliveries whose clock was set back (Specification, Webhooks). */
export const leasesContract = [
  courierCase(
    "after the clock was set back, what is raised is due at once, and a retry after its minute (Specification, Webhooks)",
    function* (courier) {
      const clock = yield* SettableClock.current
      const reads = yield* Reads
      const shop = yield* courier.open
      const start = clock.unsafeCurrentTimeMillis()
      clock.set(start + DAY_MS)
      yield* courier.raise(shop, null)
      const [first] = yield* courier.claim()
      yield* record(first!, OK)
      clock.set(start)
      yield* courier.raise(shop, null)
      const [claim] = yield* courier.claim()
      const [, event] = yield* reads.events(shop)
      yield* same("at once", claim?.event_id, event!.id)
      yield* same("recorded in its order", event!.created_at, start + DAY_MS)
      yield* record(claim!, DOWN)
      yield* same("its retry", yield* (yield* Deliveries).next(start + DAY_MS), start + MINUTE_MS)
      clock.set(start + MINUTE_MS)
      yield* same("after a minute", eventsOf(yield* courier.claim()), [claim!.event_id])
    }
  ),

  courierCase(
    "a lease holds for fifteen seconds; then the delivery is handed out anew, with all its attempts (docs/how-it-is-built.md)",
    function* (courier) {
      const clock = yield* SettableClock.current
      const { reclaim } = yield* Deliveries
      const shop = yield* courier.open
      yield* courier.raise(shop, 1, 1)
      const [lost] = yield* courier.claim()
      clock.advance(ServiceLimits.delivery_lease_ms - 1)
      yield* reclaim
      yield* same("held", yield* courier.claim(), [])
      clock.advance(1)
      yield* holds("reclaimed", (yield* reclaim) >= 1)
      const [again] = yield* courier.claim()
      yield* same("the same", again?.event_id, lost!.event_id)
      yield* holds("under another token", again!.token !== lost!.token)
      const log = yield* DeliveryLog
      yield* same("no attempt was used", (yield* log.deliveries(shop))[0]?.attempts, [])
      const before = [yield* log.deliveries(shop), (yield* (yield* Reads).shop(shop))?.webhook]
      yield* same("whoever comes late", yield* record(lost!, DOWN), "superseded")
      yield* same("changes nothing", [yield* log.deliveries(shop), (yield* (yield* Reads).shop(shop))?.webhook], before)
      yield* same("the holder's word counts", yield* record(again!, OK), "delivered")
      yield* same("and an echo does not", yield* record(again!, OK), "superseded")
      yield* same("one attempt", (yield* log.deliveries(shop))[0]?.attempts.length, 1)
    }
  ),

  courierCase(
    "an attempt whose delivery was claimed anew is logged, counts for the webhook's health, and once (Specification, Webhooks)",
    function* (courier) {
      const clock = yield* SettableClock.current
      const reads = yield* Reads
      const log = yield* DeliveryLog
      const shop = yield* courier.open
      yield* courier.raise(shop, null)
      const [slow] = yield* courier.claim()
      clock.advance(ServiceLimits.delivery_lease_ms)
      yield* (yield* Deliveries).reclaim
      const [again] = yield* courier.claim()
      clock.advance(1)
      yield* same("superseded", yield* record(slow!, DOWN), "superseded")
      for (let echo = 0; echo < 2; echo++) yield* recordLate(slow!, DOWN)
      yield* same("one failure", (yield* reads.shop(shop))?.webhook?.failures_in_row, 1)
      clock.advance(1)
      yield* recordLate(slow!, answered(410))
      yield* same("a 410 turns it off", (yield* reads.shop(shop))?.webhook?.off_reason, "gone")
      yield* same(
        "logged",
        (yield* log.deliveries(shop))[0]?.attempts.map(({ status }) => status),
        [500, 410]
      )
      yield* same("the holder's word counts for the delivery", yield* record(again!, OK), "delivered")
    }
  ),

  courierCase("a failure that is told twice, as its first answer was lost, counts once", function* (courier) {
    const shop = yield* courier.open
    yield* courier.raise(shop, null)
    const [claim] = yield* courier.claim()
    yield* same("told", yield* record(claim!, DOWN), "retry")
    yield* same("told again", yield* record(claim!, DOWN), "superseded")
    yield* same("one attempt", (yield* (yield* DeliveryLog).deliveries(shop))[0]?.attempts.length, 1)
    yield* same("one failure", (yield* (yield* Reads).shop(shop))?.webhook?.failures_in_row, 1)
  })
]
