import type { ShopId } from "@workshop/core"
import { type Command, type LimitUse, RateLimits, Reads } from "@workshop/core/store"
import { SettableClock, TEST_START } from "@workshop/core/testing"
import { Cause, Effect, Exit, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { makeChanges, openShop, putChanges, putTickets, runCommand } from "../../../core/src/testing/Fixtures.js"
import type { Session } from "../../src/migrate/Session.js"
import { create, database, node, numbers, runTest, upTo } from "../nodes/Node.js"

const LONG = 30_000

const oneNode = Effect.gen(function* () {
  const { url, session } = yield* database
  const ports = yield* node({ url, lanes: 1 })
  const shop = yield* Effect.provide(openShop(), ports)
  return { url, ports, session, shop }
})

/**
 * Creates a trigger that raises an error when a ticket with the service "Refused" is inserted and the SQL condition
 * `when` is true.
 */
const raising = (session: Session, sqlstate: string, { when = "true", deferred = false } = {}) =>
  session.run(`create sequence tries;
    create function refuse() returns trigger language plpgsql as $$ begin
      if ${when} then raise exception 'refused' using errcode = '${sqlstate}'; end if; return null;
    end $$;
    create constraint trigger refusing after insert on ticket ${deferred ? "deferrable initially deferred" : ""}
      for each row when (new.service = 'Refused') execute function refuse()`)

const tagOf = (exit: Exit.Exit<unknown, { readonly _tag: string }>) =>
  Exit.isSuccess(exit) ? "done" : Cause.isDieType(exit.cause) ? "defect" : Cause.squash(exit.cause)

const allAtOnce = <A, E, R>(effects: ReadonlyArray<Effect.Effect<A, E, R>>) =>
  Effect.all(effects.map(Effect.exit), { concurrency: "unbounded" })

describe.concurrent("a batch that the database refuses", { timeout: LONG }, () => {
  it("a command whose data the database refuses fails alone, and the other commands of its batch are saved", () =>
    runTest(
      Effect.gen(function* () {
        const { ports, shop } = yield* oneNode
        const other = yield* Effect.provide(openShop(), ports)
        const poison = putTickets(shop.id, [{ item: "a \u0000 that no text may hold" }])
        const exits = yield* Effect.provide(
          allAtOnce<unknown, unknown, never>([
            ...upTo(20).map(() => create(shop.id)),
            runCommand(poison),
            ...upTo(20).map(() => create(other.id)),
            ...upTo(9).map(() => create(shop.id))
          ] as never),
          ports
        )
        expect(exits.flatMap((exit, i) => (Exit.isFailure(exit) ? [i] : []))).toEqual([20])
        expect(tagOf(exits[20] as never)).toBe("defect")
        expect(yield* Effect.provide(numbers(shop.id), ports)).toEqual(upTo(29))
        expect(yield* Effect.provide(numbers(other.id), ports)).toEqual(upTo(20))
      })
    ))

  it.each([
    ["40001", "a serialization failure"],
    ["40P01", "a deadlock"]
  ])("a batch that fails with %s, %s, is retried, and its callers get no error", (sqlstate) =>
    runTest(
      Effect.gen(function* () {
        const { ports, session, shop } = yield* oneNode
        yield* raising(session, sqlstate, { when: "nextval('workshop.tries') <= 3" })
        const exits = yield* Effect.provide(allAtOnce(upTo(8).map(() => create(shop.id, "Refused"))), ports)
        expect(exits.map(tagOf)).toEqual(Array(8).fill("done"))
        expect(yield* Effect.provide(numbers(shop.id), ports)).toEqual(upTo(8))
      })
    )
  )

  it("a full disk at the commit saves nothing and fails the commands with StoreUnavailable, until there is space again", () =>
    runTest(
      Effect.gen(function* () {
        const { ports, session, shop } = yield* oneNode
        yield* raising(session, "53100", { deferred: true })
        const failure = yield* Effect.flip(Effect.provide(create(shop.id, "Refused"), ports))
        expect(failure._tag).toBe("StoreUnavailable")
        expect(yield* Effect.provide(numbers(shop.id), ports)).toEqual([])
        yield* session.run("drop trigger refusing on ticket")
        expect(yield* Effect.provide(create(shop.id, "Refused"), ports)).toBe(1)
      })
    ))

  it("a batch with an invalid statement fails, and the lane runs the next batch", () =>
    runTest(
      Effect.gen(function* () {
        const { ports, shop } = yield* oneNode
        const bug = putChanges(shop.id, { _tag: "NotificationAppended", row: { id: 1n } } as never)
        expect(tagOf(yield* Effect.provide(Effect.exit(runCommand(bug)), ports))).toBe("defect")
        expect(yield* Effect.provide(create(shop.id), ports)).toBe(1)
      })
    ))
})

describe.concurrent("a shop that another transaction has locked", {
  timeout: LONG
}, () => {
  const hold = (session: Session, shop_id: ShopId) =>
    session.run(`begin; select from shop_head where shop_id = '${shop_id}' for update`)

  it("the commands of a locked shop wait in the contended lane until it is unlocked, and other shops' commands run meanwhile", () =>
    runTest(
      Effect.gen(function* () {
        const { ports, session, shop } = yield* oneNode
        const other = yield* Effect.provide(openShop(), ports)
        yield* hold(session, shop.id)
        const held = yield* Effect.fork(Effect.provide(allAtOnce(upTo(5).map(() => create(shop.id))), ports))
        for (const n of upTo(5)) expect(yield* Effect.provide(create(other.id), ports)).toBe(n)
        expect(held.unsafePoll()).toBe(null)
        yield* session.run("rollback")
        expect((yield* Fiber.join(held)).map(tagOf)).toEqual(Array(5).fill("done"))
        expect(yield* Effect.provide(numbers(shop.id), ports)).toEqual(upTo(5))
      })
    ))

  it("a command of a locked shop waits at most five seconds, and an expired command never runs", () => {
    const clock = new SettableClock()
    return runTest(
      Effect.gen(function* () {
        const { ports, session, shop } = yield* oneNode
        yield* hold(session, shop.id)
        const held = yield* Effect.fork(Effect.provide(Effect.flip(create(shop.id)), ports))
        yield* Effect.yieldNow()
        clock.advance(5_001)
        expect((yield* Fiber.join(held))._tag).toBe("StoreUnavailable")
        yield* session.run("rollback")
        expect(yield* Effect.provide(numbers(shop.id), ports)).toEqual([])
        expect(yield* Effect.provide(create(shop.id), ports)).toBe(1)
      }),
      clock
    )
  })

  it("commands wait while an operator locks the ticket table, and all succeed once it is unlocked", () =>
    runTest(
      Effect.gen(function* () {
        const { ports, session, shop } = yield* oneNode
        yield* session.run("begin; lock table ticket in access exclusive mode")
        const waiting = yield* Effect.fork(Effect.provide(allAtOnce(upTo(5).map(() => create(shop.id))), ports))
        // 0.8 s is more than 16 times the lock timeout.
        yield* session.run("select pg_sleep(0.8)")
        yield* session.run("rollback")
        expect((yield* Fiber.join(waiting)).map(tagOf)).toEqual(Array(5).fill("done"))
      })
    ))

  it("a command of an unknown shop fails with ShopNotFound, and delays no other shop", () =>
    runTest(
      Effect.gen(function* () {
        const { ports, shop } = yield* oneNode
        const nobody = "01890000-0000-7000-8000-000000000000" as ShopId
        expect((yield* Effect.flip(Effect.provide(create(nobody), ports)))._tag).toBe("ShopNotFound")
        expect(yield* Effect.provide(create(shop.id), ports)).toBe(1)
      })
    ))
})

describe("a clock that steps back (docs/how-it-is-built.md)", { timeout: LONG }, () => {
  it("a shop's commands have the time of its last change until the clock has caught up, so that the sync misses no ticket", () => {
    const clock = new SettableClock()
    const moment = (shop_id: ShopId): Command<{ readonly recorded_at: number }> => makeChanges(shop_id, () => {})
    return runTest(
      Effect.gen(function* () {
        const { ports, shop } = yield* oneNode
        yield* Effect.provide(create(shop.id), ports)
        clock.advance(-3_600_000)
        yield* Effect.provide(create(shop.id), ports)
        expect((yield* Effect.provide(runCommand(moment(shop.id)), ports)).recorded_at).toBe(TEST_START)
        const { tickets } = yield* Effect.provide(
          Effect.flatMap(Reads, (reads) =>
            reads.tickets(shop.id, {}, { _tag: "Changes", since: TEST_START, after: null }, 10)
          ),
          ports
        )
        expect(tickets.map(({ record }) => [record.number, record.updated_at])).toEqual([
          [1, TEST_START],
          [2, TEST_START]
        ])
      }),
      clock
    )
  })

  it("a full rate-limit window does not refuse requests after the clock has stepped back to before that window", () => {
    const clock = new SettableClock()
    const takes: ReadonlyArray<LimitUse> = [
      { policy: "requests_per_minute", subject: "a caller with spaces", time_zone: null }
    ]
    return runTest(
      Effect.gen(function* () {
        const { ports } = yield* oneNode
        const { take } = yield* Effect.provide(RateLimits, ports)
        for (const n of upTo(120)) expect((yield* take(takes, TEST_START))[0]?.remaining).toBe(120 - n)
        expect((yield* Effect.flip(take(takes, TEST_START)))._tag).toBe("LimitReached")
        expect((yield* take(takes, TEST_START - 3_600_000))[0]?.remaining).toBe(119)
      }),
      clock
    )
  })
})
