import { Effect, Fiber } from "effect"
import { enableWebhook } from "../decisions/webhookSettings.js"
import type { ShopId } from "../domain/Identifier.js"
import { MINUTE_MS, SECOND_MS } from "../domain/Instant.js"
import { Deliveries } from "../ports/Deliveries.js"
import { Reads } from "../ports/Reads.js"
import { holds, same } from "./ContractCase.js"
import { answered, courierCase, eventsOf, record, unanswered } from "./Courier.js"
import { run } from "./Fixtures.js"
import { SettableClock } from "./SettableClock.js"

const OK = answered(200)
const DOWN = answered(500)

/** The shop's events in their order. */
const eventsIn = (shop_id: ShopId) =>
  Effect.flatMap(Reads, (reads) => Effect.map(reads.events(shop_id), (events) => events.map(({ id }) => id)))

/** How deliveries are handed out (Specification, Webhooks). Leases are told by the nanoseconds of the running clock. */
export const deliveriesContract = [
  courierCase("an event is due at once, with its bytes and the webhook as it is now", function* (courier) {
    const shop = yield* courier.open
    yield* courier.raise(shop, null)
    yield* courier.hook(shop, () => ({ url: "https://other.example/", secret: "whsec_2" }))
    const [claim] = yield* courier.claim()
    const reads = yield* Reads
    const [event] = yield* reads.events(shop)
    const webhook = (yield* reads.shop(shop))?.webhook
    yield* same(
      "claim",
      { ...claim, token: 0 },
      { shop_id: shop, event_id: event?.id, token: 0, webhook, body: event?.body }
    )
    yield* same("and no more", yield* courier.claim(), [])
  }),

  courierCase(
    "at most four of a shop are in flight, and the next goes when one has landed (Specification, Webhooks)",
    function* (courier) {
      const shop = yield* courier.open
      yield* courier.raise(shop, null, null, null, null, null, null)
      const events = yield* eventsIn(shop)
      const claims = yield* courier.claim()
      yield* same("four", eventsOf(claims), events.slice(0, 4))
      yield* same("no fifth", yield* courier.claim(), [])
      yield* record(claims[2]!, OK)
      yield* same("the fifth", eventsOf(yield* courier.claim()), [events[4]])
      yield* record(claims[0]!, DOWN)
      yield* same("the sixth, after a failure", eventsOf(yield* courier.claim()), [events[5]])
    }
  ),

  courierCase(
    "at most one of a ticket is in flight, and its events go out in order (Specification, Webhooks)",
    function* (courier) {
      const shop = yield* courier.open
      yield* courier.raise(shop, 1, 1, 2, 1, 2)
      const [a, b, c, d, e] = yield* eventsIn(shop)
      const first = yield* courier.claim()
      yield* same("one each", eventsOf(first), [a, c])
      yield* record(first[1]!, OK)
      const second = yield* courier.claim()
      yield* same("the other ticket's next", eventsOf(second), [e])
      yield* record(first[0]!, OK)
      const third = yield* courier.claim()
      yield* same("this ticket's next", eventsOf(third), [b])
      yield* record(third[0]!, OK)
      yield* same("and its last", eventsOf(yield* courier.claim()), [d])
    }
  ),

  courierCase(
    "a failed one that waits for its retry holds nothing back (Specification, Webhooks)",
    function* (courier) {
      const clock = yield* SettableClock.current
      const shop = yield* courier.open
      yield* courier.raise(shop, 1, 1)
      const [first, second] = yield* eventsIn(shop)
      const [failed] = yield* courier.claim()
      yield* record(failed!, unanswered("timeout"))
      const [next] = yield* courier.claim()
      yield* same("the next of its ticket", next?.event_id, second)
      clock.advance(MINUTE_MS)
      yield* same("its retry waits for that one", yield* courier.claim(), [])
      yield* record(next!, OK)
      yield* same("and then goes", eventsOf(yield* courier.claim()), [first])
    }
  ),

  courierCase(
    "a retry is due a minute after the failure, and not a millisecond before (Specification, Webhooks)",
    function* (courier) {
      const clock = yield* SettableClock.current
      const shop = yield* courier.open
      yield* courier.raise(shop, null)
      const [claim] = yield* courier.claim()
      clock.advance(3 * SECOND_MS)
      yield* record(claim!, DOWN)
      clock.advance(MINUTE_MS - 1)
      yield* same("before", yield* courier.claim(), [])
      clock.advance(1)
      yield* same("then", eventsOf(yield* courier.claim()), [claim!.event_id])
    }
  ),

  courierCase(
    "a shop with 10,000 due delays another by at most its turn (Specification, Webhooks)",
    function* (courier) {
      const [busy, quiet] = [yield* courier.open, yield* courier.open]
      for (const n of [4000, 4000, 2000]) yield* courier.raise(busy, ...Array(n).fill(null))
      yield* courier.raise(quiet, null)
      const turns = (yield* courier.claim(2)).map(({ shop_id }) => shop_id)
      yield* same("a turn each", turns, [busy, quiet])
      yield* same("then the busy one's", (yield* courier.claim()).length, 3)
      yield* courier.raise(quiet, null, null, null, null)
      yield* same(
        "a full shop takes no turn",
        (yield* courier.claim()).map(({ shop_id }) => shop_id),
        [quiet, quiet, quiet]
      )
    }
  ),

  courierCase("shops with much due take turns, whatever `most` is", function* (courier) {
    const shops = [yield* courier.open, yield* courier.open, yield* courier.open]
    for (const shop of shops) yield* courier.raise(shop, ...Array(9).fill(null))
    const order = []
    for (const most of [1, 2, 1, 3, 5])
      for (const { shop_id } of yield* courier.claim(most)) order.push(shops.indexOf(shop_id))
    yield* same("round", order, [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2])
  }),

  courierCase(
    "each shop that has something due gets its turn before any gets its second, however the claims are cut",
    function* (courier) {
      const clock = yield* SettableClock.current
      const shops = yield* Effect.replicateEffect(courier.open, 60)
      for (const shop of shops) yield* courier.raise(shop, ...Array(3).fill(null))
      const served = new Map(shops.map((shop) => [shop, 0]))
      const serve = function* (most: number) {
        for (const claim of yield* courier.claim(most)) {
          served.set(claim.shop_id, served.get(claim.shop_id)! + 1)
          yield* record(claim, OK)
        }
        const counts = [...served.values()]
        yield* holds("no shop is two ahead", Math.max(...counts) - Math.min(...counts) <= 1)
      }
      for (const most of [1, 40, 7, 30, 3, 25]) yield* serve(most)
      clock.advance(SECOND_MS)
      const [late] = shops
      yield* courier.raise(late!, null)
      for (const most of [50, 1, 20]) yield* serve(most)
      const newcomer = yield* courier.open
      yield* courier.raise(newcomer, null)
      const [first] = yield* courier.claim(1)
      yield* same("a shop that was never served goes before all that were", first?.shop_id, newcomer)
    }
  ),

  courierCase(
    "off, nothing is claimed, whenever it was raised; on again, all is due at once, in order (Specification, Webhooks)",
    function* (courier) {
      const clock = yield* SettableClock.current
      const shop = yield* courier.open
      yield* courier.raise(shop, 1, 2)
      const [failed] = yield* courier.claim(1)
      yield* record(failed!, DOWN)
      yield* courier.turnOff(shop)
      yield* courier.raise(shop, 1)
      clock.advance(10 * MINUTE_MS)
      yield* same("off", yield* courier.claim(), [])
      yield* run(enableWebhook(shop))
      const [first, second, third] = yield* eventsIn(shop)
      const claims = yield* courier.claim()
      yield* same("on", eventsOf(claims), [first, second])
      yield* record(claims[0]!, OK)
      yield* same("and the ticket's next", eventsOf(yield* courier.claim()), [third])
    }
  ),

  courierCase(
    "turned off and on while one is in flight: it is not handed out twice, and its failure counts as the first",
    function* (courier) {
      const clock = yield* SettableClock.current
      const shop = yield* courier.open
      yield* courier.raise(shop, null)
      const [claim] = yield* courier.claim()
      yield* courier.turnOff(shop)
      yield* run(enableWebhook(shop))
      yield* same("in flight", yield* courier.claim(), [])
      yield* same("recorded", yield* record(claim!, DOWN), "retry")
      clock.advance(MINUTE_MS)
      yield* same("a minute later", eventsOf(yield* courier.claim()), [claim!.event_id])
    }
  ),

  courierCase("claimers at the same time never get the same delivery", function* (courier) {
    const shops = yield* Effect.replicateEffect(courier.open, 5)
    for (const shop of shops) yield* courier.raise(shop, ...Array(50).fill(null))
    const seen = new Set<string>()
    for (let left = 250; left > 0; ) {
      const hands = yield* Effect.replicateEffect(Effect.zipRight(Effect.yieldNow(), courier.claim(3)), 6, {
        concurrency: "unbounded"
      })
      const claims = hands.flat()
      for (const claim of claims) {
        yield* holds("claimed once", !seen.has(claim.event_id))
        seen.add(claim.event_id)
      }
      yield* Effect.forEach(claims, (claim) => record(claim, OK), { concurrency: "unbounded", discard: true })
      yield* holds("something was claimed", claims.length > 0)
      left -= claims.length
    }
    yield* same("all of them", seen.size, 250)
  }),

  courierCase(
    "`next` names the earliest instant at which something could be claimed, and nothing else",
    function* (courier) {
      const clock = yield* SettableClock.current
      const { next } = yield* Deliveries
      const start = clock.unsafeCurrentTimeMillis()
      const FAR = start + 1000 * MINUTE_MS
      yield* same("nothing", yield* next(FAR), null)
      const shop = yield* courier.open
      yield* courier.raise(shop, null, null, null, null, null)
      yield* same("now", yield* next(FAR), start)
      const claims = yield* courier.claim()
      yield* same("four are in flight", yield* next(FAR), null)
      for (const claim of claims) yield* record(claim, DOWN)
      yield* record((yield* courier.claim())[0]!, OK)
      yield* same("the retries", yield* next(FAR), start + MINUTE_MS)
      yield* same("at most", yield* next(start + MINUTE_MS), start + MINUTE_MS)
      yield* same("not until then", yield* next(start + MINUTE_MS - 1), null)
      const other = yield* courier.open
      clock.advance(5)
      yield* courier.raise(other, null)
      yield* same("the other shop's is earlier", yield* next(FAR), start + 5)
      yield* courier.turnOff(other)
      yield* same("off", yield* next(FAR), start + MINUTE_MS)
      yield* run(enableWebhook(other))
      yield* same("on again", yield* next(FAR), start + 5)
    }
  ),

  courierCase("`changed` returns once something is raised, or its webhook is on again", function* (courier) {
    const { changed } = yield* Deliveries
    const shop = yield* courier.open
    const raised = yield* Effect.fork(changed)
    yield* Effect.repeatN(Effect.yieldNow(), 20)
    yield* courier.raise(shop, null)
    yield* Fiber.join(raised)
    yield* courier.turnOff(shop)
    yield* courier.claim()
    const released = yield* Effect.fork(changed)
    yield* Effect.repeatN(Effect.yieldNow(), 20)
    yield* run(enableWebhook(shop))
    yield* Fiber.join(released)
  })
]
