import { Effect, Fiber } from "effect"
import { PCGRandom } from "effect/Utils"
import { advanceReplay, startReplay } from "../decisions/replayDeliveries.js"
import { enableWebhook, removeWebhook, setWebhook } from "../decisions/webhookSettings.js"
import { nextAttempt, nextClaims, type ShopQueue, type WaitingDelivery } from "../domain/Delivery.js"
import type { EventId, ShopId } from "../domain/Identifier.js"
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../domain/Instant.js"
import { ServiceLimits } from "../domain/Limits.js"
import { type Claim, Reads } from "../ports/StorePorts.js"
import { type CaseFixture, expectSame, expectThat, makeCases, pluck } from "./ContractCase.js"
import { readEvents, runCommand } from "./Fixtures.js"
import { SettableClock } from "./SettableClock.js"
import { errorResult, eventsOf, record, recordLate, statusResult, type TestDispatcher } from "./TestDispatcher.js"

const OK = statusResult(200)
const DOWN = statusResult(500)

/** How dispatchers claim deliveries (Specification, Webhooks). Leases use `currentTimeNanos` of the running clock. */
export const deliveriesContract = makeCases({
  "an event can be claimed at once, with its unchanged body and the present webhook": function* ({
    dispatcher,
    reads
  }) {
    const shop = yield* dispatcher.open
    yield* dispatcher.raise(shop, null)
    yield* dispatcher.hook(shop, () => ({ url: "https://other.example/", secret: "whsec_2" }))
    const [claim] = yield* dispatcher.claim()
    const [event] = yield* reads.events(shop)
    const webhook = (yield* reads.shop(shop))?.webhook
    yield* expectSame(
      "claim",
      { ...claim, token: 0 },
      { shop_id: shop, event_id: event?.id, token: 0, webhook, body: event?.body }
    )
    yield* expectSame("and no more", yield* dispatcher.claim(), [])
  },

  "at most four deliveries of a shop are in flight, and the next is claimed when one has ended (Specification, Webhooks)":
    function* (bench) {
      const { clock, dispatcher } = bench
      const shop = yield* dispatcher.open
      yield* dispatcher.raise(shop, null, null, null, null, null)
      const claims = yield* dispatcher.claim()
      yield* expectSame("no fifth", yield* dispatcher.claim(), [])
      clock.advance(SECOND_MS)
      yield* dispatcher.raise(shop, null)
      const events = yield* readEvents(shop)
      yield* expectSame("four", eventsOf(claims), events.slice(0, 4))
      yield* record(claims[2]!, OK)
      yield* expectSame("the fifth", eventsOf(yield* dispatcher.claim()), [events[4]])
      yield* record(claims[0]!, DOWN)
      yield* expectSame("the sixth, after a failure", eventsOf(yield* dispatcher.claim()), [events[5]])
    },

  "at most one delivery of a ticket is in flight, and a ticket's events are claimed in order (Specification, Webhooks)":
    function* (bench) {
      const { dispatcher } = bench
      const shop = yield* dispatcher.open
      yield* dispatcher.raise(shop, 1, 1, 2, 1, 2)
      const [a, b, c, d, e] = yield* readEvents(shop)
      const first = yield* dispatcher.claim()
      yield* expectSame("one each", eventsOf(first), [a, c])
      yield* record(first[1]!, OK)
      const second = yield* dispatcher.claim()
      yield* expectSame("the other ticket's next", eventsOf(second), [e])
      yield* record(first[0]!, OK)
      const third = yield* dispatcher.claim()
      yield* expectSame("this ticket's next", eventsOf(third), [b])
      yield* record(third[0]!, OK)
      yield* expectSame("and its last", eventsOf(yield* dispatcher.claim()), [d])
    },

  "a failed delivery that waits for its retry does not delay the next one of its ticket (Specification, Webhooks)":
    function* ({ dispatcher, clock }) {
      const shop = yield* dispatcher.open
      yield* dispatcher.raise(shop, 1, 1)
      const [first, second] = yield* readEvents(shop)
      const [failed] = yield* dispatcher.claim()
      yield* record(failed!, errorResult("timeout"))
      const [next] = yield* dispatcher.claim()
      yield* expectSame("the next of its ticket", next?.event_id, second)
      clock.advance(MINUTE_MS)
      yield* expectSame("its retry waits for that one", yield* dispatcher.claim(), [])
      yield* record(next!, OK)
      yield* expectSame("and then goes", eventsOf(yield* dispatcher.claim()), [first])
    },

  "the first retry is due exactly a minute after the failure (Specification, Webhooks)": function* (bench) {
    const { dispatcher, clock } = bench
    const shop = yield* dispatcher.open
    yield* dispatcher.raise(shop, null)
    const [claim] = yield* dispatcher.claim()
    clock.advance(3 * SECOND_MS)
    yield* record(claim!, DOWN)
    clock.advance(MINUTE_MS - 1)
    yield* expectSame("before", yield* dispatcher.claim(), [])
    clock.advance(1)
    yield* expectSame("then", eventsOf(yield* dispatcher.claim()), [claim!.event_id])
  },

  "a shop with 10,000 due deliveries delays another shop by one turn at most (Specification, Webhooks)": function* ({
    dispatcher
  }) {
    const [busy, quiet] = [yield* dispatcher.open, yield* dispatcher.open]
    for (const n of [4000, 4000, 2000]) yield* dispatcher.raise(busy, ...Array(n).fill(null))
    yield* dispatcher.raise(quiet, null)
    const turns = pluck(yield* dispatcher.claim(2), "shop_id")
    yield* expectSame("a turn each", turns, [busy, quiet])
    yield* expectSame("then the busy one's", (yield* dispatcher.claim()).length, 3)
    yield* dispatcher.raise(quiet, null, null, null, null)
    yield* expectSame("a full shop takes no turn", pluck(yield* dispatcher.claim(), "shop_id"), [quiet, quiet, quiet])
  },

  "claims alternate between shops with many due deliveries, with every value of `max`": function* ({ dispatcher }) {
    const shops = [yield* dispatcher.open, yield* dispatcher.open, yield* dispatcher.open]
    for (const shop of shops) yield* dispatcher.raise(shop, ...Array(9).fill(null))
    const order = []
    for (const max of [1, 2, 1, 3, 5])
      for (const { shop_id } of yield* dispatcher.claim(max)) order.push(shops.indexOf(shop_id))
    yield* expectSame("round", order, [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2])
  },

  "every shop with a due delivery is served once before any is served twice, with every size of claims": function* (
    bench
  ) {
    const { dispatcher, clock } = bench
    const shops = yield* Effect.replicateEffect(dispatcher.open, 60)
    for (const shop of shops) yield* dispatcher.raise(shop, ...Array(3).fill(null))
    const served = new Map(shops.map((shop) => [shop, 0]))
    const serve = function* (max: number) {
      for (const claim of yield* dispatcher.claim(max)) {
        served.set(claim.shop_id, served.get(claim.shop_id)! + 1)
        yield* record(claim, OK)
      }
      const counts = [...served.values()]
      yield* expectThat("no shop is two ahead", Math.max(...counts) - Math.min(...counts) <= 1)
    }
    for (const max of [1, 40, 7, 30, 3, 25]) yield* serve(max)
    clock.advance(SECOND_MS)
    const [late] = shops
    yield* dispatcher.raise(late!, null)
    for (const max of [50, 1, 20]) yield* serve(max)
    const newShop = yield* dispatcher.open
    yield* dispatcher.raise(newShop, null)
    const [first] = yield* dispatcher.claim(1)
    yield* expectSame("a shop that was never served goes before all that were", first?.shop_id, newShop)
  },

  "a claim skips many shops without due deliveries and returns the only due delivery": function* ({ dispatcher }) {
    const shops = yield* Effect.replicateEffect(dispatcher.open, 40)
    for (const shop of shops) {
      yield* dispatcher.raise(shop, null)
      for (const claim of yield* dispatcher.claim()) yield* record(claim, OK)
    }
    const last = shops.at(-1)!
    yield* dispatcher.raise(last, null)
    yield* expectSame("the last one's", pluck(yield* dispatcher.claim(1), "shop_id"), [last])
  },

  "nothing is claimed while the webhook is off, and all deliveries are due at once, in order, when it is on again (Specification, Webhooks)":
    function* (bench) {
      const { dispatcher, clock } = bench
      const shop = yield* dispatcher.open
      yield* dispatcher.raise(shop, 1, 2)
      const [failed] = yield* dispatcher.claim(1)
      yield* record(failed!, DOWN)
      yield* dispatcher.turnOff(shop)
      yield* dispatcher.raise(shop, 1)
      clock.advance(10 * MINUTE_MS)
      yield* expectSame("off", yield* dispatcher.claim(), [])
      yield* runCommand(enableWebhook(shop))
      const [first, second, third] = yield* readEvents(shop)
      const claims = yield* dispatcher.claim()
      yield* expectSame("on", eventsOf(claims), [first, second])
      yield* record(claims[0]!, OK)
      yield* expectSame("and the ticket's next", eventsOf(yield* dispatcher.claim()), [third])
    },

  "a delivery in flight while the webhook is turned off and on is not claimed twice, and its failure counts as the first":
    function* (bench) {
      const { dispatcher, clock } = bench
      const shop = yield* dispatcher.open
      yield* dispatcher.raise(shop, null)
      const [claim] = yield* dispatcher.claim()
      yield* dispatcher.turnOff(shop)
      yield* runCommand(enableWebhook(shop))
      yield* expectSame("in flight", yield* dispatcher.claim(), [])
      yield* expectSame("recorded", yield* record(claim!, DOWN), "retry")
      clock.advance(MINUTE_MS)
      yield* expectSame("a minute later", eventsOf(yield* dispatcher.claim()), [claim!.event_id])
    },

  "concurrent claims never return the same delivery": function* ({ dispatcher }) {
    const shops = yield* Effect.replicateEffect(dispatcher.open, 5)
    for (const shop of shops) yield* dispatcher.raise(shop, ...Array(50).fill(null))
    const seen = new Set<string>()
    for (let left = 250; left > 0; ) {
      const claimResults = yield* Effect.replicateEffect(Effect.zipRight(Effect.yieldNow(), dispatcher.claim(3)), 6, {
        concurrency: "unbounded"
      })
      const claims = claimResults.flat()
      for (const claim of claims) {
        yield* expectThat("claimed once", !seen.has(claim.event_id))
        seen.add(claim.event_id)
      }
      yield* Effect.forEach(claims, (claim) => record(claim, OK), { concurrency: "unbounded", discard: true })
      yield* expectThat("something was claimed", claims.length > 0)
      left -= claims.length
    }
    yield* expectSame("all of them", seen.size, 250)
  },

  "`next` returns the earliest instant at which a delivery can be claimed, or null if none can": function* (bench) {
    const { dispatcher, clock, start, deliveries } = bench
    const { next } = deliveries
    const FAR = start + 1000 * MINUTE_MS
    yield* expectSame("nothing", yield* next(FAR), null)
    const shop = yield* dispatcher.open
    yield* dispatcher.raise(shop, null, null, null, null, null)
    yield* expectSame("now", yield* next(FAR), start)
    const claims = yield* dispatcher.claim()
    yield* expectSame("four are in flight", yield* next(FAR), null)
    for (const claim of claims) yield* record(claim, DOWN)
    yield* record((yield* dispatcher.claim())[0]!, OK)
    yield* expectSame("the retries", yield* next(FAR), start + MINUTE_MS)
    yield* expectSame("at most", yield* next(start + MINUTE_MS), start + MINUTE_MS)
    yield* expectSame("not until then", yield* next(start + MINUTE_MS - 1), null)
    const other = yield* dispatcher.open
    clock.advance(5)
    yield* dispatcher.raise(other, null)
    yield* expectSame("the other shop's is earlier", yield* next(FAR), start + 5)
    yield* dispatcher.turnOff(other)
    yield* expectSame("off", yield* next(FAR), start + MINUTE_MS)
    yield* runCommand(enableWebhook(other))
    yield* expectSame("on again", yield* next(FAR), start + 5)
  },

  "`changed` returns once an event is raised or a webhook is turned on": function* ({ dispatcher, deliveries }) {
    const { changed } = deliveries
    const shop = yield* dispatcher.open
    const raised = yield* Effect.fork(changed)
    yield* Effect.repeatN(Effect.yieldNow(), 20)
    yield* dispatcher.raise(shop, null)
    yield* Fiber.join(raised)
    yield* dispatcher.turnOff(shop)
    yield* dispatcher.claim()
    const released = yield* Effect.fork(changed)
    yield* Effect.repeatN(Effect.yieldNow(), 20)
    yield* runCommand(enableWebhook(shop))
    yield* Fiber.join(released)
  }
})

/** Claims after the end of their lease, and deliveries after the clock was set back (Specification, Webhooks). */
export const leasesContract = makeCases({
  "after the clock was set back, new events are due at once, and the first retry a minute later (Specification, Webhooks)":
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
      yield* expectSame("at once", claim?.event_id, event!.id)
      yield* expectSame("recorded in its order", event!.created_at, start + DAY_MS)
      yield* record(claim!, DOWN)
      yield* expectSame("its retry", yield* deliveries.next(start + DAY_MS), start + MINUTE_MS)
      clock.set(start + MINUTE_MS)
      yield* expectSame("after a minute", eventsOf(yield* dispatcher.claim()), [claim!.event_id])
    },

  "a delivery can be claimed again after its lease of fifteen seconds, with all its attempts left (docs/how-it-is-built.md)":
    function* (bench) {
      const { dispatcher, clock, deliveryLog: log, reads, deliveries } = bench
      const { reclaim } = deliveries
      const shop = yield* dispatcher.open
      yield* dispatcher.raise(shop, 1, 1)
      const [lost] = yield* dispatcher.claim()
      clock.advance(ServiceLimits.delivery_lease_ms - 1)
      yield* reclaim
      yield* expectSame("held", yield* dispatcher.claim(), [])
      clock.advance(1)
      yield* expectThat("reclaimed", (yield* reclaim) >= 1)
      const [again] = yield* dispatcher.claim()
      yield* expectSame("the same", again?.event_id, lost!.event_id)
      yield* expectThat("under another token", again!.token !== lost!.token)
      yield* expectSame("no attempt was used", (yield* log.deliveries(shop))[0]?.attempts, [])
      const before = [yield* log.deliveries(shop), (yield* reads.shop(shop))?.webhook]
      yield* expectSame("a late result", yield* record(lost!, DOWN), "superseded")
      yield* expectSame("changes nothing", [yield* log.deliveries(shop), (yield* reads.shop(shop))?.webhook], before)
      yield* expectSame("the holder's word counts", yield* record(again!, OK), "delivered")
      yield* expectSame("and an echo does not", yield* record(again!, OK), "superseded")
      yield* expectSame("one attempt", (yield* log.deliveries(shop))[0]?.attempts.length, 1)
    },

  "an attempt whose delivery was claimed again is logged once, and counts for the webhook's health (Specification, Webhooks)":
    function* (bench) {
      const { dispatcher, clock, reads, deliveryLog: log, deliveries } = bench
      const shop = yield* dispatcher.open
      yield* dispatcher.raise(shop, null)
      const [slow] = yield* dispatcher.claim()
      clock.advance(ServiceLimits.delivery_lease_ms)
      yield* deliveries.reclaim
      const [again] = yield* dispatcher.claim()
      clock.advance(1)
      yield* expectSame("superseded", yield* record(slow!, DOWN), "superseded")
      for (let echo = 0; echo < 2; echo++) yield* recordLate(slow!, DOWN)
      yield* expectSame("one failure", (yield* reads.shop(shop))?.webhook?.failures_in_row, 1)
      clock.advance(1)
      yield* recordLate(slow!, statusResult(410))
      yield* expectSame("a 410 turns it off", (yield* reads.shop(shop))?.webhook?.off_reason, "gone")
      yield* expectSame("logged", pluck((yield* log.deliveries(shop))[0]?.attempts, "status"), [500, 410])
      yield* expectSame("the holder's word counts for the delivery", yield* record(again!, OK), "delivered")
    },

  "a delivery stays delivered if failures of earlier attempts are recorded after its success": function* (bench) {
    const { dispatcher, clock, deliveries, deliveryLog: log, start } = bench
    const shop = yield* dispatcher.open
    yield* dispatcher.raise(shop, null)
    const claims: Array<Claim> = []
    for (let overtaken = 0; overtaken < 3; overtaken++) {
      claims.push(...(yield* dispatcher.claim()))
      clock.advance(ServiceLimits.delivery_lease_ms)
      yield* deliveries.reclaim
    }
    const [again] = yield* dispatcher.claim()
    const now = clock.unsafeCurrentTimeMillis()
    const late = function* (place: number) {
      clock.set(start + place * ServiceLimits.delivery_lease_ms)
      yield* recordLate(claims[place]!, DOWN)
      clock.set(now)
    }
    yield* late(0)
    yield* late(1)
    yield* expectSame("arrived", yield* record(again!, OK), "delivered")
    yield* late(2)
    const [logged] = yield* log.deliveries(shop)
    yield* expectSame("the state", logged?.state, "delivered")
    yield* expectSame("in the order in which they began", pluck(logged?.attempts, "status"), [500, 500, 500, 200])
    yield* expectSame("given up", yield* log.count(shop, { state: "dead" }), 0)
    yield* expectSame("delivered", yield* log.count(shop, { state: "delivered" }), 1)
  },

  "a failure that is recorded twice, because its first response was lost, counts once": function* (bench) {
    const { dispatcher, reads, deliveryLog } = bench
    const shop = yield* dispatcher.open
    yield* dispatcher.raise(shop, null)
    const [claim] = yield* dispatcher.claim()
    yield* expectSame("first", yield* record(claim!, DOWN), "retry")
    yield* expectSame("repeated", yield* record(claim!, DOWN), "superseded")
    yield* expectSame("one attempt", (yield* deliveryLog.deliveries(shop))[0]?.attempts.length, 1)
    yield* expectSame("one failure", (yield* reads.shop(shop))?.webhook?.failures_in_row, 1)
  }
})

/** The removal of a webhook with its deliveries. */
export const webhookRemovalContract = makeCases({
  "a removal deletes the webhook's waiting deliveries a thousand at a time, and a later webhook gets only later events":
    function* (bench) {
      const { dispatcher, reads, deliveries } = bench
      const shop = yield* dispatcher.open
      const other = yield* dispatcher.open
      yield* dispatcher.raise(shop, ...Array(1300).fill(null))
      const [inFlight] = yield* dispatcher.claim(1)
      const replay = yield* runCommand(startReplay(shop, {}))
      yield* expectSame("the first thousand", yield* runCommand(removeWebhook(shop)), "more")
      yield* expectSame("turned off meanwhile", (yield* reads.shop(shop))?.webhook?.off_reason, "disabled")
      yield* expectSame("nothing is claimed", yield* dispatcher.claim(), [])
      yield* expectSame("the rest", yield* runCommand(removeWebhook(shop)), "removed")
      const state = yield* reads.shop(shop)
      yield* expectSame("no webhook", state?.webhook, null)
      yield* expectSame("a late answer", yield* record(inFlight!, OK), "superseded")
      yield* dispatcher.raise(shop, null)
      yield* dispatcher.raise(other, null)
      const claims = yield* dispatcher.claim()
      yield* expectSame("only the other shop's", new Set(pluck(claims, "shop_id")), new Set([other]))
      yield* expectSame("its replay ends", yield* runCommand(advanceReplay(shop, replay.id)), {
        selected_count: 0,
        is_done: true
      })
      const open = (yield* deliveries.replays).filter(({ shop_id }) => shop_id === shop)
      yield* expectSame("and is open no more", open, [])
      yield* runCommand(setWebhook(shop, { url: "https://new.example/hook", secret: "whsec_2" }))
      yield* dispatcher.raise(shop, null)
      const events = yield* reads.events(shop)
      const [first, ...rest] = (yield* dispatcher.claim()).filter(({ shop_id }) => shop_id === shop)
      yield* expectSame(
        "what was raised since",
        [first?.event_id, first?.webhook.secret, rest],
        [events.at(-1)?.id, "whsec_2", []]
      )
    }
})

interface Shop extends ShopQueue {
  readonly shop_id: ShopId
  /** The number of attempts of each event. */
  readonly tried: ReadonlyMap<number, number>
}

const SCHEDULES = 12
const ACTS = 40
const TICKETS = 6
/** Fewer than a claim reads from each shop, because a claim may leave further deliveries to the next claim. */
const MAX_WAITING = 12

/**
 * From a seed, raises events, claims deliveries and ends attempts at random, and compares each claim with the result of
 * `nextClaims`.
 */
const followClaims = (dispatcher: TestDispatcher, seed: number) =>
  Effect.gen(function* () {
    const random = new PCGRandom(seed)
    const drawBelow = (max: number) => random.integer(max)
    const clock = yield* SettableClock.current
    const events = new Map<string, EventId>()
    const heldClaims = new Map<string, Claim>()
    let queue: ReadonlyArray<Shop> = []
    const change = (shop_id: ShopId, to: (shop: Shop) => Partial<Shop>) => {
      queue = queue.map((shop) => (shop.shop_id === shop_id ? { ...shop, ...to(shop) } : shop))
    }

    const raise = Effect.fnUntraced(function* (shop_id: ShopId) {
      const { waiting, in_flight } = queue.find((shop) => shop.shop_id === shop_id)!
      const n = Math.min(1 + drawBelow(3), MAX_WAITING - waiting.length - in_flight.length)
      if (n <= 0) return
      const tickets = Array.from({ length: n }, () => (drawBelow(3) === 0 ? null : 1 + drawBelow(TICKETS)))
      yield* dispatcher.raise(shop_id, ...tickets)
      const due_at = clock.unsafeCurrentTimeMillis()
      const newEvents = (yield* (yield* Reads).events(shop_id)).slice(-n)
      const raised = newEvents.map(({ seq, id }, i): WaitingDelivery => {
        events.set(`${shop_id} ${seq}`, id)
        return { seq, ticket: tickets[i]!, is_replay: false, due_at }
      })
      change(shop_id, (shop) => ({ waiting: [...shop.waiting, ...raised] }))
    })

    const claim = Effect.fnUntraced(function* (step: string) {
      const slots = 1 + drawBelow(9)
      const before = queue
      const { claims, queue: after } = nextClaims(before, clock.unsafeCurrentTimeMillis(), slots)
      const expected = claims.map(([place, { seq }]) => events.get(`${before[place]!.shop_id} ${seq}`))
      const claimed = yield* dispatcher.claim(slots)
      yield* expectSame(`${step}: a claim of ${slots}`, pluck(claimed, "event_id"), expected)
      for (const claim of claimed) heldClaims.set(claim.event_id, claim)
      queue = after
    })

    const endAttempt = Effect.fnUntraced(function* () {
      const busyShops = queue.filter(({ in_flight }) => in_flight.length > 0)
      if (busyShops.length === 0) return
      const { shop_id, in_flight, tried } = busyShops[drawBelow(busyShops.length)]!
      const finished = in_flight[drawBelow(in_flight.length)]!
      const isFailed = drawBelow(6) === 0
      yield* record(heldClaims.get(events.get(`${shop_id} ${finished.seq}`)!)!, statusResult(isFailed ? 500 : 200))
      const attempts_made = (tried.get(finished.seq) ?? 0) + 1
      const due_at = isFailed ? nextAttempt(attempts_made, clock.unsafeCurrentTimeMillis(), 0) : null
      change(shop_id, (shop) => ({
        tried: new Map(shop.tried).set(finished.seq, attempts_made),
        in_flight: shop.in_flight.filter((delivery) => delivery !== finished),
        waiting: due_at === null ? shop.waiting : [...shop.waiting, { ...finished, due_at }]
      }))
    })

    for (let n = 3 + drawBelow(4); n > 0; n--) {
      const shop_id = yield* dispatcher.open
      queue = [...queue, { shop_id, waiting: [], in_flight: [], tried: new Map() }]
      yield* raise(shop_id)
    }
    for (let act = 0; act < ACTS; act++) {
      const kind = drawBelow(10)
      if (kind < 3) yield* raise(queue[drawBelow(queue.length)]!.shop_id)
      else if (kind < 6) yield* claim(`seed ${seed}, act ${act}`)
      else if (kind < 9) yield* endAttempt()
      else {
        // Records every open attempt before it moves the clock, so that no lease ends.
        while (queue.some(({ in_flight }) => in_flight.length > 0)) yield* endAttempt()
        clock.advance(drawBelow(MINUTE_MS))
      }
    }
    for (const { shop_id } of queue) yield* dispatcher.turnOff(shop_id)
  })

/** The order of claims agrees with `nextClaims` of the domain (Specification, Webhooks). */
export const claimOrderContract = makeCases(
  Object.fromEntries(
    Array.from({ length: SCHEDULES }, (_, seed) => [
      `random schedule ${seed}: claims of every size return deliveries in the order of nextClaims`,
      function* ({ dispatcher }: CaseFixture) {
        yield* followClaims(dispatcher, seed)
      }
    ])
  )
)
