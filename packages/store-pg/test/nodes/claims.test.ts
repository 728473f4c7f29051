import { type Claim, Deliveries, TURNS_PER_CLAIM } from "@workshop/core/store"
import { Effect, Fiber, Option } from "effect"
import { describe, expect, it } from "vitest"
import { until } from "../../../../test/until.js"
import { removeWebhook, setWebhook } from "../../../core/src/decisions/webhookSettings.js"
import { openShop, runCommand } from "../../../core/src/testing/Fixtures.js"
import { raisePings, record, statusResult } from "../../../core/src/testing/TestDispatcher.js"
import { CLAIM, LOCK_QUEUES, LOCK_READY_QUEUES, RESCHEDULE_SHOPS } from "../../src/deliveries/ClaimStatements.js"
import type { Session } from "../../src/migrate/Session.js"
import { database, node, runTest } from "./Node.js"

/**
 * A shop with nine due deliveries, a node, and a session in which a test runs the statements of another node's claim.
 */
const bench = Effect.gen(function* () {
  const { url, session } = yield* database
  const ports = yield* node({ url })
  const { id } = yield* Effect.provide(openShop(), ports)
  yield* Effect.provide(runCommand(setWebhook(id, { url: "https://shop.example/hook", secret: "whsec_1" })), ports)
  yield* Effect.provide(runCommand(raisePings(id, Array(9).fill(null))), ports)
  const claim = (max: number) =>
    Effect.provide(
      Effect.flatMap(Deliveries, (deliveries) => deliveries.claim(Date.now(), max)),
      ports
    )
  const land = (one: Claim) => Effect.provide(record(one, statusResult(200)), ports)
  const remove = Effect.provide(runCommand(removeWebhook(id)), ports)
  return { session, claim, land, remove }
})

const begun = (session: Session, max: number) =>
  Effect.gen(function* () {
    const now = Date.now()
    yield* session.run("begin")
    yield* session.run(LOCK_READY_QUEUES, [300, 0])
    return yield* session.run<Claim>(CLAIM, [now, max, null])
  })

const looked = (session: Session) =>
  Effect.gen(function* () {
    yield* session.run(LOCK_QUEUES)
    yield* session.run(RESCHEDULE_SHOPS, [Date.now(), null, false])
  })

const ended = (session: Session) => Effect.zipRight(looked(session), session.run("commit"))

/** Waits until a fiber has ended, or one of the database's sessions waits for a lock. */
const waitingOrDone = <A, E>(session: Session, fiber: Fiber.Fiber<A, E>) =>
  Effect.gen(function* () {
    const isDone = Effect.map(Fiber.poll(fiber), Option.isSome)
    const isWaiting = Effect.map(session.run("select from pg_locks where not granted"), ({ length }) => length > 0)
    yield* until("the claim to end or to wait for a lock", Effect.all([isDone, isWaiting]), (seen) =>
      seen.includes(true)
    )
  })

describe.concurrent("claims of several nodes (Specification, Webhooks; docs/how-it-is-built.md)", {
  timeout: 30_000
}, () => {
  it("a node skips a shop that another node is claiming for, and the shop never has more than four deliveries in flight", () =>
    runTest(
      Effect.gen(function* () {
        const { session, claim } = yield* bench
        expect(yield* begun(session, 2)).toHaveLength(2)
        expect(yield* claim(9)).toHaveLength(0)
        yield* ended(session)
        expect(yield* claim(9)).toHaveLength(2)
        expect(yield* claim(9)).toHaveLength(0)
      })
    ))

  it("a delivery's result is saved while another node's claim is open, and the next claim uses the freed slot", () =>
    runTest(
      Effect.gen(function* () {
        const { session, claim, land } = yield* bench
        const [first] = yield* claim(3)
        expect(yield* begun(session, 9)).toHaveLength(1)
        yield* land(first!)
        yield* ended(session)
        expect(yield* claim(9)).toHaveLength(1)
      })
    ))

  it("a delivery's result that arrives after a claim has rescheduled the shop, but before its commit, frees a slot for the next claim", () =>
    runTest(
      Effect.gen(function* () {
        const { session, claim, land } = yield* bench
        const [first] = yield* claim(3)
        expect(yield* begun(session, 9)).toHaveLength(1)
        yield* looked(session)
        const landing = yield* Effect.fork(land(first!))
        yield* waitingOrDone(session, landing)
        yield* session.run("commit")
        yield* Fiber.join(landing)
        expect(yield* claim(9)).toHaveLength(1)
      })
    ))

  it("removing a webhook during a claim leaves no row of the shop in the delivery queue", () =>
    runTest(
      Effect.gen(function* () {
        const { session, remove } = yield* bench
        expect(yield* begun(session, 1)).toHaveLength(1)
        yield* looked(session)
        const removing = yield* Effect.fork(remove)
        yield* waitingOrDone(session, removing)
        yield* session.run("commit")
        yield* Fiber.join(removing)
        for (const table of ["webhook", "delivery_queue", "backlogged_queue"])
          expect(yield* session.run(`select * from ${table}`), table).toEqual([])
      })
    ))

  it("a claim does not wait for a transaction that ends a delivery, and the next claim uses the freed slot", () =>
    runTest(
      Effect.gen(function* () {
        const { session, claim } = yield* bench
        const first = yield* claim(3)
        // Another node's uncommitted transaction that ends a delivery.
        yield* session.run("begin")
        yield* session.run("delete from delivery where event_id = $1", [first[0]!.event_id])
        yield* session.run("update delivery_queue set next_claim_at = 0")
        expect(yield* claim(9)).toHaveLength(1)
        yield* session.run("commit")
        expect(yield* claim(9)).toHaveLength(1)
      })
    ))

  it("claims of several nodes serve each shop once before any twice, because their order follows the database's clock", () =>
    runTest(
      Effect.gen(function* () {
        const { url, session } = yield* database
        const [one, other] = [yield* node({ url }), yield* node({ url })]
        const shops = yield* Effect.replicateEffect(openShop(), 3).pipe(Effect.provide(one))
        for (const { id } of shops) {
          yield* runCommand(setWebhook(id, { url: "https://shop.example/hook", secret: "whsec_1" })).pipe(
            Effect.provide(one)
          )
          yield* runCommand(raisePings(id, Array(3).fill(null))).pipe(Effect.provide(one))
        }
        const time = Effect.map(
          session.run<{ ms: number }>("select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as ms"),
          ([row]) => row!.ms
        )
        const began = yield* time
        const served: Array<string> = []
        for (const ports of [one, one, other, other, one, other]) {
          const deliveries = yield* Effect.provide(Deliveries, ports)
          for (const { shop_id } of yield* deliveries.claim(Date.now(), 1)) served.push(shop_id)
        }
        expect(served.slice(0, 3)).toEqual(shops.map(({ id }) => id))
        expect(served.slice(3)).toEqual(shops.map(({ id }) => id))
        const numbers = yield* session.run<{ ms: number }>(
          `select floor(turn / ${TURNS_PER_CLAIM})::float8 as ms from backlogged_queue order by turn`
        )
        expect(numbers).toHaveLength(3)
        expect(numbers[0]!.ms).toBeGreaterThanOrEqual(began)
        // Up to six milliseconds more, because claims of one node within a millisecond get consecutive numbers.
        expect(numbers[2]!.ms).toBeLessThanOrEqual((yield* time) + 6)
      })
    ))

  it("if a node of the previous release makes a shop ready that is ready already, the shop still has one entry and at most four deliveries in flight", () =>
    runTest(
      Effect.gen(function* () {
        const { session, claim, land } = yield* bench
        const places = Effect.map(
          session.run<{ next_claim_at: string; places: number }>(
            "select t.next_claim_at::text, (select count(*)::integer from backlogged_queue r where r.shop_id = t.shop_id) as places from delivery_queue t"
          ),
          ([row]) => row
        )
        const [first] = yield* claim(2)
        expect(yield* places).toEqual({ next_claim_at: "1", places: 1 })
        // That release sends this statement before each of its claims.
        yield* session.run(
          "update delivery_queue set next_claim_at = 0 where next_claim_at > 0 and next_claim_at <= $1",
          [Date.now()]
        )
        expect(yield* claim(1)).toHaveLength(1)
        expect(yield* places).toEqual({ next_claim_at: "1", places: 1 })
        expect(yield* claim(9)).toHaveLength(1)
        expect(yield* places).toEqual({ next_claim_at: "253402300799999", places: 0 })
        yield* land(first!)
        expect(yield* claim(9)).toHaveLength(1)
      })
    ))
})
