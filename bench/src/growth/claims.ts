import { Dispatcher, Probes, WebhookSender } from "@workshop/core"
import { Deliveries } from "@workshop/core/store"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { createTicket } from "../../../packages/core/dist/decisions/createTicket.js"
import { runCommand, ticketInput } from "../../../packages/core/dist/testing/Fixtures.js"
import { statusResult } from "../../../packages/core/dist/testing/TestDispatcher.js"
import { median } from "../Median.js"
import { medianTime } from "../medianTime.js"
import { neededBytes } from "../memory/heap.js"
import type { Cluster } from "../pg/Cluster.js"
import { type Backlog, openFilled, shopId } from "./Queue.js"

/**
 * The median time in which a scrape of `/metrics` queries the database. The clock moves between two scrapes, because
 * results are cached for five seconds.
 */
const looking = (clock: { readonly advance: (ms: number) => void }) =>
  Effect.gen(function* () {
    const probes = [...((yield* Probes) ?? [])]
    const durations: Array<number> = []
    for (let i = 0; i < 21; i++) {
      clock.advance(6_000)
      durations.push(
        yield* medianTime(
          1,
          Effect.forEach(probes, ({ measure = Effect.void }) => measure, { discard: true })
        )
      )
    }
    return median(durations)
  })

/**
 * Measures the fairness of the queue: the number of claims until the first delivery of a shop that had none, and the
 * number of shops that are claimed a second time before each was claimed once. Every waiting shop has enough due
 * deliveries for that.
 */
const fairness = ({ shops, waiting }: Backlog, clock: { readonly unsafeCurrentTimeMillis: () => number }) =>
  Effect.gen(function* () {
    const { claim } = yield* Deliveries
    const fresh = shops > waiting ? shopId(waiting + 1) : null
    if (fresh !== null) yield* runCommand(createTicket(fresh, ticketInput(), { via: "api", foundWords: [] }))
    const everybody = waiting + (fresh === null ? 0 : 1)
    const served: Array<string> = []
    while (served.length < everybody) {
      const claims = yield* claim(clock.unsafeCurrentTimeMillis(), Math.min(64, everybody - served.length))
      if (claims.length === 0) break
      served.push(...claims.map(({ shop_id }) => shop_id))
    }
    return {
      fresh_after: fresh === null ? null : served.indexOf(fresh) + 1 || Number.POSITIVE_INFINITY,
      not_in_turn: everybody - new Set(served).size
    }
  })

/** The heap of this process in bytes while its dispatcher runs, after a number of deliveries. */
const dispatching = (deliveries: number) =>
  Effect.gen(function* () {
    const needed = yield* Deferred.make<number>()
    let sent = 0
    const send = () =>
      Effect.suspend(() => (++sent === deliveries ? Deferred.succeed(needed, neededBytes()) : Effect.void)).pipe(
        Effect.as(statusResult(200))
      )
    const dispatcher = Dispatcher.layer().pipe(Layer.provide(Layer.succeed(WebhookSender, { send })))
    return yield* Effect.gen(function* () {
      const { run: dispatch } = yield* Dispatcher
      const fiber = yield* Effect.fork(dispatch)
      const bytes = yield* Deferred.await(needed)
      yield* Fiber.interrupt(fiber)
      return bytes
    }).pipe(Effect.provide(dispatcher))
  })

/**
 * The deliveries after which the dispatcher's memory is measured, fewer than the deliveries of the smallest backlog.
 */
const DISPATCHED = 500

/**
 * The backlog for the warm-up claims, which compile the code of the process. Before that, a claim takes about twice as
 * long.
 */
const WARM = { shops: 1_000, waiting: 1_000, each: 8 } as const
const CLAIMS_UNTIL_WARM = 3_000

/** Warms the process up, so that it is measured like a dispatcher that has run for some seconds. */
export const warmingUp = (database: Cluster["database"]) =>
  Effect.gen(function* () {
    const { clock, context } = yield* openFilled(yield* database("claims_warm"), WARM)
    yield* Effect.gen(function* () {
      const { claim } = yield* Deliveries
      for (let claims = 0; claims < CLAIMS_UNTIL_WARM; claims++) yield* claim(clock.unsafeCurrentTimeMillis(), 1)
    }).pipe(Effect.provide(context), Effect.withClock(clock))
    yield* measureClaims(database, WARM)
  }).pipe(Effect.scoped)

/**
 * Measures a claim of one delivery, a create and a scrape of the metrics beside a backlog, and the fairness of claims.
 */
export const measureClaims = (database: Cluster["database"], backlog: Backlog) =>
  Effect.gen(function* () {
    const url = yield* database(`claims_${backlog.shops}`)
    const { clock, context } = yield* openFilled(url, backlog)
    return yield* Effect.gen(function* () {
      const { claim } = yield* Deliveries
      const one = Effect.suspend(() => claim(clock.unsafeCurrentTimeMillis(), 1))
      let scrapes = 0
      const create = Effect.suspend(() =>
        runCommand(
          createTicket(shopId((++scrapes % backlog.waiting) + 1), ticketInput(), { via: "api", foundWords: [] })
        )
      )
      // There are few enough claims that no shop of the smallest queue has four deliveries in flight.
      yield* medianTime(10, one)
      const claimed = yield* medianTime(Math.min(1_000, 3 * backlog.waiting), one)
      yield* medianTime(50, create)
      const created = yield* medianTime(200, create)
      const looked = yield* looking(clock)
      const fair = yield* fairness(backlog, clock)
      return { ...backlog, claimed, created, looked, ...fair, bytes: yield* dispatching(DISPATCHED) }
    }).pipe(Effect.provide(context), Effect.withClock(clock))
  }).pipe(Effect.scoped)
