import { type AddressInfo, createServer, type Socket } from "node:net"
import { type LogLine, type PromiseWorkshop, start, withClient } from "@workshop/core/promise"
import { Effect } from "effect"
import pg from "pg"
import { describe, expect, it } from "vitest"
import { layer as migratedLayer } from "../src/MigratedStore.js"
import { layer, type PgStoreOptions } from "../src/PgStore.js"
import { testDatabase } from "./cluster/TestDatabase.js"
import { NO_POOLER, pooler } from "./failures/Pooler.js"
import { borrowedFrom, runTest } from "./nodes/Node.js"

const LONG = 60_000

/** Runs `work` with a workshop, on the store's own connections or on a caller's pool, that has one shop. */
const program = (
  { max, through }: { readonly max?: number; readonly through?: "transaction" },
  work: (fixture: {
    readonly workshop: PromiseWorkshop
    readonly pool: pg.Pool
    readonly caller: Parameters<PromiseWorkshop["tickets"]["createInApp"]>[0]
    /** The lines that the embedder's logger received. */
    readonly lines: ReadonlyArray<LogLine>
  }) => Promise<void>
) =>
  runTest(
    Effect.gen(function* () {
      const { url } = yield* testDatabase
      const pool = yield* borrowedFrom(through === undefined ? url : yield* pooler(url, through), max)
      yield* Effect.promise(async () => {
        const lines: Array<LogLine> = []
        const logger = (line: LogLine) => void lines.push(line)
        const workshop = await start({ store: layer({ url, pool }), background: false, logger })
        try {
          const shop = await workshop.shops.create({
            name: "A",
            currency: "EUR",
            decimals: 2,
            time_zone: "Europe/Paris"
          })
          if (!shop.ok) throw shop.refusal
          const { id } = shop.value
          await work({ workshop, pool, caller: { shop_id: id, caller_id: id, scopes: [], via: "app" }, lines })
        } finally {
          await workshop.stop()
        }
      })
    })
  )

/** Creates a ticket in a transaction on a client of the pool. Returns whether the command succeeded. */
const order = async (
  workshop: PromiseWorkshop,
  pool: pg.Pool,
  caller: Parameters<PromiseWorkshop["tickets"]["createInApp"]>[0]
) => {
  const client = await pool.connect()
  try {
    await client.query("begin")
    const { value } = await workshop.within(client, ({ tickets }) => tickets.createInApp(caller, { service: "Hem" }))
    await client.query("commit")
    return value.ok
  } finally {
    client.release()
  }
}

/** The metric that counts how often no client of a pool became free in time. */
const exhaustedOf = async (workshop: PromiseWorkshop, owner: "store" | "embedder") => {
  const [, count] =
    new RegExp(`workshop_pg_pool_exhausted_total\\{pool="${owner}"\\} (.+)`).exec(await workshop.metrics()) ?? []
  return Number(count)
}

const WAITING = `select count(*)::integer as waiting from pg_stat_activity
  where wait_event_type = 'Lock' and datname = current_database()`

const refusal = (options: PgStoreOptions, store: typeof layer | typeof migratedLayer = layer) =>
  start({ store: store(options) }).then(
    async (workshop) => {
      await workshop.stop()
      return "started"
    },
    ({ _tag, message }) => `${_tag}: ${message}`
  )

describe("a store on its own connections", { timeout: LONG }, () => {
  it("a read that gets no connection in time is refused with a message, which the store logs and counts", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        yield* Effect.promise(async () => {
          const lines: Array<LogLine> = []
          const workshop = await start({
            store: layer({ url, readConnections: 1 }),
            background: false,
            logger: (line) => void lines.push(line)
          })
          const { id } = await workshop.orThrow.shops.create({ name: "A", currency: "EUR", time_zone: "Europe/Paris" })
          const caller = { shop_id: id, caller_id: id, scopes: [], via: "app" } as const
          const before = await exhaustedOf(workshop, "store")
          const operator = new pg.Client({ connectionString: url })
          await operator.connect()
          await operator.query("begin; lock workshop.ticket in access exclusive mode")
          // A read with the connection waits one second for the lock and the others wait two seconds for the
          // connection, so at most two get it.
          const reads = await Promise.all(Array.from({ length: 8 }, () => workshop.tickets.list(caller, {})))
          await operator.end()
          const message =
            "The only connection of the store's pool for reads was in use for 2000 ms. Raise the store's readConnections, or run more processes."
          const refusal = { _tag: "StoreUnavailable", message, remedy: message }
          expect(reads.filter((read) => !read.ok && read.refusal.message === message)[0]).toMatchObject({ refusal })
          expect(lines.filter((line) => line.message === message)).toMatchObject([{ level: "warning" }])
          expect(await exhaustedOf(workshop, "store")).toBeGreaterThanOrEqual(before + 2)
          await workshop.stop()
        })
      })
    ))
})

describe("a store on the caller's pool", { timeout: LONG }, () => {
  it("commands and reads borrow the pool's clients, and return them with unchanged session state", () =>
    program({}, async ({ workshop, pool, caller }) => {
      const results = await Promise.all(
        Array.from({ length: 20 }, () => workshop.tickets.createInApp(caller, { service: "Hem" }))
      )
      expect(results.every(({ ok }) => ok)).toBe(true)
      const listed = await workshop.tickets.list(caller, { limit: 100 })
      expect(listed).toMatchObject({ ok: true, value: { data: { length: 20 } } })
      expect([pool.idleCount, pool.waitingCount]).toEqual([pool.totalCount, 0])
      const { rows } = await pool.query(
        "select application_name as name from pg_stat_activity where datname = current_database()"
      )
      expect(rows.filter(({ name }) => /lane|reads|contended/.test(name))).toEqual([])
      for (const client of await Promise.all(Array.from({ length: pool.totalCount }, () => pool.connect()))) {
        expect((await client.query("show enable_seqscan")).rows).toEqual([{ enable_seqscan: "on" }])
        expect((await client.query("select from pg_prepared_statements")).rowCount).toBe(0)
        expect(client.listenerCount("end")).toBe(new pg.Client().listenerCount("end"))
        client.release()
      }
    }))

  it("a pool of one client is enough, and while it is in use, calls are refused with a message that is logged once and counted", () =>
    program({ max: 1 }, async ({ workshop, pool, caller, lines }) => {
      expect(await workshop.tickets.createInApp(caller, { service: "Hem" })).toMatchObject({ ok: true })
      const before = await exhaustedOf(workshop, "embedder")
      const client = await pool.connect()
      const message =
        "The only client of your pool was in use for 2000 ms. Raise the pool's max, return its clients sooner, or use a separate pool for within."
      const refusedSo = { ok: false, refusal: { _tag: "StoreUnavailable", message, remedy: message } }
      const calls = [workshop.tickets.createInApp(caller, { service: "Hem" }), workshop.tickets.list(caller, {})]
      for (const result of await Promise.all(calls)) expect(result).toMatchObject(refusedSo)
      client.release()
      expect(lines).toMatchObject([{ level: "warning", message }])
      expect(await exhaustedOf(workshop, "embedder")).toBe(before + 2)
      expect(await workshop.tickets.createInApp(caller, { service: "Hem" })).toMatchObject({ ok: true })
    }))

  it("commands, reads and withClient that exceed connectionTimeoutMillis are refused with a message that names it", () =>
    program({ max: 2 }, async ({ workshop, pool, caller, lines }) => {
      const before = await exhaustedOf(workshop, "embedder")
      const lent = [await pool.connect(), await pool.connect()]
      Object.assign(pool.options, { connectionTimeoutMillis: 50 })
      const message =
        "All 2 clients of your pool were in use for 50 ms, the pool's connectionTimeoutMillis. If the transactions are of one shop, raise connectionTimeoutMillis. If they are of several shops, raise the pool's max. Or return its clients sooner."
      const refusedSo = { _tag: "StoreUnavailable", message, remedy: message }
      expect(await workshop.tickets.createInApp(caller, { service: "Hem" })).toMatchObject({ refusal: refusedSo })
      expect(await workshop.tickets.list(caller, {})).toMatchObject({ refusal: refusedSo })
      await expect(withClient(pool, async () => "lent")).rejects.toMatchObject(refusedSo)
      for (const client of lent) client.release()
      expect(lines).toMatchObject([{ level: "warning", message }])
      expect(await exhaustedOf(workshop, "embedder")).toBe(before + 3)
    }))

  it("the error for a broken connection has the driver's error as its cause, even if a query builder wraps it", () =>
    program({}, async ({ pool }) => {
      const failed = withClient(pool, async (client) => {
        const { rows } = await client.query("select pg_backend_pid() as pid")
        await pool.query("select pg_terminate_backend($1)", [rows[0].pid])
        // Like Drizzle, drops the error of the failed statement and throws the error of the rollback.
        await client.query("select pg_sleep(10)").catch(() => undefined)
        return await client.query("rollback").catch((cause) => {
          throw new Error("Failed query: rollback", { cause })
        })
      })
      await expect(failed).rejects.toMatchObject({
        _tag: "StoreUnavailable",
        cause: { message: expect.not.stringContaining("Failed query") }
      })
    }))

  it("if all clients of a pool wait for an unresponsive Postgres, the error reports the server, not an exhausted pool", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        yield* Effect.promise(async () => {
          const sockets = new Set<Socket>()
          const silent = createServer((socket) => void sockets.add(socket.on("error", () => undefined)))
          await new Promise<void>((resume) => silent.listen(0, "127.0.0.1", resume))
          const { port } = silent.address() as AddressInfo
          const pool = new pg.Pool({ host: "127.0.0.1", port, max: 1, connectionTimeoutMillis: 100 })
          pool.on("error", () => undefined)
          const workshop = await start({ store: layer({ url, pool }), background: false })
          const calls = [0, 1, 2].map(async () => (await workshop.shops.list(null, 5)) as { refusal?: Error })
          const borrowing = [0, 1, 2].map(() =>
            withClient(pool, async () => "lent").catch((error: Error) => error.message)
          )
          const messages = [
            ...(await Promise.all(calls)).map(({ refusal }) => refusal?.message),
            ...(await Promise.all(borrowing))
          ]
          for (const message of messages) expect(message).toMatch(/^The store cannot be reached/)
          await workshop.stop()
          await pool.end()
          for (const socket of sockets) socket.destroy()
          await new Promise((resume) => silent.close(resume))
        })
      })
    ))

  it("a pool that was ended before the workshop is reported by the refusals and by one log line", () =>
    program({ max: 1 }, async ({ workshop, pool, caller }) => {
      const end = pool.end.bind(pool)
      Object.assign(pool, { end: async () => undefined })
      await end()
      const message = "Your pool was ended before the workshop. Call pool.end() after workshop.stop()."
      const refusedSo = { ok: false, refusal: { _tag: "StoreUnavailable", message, remedy: message } }
      expect(await workshop.tickets.createInApp(caller, { service: "Hem" })).toMatchObject(refusedSo)
      expect(await workshop.tickets.list(caller, {})).toMatchObject(refusedSo)
    }))

  it("a read on an unresponsive connection is refused, and the next read gets another client", () =>
    program({ max: 1 }, async ({ workshop, pool, caller }) => {
      const client = await pool.connect()
      const { connection } = client as unknown as { readonly connection: { readonly stream: Socket } }
      connection.stream.pause()
      client.release()
      expect(await workshop.tickets.list(caller, {})).toMatchObject({
        ok: false,
        refusal: { _tag: "StoreUnavailable" }
      })
      expect(await workshop.tickets.list(caller, {})).toMatchObject({ ok: true })
    }))

  it("the store works again after the server disconnected the pool's clients", () =>
    program({}, async ({ workshop, pool, caller }) => {
      pool.on("error", () => undefined)
      await workshop.tickets.createInApp(caller, { service: "Hem" })
      await pool.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'mine' and pid <> pg_backend_pid()"
      )
      await expect
        .poll(async () => (await workshop.tickets.createInApp(caller, { service: "Hem" })).ok, { timeout: 20_000 })
        .toBe(true)
    }))

  it.each([layer, migratedLayer])(
    "losing idle and busy clients does not end the process, even without an error listener of the caller",
    (store) =>
      runTest(
        Effect.gen(function* () {
          const { url } = yield* testDatabase
          yield* Effect.promise(async () => {
            const pool = new pg.Pool({ connectionString: url, max: 4, application_name: "mine" })
            const operator = new pg.Client({ connectionString: url })
            await operator.connect()
            const cut = () =>
              operator.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'mine'")
            const workshop = await start({ store: store({ url, pool }), background: false })
            const { shops, tickets } = workshop.orThrow
            const { id } = await shops.create({ name: "A", currency: "EUR", time_zone: "Europe/Paris" })
            const caller = { shop_id: id, caller_id: id, scopes: [], via: "app" } as const
            const creates = async () => (await workshop.tickets.createInApp(caller, { service: "Hem" })).ok
            expect(pool.idleCount).toBeGreaterThan(0)
            await cut()
            // An uncaught error would fail the test run.
            await expect.poll(() => pool.totalCount).toBe(0)
            await expect.poll(creates, { timeout: 20_000 }).toBe(true)

            await operator.query("begin; select from workshop.shop_head for update")
            const waiting = workshop.tickets.createInApp(caller, { service: "Cut" })
            await expect.poll(async () => (await operator.query(WAITING)).rows[0].waiting).toBe(1)
            await cut()
            await operator.query("rollback")
            await waiting
            await expect.poll(creates, { timeout: 20_000 }).toBe(true)
            expect((await tickets.list(caller, {})).data.length).toBeGreaterThan(1)

            await workshop.stop()
            expect(pool.listenerCount("error")).toBe(0)
            await pool.end()
            await operator.end()
          })
        })
      )
  )

  it("a transaction with `within` uses one client of the pool, so one client is enough for an order, and ten clients for thirty concurrent orders", () =>
    program({ max: 1 }, async ({ workshop, pool, caller }) => {
      expect(await order(workshop, pool, caller)).toBe(true)
      expect(await order(workshop, pool, caller)).toBe(true)
    }).then(() =>
      program({ max: 10 }, async ({ workshop, pool, caller }) => {
        const done = await Promise.all(Array.from({ length: 30 }, () => order(workshop, pool, caller)))
        expect(done.filter((ok) => ok)).toHaveLength(30)
      })
    ))

  /**
   * Runs at most `most` tasks at once. Further tasks wait in a queue, without a client
   * (docs/your-database.md, On your pool).
   */
  const limitConcurrency = (max: number) => {
    const waiting: Array<() => void> = []
    let running = 0
    return async <A>(work: () => Promise<A>): Promise<A> => {
      if (running < max) running++
      else await new Promise<void>((resume) => waiting.push(resume))
      try {
        return await work()
      } finally {
        const next = waiting.shift()
        if (next === undefined) running--
        else next()
      }
    }
  }

  it.each(["a separate pool", "at most half of the pool"])(
    "while sixty orders of one shop wait for its lock on %s, reads succeed",
    (recipe) =>
      program({ max: 10 }, async ({ workshop, pool, caller }) => {
        const orders = recipe === "a separate pool" ? new pg.Pool({ ...pool.options, max: 5 }) : pool
        const capped = limitConcurrency(orders === pool ? 5 : 60)
        const first = await pool.connect()
        await first.query("begin")
        await workshop.within(first, ({ tickets }) => tickets.createInApp(caller, { service: "First" }))
        const sixty = Promise.all(Array.from({ length: 60 }, () => capped(() => order(workshop, orders, caller))))
        await expect.poll(async () => (await pool.query(WAITING)).rows[0].waiting, { timeout: 20_000 }).toBe(5)
        const reads = await Promise.all(Array.from({ length: 20 }, () => workshop.tickets.list(caller, {})))
        expect(reads.filter(({ ok }) => ok)).toHaveLength(20)
        await first.query("commit")
        first.release()
        expect((await sixty).filter((ok) => ok)).toHaveLength(60)
        if (orders !== pool) await orders.end()
      })
  )

  it.skipIf(NO_POOLER)("a store works on a caller's pool that connects through a pooler in transaction mode", () =>
    program({ through: "transaction" }, async ({ workshop, caller }) => {
      const results = await Promise.all(
        Array.from({ length: 20 }, () => workshop.tickets.createInApp(caller, { service: "Hem" }))
      )
      expect(results.every(({ ok }) => ok)).toBe(true)
      expect(await workshop.tickets.byNumber(caller, 20)).toMatchObject({ ok: true })
    })
  )

  it("start refuses a value that is not a pool, and a pool of another database", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        const pool = yield* borrowedFrom(url.replace(/[^/]*$/, "postgres"))
        const so = "Pass a Pool of the package pg that connects to the same database as the store's url."
        const none =
          "The option pool of the store must be a Pool of the package pg that connects to the same database as the url"
        expect(yield* Effect.promise(() => refusal({ url, pool: {} as never }))).toBe(`OptionRefused: ${none}`)
        expect(yield* Effect.promise(() => refusal({ url, pool }))).toBe(
          `DatabaseFailed: The pool connects to another database or server than the store's url. ${so}`
        )
      })
    ))

  it("MigratedStore refuses a pool of another database before it writes to the database of the url", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        const pool = yield* borrowedFrom(url.replace(/[^/]*$/, "postgres"))
        const message = yield* Effect.promise(() => refusal({ url, pool, schema: "elsewhere" }, migratedLayer))
        expect(message).toMatch(/^DatabaseFailed: The pool connects to another database or server than the store's url/)
        const own = yield* borrowedFrom(url)
        const schemas = "select from pg_namespace where nspname = 'elsewhere'"
        expect((yield* Effect.promise(() => own.query(schemas))).rowCount).toBe(0)
        expect(yield* Effect.promise(() => refusal({ url, pool: own, schema: "elsewhere" }, migratedLayer))).toBe(
          "started"
        )
        expect((yield* Effect.promise(() => own.query(schemas))).rowCount).toBe(1)
      })
    ))
})
