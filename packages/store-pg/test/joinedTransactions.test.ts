import { Tickets, Transactions } from "@workshop/core"
import { mountFetch } from "@workshop/core/http"
import {
  isRefusal,
  type LogLine,
  type PromiseWorkshop,
  refusalResponse,
  start,
  withClient
} from "@workshop/core/promise"
import { createTestWorkshop } from "@workshop/store-memory/testing"
import { Cause, Deferred, Effect, Exit, Fiber, Runtime } from "effect"
import pg from "pg"
import { describe, expect, it } from "vitest"
import { untilAsync } from "../../../test/until.js"
import { layer } from "../src/PgStore.js"
import { testDatabase } from "./cluster/TestDatabase.js"
import { brokenClient } from "./failures/brokenClient.js"
import { NO_POOLER, pooler } from "./failures/Pooler.js"
import { runTest } from "./nodes/Node.js"

const LONG = 60_000
const SHOP = { name: "Needle", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" }

/** The application names of the connections to a database, without the connection that queries them. */
const connectionsTo = async (url: string) => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(
    "select application_name from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
  )
  await client.end()
  return rows.map(({ application_name }) => application_name)
}

/** Runs `work` in an embedder's program, with a workshop, a table of orders and the embedder's pool on one database. */
const program = (
  work: (fixture: {
    readonly workshop: PromiseWorkshop
    readonly pool: pg.Pool
    readonly url: string
    /** The lines that the embedder's logger received. */
    readonly lines: ReadonlyArray<LogLine>
    readonly caller: Parameters<PromiseWorkshop["tickets"]["createInApp"]>[0]
    readonly orders: () => Promise<ReadonlyArray<string>>
    readonly tickets: () => Promise<ReadonlyArray<string>>
  }) => Promise<void>
) =>
  runTest(
    Effect.flatMap(testDatabase, ({ url }) =>
      Effect.promise(async () => {
        const lines: Array<LogLine> = []
        const logger = (line: LogLine) => void lines.push(line)
        const workshop = await start({ store: layer({ url }), background: false, logger })
        const pool = new pg.Pool({ connectionString: url })
        try {
          await pool.query("create schema app; create table app.orders (id text primary key)")
          const shop = await workshop.shops.create(SHOP)
          if (!shop.ok) throw shop.refusal
          const caller = {
            shop_id: shop.value.id,
            caller_id: shop.value.id,
            scopes: ["tickets:read", "tickets:write"],
            via: "app"
          } as const
          const orders = async () =>
            (await pool.query("select id from app.orders order by id")).rows.map(({ id }) => id)
          const tickets = async () => {
            const listed = await workshop.tickets.list(caller, {})
            if (!listed.ok) throw listed.refusal
            return listed.value.data.map(({ service }) => service)
          }
          await work({ workshop, pool, url, lines, caller: caller as never, orders, tickets })
        } finally {
          await pool.end()
          await workshop.stop()
        }
      })
    )
  )

describe("within and withClient on the embedder's own client", { timeout: LONG }, () => {
  it("tickets that a caller without rate limits creates do not consume the limits of API clients (Specification, Limits)", () =>
    program(async ({ workshop, pool, caller }) => {
      const own = { ...caller, uncounted: true }
      const client = await pool.connect()
      await client.query("begin")
      await workshop.within(client, async ({ orThrow: { tickets } }) => {
        for (let n = 0; n < 3; n++) await tickets.create(own, { service: "Order" }, `order-${n}`)
      })
      await client.query("commit")
      client.release()
      const create = () => workshop.tickets.createInApp(caller, { service: "Hem" })
      expect(await create()).toMatchObject({ value: { data: { number: 4 }, limitStatuses: [{ remaining: 149 }, {}] } })
      const rest = await Promise.all(Array.from({ length: 149 }, create))
      expect(rest.every(({ ok }) => ok)).toBe(true)
      expect(await create()).toMatchObject({ refusal: { _tag: "LimitReached" } })
      expect(await workshop.tickets.createInApp(own, { service: "Order" })).toMatchObject({
        value: { limitStatuses: [] }
      })
    }))

  it("withClient fails with StoreUnavailable if its connection breaks, even after within, and the process does not exit", () =>
    program(async ({ workshop, pool, url, caller, tickets }) => {
      pool.on("error", () => {})
      const breaking = (when: "within" | "after") =>
        withClient(pool, async (client) => {
          await client.query("begin")
          await workshop.within(client, async ({ orThrow }) => {
            if (when === "within") await brokenClient(url, client)
            return orThrow.tickets.createInApp(caller, { service: "Hem" })
          })
          await brokenClient(url, client)
          await client.query("commit")
        })
      for (const when of ["within", "after"] as const) {
        const refusal = await breaking(when).catch((error: unknown) => error)
        expect([isRefusal(refusal), refusalResponse(refusal).status]).toEqual([true, 503])
      }
      expect(await tickets()).toEqual([])
    }))

  it("withClient fails with StoreUnavailable and closes the client if the server ends the connection, even if Drizzle wraps the error", () =>
    program(async ({ workshop, pool, caller, tickets }) => {
      pool.on("error", () => {})
      const END = "select pg_terminate_backend(pg_backend_pid())"
      const wrapped = async (query: Promise<unknown>) =>
        query.catch((cause) => {
          throw new Error(`Failed query: ${END}`, { cause })
        })
      const ending = [
        () => withClient(pool, (client) => client.query(END)),
        () => withClient(pool, (client) => wrapped(client.query(END))),
        () =>
          withClient(pool, async (client) => {
            await client.query("begin")
            await workshop.within(client, async ({ orThrow }) => {
              await orThrow.tickets.createInApp(caller, { service: "Hem" })
              await wrapped(client.query(END))
            })
          })
      ]
      for (const end of ending) {
        const refusal = await end().catch((error: unknown) => error)
        expect([isRefusal(refusal), refusalResponse(refusal).status]).toEqual([true, 503])
      }
      expect([pool.totalCount, await tickets()]).toEqual([0, []])
    }))

  it("withClient on an exhausted pool is refused with a message that has a remedy, is logged once and counted", () =>
    program(async ({ url, lines, workshop }) => {
      const counted = async () => /exhausted_total\{pool="embedder"\} (\d+)/.exec(await workshop.metrics())?.[1]
      const before = Number(await counted())
      const small = new pg.Pool({ connectionString: url, max: 1 })
      const refusals = await withClient(small, () => {
        // The timeout is set after the first connection, which may take longer on a busy machine.
        Object.assign(small.options, { connectionTimeoutMillis: 100 })
        const borrowing = () => withClient(small, async () => "lent").catch((error: unknown) => error)
        return Promise.all([borrowing(), borrowing()])
      })
      await small.end()
      const message =
        "The only client of your pool was in use for 100 ms, the pool's connectionTimeoutMillis. If the transactions are of one shop, raise connectionTimeoutMillis. If they are of several shops, raise the pool's max. Or return its clients sooner."
      for (const refusal of refusals) {
        expect(refusal).toMatchObject({ _tag: "StoreUnavailable", message })
        expect(refusalResponse(refusal as never)).toMatchObject({
          status: 503,
          body: { error: { code: "UNAVAILABLE" } }
        })
      }
      expect(lines).toMatchObject([{ level: "warning", message }])
      expect(Number(await counted())).toBe(before + 2)
    }))

  it("withClient fails with StoreUnavailable if the server ended the session just before BEGIN", () =>
    program(async ({ pool, url }) => {
      pool.on("error", () => {})
      const other = new pg.Client({ connectionString: url })
      await other.connect()
      let terminated: Promise<unknown> | undefined
      const refusal = await withClient(pool, async (client) => {
        const { rows } = await client.query("select pg_backend_pid() as pid")
        terminated = other.query("select pg_terminate_backend($1)", [rows[0].pid])
        // The client accepts queries until the server's last message arrives.
        while (true) await client.query("begin")
      }).catch((error: unknown) => error)
      await terminated
      await other.end()
      expect([isRefusal(refusal), refusalResponse(refusal).status]).toEqual([true, 503])
    }))

  it("withClient rejects with a statement's own error, even one of the SQLSTATE class of protocol errors, and returns the client to the pool", () =>
    program(async ({ pool }) => {
      for (const [code, text] of [
        ["42P01", "select * from nowhere"],
        ["08P01", "select $1::text, $2::text"]
      ] as const) {
        const refused = withClient(pool, (client) => client.query(text, ["one"]))
        await expect(refused).rejects.toMatchObject({ code })
        expect(pool.idleCount).toBe(1)
      }
    }))

  it("withClient rejects with the error of its work, returns the client without its error listener, and closes a client that work gives up", () =>
    program(async ({ pool }) => {
      const failing = withClient(pool, async () => {
        throw new Error("No such customer")
      })
      await expect(failing).rejects.toThrow("No such customer")
      expect(pool.idleCount).toBe(1)
      const listeners = await withClient(pool, async (client) => client.listenerCount("error"))
      expect(await withClient(pool, async (client, giveUp) => [client.listenerCount("error"), giveUp()])).toEqual([
        listeners,
        undefined
      ])
      expect(pool.totalCount).toBe(0)
    }))

  it("if the connection of a client without an error listener breaks during within, the process does not exit", () =>
    program(async ({ workshop, pool, url }) => {
      pool.on("error", () => {})
      const client = await pool.connect()
      await client.query("begin")
      const breaking = workshop.within(client, () => brokenClient(url, client))
      await expect(breaking).resolves.toBeDefined()
      await expect(client.query("commit")).rejects.toThrow()
      client.release()
    }))

  it("an order and its ticket commit together, with the ticket's event and idempotency record", () =>
    program(async ({ workshop, pool, caller, orders, tickets }) => {
      const events: Array<string> = []
      workshop.onEvent(({ type }) => void events.push(type))
      const client = await pool.connect()
      await client.query("begin")
      await client.query("insert into app.orders values ('A1')")
      const { value, afterCommit } = await workshop.within(client, ({ tickets }) =>
        tickets.create({ ...caller, via: "api" }, { service: "Hem" }, "order-A1")
      )
      expect(value).toMatchObject({ ok: true })
      expect([await orders(), await tickets(), events]).toEqual([[], [], []])
      await client.query("commit")
      expect([await orders(), await tickets()]).toEqual([["A1"], ["Hem"]])
      expect((await pool.query("select type from workshop.event")).rows).toEqual([{ type: "ticket.created" }])
      expect(events).toEqual([])
      await afterCommit()
      await afterCommit()
      expect(events).toEqual(["ticket.created"])
      client.release()
      const replay = await workshop.tickets.create({ ...caller, via: "api" }, { service: "Hem" }, "order-A1")
      expect(replay).toMatchObject({ ok: true, value: { replayed: true } })
      expect(await tickets()).toEqual(["Hem"])
    }))

  it("a rollback removes every row of a command, and the next ticket gets the same number", () =>
    program(async ({ workshop, pool, caller, orders, tickets }) => {
      const client = await pool.connect()
      await client.query("begin; insert into app.orders values ('A1')")
      const { value } = await workshop.within(client, async (inside) => {
        const created = await inside.tickets.createInApp(caller, { service: "Lost" })
        // A read within the transaction returns its uncommitted ticket.
        const listInside = await inside.tickets.list(caller, {})
        return [created, listInside.ok && listInside.value.data.length] as const
      })
      expect(value[1]).toBe(1)
      await client.query("rollback")
      client.release()
      expect([await orders(), await tickets()]).toEqual([[], []])
      for (const table of ["event", "idempotency_record", "ticket"])
        expect((await pool.query(`select from workshop.${table}`)).rowCount).toBe(0)
      const kept = await workshop.tickets.createInApp(caller, { service: "Kept" })
      expect(kept).toMatchObject({ ok: true, value: { data: { number: 1 } } })
    }))

  it("a refused command leaves the transaction usable, and does not lock the shop", () =>
    program(async ({ workshop, pool, caller, orders }) => {
      const client = await pool.connect()
      await client.query("begin; insert into app.orders values ('A1')")
      const { value } = await workshop.within(client, (inside) =>
        inside.tickets.changeStatus(caller, caller.shop_id, "ready")
      )
      expect(value).toMatchObject({ ok: false, refusal: { _tag: "TicketNotFound" } })
      // Another command of the shop runs without waiting.
      expect(await workshop.tickets.createInApp(caller, { service: "Hem" })).toMatchObject({ ok: true })
      await client.query("commit")
      client.release()
      expect(await orders()).toEqual(["A1"])
    }))

  it("commands that are called concurrently within a transaction run one after another on its client", () =>
    program(async ({ workshop, pool, caller, tickets }) => {
      const client = await pool.connect()
      await client.query("begin")
      const { value } = await workshop.within(client, (inside) =>
        Promise.all(Array.from({ length: 8 }, () => inside.tickets.createInApp(caller, { service: "Hem" })))
      )
      await client.query("commit")
      client.release()
      expect(value.map((created) => (created.ok ? created.value.data.number : 0)).sort()).toEqual([
        1, 2, 3, 4, 5, 6, 7, 8
      ])
      expect(await tickets()).toHaveLength(8)
    }))

  it("within waits for commands that its work did not await, even if the work fails", () =>
    program(async ({ workshop, pool, caller, tickets }) => {
      const client = await pool.connect()
      await client.query("begin")
      await workshop.within(client, async (inside) => {
        const first = inside.tickets.createInApp(caller, { service: "First" })
        void first.then(() => inside.tickets.createInApp(caller, { service: "Second" }))
      })
      await client.query("commit; begin")
      const failing = workshop.within(client, async (inside) => {
        void inside.tickets.createInApp(caller, { service: "Never" })
        throw new Error("No such customer")
      })
      await expect(failing).rejects.toThrow("No such customer")
      await client.query("rollback")
      client.release()
      expect([...(await tickets())].sort()).toEqual(["First", "Second"])
    }))

  const HAS_ENDED =
    "The transaction of this call has ended, so the call did nothing. Await every call within the transaction."

  it("calls on within's services after it has ended are refused, even if the client is in another transaction by then", () =>
    program(async ({ workshop, pool, caller, tickets }) => {
      const client = await pool.connect()
      await client.query("begin")
      const { value: insideServices } = await workshop.within(client, async (inside) => inside)
      const isRefused = () =>
        expect(insideServices.tickets.createInApp(caller, { service: "Late" })).rejects.toMatchObject({
          _tag: "TransactionRefused",
          message: expect.stringMatching(/^This call of within has ended/)
        })
      await isRefused()
      await client.query("commit")
      await isRefused()
      await client.query("begin")
      await isRefused()
      await client.query("commit")
      client.release()
      await isRefused()
      expect(await tickets()).toEqual([])
    }))

  it("if the caller commits during a command, the command is either committed or refused without a write", () =>
    program(async ({ workshop, pool, caller, tickets }) => {
      for (let statements = 0; statements < 8; statements++) {
        const client = await pool.connect()
        const query = client.query.bind(client)
        await client.query("begin")
        let left = Number.POSITIVE_INFINITY
        const meddling = {
          query: async (...args: ReadonlyArray<never>) => {
            if (left-- === 0) await query("commit")
            return (query as (...args: ReadonlyArray<never>) => never)(...args)
          }
        }
        const before = (await tickets()).length
        let isMade: boolean | undefined
        const created = await workshop
          .within(meddling, async (inside) => {
            left = statements
            isMade = (await inside.tickets.createInApp(caller, { service: "Hem" })).ok
          })
          .then(
            () => isMade,
            ({ _tag }) => isMade ?? _tag
          )
        await query("commit")
        client.release()
        const written = (await tickets()).length - before
        expect([statements, created, written]).toEqual([
          statements,
          ...(written === 1 ? [true, 1] : ["TransactionRefused", 0])
        ])
      }
    }))

  const ENDED_EARLY = /^The transaction was committed or rolled back while within was still running/

  it("within rejects if its work ended the transaction, for example with a query builder's own transaction on the client", () =>
    program(async ({ workshop, pool, caller, orders, tickets }) => {
      const client = await pool.connect()
      await client.query("begin")
      const nested = workshop.within(client, async (inside) => {
        await inside.tickets.createInApp(caller, { service: "Hem" })
        await client.query("begin; insert into app.orders values ('A1'); commit")
      })
      await expect(nested).rejects.toMatchObject({
        _tag: "TransactionRefused",
        message: expect.stringMatching(ENDED_EARLY)
      })
      await client.query("rollback; begin")
      const effect = await Runtime.runPromiseExit(workshop.runtime)(
        Effect.flatMap(Transactions, ({ join }) =>
          Effect.flatMap(join(client), ({ run }) => run(Effect.promise(() => client.query("commit; begin"))))
        )
      )
      expect(Exit.isFailure(effect) && Cause.squash(effect.cause)).toMatchObject({
        message: expect.stringMatching(ENDED_EARLY)
      })
      await client.query("rollback")
      client.release()
      // The order and the ticket are stored, as the error's message says.
      expect([await orders(), await tickets()]).toEqual([["A1"], ["Hem"]])
    }))

  it("within rejects if the transaction has failed by the end of its work, because a COMMIT would then roll back", () =>
    program(async ({ workshop, pool, caller }) => {
      const client = await pool.connect()
      await client.query("begin")
      const failed = workshop.within(client, async (inside) => {
        await inside.tickets.createInApp(caller, { service: "Hem" })
        await client.query("select 1 / 0").catch(() => undefined)
      })
      await expect(failed).rejects.toMatchObject({
        _tag: "TransactionRefused",
        message: "An earlier statement of the client's transaction failed. Roll the transaction back and begin again."
      })
      await client.query("rollback")
      client.release()
    }))

  it("a command after a failed statement whose error was caught fails with TransactionRefused, not StoreUnavailable", () =>
    program(async ({ workshop, pool, caller, tickets }) => {
      const client = await pool.connect()
      await client.query("begin")
      let rejected: unknown
      const failed = workshop.within(client, async (inside) => {
        await client.query("select 1 / 0").catch(() => undefined)
        rejected = await inside.tickets.createInApp(caller, { service: "Hem" }).catch((error) => error)
      })
      await expect(failed).rejects.toMatchObject({ _tag: "TransactionRefused" })
      expect(rejected).toMatchObject({
        _tag: "TransactionRefused",
        message: "An earlier statement of the client's transaction failed. Roll the transaction back and begin again."
      })
      await client.query("rollback")
      client.release()
      expect(await tickets()).toEqual([])
    }))

  it("within accepts a savepoint as a nested transaction of the caller", () =>
    program(async ({ workshop, pool, caller, orders, tickets }) => {
      const client = await pool.connect()
      await client.query("begin")
      await workshop.within(client, async (inside) => {
        await inside.tickets.createInApp(caller, { service: "Hem" })
        await client.query("savepoint sp1; insert into app.orders values ('A1')")
        await client.query("rollback to savepoint sp1; insert into app.orders values ('A2'); release savepoint sp1")
      })
      await client.query("commit")
      client.release()
      expect([await orders(), await tickets()]).toEqual([["A2"], ["Hem"]])
    }))

  it("afterCommit reports the events of the transaction, except those that a rollback to a savepoint undid", () =>
    program(async ({ workshop, pool, caller, tickets }) => {
      const events: Array<string> = []
      workshop.onEvent((event) => {
        if (event.type === "ticket.created") events.push(event.data.ticket.service)
      })
      const client = await pool.connect()
      await client.query("begin")
      const { afterCommit } = await workshop.within(client, async (inside) => {
        await inside.tickets.createInApp(caller, { service: "Before" })
        await client.query("savepoint sp1")
        await inside.tickets.createInApp(caller, { service: "Taken back" })
        await client.query("rollback to savepoint sp1")
        await inside.tickets.createInApp(caller, { service: "After" })
      })
      await client.query("commit")
      client.release()
      await afterCommit()
      expect([events, [...(await tickets())].sort()]).toEqual([
        ["Before", "After"],
        ["After", "Before"]
      ])
    }))

  it("processes that start at the same time get one shop from firstOrCreate (docs/your-database.md)", () =>
    runTest(
      Effect.flatMap(testDatabase, ({ url }) =>
        Effect.promise(async () => {
          const starts = async () => {
            const workshop = await start({ store: layer({ url }), background: false })
            return { workshop, shop: await workshop.orThrow.shops.firstOrCreate(SHOP) }
          }
          const started = await Promise.all([starts(), starts(), starts(), starts()])
          expect(new Set(started.map(({ shop }) => shop.id)).size).toBe(1)
          expect(await started[0]!.workshop.orThrow.shops.list(null, 10)).toHaveLength(1)
          await Promise.all(started.map(({ workshop }) => workshop.stop()))
        })
      )
    ))

  it("within of the Effect API waits for the fibers that its work forked, and refuses calls of fibers that outlive it", () =>
    program(async ({ workshop, pool, caller, tickets }) => {
      const client = await pool.connect()
      await client.query("begin")
      const { run, afterCommit } = await Runtime.runPromise(workshop.runtime)(
        Effect.flatMap(Transactions, ({ join }) => join(client))
      )
      const create = (service: string) => Tickets.create(caller as never, { service } as never)
      const late = await Runtime.runPromise(workshop.runtime)(
        run(
          Effect.gen(function* () {
            const gate = yield* Deferred.make<void>()
            yield* Effect.fork(create("Forked"))
            const late = yield* Effect.forkDaemon(Effect.zipRight(Deferred.await(gate), create("Late")))
            return { gate, late }
          })
        )
      )
      await client.query("commit; begin")
      const exit = await Runtime.runPromise(workshop.runtime)(
        Effect.zipRight(Deferred.succeed(late.gate, undefined), Fiber.await(late.late))
      )
      expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toMatchObject({ message: HAS_ENDED })
      const again = await Runtime.runPromiseExit(workshop.runtime)(run(create("Next transaction")))
      expect(Exit.isFailure(again) && Cause.squash(again.cause)).toMatchObject({
        message: expect.stringMatching(/^The transaction was committed or rolled back before this call/)
      })
      await client.query("commit")
      await Runtime.runPromise(workshop.runtime)(afterCommit)
      client.release()
      expect(await tickets()).toEqual(["Forked"])
    }))

  it("a command within a transaction locks its shop until the commit, so another command waits and then sees the result", () =>
    program(async ({ workshop, pool, caller }) => {
      const client = await pool.connect()
      await client.query("begin")
      await workshop.within(client, ({ tickets }) => tickets.createInApp(caller, { service: "First" }))
      const second = workshop.tickets.createInApp(caller, { service: "Second" })
      await untilAsync(
        "the second command to wait for the lock",
        () =>
          pool.query(
            "select from pg_stat_activity where application_name = 'workshop contended' and wait_event_type = 'Lock'"
          ),
        ({ rowCount }) => rowCount! > 0
      )
      await client.query("commit")
      client.release()
      expect(await second).toMatchObject({ ok: true, value: { data: { number: 2 } } })
    }))

  it("within refuses a client that is not in an open transaction of the store's database, before anything is written", () =>
    program(async ({ workshop, pool, url, caller, tickets }) => {
      const refusal = (client: never) =>
        workshop
          .within(client, ({ tickets }) => tickets.createInApp(caller, { service: "Never" }))
          .then(
            () => "joined",
            ({ _tag, message }) => `${_tag}: ${message}`
          )
      const began = async (begin: string, at = url) => {
        const client = new pg.Client({ connectionString: at })
        await client.connect()
        if (begin !== "") await client.query(begin)
        const message = await refusal(client as never)
        await client.end()
        return message
      }
      const noClient =
        "TransactionRefused: The argument must be a client of pg. Pass the client that pool.connect() resolves to and on which you ran begin, not the pool or a query builder's wrapper."
      expect(await refusal({} as never)).toBe(noClient)
      expect(await refusal(pool as never)).toBe(noClient)
      const notBegun =
        "TransactionRefused: The client is not in a transaction. Pass a client, not a pool, and run begin on it first."
      expect(await began("")).toBe(notBegun)
      expect(await began("begin isolation level serializable")).toBe(
        "TransactionRefused: The transaction has the isolation level serializable, in which a command could use outdated rows. Begin the transaction with read committed."
      )
      expect(await began("begin read only")).toBe(
        "TransactionRefused: The transaction is read-only. Begin the transaction with read write."
      )
      const failed = new pg.Client({ connectionString: url })
      await failed.connect()
      await failed.query("begin")
      await failed.query("select 1 / 0").catch(() => {})
      expect(await refusal(failed as never)).toBe(
        "TransactionRefused: An earlier statement of the client's transaction failed. Roll the transaction back and begin again."
      )
      await failed.end()
      expect(await began("begin", url.replace(/[^/]*$/, "postgres"))).toBe(
        "TransactionRefused: The client is not connected to the store's database and server. Pass a client of the store's database."
      )
      expect(await tickets()).toEqual([])
    }))

  it("the audit log names the actor of an owner's act within a transaction", () =>
    program(async ({ workshop, pool, caller }) => {
      const client = await pool.connect()
      await client.query("begin")
      await workshop.as("owner:amira").within(client, ({ shops }) => shops.change(caller.shop_id, { active: false }))
      await client.query("commit")
      client.release()
      const listed = await workshop.audit.list({ shop_id: caller.shop_id, limit: 1 })
      expect(listed).toMatchObject({ ok: true, value: [{ actor: "owner:amira", act: "shop.changed" }] })
    }))

  it("a ticket created within a transaction wakes other processes' dispatchers at afterCommit, and not before", () =>
    program(async ({ workshop, pool, url, caller }) => {
      await workshop.webhooks.set(caller.shop_id, "https://erp.example.com/hook")
      const other = new pg.Client({ connectionString: url })
      await other.connect()
      await other.query("listen workshop")
      const events: Array<string> = []
      other.on("notification", ({ payload = "" }) => void events.push(payload))
      const mark = async () => {
        // A channel delivers notifications in order, so all earlier notifications have arrived when the mark arrives.
        await pool.query("select pg_notify('workshop', 'mark')")
        await expect.poll(() => events.includes("mark"), { timeout: 10_000 }).toBe(true)
        return events.splice(0).filter((payload) => payload !== "mark")
      }
      // Waits until the notification about the new webhook has arrived.
      let heard_at = performance.now()
      const isQuiet = async () => {
        if ((await mark()).length > 0) heard_at = performance.now()
        return performance.now() - heard_at > 1_500
      }
      await expect.poll(isQuiet, { interval: 100, timeout: 20_000 }).toBe(true)
      const client = await pool.connect()
      await client.query("begin")
      const { afterCommit } = await workshop.within(client, ({ tickets }) =>
        tickets.createInApp(caller, { service: "Hem" })
      )
      const before = await mark()
      await client.query("commit")
      client.release()
      expect([before, await mark()]).toEqual([[], []])
      await afterCommit()
      await expect.poll(() => events.length, { timeout: 10_000 }).toBe(1)
      await other.end()
    }))

  it("afterCommit removes a revoked key from the cache", () =>
    program(async ({ workshop, pool, caller }) => {
      const created = await workshop.keys.create(caller.shop_id, { name: "till", scopes: ["tickets:read"] })
      if (!created.ok) throw created.refusal
      const handler = mountFetch(workshop)
      const status = async () => {
        const headers = { authorization: `Bearer ${created.value.key}` }
        return (await handler(new Request("http://workshop.test/v1/shop", { headers }))).status
      }
      expect(await status()).toBe(200)
      const client = await pool.connect()
      await client.query("begin")
      const { afterCommit } = await workshop.within(client, ({ keys }) => keys.revoke(created.value.record.id))
      // The key is valid until the commit, and this request caches it again.
      expect(await status()).toBe(200)
      await client.query("commit")
      client.release()
      expect(await status()).toBe(200)
      await afterCommit()
      await expect.poll(status, { timeout: 10_000 }).toBe(401)
    }))

  it.skipIf(NO_POOLER)("within works on a client behind a pooler in transaction mode", () =>
    program(async ({ workshop, url, caller, orders, tickets }) => {
      await Effect.runPromise(
        Effect.scoped(
          Effect.flatMap(pooler(url, "transaction"), (through) =>
            Effect.promise(async () => {
              const pooled = new pg.Pool({ connectionString: through, max: 2 })
              const client = await pooled.connect()
              for (const [order, end] of [
                ["A1", "commit"],
                ["A2", "rollback"]
              ] as const) {
                await client.query("begin")
                await client.query("insert into app.orders values ($1)", [order])
                const { value } = await workshop.within(client, (inside) =>
                  inside.tickets.createInApp(caller, { service: order })
                )
                expect(value).toMatchObject({ ok: true })
                await client.query(end)
              }
              client.release()
              await pooled.end()
            })
          )
        )
      )
      expect([await orders(), await tickets()]).toEqual([["A1"], ["A1"]])
    })
  )

  it("a command that waits five seconds for an open transaction's lock is refused with a message that names the shop", () =>
    program(async ({ workshop, pool, caller }) => {
      const client = await pool.connect()
      await client.query("begin")
      await workshop.within(client, ({ tickets }) => tickets.createInApp(caller, { service: "First" }))
      const waited = await workshop.tickets.createInApp(caller, { service: "Second" })
      expect(waited).toMatchObject({
        ok: false,
        refusal: {
          _tag: "StoreUnavailable",
          message: `Another transaction held the lock of the shop ${caller.shop_id} for five seconds, so the command did not run. Commit or roll back sooner. Inside within, do not wait for a command of the same shop that runs outside of within.`
        }
      })
      await client.query("commit")
      client.release()
    }))

  it("createTestWorkshop can run twice on one Postgres, except with the same seed, which fails with an error that says why (docs/test-your-app.md)", () =>
    runTest(
      Effect.flatMap(testDatabase, ({ url }) =>
        Effect.promise(async () => {
          for (const service of ["First run", "Second run"]) {
            const { workshop, caller, received, stop } = await createTestWorkshop({ store: layer({ url }) })
            const client = new pg.Client({ connectionString: url })
            await client.connect()
            await client.query("begin")
            const { value, afterCommit } = await workshop.within(client, ({ tickets }) =>
              tickets.create(caller, { service }, "order-1")
            )
            await client.query("commit")
            await afterCommit()
            await client.end()
            expect(value).toMatchObject({ ok: true, value: { replayed: false } })
            expect(received.events.map(({ type }) => type)).toEqual(["ticket.created"])
            await stop()
          }
          const seeded = () => createTestWorkshop({ store: layer({ url }), seed: 1 })
          await (await seeded()).stop()
          await expect(seeded()).rejects.toMatchObject({
            _tag: "StoreUnavailable",
            message: expect.stringMatching(/^A randomly drawn id or code already exists/)
          })
          expect(await connectionsTo(url)).toEqual([])
        })
      )
    ))
})
