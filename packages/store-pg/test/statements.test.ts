import { readFileSync } from "node:fs"
import { RiggedEntropy, SettableClock, storeContract, TEST_START } from "@workshop/core/testing"
import { Effect, Exit, Layer, ManagedRuntime, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { PLANNED_EACH_TIME, PLANNED_ONCE } from "../src/connection/SessionClient.js"
import { DEPENDS_ON_VALUES } from "../src/fast/PreparedTexts.js"
import { openMigrationSession, type Session } from "../src/migrate/Session.js"
import { layer } from "../src/PgStore.js"
import { capture, type Sent, titleOf } from "./captureStatements.mjs"
import { enlarge, type Large, multiply } from "./LargeDatabase.js"
import { databaseOfRoles } from "./migrate/TestRoles.js"
import { openSession, type Plan, prepare, runPrepared } from "./QueryPlan.js"

/** Statements of a connection that read no table. */
const WORDS = /^\w+ \/\* workshop (begin|commit|rollback|listen|heartbeat|notify|settle|whose session) \*\//

const LONG = 600_000
const scope = Effect.runSync(Scope.make())
const within = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(Scope.extend(effect, scope))

/** A statement with the longest parameters that the contract passed to it, because these read the most rows. */
interface Case {
  readonly name: string
  readonly text: string
  readonly values: ReadonlyArray<unknown>
  readonly session: Session
}

let database: { readonly url: string; readonly service: string }
let sent: ReadonlyArray<Sent> = []

/**
 * The contract without SandboxData, whose statements read or remove all data, so they have no bound and would empty the
 * tables.
 */
const { SandboxData: _, ...bounded } = storeContract

/** Runs the contract as the service's role, and captures the statements for the tests below. */
describe("The plain Postgres store passes the store contract", () => {
  const clock = new SettableClock()
  const leaseClock = Effect.sync(() => Number(clock.unsafeCurrentTimeNanos() / 1_000_000n))
  const entropyAndClock = Layer.merge(new RiggedEntropy(1).layer, clock.layer)
  const store = () => Layer.orDie(layer({ url: database.service, leaseClock }))
  const runtime = ManagedRuntime.make(Layer.provideMerge(Layer.suspend(store), entropyAndClock))
  let captured: ReturnType<typeof capture> | undefined
  beforeAll(async () => {
    database = await within(databaseOfRoles())
    captured = capture()
  }, LONG)
  afterAll(async () => {
    await runtime.dispose()
    captured?.stop()
    sent = [...(captured?.sent.values() ?? [])].filter(
      ({ text, by }) => by.startsWith("workshop ") && !WORDS.test(text)
    )
  }, LONG)
  for (const [subject, cases] of Object.entries(bounded))
    it.each(cases)(
      `${subject}: $name`,
      ({ effect }) => {
        clock.set(TEST_START)
        return runtime.runPromise(Effect.withClock(effect, clock))
      },
      LONG
    )
})

/** The plan of each statement: planned while the tables were almost empty, and planned after they were filled. */
let early: ReadonlyMap<string, Plan>
/** Non-unique indexes that no statement read. */
let unread: ReadonlyArray<string> = []
let late: ReadonlyMap<string, Plan>
/** The plan of each statement with the ids of the large shop in place of its own. */
let large: ReadonlyMap<string, Plan>

/** The number of rows of each table at the end. */
const rowsOf = new Map<string, number>()

const COUNTS = `select c.relname as name,
    (xpath('/row/n/text()', query_to_xml(format('select count(*) as n from %s', c.oid::regclass), true, true, '')))[1]::text::integer as n
  from pg_class c where c.relnamespace = 'workshop'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`

const longest = (values: Sent["values"]) =>
  values.reduce((a, b) => (JSON.stringify(b).length > JSON.stringify(a).length ? b : a))

const sessions = (url: string) =>
  Effect.all({ eachTime: openSession(url, PLANNED_EACH_TIME), once: openSession(url, PLANNED_ONCE) })

const ranAll = (cases: ReadonlyArray<Case>) =>
  Effect.map(
    Effect.forEach(cases, ({ session, name, text, values }) =>
      Effect.map(runPrepared(session, name, values), (plan) => [text, plan] as const)
    ),
    (plans) => new Map(plans)
  )

/** All ids and phone numbers in the contract's parameters, each with the property of {@link Large} that replaces it. */
const idsReplaced = (session: Session) =>
  Effect.map(
    session.run<{ id: string; by: keyof Large }>(`select id::text, 'shop_id' as by from shop
      union select client_id::text, 'client_id' from ticket union select client_id::text, 'client_id' from client_link
      union select id::text, 'client_id' from client_account union select phone, 'phone' from client_account
      union select client_phone, 'phone' from ticket union select phone, 'phone' from offer
      union select id::text, 'event_id' from event`),
    (rows) => new Map(rows.map(({ id, by }) => [id, by]))
  )

const lookAtAll = async () => {
  const session = await within(openMigrationSession(database.url))
  const { eachTime: custom, once: generic } = await within(sessions(database.url))
  const cases = sent.map(({ text, by, values }, i): Case => {
    const batchSize = SOME_AT_A_TIME[titleOf(text) ?? ""]
    const parameters = longest(values).map((value) => (value === ALL && batchSize !== undefined ? batchSize : value))
    return {
      name: `looked_${i}`,
      text,
      values: parameters,
      session: by === "workshop reads" && DEPENDS_ON_VALUES.test(text) ? custom : generic
    }
  })
  await within(session.run("analyze"))
  await within(
    generic.run(
      `set workshop_claim.shops = '{}'; set workshop_claim.queue_ctids = '{}'; set workshop_claim.due_from = '{}'; set workshop_claim.backlog_ctids = '{}'; set workshop_claim.turns = '{}'`
    )
  )
  for (const { session, name, text, values } of cases) await within(prepare(session, name, text, values))
  // Removes the receipts, because a receipt refuses a batch that is sent again.
  await within(session.run("delete from batch_receipt"))
  await within(multiply(session))
  const [row] = await within(
    session.run<{ ids: string; queue_ctids: string }>(
      "select array_agg(shop_id)::text as ids, array_agg(ctid)::text as queue_ctids from (select shop_id, ctid from delivery_queue order by next_claim_at limit 64) t"
    )
  )
  const zeros = row!.queue_ctids.replaceAll(/"[^"]*"/g, "0")
  await within(
    generic.run(
      `set workshop_claim.shops = '${row!.ids}'; set workshop_claim.queue_ctids = '${row!.queue_ctids}'; set workshop_claim.due_from = '${zeros}';
      set workshop_claim.backlog_ctids = '${zeros.replaceAll("0", '"(0,0)"')}'; set workshop_claim.turns = '${zeros}'`
    )
  )
  early = await within(ranAll(cases.filter((planned) => planned.session === generic)))
  await within(session.run("analyze"))
  late = await within(ranAll(cases))
  const replaced = await within(idsReplaced(session))
  const much = await within(enlarge(session))
  await within(session.run("analyze"))
  const ofLarge = (value: unknown, place = 0): unknown => {
    if (Array.isArray(value)) return value.map(ofLarge)
    const by = typeof value === "string" ? replaced.get(value) : undefined
    // Replaces only the first of several event ids, because a list of ids has no duplicates.
    return by === undefined || (by === "event_id" && place > 0) ? value : much[by]
  }
  large = await within(
    ranAll(cases.map((planned) => ({ ...planned, values: planned.values.map((value) => ofLarge(value)) })))
  )
  for (const { name, n } of await within(session.run<{ name: string; n: number }>(COUNTS))) rowsOf.set(name, n)
  // A session reports its index usage only when it is idle, or when this function forces it.
  for (const one of [custom, generic]) await within(one.run("select pg_stat_force_next_flush()"))
  const rows = await within(
    session.run<{
      name: string
    }>(`select coalesce(inhparent, indexrelid)::regclass::text as name from pg_stat_user_indexes s
      join pg_index i using (indexrelid) left join pg_inherits on inhrelid = indexrelid
      where not i.indisunique group by 1 having sum(idx_scan) = 0 order by 1`)
  )
  unread = rows.map(({ name }) => name)
}

afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)), LONG)

/** The most rows that a statement may scan: a page of a list with its related rows, or a batch, and some more. */
const MAX_ROWS = 600

/** Statements with a higher bound, and what bounds them. */
const MORE: Readonly<Record<string, number>> = {
  // The contract passes a limit of 10,000.
  "list shops": 10_000,
  // One page reads at most `changes_read_max` changes in each of its three parts.
  "list tickets": 4_000,
  "search tickets": 4_000,
  // A clock repair reads 10,000 notifications, their texts, and some phone numbers.
  "due notifications": 20_100,
  "list clients": 10_000,
  // At most 10,000 events, with the deliveries and attempts of 5,000 of them.
  "read events": 10_000,
  "read deliveries": 20_000,
  "count deliveries": 20_000,
  "read attempts": 10_000,
  // The shops that the statement sorts by the order in which they were served.
  "lock shops": 5_000,
  // An erasure reads a shop's events, stored responses and notifications to phone numbers in batches of thousands, and
  // other rows in pages.
  "events of person": 5_000,
  "notifications to numbers": 5_000,
  "tickets of person": 1_001,
  "ledger of person": 1_000,
  "offers of person": 1_000,
  "notifications of person": 1_000,
  // A thousand shops, with a look-up for each in six tables.
  "shops of person": 3_000,
  // At most 200 rows of each of 100 shops, with a look-up of each next shop.
  "read offers": 20_200,
  "read inbox": 20_100,
  "read keys": 10_000,
  "answers of person": 10_000,
  // The start and the readiness check read 10,000 shop heads.
  "latest instant": 10_000,
  "shops ahead": 10_000
}

/** Statements without a bound, with the reason. docs/scaling.md lists those that grow with one client. */
const UNBOUNDED: Readonly<Record<string, string>> = {
  "read client":
    "the contract's `tickets_total` and `tickets_open` are exact, and a counter would be one more row that each create and each end writes",
  "load Keys": "an owner creates API keys by hand, and at most five of them are valid at a time",
  "load Event":
    "an erasure empties the stored response of each attempt; only an owner's replays add more than eight to an event",
  "find missing key": "the start reads every webhook, because a secret contains the id of the key that encrypted it"
}

/**
 * Whether a search filters by a client and by something else. Such a search may read all tickets of the client in index
 * order, because an index for each combination would slow down every create and change.
 */
const isOfClientAndMore = (text: string) =>
  titleOf(text) === "search tickets" && /t\.client_id = l\.client_id AND t\.client_phone = /.test(text)

/** Statements whose limit is higher in the contract than in the service, with the service's batch size. */
const SOME_AT_A_TIME: Readonly<Record<string, number>> = { "due closures": 100, "due notifications": 256 }
const ALL = 100_000

/**
 * Indexes for statements that the contract does not run, such as retention and metrics, with the statement or the
 * reason.
 */
const OTHERS: Readonly<Record<string, string>> = {
  stale_account_copy_order: "copies of accounts in the order of their changes, where there are several cells",
  attempt_rest_age: "remove old attempt",
  event_rest_age: "remove old event",
  notification_age: "remove old notification",
  replay_done: "remove old replay",
  rate_limit_until: "expire rate_limit",
  idempotency_record_until: "expire idempotency_record",
  stamp_limit_until: "expire stamp_limit",
  webhook_off: "look at queue",
  // With few leases, the planner chooses the index that begins with shop_id.
  delivery_lease_ends: "reclaim"
}

const isWithin = ({ scanned, looked_at, sorted, pages }: Plan, max: number) =>
  (scanned.length === 0 || max > MAX_ROWS) &&
  looked_at <= max &&
  sorted <= max &&
  // Each row costs its page and the index pages from the root to the leaf.
  pages <= 200 + 6 * max

const beyond = (plans: ReadonlyMap<string, Plan>) =>
  [...plans].flatMap(([text, plan]) => {
    const title = titleOf(text) ?? text
    return isWithin(plan, MORE[title] ?? MAX_ROWS) || title in UNBOUNDED || isOfClientAndMore(text)
      ? []
      : [{ title, ...plan }]
  })

describe("every statement that the store contract sends", { timeout: LONG }, () => {
  beforeAll(lookAtAll, LONG)

  it("every statement has its name in a comment, which `pg_stat_statements` and logs show", () => {
    expect(sent.length).toBeGreaterThan(100)
    expect(sent.filter(({ text }) => titleOf(text) === undefined)).toEqual([])
  })

  it("every statement that the store sends is in statements.sql", () => {
    const file = readFileSync(new URL("../statements.sql", import.meta.url), "utf8")
    const titles = new Set([...file.matchAll(/^-- (.+) \(workshop [\w ]+\)$/gm)].map(([, title]) => title!))
    const forms = [
      "list audit entries",
      "list tickets",
      "search tickets",
      "list shops",
      "list clients",
      "read client",
      "shop of"
    ]
    const missing = sent.filter(({ text }) => {
      const parts = titleOf(text)!.split(", ")
      if (parts.length > 1 || forms.includes(parts[0]!)) return parts.some((part) => !titles.has(part))
      return !file.includes(`${text};`)
    })
    expect(missing.map(({ text }) => text)).toEqual([])
  })

  it("every statement scans a bounded number of rows in a database of 25,000 shops (docs/how-it-is-built.md)", () =>
    expect(beyond(late)).toEqual([]))

  it("every statement scans a bounded number of rows in a shop of 25,000 tickets and events, for a client with 10,000 of each", () =>
    expect(beyond(large)).toEqual([]))

  it("every higher bound is below the number of rows of the statement's tables, so that the bound can be exceeded", () => {
    const max = (text: string) =>
      Math.max(0, ...[...text.matchAll(/workshop\."?(\w+)/g)].map(([, table]) => rowsOf.get(table!) ?? 0))
    const tooWide = sent.flatMap(({ text }) => {
      const bound = MORE[titleOf(text)!] ?? MAX_ROWS
      return titleOf(text)! in MORE && max(text) <= bound ? [{ title: titleOf(text), bound, rows: max(text) }] : []
    })
    expect(tooWide).toEqual([])
  })

  it("every statement in the list of statements without a bound still reads thousands of rows", () => {
    const unbounded = [...early, ...late, ...large].filter(([, plan]) => !isWithin(plan, 2 * MAX_ROWS))
    const titles = new Set(unbounded.map(([text]) => titleOf(text)))
    expect(Object.keys(UNBOUNDED).filter((title) => !titles.has(title))).toEqual([])
    expect([...large].filter(([text, plan]) => isOfClientAndMore(text) && !isWithin(plan, 4_000))).not.toEqual([])
  })

  it("every index is used by a statement", () => expect(unread.filter((name) => !(name in OTHERS))).toEqual([]))

  it("plans that were made while the tables were almost empty also scan a bounded number of rows", () =>
    expect(beyond(early)).toEqual([]))
})
