import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { build, run, Workshops } from "../../../cli/test/Workshop.js"
import { openMigrationSession } from "../../src/migrate/Session.js"
import { testDatabase } from "../cluster/TestDatabase.js"

const scope = Effect.runSync(Scope.make())
const within = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(Scope.extend(effect, scope))
const processes = new Workshops()

const AHEAD_MS = 3_600_000

/** A preloaded module that sets a process's wall clock an hour ahead. */
const HOUR_AHEAD = `const Right = Date
globalThis.Date = class extends Right {
  constructor(...given) { given.length === 0 ? super(Right.now() + ${AHEAD_MS}) : super(...given) }
  static now() { return Right.now() + ${AHEAD_MS} }
}`

const start = (url: string, environment: Readonly<Record<string, string>> = {}) =>
  processes.start(["serve", "--port", "0", "--database-url", url], environment)

const POST = { method: "POST", body: JSON.stringify({ service: "Hem" }) }

/** Selects everything that a node writes, except rate limits. */
const WRITTEN = `select (select json_agg(h) from shop_head h) as heads, (select json_agg(t) from ticket t) as tickets,
  (select json_agg(e) from event e) as events, (select json_agg(d) from delivery d) as deliveries,
  (select json_agg(t) from delivery_queue t) as turns, (select json_agg(r) from idempotency_record r) as answers,
  (select json_agg(a) from attempt a) as attempts, (select json_agg(m) from queued_notification m) as messages`

beforeAll(build, 120_000)

afterAll(async () => {
  await processes.end()
  await Effect.runPromise(Scope.close(scope, Exit.void))
}, 60_000)

it("a process whose clock is an hour ahead writes nothing and reports why, other processes work, and an operator can repair a shop with a future date (docs/operating.md)", {
  timeout: 120_000
}, async () => {
  const { url } = await within(testDatabase)
  const session = await within(openMigrationSession(url))
  const { base: right, key } = await start(url).listens()
  let count = 0
  const ask = async (base: string, path: string, init: RequestInit = {}) => {
    const headers = {
      Authorization: `Bearer ${key}`,
      "Content-Type": "application/json",
      "Idempotency-Key": `${++count}`
    }
    const response = await fetch(base + path, { ...init, headers })
    const body = (await response.json()) as { readonly data?: { readonly number: number; readonly created_at: string } }
    return { status: response.status, data: body.data, text: JSON.stringify(body) }
  }
  expect(await ask(right, "/v1/tickets", POST)).toMatchObject({ status: 201, data: { number: 1 } })

  const off = start(url, { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(HOUR_AHEAD)}` })
  const [, wrong = ""] = await off.says(/^Listening on (http:\/\/\S+:\d+)$/m)
  const [before] = await within(session.run(WRITTEN))
  const unready = await ask(wrong, "/readyz")
  expect([unready.status, unready.text]).toEqual([
    503,
    expect.stringMatching(/The clock of this machine is 3\d{3}(\.\d+)? seconds ahead of the database's clock/)
  ])
  expect(await ask(wrong, "/v1/tickets", POST)).toMatchObject({ status: 503 })
  expect((await within(session.run(WRITTEN)))[0]).toEqual(before)
  expect(await ask(right, "/v1/tickets", POST)).toMatchObject({ status: 201, data: { number: 2 } })
  off.kill("SIGTERM")
  expect(await off.exited).toBe(0)

  // Simulates a write with the wrong clock by a release without the clock guard.
  await within(session.run(`update shop_head set last_recorded_at = last_recorded_at + ${AHEAD_MS}`))
  const ahead = await ask(right, "/v1/tickets", POST)
  expect(Date.parse(ahead.data!.created_at)).toBeGreaterThan(Date.now() + AHEAD_MS / 2)
  expect(await run(["shop", "repair-clock", "--all"], { DATABASE_URL: url })).toMatchObject({ status: 0, stderr: "" })
  const after = await ask(right, "/v1/tickets", POST)
  expect(after.data!.number).toBe(4)
  expect(Date.parse(after.data!.created_at)).toBeLessThan(Date.now() + 1_000)
})
