import { ownTransaction, Tickets } from "@workshop/core"
import { type PromiseWorkshop, start, type TransactionServices, withClient } from "@workshop/core/promise"
import { Effect, Runtime } from "effect"
import pg, { type Pool, type PoolClient } from "pg"
import { describe, expect, it } from "vitest"
import { layer } from "../src/PgStore.js"
import { testDatabase } from "./cluster/TestDatabase.js"
import { runTest } from "./nodes/Node.js"

/*
 * Runs the recipes of docs/your-database.md on a stand-in for drizzle-orm/node-postgres, which sends the same
 * statements: BEGIN and COMMIT or ROLLBACK around a transaction, and savepoints around a nested transaction.
 */

interface Tx {
  readonly insert: (id: string) => Promise<unknown>
  readonly transaction: <A>(work: (tx: Tx) => Promise<A>) => Promise<A>
}

const between = async <A>(client: PoolClient, [begin, end, undo]: ReadonlyArray<string>, work: () => Promise<A>) => {
  await client.query(begin!)
  try {
    const value = await work()
    await client.query(end!)
    return value
  } catch (error) {
    await client.query(undo!)
    throw error
  }
}

const txOn = (client: PoolClient): Tx => ({
  insert: (id) => client.query("insert into public.orders values ($1)", [id]),
  transaction: (work) =>
    between(client, ["savepoint sp1", "release savepoint sp1", "rollback to savepoint sp1"], () => work(txOn(client)))
})

const schema = {}
const drizzle = (client: PoolClient, _config: { readonly schema: object }) => ({
  transaction: <A>(work: (tx: Tx) => Promise<A>) =>
    between(client, ["begin", "commit", "rollback"], () => work(txOn(client)))
})

const promised = async <A>(
  workshop: PromiseWorkshop,
  pool: Pool,
  work: (tx: Tx, services: TransactionServices["orThrow"]) => Promise<A>
): Promise<A> => {
  const { value, afterCommit } = await withClient(pool, (client) =>
    drizzle(client, { schema }).transaction((tx) => workshop.within(client, ({ orThrow }) => work(tx, orThrow)))
  )
  await afterCommit()
  return value
}

const inTransaction = (pool: Pool) =>
  ownTransaction<Tx>((work) =>
    withClient(pool, (client) => drizzle(client, { schema }).transaction((tx) => work(client, tx)))
  )

type Order = (order: string, fails?: boolean) => Promise<unknown>

const program = (
  work: (fixture: {
    effect: Order
    promise: Order
    rows: () => Promise<unknown>
    events: Array<string>
  }) => Promise<void>
) =>
  runTest(
    Effect.flatMap(testDatabase, ({ url }) =>
      Effect.promise(async () => {
        const workshop = await start({ store: layer({ url }), background: false })
        const pool = new pg.Pool({ connectionString: url, max: 1 })
        try {
          await pool.query("create table public.orders (id text primary key)")
          const events: Array<string> = []
          workshop.onEvent(({ type }) => void events.push(type))
          const shop = await workshop.orThrow.shops.create({ name: "A", currency: "EUR", time_zone: "Europe/Paris" })
          const caller = { shop_id: shop.id, caller_id: "a", scopes: ["tickets:write"], via: "api" } as const
          const nested = (tx: Tx, order: string) => tx.transaction((inner) => inner.insert(order))
          const promise: Order = (order, fails) =>
            promised(workshop, pool, async (tx, { tickets }) => {
              await tickets.create(caller, { service: order }, order)
              await nested(tx, order)
              if (fails) throw new Error("No such customer")
            })
          const effect: Order = (order, fails) =>
            Runtime.runPromise(workshop.runtime)(
              inTransaction(pool)((tx) =>
                Effect.gen(function* () {
                  yield* Tickets.create(caller as never, { service: order } as never, order as never)
                  yield* Effect.promise(() => nested(tx, order))
                  if (fails) return yield* Effect.fail(new Error("No such customer"))
                })
              )
            )
          const rows = async () => [
            (await pool.query("select id from public.orders order by id")).rows.map(({ id }) => id),
            (await pool.query("select count(*)::integer as tickets from workshop.ticket")).rows[0].tickets
          ]
          await work({ effect, promise, rows, events })
        } finally {
          await pool.end()
          await workshop.stop()
        }
      })
    )
  )

describe("the recipes for Drizzle (docs/your-database.md)", { timeout: 60_000 }, () => {
  it.each(["promise", "effect"] as const)(
    "%s: if the transaction fails after a nested one, neither order nor ticket is stored; otherwise both are stored",
    (kind) =>
      program(async ({ rows, events, ...orders }) => {
        await expect(orders[kind]("A1", true)).rejects.toThrow("No such customer")
        expect([await rows(), events]).toEqual([[[], 0], []])
        await orders[kind]("A2")
        expect([await rows(), events]).toEqual([[["A2"], 1], ["ticket.created"]])
      })
  )
})
