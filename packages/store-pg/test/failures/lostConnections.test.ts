import type { Entropy, StorePorts } from "@workshop/core"
import { Deliveries, type LimitUse, RateLimits, Reads } from "@workshop/core/store"
import { Effect, Exit, Fiber, Schedule } from "effect"
import { describe, expect, it } from "vitest"
import { openShop } from "../../../core/src/testing/Fixtures.js"
import { openMigrationSession } from "../../src/migrate/Session.js"
import { create, database, node, numbers, runTest, upTo } from "../nodes/Node.js"
import { FaultyProxy, openFaultyProxy } from "./FaultyProxy.js"

const LONG = 40_000

const take: LimitUse = { policy: "requests_per_minute", subject: "a caller", time_zone: null }
const untilItWorks = Schedule.intersect(Schedule.spaced("50 millis"), Schedule.recurs(400))

/** A node that connects through a faulty proxy, and a shop with one ticket. */
const nodeBehindProxy = Effect.gen(function* () {
  const { url, session } = yield* database
  const proxy = yield* openFaultyProxy(url)
  const ports = yield* node({ url: proxy.url, lanes: 1, readConnections: 2 })
  const shop = yield* Effect.provide(openShop(), ports)
  yield* Effect.provide(create(shop.id), ports)
  return { proxy, ports, session, shop }
})

const limited = Effect.flatMap(RateLimits, ({ take: takeAll }) => takeAll([take], Date.now()))
const claimed = Effect.flatMap(Deliveries, ({ claim }) => claim(Date.now(), 1))
const timedOut = expect.objectContaining({ message: "canceling statement due to lock timeout" })

/** Whether a packet contains a batch's COMMIT. */
const commits = (sent: string) => sent.includes("commit\0")

describe.concurrent("when connections to the database break", {
  timeout: LONG
}, () => {
  it.each([
    ["a batch whose COMMIT response was lost is committed once, and its caller gets the result", "mute"],
    ["a batch whose COMMIT never arrived is retried, and its caller gets the result", "drop"]
  ] as const)("after a broken connection %s", (_, verdict) =>
    runTest(
      Effect.gen(function* () {
        const { proxy, ports, shop } = yield* nodeBehindProxy
        let broken = 0
        proxy.judge = (sent) => (commits(sent) && broken++ === 0 ? verdict : "pass")
        expect(yield* Effect.provide(create(shop.id), ports)).toBe(2)
        expect(broken).toBeGreaterThanOrEqual(1)
        expect(yield* Effect.provide(numbers(shop.id), ports)).toEqual([1, 2])
      })
    )
  )

  it("a node closes all connections that stop responding, and the server releases their locks", () =>
    runTest(
      Effect.gen(function* () {
        const { proxy, ports, shop } = yield* nodeBehindProxy
        const limits = Effect.provide(
          Effect.flatMap(RateLimits, ({ take: takeAll }) => takeAll([take], Date.now())),
          ports
        )
        yield* limits
        // The proxy stops forwarding while the batch has locked the shop heads, so the server does not notice that the
        // client is gone.
        const silence = yield* Effect.fork(
          Effect.async<void>((resume) => {
            proxy.judge = (sent) => {
              if (commits(sent)) {
                proxy.pause()
                resume(Effect.void)
              }
              return "pass"
            }
          })
        )
        const inFlight = yield* Effect.fork(Effect.exit(Effect.provide(create(shop.id), ports)))
        yield* silence
        const late = yield* Effect.exit(limits)
        expect(Exit.isFailure(late)).toBe(true)
        expect(Exit.isFailure(yield* Effect.exit(Effect.provide(create(shop.id), ports)))).toBe(true)
        yield* inFlight
        proxy.judge = () => "pass"
        proxy.resume()
        const again = yield* Effect.provide(create(shop.id), ports).pipe(Effect.retry(untilItWorks))
        expect(yield* Effect.retry(limits, untilItWorks)).toHaveLength(1)
        expect(yield* Effect.provide(numbers(shop.id), ports).pipe(Effect.retry(untilItWorks))).toEqual(upTo(again))
      })
    ))

  it("a store whose layer was built while the database was down works once the database is up", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* database
        const proxy = new FaultyProxy(url)
        yield* Effect.promise(() => proxy.listen())
        const away = proxy.url
        yield* Effect.promise(() => proxy.close())
        const ports = yield* node({ url: away })
        const ask = Effect.provide(openShop(), ports)
        expect((yield* Effect.flip(ask))._tag).toBe("StoreUnavailable")
        const limited = Effect.provide(
          Effect.flatMap(RateLimits, ({ take: takeAll }) => takeAll([take], 0)),
          ports
        )
        expect((yield* Effect.flip(limited))._tag).toBe("StoreUnavailable")
        yield* Effect.addFinalizer(() => Effect.promise(() => proxy.close()))
        yield* Effect.promise(() => proxy.listen())
        const { id } = yield* ask
        expect(yield* Effect.provide(create(id), ports)).toBe(1)
        expect(yield* limited).toHaveLength(1)
      })
    ))

  it("if backends are terminated repeatedly under load, every confirmed ticket is stored, and ticket numbers have no duplicates or gaps", () =>
    runTest(
      Effect.gen(function* () {
        const { ports, session, shop } = yield* nodeBehindProxy
        const end = session.run(
          "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'workshop lane%'"
        )
        const some = Effect.all(
          upTo(4).map(() => Effect.exit(Effect.provide(create(shop.id), ports))),
          { concurrency: "unbounded" }
        )
        const rounds = yield* Effect.forEach(upTo(15), () => Effect.zipLeft(some, end, { concurrent: true }))
        const exits = rounds.flat()
        const answered = exits.filter(Exit.isSuccess).map(({ value }) => value)
        const stored = yield* Effect.provide(numbers(shop.id), ports).pipe(Effect.retry(untilItWorks))
        expect(new Set(answered).size).toBe(answered.length)
        expect(stored).toEqual(upTo(stored.length))
        expect(answered.filter((number) => !stored.includes(number))).toEqual([])
        expect(answered.length).toBeGreaterThan(0)
      })
    ))

  it("while a table is locked, the server cancels abandoned statements, and a process never has more than sixteen connections", () =>
    runTest(
      Effect.gen(function* () {
        const { url, session } = yield* database
        const ports = yield* node({ url })
        const shop = yield* Effect.provide(openShop(), ports)
        yield* Effect.provide(create(shop.id), ports)
        const counted = yield* Effect.orDie(openMigrationSession(url))
        const connections = Effect.map(
          counted.run<{ open: number; waiting: number }>(`select count(*)::integer as open,
              count(*) filter (where wait_event_type = 'Lock')::integer as waiting
            from pg_stat_activity where datname = current_database() and application_name like 'workshop %'`),
          ([row]) => row!
        )
        const read = Effect.flatMap(Reads, (reads) => reads.tickets(shop.id, {}, { _tag: "Newest", after: null }, 50))
        const limited = Effect.flatMap(RateLimits, ({ take: takeAll }) => takeAll([take], 0))
        yield* session.run("begin; lock table ticket in access exclusive mode")
        const max = []
        for (const _ of upTo(4)) {
          const acts = [...upTo(24).map(() => Effect.exit(read)), Effect.exit(create(shop.id)), Effect.exit(limited)]
          const exits: ReadonlyArray<Exit.Exit<unknown, unknown>> = yield* Effect.provide(
            Effect.forEach(
              acts,
              (act) => act as Effect.Effect<Exit.Exit<unknown, unknown>, never, StorePorts | Entropy>,
              {
                concurrency: "unbounded"
              }
            ),
            ports
          )
          expect(exits.slice(0, 25).filter(Exit.isSuccess)).toEqual([])
          max.push(yield* connections)
        }
        expect(Math.max(...max.map(({ open }) => open))).toBeLessThanOrEqual(16)
        expect(max.map(({ waiting }) => waiting)).toEqual([0, 0, 0, 0])
        yield* session.run("rollback")
        expect(yield* Effect.provide(create(shop.id), ports)).toBeGreaterThan(1)
      })
    ))

  it.each([
    ["two requests of one rate-limit batch", "rate_limit", "open rate_limit", 1, limited],
    ["two consecutive claims", "delivery_queue", "make ready", 2, claimed]
  ] as const)(
    "%s each wait at most a second for a locked table, and are not retried",
    (_, table, title, expected, act) =>
      runTest(
        Effect.gen(function* () {
          const { proxy, ports, session } = yield* nodeBehindProxy
          const acting = Effect.provide(act as Effect.Effect<unknown, Error, RateLimits | Deliveries>, ports)
          yield* acting
          let tries = 0
          proxy.judge = (sent) => {
            if (sent.includes(title)) tries++
            return "pass"
          }
          yield* session.run(`begin; lock table ${table} in access exclusive mode`)
          const first = yield* Effect.fork(Effect.flip(acting))
          const waiting = session.run<{ n: number }>(
            `select count(*)::integer as n from pg_locks where not granted and relation = 'workshop.${table}'::regclass`
          )
          yield* Effect.retry(
            Effect.filterOrFail(waiting, ([row]) => row!.n > 0),
            untilItWorks
          )
          const second = yield* Effect.fork(Effect.flip(acting))
          const failures = yield* Effect.all([Fiber.join(first), Fiber.join(second)])
          expect(failures.map(({ cause }) => cause)).toEqual([timedOut, timedOut])
          expect(tries).toBe(expected)
          yield* session.run("rollback")
          yield* acting
        })
      )
  )

  it("a read that waits too long for a connection of the exhausted pool fails, and later reads succeed once connections are free", () =>
    runTest(
      Effect.gen(function* () {
        const { ports, session, shop } = yield* nodeBehindProxy
        const read = Effect.provide(
          Effect.flatMap(Reads, (reads) => reads.shop(shop.id)),
          ports
        )
        yield* session.run("begin; lock table webhook in access exclusive mode")
        const exits = yield* Effect.all([read, read, read].map(Effect.either), { concurrency: "unbounded" })
        expect(exits.map((exit) => (exit._tag === "Left" ? exit.left._tag : exit._tag))).toEqual(
          Array(3).fill("StoreUnavailable")
        )
        yield* session.run("rollback")
        expect((yield* read)?.shop.id).toBe(shop.id)
      })
    ))
})
