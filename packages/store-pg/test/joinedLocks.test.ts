import { type PromiseWorkshop, start, withClient } from "@workshop/core/promise"
import { Effect } from "effect"
import pg from "pg"
import { describe, expect, it } from "vitest"
import { layer } from "../src/PgStore.js"
import { testDatabase } from "./cluster/TestDatabase.js"
import { NO_POOLER, pooler } from "./failures/Pooler.js"
import { runTest } from "./nodes/Node.js"

const SHOP = { name: "Needle", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" }

type Caller = Parameters<PromiseWorkshop["tickets"]["createInApp"]>[0]

interface Fixture {
  readonly workshop: PromiseWorkshop
  readonly pool: pg.Pool
  readonly url: string
  readonly caller: Caller
  /** A caller of another shop. */
  readonly other: Caller
}

/**
 * Runs `work` with a workshop that has two shops, and with the embedder's pool, whose database has a table of orders.
 */
const program = (work: (fixture: Fixture) => Promise<void>) =>
  runTest(
    Effect.flatMap(testDatabase, ({ url }) =>
      Effect.promise(async () => {
        const workshop = await start({ store: layer({ url }), background: false })
        const pool = new pg.Pool({ connectionString: url })
        pool.on("error", () => {})
        try {
          await pool.query("create schema app; create table app.orders (id text primary key)")
          const openCaller = async (): Promise<Caller> => {
            const { id } = await workshop.orThrow.shops.create(SHOP)
            return { shop_id: id, caller_id: id, scopes: ["tickets:read", "tickets:write"], via: "app" }
          }
          await work({ workshop, pool, url, caller: await openCaller(), other: await openCaller() })
        } finally {
          await pool.end()
          await workshop.stop()
        }
      })
    )
  )

/** Runs `work` while another transaction, which created a ticket, holds the shop's lock. */
const whileLocked = ({ workshop, pool, caller }: Fixture, work: () => Promise<void>) =>
  withClient(pool, async (holder) => {
    await holder.query("begin")
    await workshop.within(holder, ({ orThrow }) => orThrow.tickets.createInApp(caller, { service: "Held" }))
    await work()
    await holder.query("rollback")
  })

/**
 * Runs the SQL `first` and then `work` in a transaction, and commits. Returns the result of `work` and the timeouts
 * before the commit.
 */
const inTransaction = <A>(pool: pg.Pool, first: string, work: (client: pg.PoolClient) => Promise<A>) =>
  withClient(pool, async (client) => {
    await client.query(`begin; ${first}`)
    const value = await work(client)
    const { rows } = await client.query(
      "select current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement"
    )
    await client.query("commit")
    return { value, timeouts: rows[0] }
  })

/** The number of commands that were refused because they waited too long. */
const expiredOf = async (workshop: PromiseWorkshop) =>
  Number(/workshop_store_expired_commands_total (\d+)/.exec(await workshop.metrics())?.[1])

const create = ({ workshop, caller }: Pick<Fixture, "workshop" | "caller">, client: pg.PoolClient) =>
  workshop.within(client, ({ tickets }) => tickets.createInApp(caller, { service: "Hem" })).then(({ value }) => value)

const ORDER = "insert into app.orders values ('A1')"

const LOCKED =
  "Another transaction, such as one of within, of a migration or of an operator, held a lock for too long. Commit or roll back sooner, or find that transaction with pg_blocking_pids."

const shopLocked = (shop_id: string, waited: string) =>
  `Another transaction held the lock of the shop ${shop_id} for ${waited}, so the command did not run. Commit or roll back sooner. Inside within, do not wait for a command of the same shop that runs outside of within.`

const shortened = (waits: string) =>
  `${waits}, the longest wait that this transaction's lock_timeout or statement_timeout allows`

const refusedFor = (message: string) => ({ ok: false, refusal: { _tag: "StoreUnavailable", message } })

describe("an embedder's transaction that waits for another transaction's lock", { timeout: 60_000 }, () => {
  it("a command in such a transaction is refused after the same wait and with the same message as an API command, and its transaction can go on at once", () =>
    program((fixture) =>
      whileLocked(fixture, async () => {
        const { workshop, pool, caller } = fixture
        const before = await expiredOf(workshop)
        const [api, own] = await Promise.all([
          workshop.tickets.createInApp(caller, { service: "Hem" }),
          inTransaction(pool, ORDER, (client) => create(fixture, client))
        ])
        const refused = refusedFor(shopLocked(caller.shop_id, "five seconds"))
        expect(api).toMatchObject(refused)
        expect(own).toMatchObject({ value: refused, timeouts: { lock: "0", statement: "0" } })
        // Only the transaction that holds the lock still has a client of the pool.
        expect(pool.totalCount - pool.idleCount).toBe(1)
        expect((await pool.query("select id from app.orders")).rows).toEqual([{ id: "A1" }])
        expect(await expiredOf(workshop)).toBe(before + 2)
      })
    ))

  it("a shorter timeout of the transaction ends the wait, the error names it, and no refusal, command or read changes it", () =>
    program(async (fixture) => {
      const { workshop, pool, caller, other } = fixture
      for (const [first, waits, timeouts] of [
        ["set local lock_timeout = 120", "120ms", { lock: "120ms", statement: "0" }],
        ["set lock_timeout = '1min'; set local statement_timeout = 130", "130ms", { lock: "1min", statement: "130ms" }]
      ] as const) {
        await whileLocked(fixture, async () => {
          const own = await inTransaction(pool, first, async (client) => {
            const refused = await create(fixture, client)
            const created = await create({ workshop, caller: other }, client)
            const { value } = await workshop.within(client, ({ tickets }) => tickets.list(other, {}))
            return [refused, created.ok, value.ok]
          })
          expect(own).toMatchObject({
            value: [refusedFor(shopLocked(caller.shop_id, shortened(waits))), true, true],
            timeouts
          })
        })
      }
    }))

  it.skipIf(NO_POOLER)(
    "behind a pooler in transaction mode, the timeout ends the wait too, and the server session has no timeout afterwards",
    () =>
      program((fixture) =>
        whileLocked(fixture, () =>
          Effect.runPromise(
            Effect.scoped(
              Effect.flatMap(pooler(fixture.url, "transaction"), (through) =>
                Effect.promise(async () => {
                  const pooled = new pg.Pool({ connectionString: through, max: 1 })
                  const own = await inTransaction(pooled, "set local lock_timeout = 120", async (client) => [
                    await create(fixture, client),
                    (await create({ ...fixture, caller: fixture.other }, client)).ok
                  ])
                  expect(own).toMatchObject({
                    value: [refusedFor(shopLocked(fixture.caller.shop_id, shortened("120ms"))), true],
                    timeouts: { lock: "120ms", statement: "0" }
                  })
                  expect((await pooled.query("show lock_timeout")).rows).toEqual([{ lock_timeout: "0" }])
                  await pooled.end()
                })
              )
            )
          )
        )
      )
  )

  it("a read, a new account and a command that wait for a table lock are refused with a message, and the metrics count the command", () =>
    program(async (fixture) => {
      const { workshop, pool, caller } = fixture
      const operator = new pg.Client({ connectionString: fixture.url })
      await operator.connect()
      const account = { given_name: "Amira", family_name: "Ben", phone: "+21620001000" }
      const waiting: Readonly<Record<string, (client: pg.PoolClient) => Promise<unknown>>> = {
        "lock workshop.ticket in access exclusive mode": (client: pg.PoolClient) =>
          workshop.within(client, ({ tickets }) => tickets.list(caller, {})),
        "lock workshop.ticket in share mode": async (client: pg.PoolClient) => ({
          value: await create(fixture, client)
        }),
        "lock workshop.client_account in share mode": (client: pg.PoolClient) =>
          workshop.within(client, ({ clients }) => clients.register(account))
      }
      const before = await expiredOf(workshop)
      for (const [lock, work] of Object.entries(waiting)) {
        await operator.query(`begin; ${lock}`)
        const own = await inTransaction(pool, "set local lock_timeout = 120", work)
        expect(own).toMatchObject({ value: { value: refusedFor(LOCKED) }, timeouts: { lock: "120ms", statement: "0" } })
        await operator.query("rollback")
      }
      await operator.end()
      expect(await expiredOf(workshop)).toBe(before + 1)
    }))

  it("if two transactions wait for each other's shops, a command of one is refused with a message that names the deadlock", () =>
    program(async (fixture) => {
      const { workshop, pool, caller, other } = fixture
      const crossing = (first: Caller, second: Caller, isReady: () => unknown, both: Promise<void>) =>
        withClient(pool, async (client) => {
          await client.query("begin; set local deadlock_timeout = 50")
          await create({ workshop, caller: first }, client)
          isReady()
          await both
          const created = await create({ workshop, caller: second }, client)
          await client.query(created.ok ? "commit" : "rollback")
          return created.ok ? "made" : (created.refusal as Error).message
        })
      let open = (): void => undefined
      const both = new Promise<void>((resume) => {
        open = resume
      })
      let ready = 0
      const isReady = () => ++ready === 2 && open()
      const done = await Promise.all([crossing(caller, other, isReady, both), crossing(other, caller, isReady, both)])
      expect(done.sort()).toEqual([
        "Two transactions waited for each other's locks, so Postgres ended a statement of one of them. Roll back and run the transaction again. If it uses several shops, use them in the order of their ids.",
        "made"
      ])
    }))

  it("a statement that the server does not cancel in time closes the connection, so that no later statement waits or commits", () =>
    program((fixture) =>
      whileLocked(fixture, async () => {
        const { workshop, pool, caller } = fixture
        const lost = withClient(pool, async (client) => {
          await client.query("begin")
          const hasty = new Proxy(client, {
            get: (of, name) =>
              name === "query"
                ? (query: pg.QueryConfig) =>
                    of.query(/lock heads/.test(query.text) ? Object.assign(query, { query_timeout: 50 }) : query)
                : Reflect.get(of, name, of)
          })
          await workshop.within(hasty, ({ tickets }) => tickets.createInApp(caller, { service: "Late" }))
          await client.query("commit")
        })
        await expect(lost).rejects.toMatchObject({ _tag: "StoreUnavailable" })
        expect([pool.totalCount, pool.idleCount]).toEqual([1, 0])
      })
    ))
})
