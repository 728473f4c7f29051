import {
  beginOn,
  Caller,
  CommittedEvents,
  Entropy,
  ownTransaction,
  Profanity,
  ShopInput,
  Shops,
  TicketInput,
  Tickets,
  Workshop
} from "@workshop/core"
import * as MemoryStore from "@workshop/store-memory"
import { createTestWorkshop } from "@workshop/store-memory/testing"
import { Cause, Deferred, Effect, Exit, Fiber, Layer, Runtime, Schema, Stream } from "effect"
import pg from "pg"
import { describe, expect, it } from "vitest"
import { TicketQuery } from "../../core/src/services/TicketQuery.js"
import { layer as pgLayer } from "../src/PgStore.js"
import { testDatabase } from "./cluster/TestDatabase.js"
import { brokenClient } from "./failures/brokenClient.js"
import { borrowedFrom, runTest } from "./nodes/Node.js"

const servicesOn = <E>(store: Layer.Layer<Layer.Layer.Success<typeof MemoryStore.layer>, E, Entropy>) =>
  Workshop.layer.pipe(Layer.provideMerge(store), Layer.provideMerge(Profanity.layer), Layer.provideMerge(Entropy.layer))

const newCaller = Effect.gen(function* () {
  const input = { name: "Needle", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" }
  const { id: shop_id } = yield* Shops.create(Schema.decodeSync(ShopInput)(input))
  return Schema.decodeSync(Caller)({
    shop_id,
    caller_id: "amira",
    scopes: ["tickets:read", "tickets:write"],
    via: "api"
  })
})

/** Methods that a stand-in for a pool's client needs in addition to `query`. */
const BORROWED = { release: () => undefined, on: () => undefined, off: () => undefined }

const hem = Schema.decodeSync(TicketInput)({ service: "Hem" })

/** A caller of a new shop, a pool whose database has a table of orders, and reads of the stored orders and tickets. */
const program = Effect.gen(function* () {
  const { url } = yield* testDatabase
  const pool = yield* borrowedFrom(url, 1)
  yield* Effect.promise(() =>
    pool.query("create table public.orders (id text primary key deferrable initially deferred)")
  )
  const services = yield* Layer.build(servicesOn(pgLayer({ url })))
  const caller = yield* Effect.provide(newCaller, services)
  const inTransaction = ownTransaction(beginOn(pool))
  const ordering = (id: string) =>
    Effect.gen(function* () {
      return yield* inTransaction((client) =>
        Effect.gen(function* () {
          const { data } = yield* Tickets.create(caller, hem)
          yield* Effect.promise(() => client.query("insert into public.orders values ($1)", [id]))
          return data.number
        })
      )
    })
  const rows = Effect.gen(function* () {
    const orders = yield* Effect.promise(() => pool.query("select id from public.orders order by id"))
    const { data } = yield* Tickets.list(caller, Schema.decodeSync(TicketQuery)({}))
    return [orders.rows.map(({ id }) => id), data.length]
  })
  return { url, pool, caller, inTransaction, ordering, rows, services }
})

const runWithProgram = <A, E>(work: (fixture: Effect.Effect.Success<typeof program>) => Effect.Effect<A, E, never>) =>
  runTest(Effect.flatMap(Effect.orDie(program), work))

const defectOf = <A, E>(exit: Exit.Exit<A, E>) =>
  Exit.isFailure(exit) && Cause.isDie(exit.cause) ? Cause.squash(exit.cause) : exit

describe("ownTransaction of the Effect API", { timeout: 60_000 }, () => {
  it("ownTransaction commits rows and ticket together, notifies after the commit, and returns the value", () =>
    runWithProgram(({ ordering, rows, services }) =>
      Effect.gen(function* () {
        const { stream } = yield* CommittedEvents
        const firstEvent = yield* Effect.fork(Stream.runHead(stream))
        yield* Effect.yieldNow()
        expect(yield* ordering("A1")).toBe(1)
        expect((yield* Fiber.join(firstEvent))._tag).toBe("Some")
        expect(yield* rows).toEqual([["A1"], 1])
      }).pipe(Effect.provide(services))
    ))

  it("ownTransaction fails with the effect's own error, and rolls back rows and ticket", () =>
    runWithProgram(({ inTransaction, caller, pool, rows, services }) =>
      Effect.gen(function* () {
        const failing = inTransaction((client) =>
          Effect.gen(function* () {
            yield* Tickets.create(caller, hem)
            yield* Effect.promise(() => client.query("insert into public.orders values ('A1')"))
            return yield* Effect.fail("no such customer" as const)
          })
        )
        expect(yield* Effect.flip(failing)).toBe("no such customer")
        expect(yield* rows).toEqual([[], 0])
        expect([pool.totalCount, pool.idleCount]).toEqual([1, 1])
      }).pipe(Effect.provide(services))
    ))

  it("interrupting ownTransaction waits for the rollback", () =>
    runWithProgram(({ inTransaction, caller, pool, rows, services }) =>
      Effect.gen(function* () {
        const isAt = yield* Deferred.make<void>()
        const fiber = yield* Effect.fork(
          inTransaction((client) =>
            Effect.gen(function* () {
              yield* Tickets.create(caller, hem)
              yield* Effect.promise(() => client.query("insert into public.orders values ('A1')"))
              yield* Deferred.succeed(isAt, undefined)
              return yield* Effect.never
            })
          )
        )
        yield* Deferred.await(isAt)
        yield* Fiber.interrupt(fiber)
        expect(pool.idleCount).toBe(1)
        expect(yield* rows).toEqual([[], 0])
      }).pipe(Effect.provide(services))
    ))

  it("ownTransaction dies if the database refuses the commit, and neither rows nor ticket are stored", () =>
    runWithProgram(({ ordering, rows, services }) =>
      Effect.gen(function* () {
        yield* ordering("A1")
        expect(defectOf(yield* Effect.exit(ordering("A1")))).toMatchObject({ code: "23505" })
        expect(yield* rows).toEqual([["A1"], 1])
      }).pipe(Effect.provide(services))
    ))

  it("after a failed statement whose error was caught, the next command fails with TransactionRefused, not StoreUnavailable", () =>
    runWithProgram(({ inTransaction, caller, rows, services }) =>
      Effect.gen(function* () {
        const swallowing = (then: Effect.Effect<unknown, unknown, Tickets>) =>
          inTransaction((client) =>
            Effect.zipRight(
              Effect.promise(() => client.query("select 1 / 0").catch(() => undefined)),
              then
            )
          )
        for (const then of [
          Tickets.create(caller, hem),
          Tickets.list(caller, Schema.decodeSync(TicketQuery)({})),
          Effect.void
        ])
          expect(defectOf(yield* Effect.exit(swallowing(then)))).toMatchObject({
            _tag: "TransactionRefused",
            message:
              "An earlier statement of the client's transaction failed. Roll the transaction back and begin again."
          })
        expect(yield* rows).toEqual([[], 0])
      }).pipe(Effect.provide(services))
    ))

  it.each(["before the commit", "while a statement runs"] as const)(
    "ownTransaction fails with StoreUnavailable if the connection breaks %s, and the process does not exit",
    (when) =>
      runWithProgram(({ url, inTransaction, caller, pool, ordering, rows, services }) =>
        Effect.gen(function* () {
          pool.on("error", () => {})
          const breaking = inTransaction((client) =>
            Effect.gen(function* () {
              const { data } = yield* Tickets.create(caller, hem)
              yield* Effect.promise(() =>
                when === "before the commit"
                  ? brokenClient(url, client)
                  : client.query("select pg_terminate_backend(pg_backend_pid())").then(
                      () => {},
                      () => {}
                    )
              )
              return data
            })
          )
          expect(yield* Effect.flip(breaking)).toMatchObject({ _tag: "StoreUnavailable" })
          expect(pool.totalCount).toBe(0)
          expect(yield* ordering("A1")).toBe(1)
          expect(yield* rows).toEqual([["A1"], 1])
        }).pipe(Effect.provide(services))
      )
  )

  it("ownTransaction fails with StoreUnavailable if it cannot begin a transaction", () =>
    runWithProgram(({ caller, services }) =>
      Effect.gen(function* () {
        const nowhere = new pg.Pool({ connectionString: "postgres://a:b@127.0.0.1:1/none" })
        const failing = ownTransaction(beginOn(nowhere))(() => Tickets.create(caller, hem))
        expect(yield* Effect.flip(failing)).toMatchObject({ _tag: "StoreUnavailable", cause: { code: "ECONNREFUSED" } })
        yield* Effect.promise(() => nowhere.end())
      }).pipe(Effect.provide(services))
    ))

  it("ownTransaction dies with TransactionRefused on a store without transactions", () =>
    Effect.runPromise(
      Effect.gen(function* () {
        const caller = yield* newCaller
        const client = { query: async () => undefined, ...BORROWED }
        const inTransaction = ownTransaction(beginOn({ connect: async () => client }))
        const exit = yield* Effect.exit(inTransaction(() => Tickets.create(caller, hem)))
        expect(defectOf(exit)).toMatchObject({ _tag: "TransactionRefused" })
      }).pipe(Effect.provide(servicesOn(MemoryStore.layer)))
    ))

  it("ownTransaction works on a test workshop in memory, which notifies after the commit, but cannot roll back", async () => {
    const { workshop, caller, received, stop } = await createTestWorkshop()
    const statements: Array<string> = []
    const client = { query: async (text: string) => void statements.push(text), ...BORROWED }
    const inTransaction = ownTransaction(beginOn({ connect: async () => client }))
    const creating = Tickets.create(caller as Caller, hem)
    const run = Runtime.runPromiseExit(workshop.runtime)
    expect(Exit.isSuccess(await run(inTransaction(() => creating)))).toBe(true)
    expect([statements.splice(0), received.events.map(({ type }) => type)]).toEqual([
      ["begin", "commit"],
      ["ticket.created"]
    ])
    await run(inTransaction(() => Effect.zipRight(creating, Effect.fail("no such customer"))))
    expect(statements).toEqual(["begin", "rollback"])
    expect((await workshop.orThrow.tickets.list(caller, {})).data).toHaveLength(2)
    expect(received.events).toHaveLength(1)
    await stop()
  })
})
