import { Closer, type ShopId } from "@workshop/core"
import { Closures, DAY_MS, Deliveries, Directory, type LimitUse, RateLimits, Reads } from "@workshop/core/store"
import { Effect, Exit, Fiber, Option, Stream } from "effect"
import { describe, expect, it } from "vitest"
import { until } from "../../../../test/until.js"
import { setWebhook } from "../../../core/src/decisions/webhookSettings.js"
import { makeChanges, openShop, putTickets, runCommand } from "../../../core/src/testing/Fixtures.js"
import { raisePings, record, statusResult } from "../../../core/src/testing/TestDispatcher.js"
import { create, database, node, numbers, type Ports, runTest, upTo } from "./Node.js"

const twoNodes = Effect.gen(function* () {
  const { url, session } = yield* database
  const [one, two] = [yield* node({ url }), yield* node({ url })]
  const shop = yield* Effect.provide(openShop(), one)
  return { session, one, two, shop }
})

/** Runs an effect `times` times on each of two nodes, all concurrently. */
const onBoth = <A, E, R>(one: Ports, two: Ports, times: number, effect: Effect.Effect<A, E, R>) =>
  Effect.all(
    upTo(times).map((n) => Effect.provide(effect as Effect.Effect<A, E, never>, n % 2 === 0 ? one : two)),
    { concurrency: "unbounded" }
  )

describe.concurrent("several nodes on one database (docs/how-it-is-built.md)", { timeout: 30_000 }, () => {
  it("commands of one shop run one after another across all nodes, so ticket numbers have no duplicates or gaps", () =>
    runTest(
      Effect.gen(function* () {
        const { one, two, shop } = yield* twoNodes
        const made = yield* onBoth(one, two, 120, create(shop.id))
        expect([...made].sort((a, b) => a - b)).toEqual(upTo(120))
        expect(yield* Effect.provide(numbers(shop.id), one)).toEqual(upTo(120))
        const { tickets } = yield* Effect.provide(
          Effect.flatMap(Reads, (reads) => reads.tickets(shop.id, {}, { _tag: "Newest", after: null }, 120)),
          two
        )
        // Of the tickets of one millisecond, a later one has a greater id, even if another node made it (Specification,
        // Lists and sync).
        expect(tickets.map(({ record }) => record.number)).toEqual([...upTo(120)].reverse())
      })
    ))

  it("all nodes share the rate limits, which are never exceeded", () =>
    runTest(
      Effect.gen(function* () {
        const { one, two } = yield* twoNodes
        const takes: ReadonlyArray<LimitUse> = [
          { policy: "requests_per_minute", subject: "a", time_zone: null },
          { policy: "writes_per_minute", subject: "a", time_zone: null }
        ]
        const now = Date.now()
        const taking = Effect.exit(Effect.flatMap(RateLimits, ({ take }) => take(takes, now)))
        const exits = yield* onBoth(one, two, 60, taking)
        expect(exits.filter(Exit.isSuccess)).toHaveLength(30)
        const [left] = yield* Effect.provide(
          Effect.flatMap(RateLimits, ({ take }) => take([takes[0]!], now)),
          two
        )
        // A refused request consumes nothing.
        expect(left?.remaining).toBe(120 - 31)
      })
    ))

  it("a rate-limit window that a node with a slightly faster clock opened counts the other nodes' requests too", () =>
    runTest(
      Effect.gen(function* () {
        const { one, two } = yield* twoNodes
        const takes: ReadonlyArray<LimitUse> = [{ policy: "writes_per_minute", subject: "a", time_zone: null }]
        const takenAt = (ports: Ports, now: number) =>
          Effect.provide(
            Effect.flatMap(RateLimits, ({ take }) => take(takes, now)),
            ports
          )
        const now = Date.now()
        yield* takenAt(one, now)
        expect((yield* takenAt(two, now - 1_000))[0]?.remaining).toBe(28)
        expect((yield* takenAt(one, now))[0]?.remaining).toBe(27)
      })
    ))

  it("a node notifies the other of a change, even after the listener's connection broke", () =>
    runTest(
      Effect.gen(function* () {
        const { session, one, two, shop } = yield* twoNodes
        const { changedShops } = yield* Effect.provide(Directory, two)
        const changes: Array<ShopId | null> = []
        yield* Effect.forkScoped(Stream.runForEach(changedShops, (shop_id) => Effect.sync(() => changes.push(shop_id))))
        const until = (isIt: () => boolean) =>
          Effect.iterate(0, {
            while: (tries) => !isIt() && tries < 200,
            body: (tries) => Effect.delay(Effect.succeed(tries + 1), "20 millis")
          })
        const changed = makeChanges(shop.id, (changes, _, loaded) =>
          changes.add({ _tag: "ShopPut", row: { ...loaded.shop, approved: false } })
        )
        yield* Effect.provide(runCommand(changed), one)
        yield* until(() => changes.includes(shop.id))
        expect(changes).toContain(shop.id)
        changes.length = 0
        yield* session.run(
          "select pg_terminate_backend(pid) from pg_stat_activity where application_name in ('workshop listener', 'workshop notifier') and datname = current_database()"
        )
        yield* until(() => changes.includes(null))
        expect(changes).toContain(null)
        yield* Effect.provide(runCommand(changed), one)
        yield* until(() => changes.includes(shop.id))
        expect(changes).toContain(shop.id)
      })
    ))

  it("a node that ends right after a change has notified the other nodes, so a key that a CLI command revokes is refused at once", () =>
    runTest(
      Effect.gen(function* () {
        const { url, session } = yield* database
        const other = yield* node({ url })
        const shop = yield* Effect.provide(openShop(), other)
        const { changedShops } = yield* Effect.provide(Directory, other)
        const reported = yield* changedShops.pipe(
          Stream.filter((shop_id) => shop_id === shop.id),
          Stream.runHead,
          Effect.fork
        )
        yield* until(
          "the node to listen",
          session.run(
            `select from pg_stat_activity where datname = current_database()
              and application_name = 'workshop listener' and query ~ 'workshop (listen|heartbeat) ' and state = 'idle'`
          ),
          (rows) => rows.length > 0
        )
        const changed = makeChanges(shop.id, (changes, _, loaded) =>
          changes.add({ _tag: "ShopPut", row: { ...loaded.shop, approved: false } })
        )
        yield* Effect.scoped(Effect.flatMap(node({ url }), (brief) => Effect.provide(runCommand(changed), brief)))
        expect(yield* Fiber.join(reported)).toEqual(Option.some(shop.id))
      })
    ))

  it("if several nodes close due tickets, each ticket is closed once, with one event", () =>
    runTest(
      Effect.gen(function* () {
        const { one, two, shop } = yield* twoNodes
        const long_ago = Date.now() - 61 * DAY_MS
        const row = { shop_changed_at: long_ago, created_at: long_ago }
        yield* Effect.provide(runCommand(putTickets(shop.id, Array(40).fill(row))), one)
        const closer = Effect.flatMap(Closer, ({ runOnce }) => runOnce).pipe(Effect.provide(Closer.Default))
        const closed = yield* onBoth(one, two, 4, closer)
        expect(closed.reduce((sum, n) => sum + n, 0)).toBe(40)
        const events = yield* Effect.provide(
          Effect.flatMap(Reads, (reads) => reads.events(shop.id)),
          two
        )
        expect(events.map(({ type }) => type)).toEqual(Array(40).fill("ticket.abandoned"))
        expect(
          yield* Effect.provide(
            Effect.flatMap(Closures, ({ due }) => due(Date.now(), 1)),
            one
          )
        ).toEqual([])
      })
    ))

  it("no two nodes claim one delivery, a shop has at most four deliveries in flight, and each is recorded once", () =>
    runTest(
      Effect.gen(function* () {
        const { one, two, shop } = yield* twoNodes
        const shops = [shop, ...(yield* Effect.provide(Effect.replicateEffect(openShop(), 4), one))]
        for (const { id } of shops) {
          yield* Effect.provide(runCommand(setWebhook(id, { url: "https://shop.example/", secret: "whsec_1" })), one)
          yield* Effect.provide(
            runCommand(
              raisePings(
                id,
                upTo(12).map(() => null)
              )
            ),
            one
          )
        }
        const inFlight = new Map<string, number>()
        const delivered: Array<string> = []
        const work = Effect.gen(function* () {
          const deliveries = yield* Deliveries
          for (let idle = 0; idle < 3; ) {
            const claims = yield* deliveries.claim(Date.now(), 7)
            idle = claims.length === 0 ? idle + 1 : 0
            for (const { shop_id } of claims) inFlight.set(shop_id, (inFlight.get(shop_id) ?? 0) + 1)
            expect([...inFlight.values()].filter((n) => n > 4)).toEqual([])
            yield* Effect.yieldNow()
            for (const claim of claims) {
              // Counted down before the result is recorded, because another delivery may use the slot from then on.
              inFlight.set(claim.shop_id, inFlight.get(claim.shop_id)! - 1)
              delivered.push(claim.event_id)
              expect(yield* record(claim, statusResult(204))).toBe("delivered")
            }
          }
        })
        yield* onBoth(one, two, 4, work)
        expect(delivered).toHaveLength(60)
        expect(new Set(delivered).size).toBe(60)
      })
    ))

  it("a closing node finishes the commands that it has begun, and refuses all others", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* database
        const other = yield* node({ url })
        const shop = yield* Effect.provide(openShop(), other)
        const exits = yield* Effect.scoped(
          Effect.gen(function* () {
            const closing = yield* node({ url })
            const all = yield* Effect.fork(
              Effect.all(
                upTo(140).map(() => Effect.exit(Effect.provide(create(shop.id), closing))),
                {
                  concurrency: "unbounded"
                }
              )
            )
            // By the time of this command's response, some of the closing node's commands are in flight.
            yield* Effect.provide(create(shop.id), other)
            return all
          })
        ).pipe(Effect.flatMap((all) => Fiber.join(all)))
        const made = exits.filter(Exit.isSuccess).map(({ value }) => value)
        const stored = yield* Effect.provide(numbers(shop.id), other)
        expect(stored).toEqual(upTo(stored.length))
        expect(stored).toHaveLength(made.length + 1)
      })
    ))
})
