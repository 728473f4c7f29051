import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { PLANNED_ONCE } from "../src/connection/SessionClient.js"
import { openMigrationSession, type Session } from "../src/migrate/Session.js"
import { retention } from "../src/retention/Retention.js"
import { testDatabase } from "./cluster/TestDatabase.js"
import { explainPlan, openSession, type SentStatement, sentDuring } from "./QueryPlan.js"

/** The number of rows of each table that retention keeps, and the number that it removes. */
const KEPT = 100_000
const OLD = 3_000
const DAY = 24 * 60 * 60 * 1000

const scope = Effect.runSync(Scope.make())
const within = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(Scope.extend(effect, scope))

/**
 * A FROM clause of rows with a number `n` and an instant `at`: the first are old enough to remove, the others are
 * `days` from now.
 */
const rows = (days: number) => `generate_series(1, ${KEPT + OLD}) n,
  lateral (select (extract(epoch from now()) * 1000)::bigint + case when n <= ${OLD} then -${200 * DAY} else ${days * DAY} end + n as at,
    md5(n::text)::uuid as id) t`

const FILLED = [
  `insert into idempotency_record select id, 'caller', 'create', n::text, '', '', at from ${rows(1)}`,
  `insert into rate_limit select 'requests_per_minute', n::text, 1, at from ${rows(1)}`,
  `insert into stamp_limit select id, 'caller', id, 1, at from ${rows(1)}`,
  // A connection has one receipt, so there are few rows.
  `insert into batch_receipt (connection, batch, saved_at) select id, 1, at from ${rows(1)} limit 50`,
  `insert into notification (shop_id, id, client_id, type, ticket, ticket_id, created_at) select id, id, id, 'ready', '{}', id, at from ${rows(-80)}`,
  `insert into replay select id, id, '{}', 0, 0, true, at from ${rows(-80)}`,
  `insert into event_rest select id, id, 'ping', 1, null, at, '{}' from ${rows(-80)}`,
  `insert into attempt_rest select id, id, 1, at, 200, null, null, null, '{}', '' from ${rows(-80)}`
]

let session: Session
let commands: Session
let sent: ReadonlyMap<string, SentStatement>

const titleOf = (text: string) => /workshop ([\w ]+) \*\//.exec(text)?.[1] ?? ""

/**
 * The statements with which retention removes rows: calls of maintain_partition, and single statements of a role that may
 * not call it.
 */
const removals = async (url: string) => {
  const role = `limited_${new URL(url).pathname.slice(1)}`
  await within(
    session.run(
      `create role ${role}; grant usage on schema workshop to ${role}; grant all on all tables in schema workshop to ${role}`
    )
  )
  await within(Effect.addFinalizer(() => Effect.orDie(session.run(`drop owned by ${role}; drop role ${role}`))))
  const statements = new Map<string, SentStatement>()
  for (const of of [url, `${url}?options=-c%20role%3D${role}`]) {
    const { runOnce } = await within(retention({ url: of }))
    for (const one of await sentDuring(() => within(runOnce))) {
      const [step, table] = one.values as ReadonlyArray<string>
      const title = titleOf(one.text)
      if (title === "maintain partition" && step === "delete_old")
        statements.set(`maintain partition: ${step} ${table}`, one)
      if (/^(expire|remove old) /.test(title)) statements.set(title, one)
    }
  }
  return statements
}

beforeAll(async () => {
  const { url } = await within(testDatabase)
  session = await within(openMigrationSession(url))
  sent = await removals(url)
  for (const text of FILLED) await within(session.run(text))
  await within(session.run("vacuum analyze"))
  commands = await within(openSession(url, PLANNED_ONCE))
  // Retention's transactions enable bitmap scans, because BRIN indexes support no other scan.
  await within(commands.run("set enable_bitmapscan = on"))
}, 120_000)

afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

/** The bound is high because a BRIN index entry covers 128 pages, and the scan reads all of their rows. */
const MAX_ROWS = 20_000

/**
 * The bound is high because, for each of the 1,000 attempts to remove, the statement looks its event up in every
 * partition.
 */
const MAX_PAGES = 40_000

describe(`retention reads the rows that it removes, not the ${KEPT} that it keeps (docs/operating.md)`, {
  timeout: 60_000
}, () => {
  it.each([
    "expire idempotency_record",
    "expire stamp_limit",
    "expire rate_limit",
    "expire batch_receipt",
    "remove old notification",
    "remove old replay",
    "remove old event",
    "remove old attempt",
    "maintain partition: delete_old event",
    "maintain partition: delete_old attempt"
  ])("the statement %s scans no table, and reads few more rows than it removes", async (title) => {
    const { text, values } = sent.get(title)!
    const plan = await within(explainPlan(commands, text, values))
    expect(plan.scanned).toEqual([])
    expect(plan.looked_at).toBeLessThanOrEqual(MAX_ROWS)
    expect(plan.pages).toBeLessThanOrEqual(MAX_PAGES)
  })

  it("every statement with which retention removes rows is tested above", () =>
    expect([...sent.keys()].filter((title) => title.startsWith("expire") || title.startsWith("remove"))).toHaveLength(
      8
    ))
})
