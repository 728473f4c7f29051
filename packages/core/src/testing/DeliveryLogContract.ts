import { Effect } from "effect"
import { advanceReplay, startReplay } from "../decisions/replayDeliveries.js"
import { enableWebhook } from "../decisions/webhookSettings.js"
import type { ReplayFilter } from "../domain/Delivery.js"
import type { ShopId } from "../domain/Identifier.js"
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../domain/Instant.js"
import { ServiceLimits } from "../domain/Limits.js"
import { Deliveries, DeliveryLog } from "../ports/StorePorts.js"
import { expectSame, makeCases, pluck } from "./ContractCase.js"
import { makeChanges, openShop, readEvents, runCommand } from "./Fixtures.js"
import {
  errorResult,
  eventsOf,
  raisePings,
  record,
  recordLate,
  statusResult,
  type TestDispatcher
} from "./TestDispatcher.js"

const DOWN = statusResult(503)

const logOf = (shop_id: ShopId) => Effect.flatMap(DeliveryLog, (log) => log.deliveries(shop_id))

const readStates = (shop_id: ShopId) => Effect.map(logOf(shop_id), (log) => pluck(log, "state", "next_attempt_at"))

/** The deliveries that an owner can read (Specification, Sandbox). */
export const deliveryLogContract = makeCases({
  "an event raised without a webhook has no delivery": function* ({ dispatcher }) {
    const { id } = yield* openShop()
    yield* runCommand(raisePings(id, [null]))
    yield* expectSame("none", yield* logOf(id), [])
    yield* expectSame("and nothing is due", yield* dispatcher.claim(), [])
  },

  "two attempts of a delivery that begin at the same instant are both logged, in either order of their ends (Specification, Webhooks)":
    function* (bench) {
      const { dispatcher, clock, reads, deliveries, start } = bench
      const shop = yield* dispatcher.open
      for (const isEarlierFirst of [true, false]) {
        clock.set(start)
        yield* dispatcher.raise(shop, null)
        const [slow] = yield* dispatcher.claim()
        clock.advance(ServiceLimits.delivery_lease_ms)
        yield* deliveries.reclaim
        clock.set(start)
        const [again] = yield* dispatcher.claim()
        const outcomes = [recordLate(slow!, DOWN), Effect.asVoid(record(again!, statusResult(200)))]
        for (const recordOutcome of isEarlierFirst ? outcomes : outcomes.reverse()) yield* recordOutcome
        yield* recordLate(slow!, DOWN)
        const logged = (yield* logOf(shop)).find(({ event_id }) => event_id === slow!.event_id)
        yield* expectSame("delivered", logged?.state, "delivered")
        yield* expectSame("each once", pluck(logged?.attempts, "status"), [503, 200])
      }
      yield* expectSame("the late failure counts", (yield* reads.shop(shop))?.webhook?.failures_in_row, 1)
    },

  "a delivery stays delivered even if a node with a fast clock records a failed attempt with a later start": function* (
    bench
  ) {
    const { dispatcher, clock, deliveryLog: log, deliveries, start } = bench
    const shop = yield* dispatcher.open
    for (const isLoggedFirst of [true, false]) {
      clock.set(start)
      yield* dispatcher.raise(shop, null)
      const [slow] = yield* dispatcher.claim()
      clock.advance(ServiceLimits.delivery_lease_ms)
      yield* deliveries.reclaim
      const [again] = yield* dispatcher.claim()
      const late = Effect.suspend(() => {
        clock.advance(MINUTE_MS)
        return Effect.tap(recordLate(slow!, DOWN), () => clock.advance(-MINUTE_MS))
      })
      if (isLoggedFirst) yield* late
      yield* expectSame("arrived", yield* record(again!, statusResult(200)), "delivered")
      if (!isLoggedFirst) yield* late
      const logged = (yield* logOf(shop)).find(({ event_id }) => event_id === slow!.event_id)
      yield* expectSame("delivered", [logged?.state, pluck(logged?.attempts, "status")], ["delivered", [503, 200]])
    }
    yield* expectSame("given up", yield* log.count(shop, { state: "dead" }), 0)
  },

  "a shop's events and deliveries are listed without pages, up to the latest ten thousand": function* (bench) {
    const { dispatcher, reads, deliveryLog } = bench
    const shop = yield* dispatcher.open
    for (const n of [3, 4000, 4000, 2000]) yield* dispatcher.raise(shop, ...Array(n).fill(null))
    const events = yield* reads.events(shop)
    yield* expectSame("events", [events.length, events[0]?.seq, events.at(-1)?.seq], [10_000, 4, 10_003])
    const log = yield* logOf(shop)
    yield* expectSame("deliveries", [log.length, log[0]?.event_id], [10_000, events[0]?.id])
    yield* expectSame("the last", log.at(-1)?.event_id, events.at(-1)?.id)
    for (const [part, first, last] of [
      [{ limit: 2 }, 10_002, 10_003],
      [{ before: 10_002, limit: 3 }, 9_999, 10_001],
      [{ before: 6_000, limit: 5_500 }, 500, 5_999],
      [{ before: 4 }, 1, 3]
    ] as const) {
      const seqs = yield* reads.events(shop, part)
      yield* expectSame(
        "part of the events",
        [seqs[0]?.seq, seqs.at(-1)?.seq, seqs.length],
        [first, last, last - first + 1]
      )
      const logged = yield* deliveryLog.deliveries(shop, part)
      yield* expectSame(
        "of the deliveries",
        [logged[0]?.seq, logged.at(-1)?.seq, logged.length],
        [first, last, last - first + 1]
      )
    }
    yield* expectSame("before the first", yield* reads.events(shop, { before: 1 }), [])
    yield* expectSame("nor a delivery", yield* deliveryLog.deliveries(shop, { before: 1 }), [])
  },

  "deliveries are listed in the order of their events, with every attempt as it was recorded": function* (bench) {
    const { dispatcher, clock, start, reads } = bench
    const shop = yield* dispatcher.open
    yield* dispatcher.raise(shop, 1, 2)
    const events = yield* reads.events(shop)
    const [first, second] = yield* dispatcher.claim()
    yield* record(second!, errorResult("reset"))
    yield* record(first!, DOWN)
    clock.advance(MINUTE_MS)
    for (const claim of yield* dispatcher.claim()) yield* record(claim, statusResult(204))
    const attempt = (at: number, n: number, sent: object) => ({
      ...sent,
      shop_id: shop,
      event_id: events[at]!.id,
      n,
      started_at: start + (n - 1) * MINUTE_MS
    })
    const loggedAttempt = (at: number, failure: object) => ({
      event_id: events[at]!.id,
      seq: events[at]!.seq,
      type: "ping",
      state: "delivered",
      next_attempt_at: null,
      attempts: [attempt(at, 1, failure), attempt(at, 2, statusResult(204))]
    })
    yield* expectSame("log", yield* logOf(shop), [loggedAttempt(0, DOWN), loggedAttempt(1, errorResult("reset"))])
  },

  "a delivery is pending until its receiver accepts it, dead after the eighth attempt, and parked while the webhook is off":
    function* (bench) {
      const { dispatcher, clock, start } = bench
      const shop = yield* dispatcher.open
      yield* dispatcher.raise(shop, null)
      yield* expectSame("raised", yield* readStates(shop), [["pending", start]])
      for (const wait of [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS, DAY_MS]) {
        yield* expectSame("failed", yield* record((yield* dispatcher.claim())[0]!, DOWN), "retry")
        yield* expectSame("waits", yield* readStates(shop), [["pending", clock.unsafeCurrentTimeMillis() + wait]])
        clock.advance(wait)
      }
      yield* expectSame("given up", yield* record((yield* dispatcher.claim())[0]!, DOWN), "dead")
      yield* dispatcher.raise(shop, null)
      yield* expectSame("dead", yield* readStates(shop), [
        ["dead", null],
        ["pending", clock.unsafeCurrentTimeMillis()]
      ])
      yield* dispatcher.turnOff(shop)
      yield* expectSame("parked", yield* readStates(shop), [
        ["dead", null],
        ["parked", null]
      ])
    },

  "the owner's notices are listed oldest first: two warnings, and then that the webhook is off (Specification, Webhooks)":
    function* (bench) {
      const { dispatcher, clock, start, deliveryLog } = bench
      const shop = yield* dispatcher.open
      yield* dispatcher.raise(shop, ...Array(4).fill(null))
      yield* dispatcher.hook(shop, () => ({ failures_in_row: 18, first_failure_at: start - 30 * HOUR_MS }))
      const claims = yield* dispatcher.claim()
      for (const [at, hours] of [0, 20, 42].entries()) {
        clock.set(start + hours * HOUR_MS)
        yield* record(claims[at]!, DOWN)
      }
      yield* expectSame("a 410 when it is off already", yield* record(claims[3]!, statusResult(410)), "parked")
      const notices = yield* deliveryLog.notices(shop)
      const summaries = notices.map(({ kind, created_at, off_reason, failures_in_row }) => [
        kind,
        created_at,
        off_reason,
        failures_in_row
      ])
      yield* expectSame("notices", summaries, [
        ["webhook_failing", start, null, 19],
        ["webhook_failing", start + 20 * HOUR_MS, null, 20],
        ["webhook_off", start + 42 * HOUR_MS, "failing", 21]
      ])
    }
})

const OK = statusResult(200)

/** Claims all due deliveries and records a success for each. */
const deliver = Effect.fnUntraced(function* (dispatcher: TestDispatcher) {
  const sent = []
  for (let claims = yield* dispatcher.claim(); claims.length > 0; claims = yield* dispatcher.claim()) {
    for (const claim of claims) {
      sent.push(claim.event_id)
      yield* record(claim, OK)
    }
  }
  return sent
})

/** Starts a replay and advances it until all its events are in the queue. */
const replay = Effect.fnUntraced(function* (shop_id: ShopId, filter: ReplayFilter) {
  const { id } = yield* runCommand(startReplay(shop_id, filter))
  const { replays } = yield* Deliveries
  const isOpen = Effect.map(replays, (open) => open.some((one) => one.id === id))
  let taken = 0
  while (yield* isOpen) taken += (yield* runCommand(advanceReplay(shop_id, id))).selected_count
  return taken
})

/** Replays of events (Specification, Sandbox). */
export const replayContract = makeCases({
  "replayed deliveries have the same ids, and are claimed in order, after all live ones that are due": function* (
    bench
  ) {
    const { dispatcher, deliveryLog } = bench
    const shop = yield* dispatcher.open
    yield* dispatcher.raise(shop, 1, 1, 2)
    const old = yield* deliver(dispatcher)
    yield* expectSame("replayed", yield* replay(shop, {}), 3)
    yield* dispatcher.raise(shop, null, null)
    const [first, second, third, ping, pong] = yield* readEvents(shop)
    yield* expectSame("sent before", [...old].sort(), [first, second, third].sort())
    const claims = yield* dispatcher.claim()
    yield* expectSame("live ones first", eventsOf(claims), [ping, pong, first, third])
    for (const claim of claims) yield* record(claim, OK)
    yield* expectSame("the rest", yield* deliver(dispatcher), [second])
    const log = yield* deliveryLog.deliveries(shop)
    yield* expectSame(
      "attempts go on",
      log.map(({ attempts }) => pluck(attempts, "n")),
      [[1, 2], [1, 2], [1, 2], [1], [1]]
    )
  },

  "a replay processes a thousand events at a time and is open until the last, and the oldest is listed first":
    function* (bench) {
      const { dispatcher, clock, deliveries } = bench
      const shop = yield* dispatcher.open
      yield* dispatcher.raise(shop, ...Array(2000).fill(1))
      yield* dispatcher.raise(shop, ...Array(50).fill(2))
      const { replays } = deliveries
      const first = yield* runCommand(startReplay(shop, {}))
      clock.advance(1)
      const second = yield* runCommand(startReplay(shop, {}))
      yield* dispatcher.raise(shop, null)
      const open = Effect.map(replays, (replays) =>
        pluck(
          replays.filter((replay) => replay.shop_id === shop),
          "id"
        )
      )
      yield* expectSame("both", yield* open, [first.id, second.id])
      const steps = []
      while ((yield* open).includes(first.id))
        steps.push((yield* runCommand(advanceReplay(shop, first.id))).selected_count)
      yield* expectSame("steps", steps, [1000, 1000, 50])
      yield* expectSame("the second", yield* open, [second.id])
      yield* expectSame("a step too many", (yield* runCommand(advanceReplay(shop, first.id))).selected_count, 0)
      while ((yield* open).length > 0) yield* runCommand(advanceReplay(shop, second.id))
    },

  "a replay of the last two of 6,002 events finds and counts these two": function* (bench) {
    const { dispatcher, clock, deliveryLog } = bench
    const shop = yield* dispatcher.open
    // The webhook is off so that no delivery is due after this case.
    yield* dispatcher.turnOff(shop)
    for (let n = 0; n < 3; n++) yield* dispatcher.raise(shop, ...Array(2000).fill(1))
    clock.advance(1)
    yield* dispatcher.raise(shop, 2, 2)
    const filter = { since: clock.unsafeCurrentTimeMillis() }
    yield* expectSame("counted", yield* deliveryLog.count(shop, filter), 2)
    yield* expectSame("taken up", yield* replay(shop, filter), 2)
  },

  "a delivery that is replayed during a retry is not claimed twice, and its next failure counts as the first of eight (Specification, Webhooks)":
    function* (bench) {
      const { dispatcher, clock, deliveries } = bench
      const shop = yield* dispatcher.open
      yield* dispatcher.raise(shop, 1, 1)
      for (let n = 0; n < 3; n++) {
        yield* record((yield* dispatcher.claim())[0]!, n === 1 ? OK : statusResult(500))
        clock.advance(n === 1 ? 0 : 400_000)
      }
      const [inFlight] = yield* dispatcher.claim()
      yield* replay(shop, {})
      const [again] = yield* dispatcher.claim()
      yield* expectSame("two of one ticket are never in flight", again, undefined)
      yield* expectSame("its record counts", yield* record(inFlight!, statusResult(500)), "retry")
      const { next } = deliveries
      const now = clock.unsafeCurrentTimeMillis()
      const [second] = yield* dispatcher.claim()
      yield* expectSame("the other one is sent again", second?.event_id, (yield* readEvents(shop))[1])
      yield* record(second!, OK)
      yield* expectSame("the first delay again", yield* next(now + 400_000), now + 60_000)
    },

  "a replayed delivery that failed stays before its ticket's later ones, and one that was delivered comes after them (Specification, Webhooks)":
    function* (bench) {
      const { dispatcher, clock } = bench
      const shop = yield* dispatcher.open
      yield* dispatcher.raise(shop, 1)
      yield* record((yield* dispatcher.claim())[0]!, OK)
      clock.advance(1)
      yield* dispatcher.raise(shop, 1)
      yield* record((yield* dispatcher.claim())[0]!, statusResult(500))
      clock.advance(1)
      yield* dispatcher.raise(shop, 1)
      clock.advance(1)
      const [arrived, failed, waiting] = yield* readEvents(shop)
      yield* expectSame("replayed", yield* replay(shop, {}), 3)
      yield* dispatcher.raise(shop, 1)
      const last = (yield* readEvents(shop))[3]
      yield* expectSame("in order", yield* deliver(dispatcher), [failed, waiting, last, arrived])
    },

  "replayed parked deliveries are claimed in the order of their ticket once the webhook is on (Specification, Webhooks)":
    function* (bench) {
      const { dispatcher, clock } = bench
      const shop = yield* dispatcher.open
      yield* dispatcher.raise(shop, 1)
      yield* record((yield* dispatcher.claim())[0]!, statusResult(410))
      for (let n = 0; n < 2; n++) {
        clock.advance(1)
        yield* dispatcher.raise(shop, 1)
      }
      const events = yield* readEvents(shop)
      yield* replay(shop, { state: "parked" })
      yield* runCommand(enableWebhook(shop))
      yield* expectSame("created, ready, collected", yield* deliver(dispatcher), events)
    },

  "attempt numbers continue, even if retention removed earlier attempts or two attempts have the same number (Specification, Webhooks)":
    function* (bench) {
      const { dispatcher, clock, deliveries, deliveryLog } = bench
      const shop = yield* dispatcher.open
      yield* dispatcher.raise(shop, null)
      yield* dispatcher.raise(shop, null)
      const [first, second] = yield* readEvents(shop)
      const late = (yield* dispatcher.claim()).find(({ event_id }) => event_id === second)
      const forgotten = makeChanges(shop, (changes, { now }, { webhook }) =>
        changes.add({
          _tag: "DeliveryPut",
          row: {
            shop_id: shop,
            event_id: first!,
            type: "ping",
            ticket_id: null,
            seq: 1,
            attempts_made: 5,
            attempts_since_reset: 5,
            due_at: now + DAY_MS,
            generation: webhook!.generation,
            is_replay: false,
            token: 99
          }
        })
      )
      yield* runCommand(forgotten)
      clock.advance(ServiceLimits.delivery_lease_ms)
      yield* deliveries.reclaim
      const again = (yield* dispatcher.claim()).find(({ event_id }) => event_id === second)
      yield* recordLate(late!, statusResult(500))
      clock.advance(1)
      yield* expectSame("arrives", yield* record(again!, OK), "delivered")
      for (let round = 0; round < 2; round++) {
        yield* replay(shop, {})
        yield* deliver(dispatcher)
      }
      const log = yield* deliveryLog.deliveries(shop)
      yield* expectSame(
        "numbers",
        log.map(({ attempts }) => pluck(attempts, "n")),
        [
          [6, 7],
          [1, 1, 2, 3]
        ]
      )
    },

  "an attempt with a token from before a replay is superseded and changes nothing": function* ({
    dispatcher,
    clock,
    deliveries
  }) {
    const shop = yield* dispatcher.open
    yield* dispatcher.raise(shop, null)
    const [lost] = yield* dispatcher.claim()
    clock.advance(ServiceLimits.delivery_lease_ms)
    yield* deliveries.reclaim
    const [first] = yield* dispatcher.claim()
    yield* record(first!, OK)
    for (let round = 0; round < 3; round++) {
      yield* replay(shop, {})
      for (const late of [lost!, first!]) yield* expectSame("waiting", yield* record(late, OK), "superseded")
      const [again] = yield* dispatcher.claim()
      for (const late of [lost!, first!]) yield* expectSame("in flight", yield* record(late, OK), "superseded")
      yield* expectSame("arrives", yield* record(again!, OK), "delivered")
    }
  },

  "a replay neither delays a delivery without attempts nor sends it twice": function* ({ dispatcher }) {
    const shop = yield* dispatcher.open
    yield* dispatcher.raise(shop, 1, 1)
    const [flying] = yield* dispatcher.claim()
    yield* replay(shop, {})
    yield* dispatcher.raise(shop, 1)
    const [first, second, third] = yield* readEvents(shop)
    yield* expectSame("one of a ticket in flight", yield* dispatcher.claim(), [])
    yield* expectSame("delivered", yield* record(flying!, OK), "delivered")
    yield* expectSame(
      "in order, each once",
      [first, ...(yield* deliver(dispatcher))],
      [flying!.event_id, second, third]
    )
  },

  "deliveries replayed while the webhook is off are claimed after the live ones once it is on": function* ({
    dispatcher
  }) {
    const shop = yield* dispatcher.open
    yield* dispatcher.raise(shop, 1, 1)
    yield* deliver(dispatcher)
    yield* dispatcher.turnOff(shop)
    yield* replay(shop, {})
    yield* dispatcher.raise(shop, 1)
    yield* expectSame("off", yield* dispatcher.claim(), [])
    yield* runCommand(enableWebhook(shop))
    const [first, second, third] = yield* readEvents(shop)
    yield* expectSame("on", yield* deliver(dispatcher), [third, first, second])
  },

  "a replay filters by event ids, time and state": function* (bench) {
    const { dispatcher, clock, start, deliveryLog } = bench
    const shop = yield* dispatcher.open
    yield* dispatcher.raise(shop, null)
    yield* deliver(dispatcher)
    clock.set(start + 10)
    yield* dispatcher.raise(shop, null)
    const [failed] = yield* dispatcher.claim()
    yield* record(failed!, statusResult(500))
    clock.set(start + 20)
    yield* dispatcher.raise(shop, null)
    const [first, second, third] = yield* readEvents(shop)
    const { count } = deliveryLog
    const counts = (filter: ReplayFilter) => count(shop, filter)
    yield* expectSame("all", yield* counts({}), 3)
    yield* expectSame("since is inclusive", yield* counts({ since: start + 10 }), 2)
    yield* expectSame("until is exclusive", yield* counts({ until: start + 10 }), 1)
    yield* expectSame("both", yield* counts({ since: start + 1, until: start + 20 }), 1)
    yield* expectSame("delivered", yield* counts({ state: "delivered" }), 1)
    yield* expectSame("pending", yield* counts({ state: "pending" }), 2)
    yield* expectSame("dead", yield* counts({ state: "dead" }), 0)
    yield* expectSame("named, twice or in any order", yield* counts({ event_ids: [third!, first!, third!] }), 2)
    yield* expectSame(
      "named, unknown",
      yield* counts({ event_ids: ["00000000-0000-7000-8000-000000000000" as never] }),
      0
    )
    yield* expectSame("taken up", yield* replay(shop, { event_ids: [second!, first!] }), 2)
    yield* dispatcher.turnOff(shop)
    yield* expectSame("parked", yield* counts({ state: "parked" }), 3)
  }
})
