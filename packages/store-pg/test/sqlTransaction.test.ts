import { SqlClient, SqlError } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import {
  Caller,
  CommittedEvents,
  Entropy,
  IdempotencyKey,
  Profanity,
  ShopInput,
  Shops,
  StoreUnavailable,
  TicketInput,
  Tickets,
  type Transactions,
  Workshop
} from "@workshop/core"
import { Cause, Deferred, Effect, Exit, Fiber, Layer, Redacted, Schema, type Scope, String as Text } from "effect"
import { describe, expect, it } from "vitest"
import { TicketQuery } from "../../core/src/services/TicketQuery.js"
import { sqlTransaction } from "../src/index.js"
import { layer as migrated } from "../src/MigratedStore.js"
import { testDatabase } from "./cluster/TestDatabase.js"
import { runTest } from "./nodes/Node.js"

const SHOP = { name: "Needle", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" }
const SCHEMA = "tickets_of_needle"

const hem = Schema.decodeSync(TicketInput)({ service: "Hem" })

/** A program's SqlClient, which transforms column names to camel case. */
const clientOf = (url: string) =>
  PgClient.layer({
    url: Redacted.make(url),
    transformQueryNames: Text.camelToSnake,
    transformResultNames: Text.snakeToCamel
  })

/** A SqlClient whose database refuses connections. */
const refusedClient = Layer.effect(
  SqlClient.SqlClient,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const cause = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" })
    const error = new SqlError.SqlError({ cause, message: "Failed to acquire connection for transaction" })
    return new Proxy(sql, {
      get: (client, name) => (name === "withTransaction" ? () => Effect.fail(error) : Reflect.get(client, name))
    })
  })
)

class Changed extends Schema.TaggedError<Changed>()("Changed", {}) {}

/** Runs `work` with a caller of a new shop, in a database that also has a table of orders. */
const program = <A, E>(
  work: (fixture: {
    readonly caller: Caller
    readonly url: string
    readonly events: ReadonlyArray<string>
    /** Inserts an order and creates its ticket. */
    readonly order: (id: string) => Effect.Effect<void, unknown, Tickets>
    /** The stored orders, and the number of tickets. */
    readonly stored: Effect.Effect<readonly [orders: ReadonlyArray<unknown>, tickets: number], unknown, Tickets>
  }) => Effect.Effect<A, E, SqlClient.SqlClient | Tickets | Transactions | Scope.Scope>
) =>
  runTest(
    Effect.gen(function* () {
      const { url } = yield* testDatabase
      const services = Workshop.layer.pipe(
        Layer.provideMerge(migrated({ url, schema: SCHEMA })),
        Layer.provideMerge(Profanity.layer),
        Layer.provideMerge(Entropy.layer),
        Layer.provideMerge(clientOf(url))
      )
      return yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`create table public.orders (id text primary key, ticket_number int)`
        const { id: shop_id } = yield* Shops.create(Schema.decodeSync(ShopInput)(SHOP))
        const scopes = ["tickets:read", "tickets:write"] as const
        const caller = Schema.decodeSync(Caller)({ shop_id, caller_id: "amira", scopes, via: "api" })
        const events: Array<string> = []
        const { listen } = yield* CommittedEvents
        listen((event) => events.push(event.type))
        const order = (id: string) =>
          Effect.gen(function* () {
            const { data } = yield* Tickets.create(caller, hem)
            yield* sql`insert into public.orders ${sql.insert({ id, ticketNumber: data.number })}`
          })
        const stored = Effect.gen(function* () {
          const orders = yield* sql`select id, ticket_number from public.orders order by id`
          const { data } = yield* Tickets.list(caller, Schema.decodeSync(TicketQuery)({}))
          return [orders, data.length] as const
        })
        return yield* work({ caller, url, events, order, stored })
      }).pipe(Effect.provide(services))
    })
  )

const defectOf = <A, E>(exit: Exit.Exit<A, E>) =>
  Exit.isFailure(exit) && Cause.isDie(exit.cause) ? Cause.squash(exit.cause) : exit

describe("sqlTransaction with a client of @effect/sql-pg", { timeout: 60_000 }, () => {
  it("sqlTransaction commits rows and ticket together, notifies after the commit, and applies the client's name transform", () =>
    program(({ events, order, stored }) =>
      Effect.gen(function* () {
        const within = yield* sqlTransaction(
          Effect.gen(function* () {
            yield* order("A1")
            expect(events).toEqual([])
            return yield* stored
          })
        )
        expect(within).toEqual([[{ id: "A1", ticketNumber: 1 }], 1])
        expect(yield* stored).toEqual(within)
        expect(events).toEqual(["ticket.created"])
      })
    ))

  it("sqlTransaction rolls back rows and ticket if the effect fails or is interrupted, and fails with the effect's own error", () =>
    program(({ events, order, stored }) =>
      Effect.gen(function* () {
        const failed = yield* Effect.flip(sqlTransaction(Effect.zipRight(order("A1"), new Changed())))
        expect(failed).toBeInstanceOf(Changed)
        yield* Effect.exit(sqlTransaction(Effect.zipRight(order("A2"), Effect.interrupt)))
        expect(yield* stored).toEqual([[], 0])
        expect(events).toEqual([])
      })
    ))

  it("a nested transaction is a savepoint: if it fails, its ticket is rolled back and nothing is notified", () =>
    program(({ events, order, stored }) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sqlTransaction(
          Effect.gen(function* () {
            yield* Effect.exit(sqlTransaction(Effect.zipRight(order("A1"), new Changed())))
            yield* sql.withTransaction(order("A2"))
          })
        )
        expect(yield* stored).toEqual([[{ id: "A2", ticketNumber: 1 }], 1])
        expect(events).toEqual(["ticket.created"])
      })
    ))

  it("a command that waits too long for another transaction's lock is refused with a message that names the shop, and its transaction stays usable", () =>
    program(({ caller, order, stored }) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const held = yield* Deferred.make<void>()
        const ended = yield* Deferred.make<void>()
        const holding = Effect.zipRight(Deferred.succeed(held, undefined), Deferred.await(ended))
        const holder = yield* Effect.fork(sqlTransaction(Effect.zipRight(order("A1"), holding)))
        yield* Deferred.await(held)
        const waited = yield* sqlTransaction(
          Effect.gen(function* () {
            yield* sql`set local lock_timeout = 120`
            const { message } = yield* Effect.flip(Tickets.create(caller, hem))
            yield* sql`insert into public.orders ${sql.insert({ id: "A2" })}`
            return [message, yield* sql`show lock_timeout`]
          })
        )
        yield* Deferred.succeed(ended, undefined)
        yield* Fiber.join(holder)
        expect(waited).toEqual([
          `Another transaction held the lock of the shop ${caller.shop_id} for 120ms, the longest wait that this transaction's lock_timeout or statement_timeout allows, so the command did not run. Commit or roll back sooner. Inside within, do not wait for a command of the same shop that runs outside of within.`,
          [{ lockTimeout: "120ms" }]
        ])
        const orders = [
          { id: "A1", ticketNumber: 1 },
          { id: "A2", ticketNumber: null }
        ]
        expect(yield* stored).toEqual([orders, 1])
      })
    ))

  it("sqlTransaction within sql.withTransaction, or with a client of another database, is refused and writes nothing", () =>
    program(({ order, stored }) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const nested = yield* Effect.exit(sql.withTransaction(sqlTransaction(order("A1"))))
        expect(defectOf(nested)).toMatchObject({
          message: expect.stringContaining("the outermost sql.withTransaction")
        })
        const { url } = yield* testDatabase
        const elsewhere = yield* Effect.exit(Effect.provide(sqlTransaction(order("A1")), clientOf(url)))
        expect(defectOf(elsewhere)).toMatchObject({
          message: expect.stringContaining("is not connected to the store's database")
        })
        expect(yield* stored).toEqual([[], 0])
      })
    ))

  it("sqlTransaction fails with StoreUnavailable if its connection is lost or cannot be opened, and can be retried with the same idempotency key", () =>
    program(({ caller, stored, url }) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const key = Schema.decodeSync(IdempotencyKey)("order-A1")
        const order = (meanwhile: Effect.Effect<unknown, SqlError.SqlError>, id: string) =>
          Effect.gen(function* () {
            const { data } = yield* Tickets.create(caller, hem, key)
            const row = { id, ticketNumber: data.number }
            yield* sql`insert into public.orders ${sql.insert(row)} on conflict (id) do nothing`
            yield* meanwhile
          })
        // Runs in a new runtime, because this context would use the transaction's own connection.
        const ended = Effect.provide(
          Effect.flatMap(
            SqlClient.SqlClient,
            (other) => other`select pg_terminate_backend(pid, 5000) from pg_stat_activity
              where datname = current_database() and state = 'idle in transaction'`
          ),
          clientOf(url)
        )
        const others = Effect.promise(() => Effect.runPromise(ended))
        const statement = Effect.zipRight(others, sql`select 1`)
        const nested = sql.withTransaction(statement)
        for (const meanwhile of [statement, others, nested])
          expect(yield* Effect.flip(sqlTransaction(order(meanwhile, "A1")))).toBeInstanceOf(StoreUnavailable)
        expect(yield* stored).toEqual([[], 0])
        const again = order(
          Effect.suspend(() => (runs++ === 0 ? statement : Effect.void)),
          "A1"
        )
        let runs = 0
        yield* Effect.retry(sqlTransaction(again), {
          while: (failure) => failure._tag === "StoreUnavailable",
          times: 1
        })
        expect(yield* stored).toEqual([[{ id: "A1", ticketNumber: 1 }], 1])
        const nowhere = Effect.provide(sqlTransaction(order(Effect.void, "A2")), refusedClient)
        expect(yield* Effect.flip(nowhere)).toBeInstanceOf(StoreUnavailable)
        const wrong = sqlTransaction(order(sql`select no_such_column from public.orders`, "A3"))
        expect(yield* Effect.flip(wrong)).toBeInstanceOf(SqlError.SqlError)
      })
    ))

  it("within a transaction of another database's client, the services read on the store's own connections", () =>
    program(({ caller, stored }) =>
      Effect.gen(function* () {
        yield* Tickets.create(caller, hem)
        const { url } = yield* testDatabase
        const listed = Effect.flatMap(SqlClient.SqlClient, (sql) =>
          sql.withTransaction(Tickets.list(caller, Schema.decodeSync(TicketQuery)({})))
        )
        expect((yield* Effect.provide(listed, clientOf(url))).data).toHaveLength(1)
        expect(yield* stored).toEqual([[], 1])
      })
    ))
})
