import { readFileSync } from "node:fs"
import { RiggedEntropy, SettableClock, storeContract, TEST_START } from "@workshop/core/testing"
import { Effect, Exit, Layer, ManagedRuntime, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { PLANNED_EACH_TIME, PLANNED_ONCE } from "../src/connection/SessionClient.js"
import { DEPENDS_ON_VALUES } from "../src/fast/PreparingClient.js"
import { connect, type Session } from "../src/migrate/Session.js"
import { layer } from "../src/PgStore.js"
import { capture, type Sent, titleOf } from "./capture.mjs"
import { enlarge, type Large, multiply } from "./Multiplied.js"
import { databaseOfRoles } from "./migrate/TestRoles.js"
import { type Plan, prepare, ran, settled } from "./Plan.js"

/** Words of a connection that read no table. */
const WORDS = /^\w+ \/\* workshop (begin|commit|rollback|listen|heartbeat|notify|settle|whose session) \*\//

const LONG = 600_000
const scope = Effect.runSync(Scope.make())
const within = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(Scope.extend(effect, scope))

/** One of the statements, with values as they were given; those of most text are of most rows. */
interface Case {
  readonly name: string
  readonly text: string
  readonly values: ReadonlyArray<unknown>
  readonly session: Session
}

let database: { readonly url: string; readonly service: string }
let sent: ReadonlyArray<Sent> = []

/** A sandbox is read and removed as a whole, so these statements have no bound, and nothing would be left to look at the others with. */
const { SandboxData: _, ...bounded } = storeContract

/** The contract on the plain store, for the service's role: what it sends is looked at below. */
describe("The plain Postgres store keeps the store contract", () => {
  const clock = new SettableClock()
  const leaseClock = Effect.sync(() => Number(clock.unsafeCurrentTimeNanos() / 1_000_000n))
  const given = Layer.merge(new RiggedEntropy(1).layer, clock.layer)
  const store = () => Layer.orDie(layer({ url: database.service, leaseClock }))
  const runtime = ManagedRuntime.make(Layer.provideMerge(Layer.suspend(store), given))
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

/** How each statement ran, planned while there was little, and planned once there was much. */
let early: ReadonlyMap<string, Plan>
/** Indexes that no statement read, and that keep nothing unique. */
let unread: ReadonlyArray<string> = []
let late: ReadonlyMap<string, Plan>
/** How each ran that was asked for the large shop in place of its own. */
let large: ReadonlyMap<string, Plan>

/** How many rows each table has at the end. */
const rowsOf = new Map<string, number>()

const COUNTS = `select c.relname as name,
    (xpath('/row/n/text()', query_to_xml(format('select count(*) as n from %s', c.oid::regclass), true, true, '')))[1]::text::integer as n
  from pg_class c where c.relnamespace = 'workshop'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`

const longest = (values: Sent["values"]) =>
  values.reduce((a, b) => (JSON.stringify(b).length > JSON.stringify(a).length ? b : a))

const sessions = (url: string) =>
  Effect.all({ eachTime: settled(url, PLANNED_EACH_TIME), once: settled(url, PLANNED_ONCE) })

const ranAll = (cases: ReadonlyArray<Case>) =>
  Effect.map(
    Effect.forEach(cases, ({ session, name, text, values }) =>
      Effect.map(ran(session, name, values), (plan) => [text, plan] as const)
    ),
    (plans) => new Map(plans)
  )

/** The shops, clients, numbers and events that the contract asks for, in whose place the large ones are asked for. */
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
  const session = await within(connect(database.url))
  const { eachTime, once } = await within(sessions(database.url))
  const cases = sent.map(({ text, by, values }, i): Case => {
    const asked = SOME_AT_A_TIME[titleOf(text) ?? ""]
    const given = longest(values).map((value) => (value === ALL && asked !== undefined ? asked : value))
    return {
      name: `looked_${i}`,
      text,
      values: given,
      session: by === "workshop reads" && DEPENDS_ON_VALUES.test(text) ? eachTime : once
    }
  })
  await within(session.run("analyze"))
  await within(
    once.run(
      `set workshop_claim.shops = '{}'; set workshop_claim.queue_ctids = '{}'; set workshop_claim.due_from = '{}'; set workshop_claim.backlog_ctids = '{}'; set workshop_claim.turns = '{}'`
    )
  )
  for (const { session, name, text, values } of cases) await within(prepare(session, name, text, values))
  // A batch that is sent again is refused by its receipt.
  await within(session.run("delete from batch_receipt"))
  await within(multiply(session))
  const [row] = await within(
    session.run<{ ids: string; queue_ctids: string }>(
      "select array_agg(shop_id)::text as ids, array_agg(ctid)::text as queue_ctids from (select shop_id, ctid from delivery_queue order by next_claim_at limit 64) t"
    )
  )
  const zeros = row!.queue_ctids.replaceAll(/"[^"]*"/g, "0")
  await within(
    once.run(
      `set workshop_claim.shops = '${row!.ids}'; set workshop_claim.queue_ctids = '${row!.queue_ctids}'; set workshop_claim.due_from = '${zeros}';
      set workshop_claim.backlog_ctids = '${zeros.replaceAll("0", '"(0,0)"')}'; set workshop_claim.turns = '${zeros}'`
    )
  )
  early = await within(ranAll(cases.filter((one) => one.session === once)))
  await within(session.run("analyze"))
  late = await within(ranAll(cases))
  const replaced = await within(idsReplaced(session))
  const much = await within(enlarge(session))
  await within(session.run("analyze"))
  const ofLarge = (value: unknown, place = 0): unknown => {
    if (Array.isArray(value)) return value.map(ofLarge)
    const by = typeof value === "string" ? replaced.get(value) : undefined
    // Of several events one is the large one: each is named once.
    return by === undefined || (by === "event_id" && place > 0) ? value : much[by]
  }
  large = await within(ranAll(cases.map((one) => ({ ...one, values: one.values.map((value) => ofLarge(value)) }))))
  for (const { name, n } of await within(session.run<{ name: string; n: number }>(COUNTS))) rowsOf.set(name, n)
  // A session's counts are shown once it is idle, or asked for them.
  for (const one of [eachTime, once]) await within(one.run("select pg_stat_force_next_flush()"))
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

/** How many rows a statement may look at: a page of a list with what belongs to it, or a batch, and some to spare. */
const MOST_ROWS = 600

/** Those that may look at more, and why there is an end to it. */
const MORE: Readonly<Record<string, number>> = {
  // Asked for ten thousand by the contract.
  "list shops": 10_000,
  // Of a filter's changes: those of its index, the next ones, and where those end.
  "list tickets": 4_000,
  "search tickets": 4_000,
  // Ten thousand, where an operator repairs a clock, what they say, and the numbers of some of them.
  "due notifications": 20_100,
  "list clients": 10_000,
  // At most ten thousand, and what belongs to five thousand of them.
  "read events": 10_000,
  "read deliveries": 20_000,
  "count deliveries": 20_000,
  "read attempts": 10_000,
  // The shops that are put in the order of their turns.
  "lock shops": 5_000,
  // A shop's events, stored responses and notifications to numbers, some thousands at a time, and a page of each other kind.
  "events of person": 5_000,
  "notifications to numbers": 5_000,
  "tickets of person": 1_001,
  "ledger of person": 1_000,
  "offers of person": 1_000,
  "notifications of person": 1_000,
  // A thousand shops, and the looks for each in six tables.
  "shops of person": 3_000,
  // At most two hundred of a hundred shops, and the look for the next shop.
  "read offers": 20_200,
  "read inbox": 20_100,
  "read keys": 10_000,
  "answers of person": 10_000,
  // Ten thousand shops' heads, where a process starts or is asked whether it is well.
  "latest instant": 10_000,
  "shops ahead": 10_000
}

/** Those that look at as much as there is, and why they may. docs/scaling.md names those that grow with one client. */
const UNBOUNDED: Readonly<Record<string, string>> = {
  "read client":
    "the contract's `tickets_total` and `tickets_open` are exact, and a counter would be one more row that each create and each end writes",
  "load Keys": "an owner makes keys by hand, and at most five of them work at a time",
  "load Event":
    "an erasure empties the stored response of each attempt; only an owner's replays add more than eight to an event",
  "find missing key":
    "a process that starts looks at each webhook, because the key that sealed a secret stands within it"
}

/**
 * Lists that look at all tickets of a client, and why they may: the further filter has no index together with the client, and each index of
 * `ticket` costs every create and change. They look at index entries and rows in their order and sort nothing.
 */
const isOfClientAndMore = (text: string) =>
  titleOf(text) === "search tickets" && /t\.client_id = l\.client_id AND t\.client_phone = /.test(text)

/** The statements of which the contract asks for all rows, and the service for a batch; with the size of that batch. */
const SOME_AT_A_TIME: Readonly<Record<string, number>> = { "due closures": 100, "due notifications": 256 }
const ALL = 100_000

/** Indexes that serve what the contract does not ask for: the removal of old rows, and the metrics. */
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
  // Beside few leases the planner takes the index by shop.
  delivery_lease_ends: "reclaim"
}

const isWithin = ({ scanned, looked_at, sorted, pages }: Plan, most: number) =>
  (scanned.length === 0 || most > MOST_ROWS) &&
  looked_at <= most &&
  sorted <= most &&
  // A row costs its page, and those of an index from its root down.
  pages <= 200 + 6 * most

const beyond = (plans: ReadonlyMap<string, Plan>) =>
  [...plans].flatMap(([text, plan]) => {
    const title = titleOf(text) ?? text
    return isWithin(plan, MORE[title] ?? MOST_ROWS) || title in UNBOUNDED || isOfClientAndMore(text)
      ? []
      : [{ title, ...plan }]
  })

describe("every statement that the store contract sends", { timeout: LONG }, () => {
  beforeAll(lookAtAll, LONG)

  it("every statement has its name in a comment, which `pg_stat_statements` and logs show", () => {
    expect(sent.length).toBeGreaterThan(100)
    expect(sent.filter(({ text }) => titleOf(text) === undefined)).toEqual([])
  })

  it("every statement is in statements.sql as it is sent", () => {
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

  it("every statement looks at a bounded number of rows in a database of 40,000 shops (docs/how-it-is-built.md)", () =>
    expect(beyond(late)).toEqual([]))

  it("every statement looks at a bounded number of rows in a shop of 50,000 tickets and events, for a client with 20,000 of each", () =>
    expect(beyond(large)).toEqual([]))

  it("every statement could exceed its bound, because its tables have more rows", () => {
    const most = (text: string) =>
      Math.max(0, ...[...text.matchAll(/workshop\."?(\w+)/g)].map(([, table]) => rowsOf.get(table!) ?? 0))
    const tooWide = sent.flatMap(({ text }) => {
      const bound = MORE[titleOf(text)!] ?? MOST_ROWS
      return titleOf(text)! in MORE && most(text) <= bound ? [{ title: titleOf(text), bound, rows: most(text) }] : []
    })
    expect(tooWide).toEqual([])
  })

  it("a statement without a bound is listed with the reason, and still reads thousands of rows", () => {
    const found = [...early, ...late, ...large].filter(([, plan]) => !isWithin(plan, 2 * MOST_ROWS))
    const titles = new Set(found.map(([text]) => titleOf(text)))
    expect(Object.keys(UNBOUNDED).filter((title) => !titles.has(title))).toEqual([])
    expect([...large].filter(([text, plan]) => isOfClientAndMore(text) && !isWithin(plan, 4_000))).not.toEqual([])
  })

  it("every index is used by a statement", () => expect(unread.filter((name) => !(name in OTHERS))).toEqual([]))

  it("every index is used by plans that were made while the tables were almost empty too", () =>
    expect(beyond(early)).toEqual([]))
})
