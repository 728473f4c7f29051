import { once } from "node:events"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { build, run, type Workshop, Workshops } from "../../../cli/test/Workshop.js"
import { setWebhook } from "../../../core/src/decisions/webhookSettings.js"
import { runCommand as act, openShop } from "../../../core/src/testing/Fixtures.js"
import { raisePings } from "../../../core/src/testing/TestDispatcher.js"
import { openMigrationSession, type Session } from "../../src/migrate/Session.js"
import { testDatabase } from "../cluster/TestDatabase.js"
import { type FaultyProxy, openFaultyProxy } from "../failures/FaultyProxy.js"
import { node, RealClock, upTo } from "./Node.js"

const scope = Effect.runSync(Scope.make())
const within = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(Scope.extend(effect, scope))
const processes = new Workshops()
const start = (...args: ReadonlyArray<string>) => processes.start(args)

interface Said<D> {
  readonly status: number
  readonly headers: Headers
  readonly data: D
  readonly meta?: { readonly replayed: boolean }
  readonly error?: { readonly code: string }
}

/** Sends one request to a process. Rejects if the connection breaks. */
const call = async <D = Record<string, never>>(
  url: string,
  { method = "GET", key = "", idempotency_key = "", body = undefined as unknown } = {}
): Promise<Said<D>> => {
  const headers = {
    Authorization: `Bearer ${key}`,
    "Content-Type": "application/json",
    ...(idempotency_key === "" ? {} : { "Idempotency-Key": idempotency_key })
  }
  const response = await fetch(url, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    // Longer than the service may take to respond.
    signal: AbortSignal.timeout(6_000)
  })
  return {
    status: response.status,
    headers: response.headers,
    ...((await response.json()) as Omit<Said<D>, "status" | "headers">)
  }
}

const until = async <A>(read: () => Promise<A>, holds: (result: A) => boolean): Promise<A> => {
  for (let tries = 0; tries < 600; tries++) {
    const result = await read()
    if (holds(result)) return result
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error("The condition was not met in 15 seconds")
}

let url = ""
let session: Session
let proxy: FaultyProxy
let one = { base: "", port: 0, process: undefined as unknown as Workshop }
let two = one
/** The event ids in the order of their arrival. */
const arrived: Array<string> = []
let receiver: Server

const serve = async (database: string) => {
  const process = start("serve", "--sandbox", "--port", "0", "--database-url", database)
  const [, base = "", port = ""] = await process.says(/^Listening on (http:\/\/\S+:(\d+))$/m)
  return { base, port: Number(port), process }
}

interface OpenedShop {
  readonly shop: { readonly id: string }
  readonly key_id: string
  readonly key: string
}

const open = async (base: string) => {
  const body = { name: "Atelier", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" }
  const { data } = await call<OpenedShop>(`${base}/sandbox/shops`, { method: "POST", body })
  return data
}

beforeAll(async () => {
  await build()
  url = (await within(testDatabase)).url
  session = await within(openMigrationSession(url))
  proxy = await within(openFaultyProxy(url))
  receiver = createServer(async (request, response) => {
    arrived.push((JSON.parse(await text(request)) as { id: string }).id)
    response.end()
  })
  receiver.listen(0, "127.0.0.1")
  await once(receiver, "listening")
  one = await serve(url)
  two = await serve(proxy.url)
}, 120_000)

afterAll(async () => {
  await processes.end()
  receiver.closeAllConnections()
  receiver.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
}, 60_000)

describe("two processes on one database (docs/how-it-is-built.md)", { timeout: 60_000 }, () => {
  it("thirty identical creates at two processes make one ticket, and the limit on writes counts both processes' requests (Specification, Endpoints; Limits)", async () => {
    const { key } = await open(one.base)
    const post = (base: string, idempotency_key: string) =>
      call(`${base}/v1/tickets`, { method: "POST", key, idempotency_key, body: { service: "Hem" } })
    const responses = await Promise.all(upTo(30).map((n) => post(n % 2 === 0 ? one.base : two.base, "the same")))
    expect(responses.map(({ status }) => status).sort()).toEqual([...Array(29).fill(200), 201])
    expect(responses.filter(({ meta }) => meta?.replayed === false)).toHaveLength(1)
    expect(await Promise.all([post(one.base, "another"), post(two.base, "another")])).toMatchObject([
      { status: 429, error: { code: "TOO_MANY_ATTEMPTS" } },
      { status: 429, error: { code: "TOO_MANY_ATTEMPTS" } }
    ])
    const { data } = await call<ReadonlyArray<unknown>>(`${two.base}/v1/tickets`, { key })
    expect(data).toHaveLength(1)
  })

  it("a key revoked at one process is refused by the other, even after the other's listener connection broke (Specification, Keys and scopes)", async () => {
    for (const cut of [false, true]) {
      const { key, key_id } = await open(one.base)
      expect((await call(`${two.base}/v1/shop`, { key })).status).toBe(200)
      if (cut)
        await within(
          session.run(
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'workshop listener' and datname = current_database()"
          )
        )
      await call(`${one.base}/sandbox/keys/${key_id}`, { method: "DELETE" })
      await until(
        () => call(`${two.base}/v1/shop`, { key }),
        ({ status }) => status === 401
      )
    }
  })

  it("a process responds 503 UNAVAILABLE with Retry-After while its database is unreachable, and works again afterwards (Specification, Errors)", async () => {
    const { key } = await open(two.base)
    const get = () => call(`${two.base}/v1/tickets`, { key })
    const post = (idempotency_key: string) =>
      call(`${two.base}/v1/tickets`, { method: "POST", key, idempotency_key, body: { service: "Hem" } })
    expect((await post("before")).status).toBe(201)
    proxy.pause()
    for (const ask of [get, () => post("meanwhile")]) {
      const { status, error, headers } = await ask()
      expect([status, error?.code, Number(headers.get("Retry-After")) > 0]).toEqual([503, "UNAVAILABLE", true])
    }
    expect((await fetch(`${two.base}/healthz`)).status).toBe(200)
    expect((await call(`${one.base}/v1/tickets`, { key })).status).toBe(200)
    const ready = async () => (await fetch(`${two.base}/readyz`, { signal: AbortSignal.timeout(20_000) })).status
    // The process caches a good readiness for a second.
    await until(ready, (status) => status === 503)
    expect((await fetch(`${one.base}/readyz`)).status).toBe(200)
    proxy.resume()
    await until(ready, (status) => status === 200)
    await until(
      () => post("after"),
      ({ status }) => status === 201
    )
    await until(get, ({ status }) => status === 200)
  })
})

describe("a process whose database has a locked table (docs/operating.md)", { timeout: 60_000 }, () => {
  const CONNECTIONS = `select count(*)::integer as open, coalesce(max(extract(epoch from clock_timestamp() - query_start))
      filter (where state = 'active'), 0)::double precision as oldest
    from pg_stat_activity where datname = current_database() and application_name like 'workshop %'`

  it("the process has at most sixteen connections for 64 concurrent requests, cancels its statements, and works again afterwards", async () => {
    const { url: apart } = await within(testDatabase)
    const [holder, observer] = [await within(openMigrationSession(apart)), await within(openMigrationSession(apart))]
    const { base, process } = await serve(apart)
    // One after another, because a busy server refuses requests that it cannot serve in time.
    const callers: Array<Awaited<ReturnType<typeof open>>> = []
    while (callers.length < 64) callers.push(await open(base))
    let sent = 0
    const work = (n: number) => {
      const { key } = callers[n - 1]!
      const create = { method: "POST", key, idempotency_key: `create ${sent++}`, body: { service: "Hem" } }
      return call(`${base}/v1/tickets`, n % 4 === 0 ? create : { key })
    }
    expect(new Set((await Promise.all(upTo(64).map(work))).map(({ status }) => status))).toEqual(new Set([200, 201]))
    await within(holder.run("begin; lock table ticket in access exclusive mode"))
    const end = Date.now() + 5_000
    const samples: Array<{ open: number; oldest: number }> = []
    const looking = until(
      async () => {
        samples.push((await within(observer.run<{ open: number; oldest: number }>(CONNECTIONS)))[0]!)
        return Date.now() > end
      },
      (isOver) => isOver
    )
    const statuses: Array<number> = []
    const again = async (n: number) => {
      while (Date.now() < end) {
        statuses.push((await work(n)).status)
        // The pause keeps each key below its writes per minute.
        await new Promise((resolve) => setTimeout(resolve, 500))
      }
    }
    await Promise.all([looking, ...upTo(64).map(again)])
    expect(new Set(statuses)).toEqual(new Set([503]))
    expect(samples.length).toBeGreaterThan(10)
    expect(Math.max(...samples.map((one) => one.open))).toBeLessThanOrEqual(16)
    expect(Math.max(...samples.map((one) => one.oldest))).toBeLessThan(3.5)
    await within(holder.run("rollback"))
    await until(
      async () => (await Promise.all(upTo(64).map(work))).map(({ status }) => status),
      (all) => all.every((status) => status < 300)
    )
    process.kill("SIGTERM")
    expect(await process.exited).toBe(0)
  })
})

describe("a process killed with -9 under load (docs/how-it-is-built.md)", { timeout: 60_000 }, () => {
  it("every confirmed ticket is stored, ticket numbers have no duplicates or gaps, and every event is delivered under its own id", async () => {
    const shops = await Promise.all(upTo(4).map(() => open(one.base)))
    const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
    for (const { shop } of shops)
      await call(`${one.base}/sandbox/shops/${shop.id}/webhook`, { method: "PUT", body: { url: hook } })

    const acknowledged = new Map(shops.map(({ shop }) => [shop.id, [] as Array<number>]))
    const createSome = async (base: string, id: string, max: number) => {
      for (let n = 0; n < max; n++) {
        const created = await call<{ number: number }>(`${base}/sandbox/shops/${id}/tickets`, {
          method: "POST",
          body: { service: "Hem" }
        }).catch(() => undefined)
        if (created === undefined) return
        if (created.status === 201) acknowledged.get(id)!.push(created.data.number)
      }
    }
    const load = [one.base, two.base].flatMap((base) =>
      shops.flatMap(({ shop }) => [createSome(base, shop.id, 25), createSome(base, shop.id, 25)])
    )
    await until(
      async () => [...acknowledged.values()].reduce((sum, { length }) => sum + length, 0),
      (count) => count >= 60
    )
    one.process.kill("SIGKILL")
    expect(await one.process.exited).toBe("SIGKILL")
    await Promise.all(load)
    // Ends the leases of the killed process, as fifteen seconds on the database's clock would.
    await within(session.run("update delivery set lease_until = 0 where lease_until is not null"))

    for (const { shop } of shops) {
      const rows = await within(
        session.run<{ number: number }>(`select number from ticket where shop_id = '${shop.id}' order by 1`)
      )
      const stored = rows.map(({ number }) => number)
      expect(stored).toEqual(upTo(stored.length))
      expect(acknowledged.get(shop.id)!.filter((number) => !stored.includes(number))).toEqual([])
    }
    const ids = shops.map(({ shop }) => `'${shop.id}'`).join()
    const events = await within(session.run<{ id: string }>(`select id from event where shop_id in (${ids})`))
    const raised = new Set(events.map(({ id }) => id))
    await until(
      async () => new Set(arrived),
      (got) => [...raised].every((id) => got.has(id))
    )
    expect(arrived.filter((id) => !raised.has(id))).toEqual([])
    await until(
      () => within(session.run<{ n: number }>("select count(*)::integer as n from delivery")),
      ([left]) => left?.n === 0
    )
  })
})

describe("workshop dispatch (Specification, Commands)", { timeout: 60_000 }, () => {
  it("workshop dispatch delivers the events of a serve process without a dispatcher, and shuts down cleanly", async () => {
    const { url: apart } = await within(testDatabase)
    const ports = await within(node({ url: apart }))
    const shop = await within(Effect.withClock(Effect.provide(openShop(), ports), new RealClock()))
    // The sender refuses a loopback address when it connects, which still counts as an attempt.
    await within(Effect.provide(act(setWebhook(shop.id, { url: "https://127.0.0.1/", secret: "whsec_1" })), ports))
    await within(Effect.provide(act(raisePings(shop.id, [null])), ports))
    const apartSession = await within(openMigrationSession(apart))
    const process = start("dispatch", "--database-url", apart)
    await process.says(/^Sending due deliveries and closing due tickets of the Postgres database\.$/m)
    await until(
      () => within(apartSession.run<{ n: number }>("select count(*)::integer as n from attempt")),
      ([row]) => row?.n === 1
    )
    process.kill("SIGTERM")
    expect(await process.exited).toBe(0)
    const lines = process.stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object)
    expect(lines).toMatchObject([
      {
        level: "warning",
        shop_id: shop.id,
        host: "127.0.0.1",
        error: "refused_address",
        message: expect.stringMatching(/^Deliveries to 127\.0\.0\.1 began to fail: /)
      }
    ])
  })

  it("workshop dispatch without a database exits with a one-line error", async () => {
    const { status, stdout, stderr } = await run(["dispatch"], { DATABASE_URL: "" })
    expect([status, stdout]).toEqual([1, ""])
    expect(stderr).toBe(
      "workshop dispatch needs the Postgres database that workshop serve --no-dispatcher uses. Give its address with --database-url.\n"
    )
  })
})
