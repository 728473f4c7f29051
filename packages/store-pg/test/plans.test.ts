import type { ClientId, EventId, Phone, ShopId, TicketId } from "@workshop/core"
import {
  Closures,
  Directory,
  NotificationQueue,
  Reads,
  type ReplayFilter,
  ServiceLimits,
  type TicketFilter,
  type TicketOrder
} from "@workshop/core/store"
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { openShop } from "../../core/src/testing/Fixtures.js"
import { loadStatements } from "../src/commands/LoadStatements.js"
import { PLANNED_EACH_TIME, PLANNED_ONCE } from "../src/connection/SessionClient.js"
import { CLAIM, LOCK_READY_QUEUES, MAKE_READY, RECLAIM, RESCHEDULE_SHOPS } from "../src/deliveries/ClaimStatements.js"
import { rangeOfShop } from "../src/deliveries/ReplayStatements.js"
import { LockedWindows, lockStatements } from "../src/limits/LockedWindows.js"
import { openMigrationSession, type Session } from "../src/migrate/Session.js"
import { testDatabase } from "./cluster/TestDatabase.js"
import { node, type Ports, RealClock } from "./nodes/Node.js"
import { explainPlan, openSession, type Plan, sentDuring } from "./QueryPlan.js"

const TICKETS = 50_000
const WINDOWS = 100_000
const NOTIFICATIONS = 20_000
const T0 = 1_700_000_000_000

const clock = new RealClock()
const scope = Effect.runSync(Scope.make())
const within = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) =>
  Effect.runPromise(Effect.withClock(Scope.extend(effect, scope), clock))

let session: Session
/** Sessions with the settings of the store's connections for reads and for commands. */
let reads: Session
let commands: Session
let ports: Ports
let shop_id = "" as ShopId
let ticket = { id: "" as TicketId, number: 0, client_id: "" as ClientId }

/** The tickets of a shop after years: most are collected, a few are open, and numbers have wrapped round to 1. */
const TICKET_ROWS = `insert into ticket (shop_id, id, number, state, type, service, items, client_id, client_phone,
    tracking_code, collected_at, outcome, created_at, updated_at, created_via, external_ref, change_seq, shop_changed_at, stamps_earned, closure_due_at)
  select $1, (lpad(to_hex(${T0} + n * 1000::bigint), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid, n % 9999 + 1, case when n % 100 = 0 then 'ready' when n % 50 = 1 then 'workshop' else 'collected' end,
    'repair', 'Hem', '[]', md5((n % 5000)::text)::uuid, '+2162' || lpad((n % 5000)::text, 7, '0'), 'C' || n,
    ${T0} + n * 1000::bigint, 'ready', ${T0} + n * 1000::bigint, ${T0} + n * 1000::bigint, 'api', 'R' || n, n, ${T0}, false,
    case when n % 50 < 2 then ${T0} + n * 1000::bigint + 5184000000 end
  from generate_series(1, ${TICKETS}) n`

/**
 * Deliveries whose due times are in the reverse order of `seq`, so that an index on `seq` alone cannot find the
 * earliest due ones.
 */
const DELIVERY_ROWS = `insert into delivery
  select $1, gen_random_uuid(), 'ping', null, 20001 - n, 0, 0, ${T0} + n, 1, false, 0, null from generate_series(1, 20000) n`

/** Events without deliveries. */
const EVENT_ROWS = `insert into event (shop_id, id, type, seq, ticket_id, created_at, body)
  select $1, md5('event ' || n)::uuid, 'ping', n, null, ${T0} + n, '{}' from generate_series(1, 50000) n`

/** The last row is for the owner, all others are for clients. */
const NOTIFICATION_ROWS = `insert into queued_notification
  select $1, gen_random_uuid(), case when n = ${NOTIFICATIONS} then 'owner' else 'client' end, 0, ${T0} + n from generate_series(1, ${NOTIFICATIONS}) n`

const WEBHOOK = `insert into webhook select $1, 'https://shop.example/', 'whsec_1', null, null, null, 0, null, 0, 1, 0`

beforeAll(async () => {
  const { url } = await within(testDatabase)
  session = await within(openMigrationSession(url))
  ports = await within(node({ url }))
  const shop = await within(Effect.provide(openShop(), ports))
  shop_id = shop.id
  for (const sql of [TICKET_ROWS, DELIVERY_ROWS, EVENT_ROWS, NOTIFICATION_ROWS, WEBHOOK])
    await within(session.run(sql, [shop_id]))
  await within(session.run(`insert into delivery_queue select $1, 0, 0`, [shop_id]))
  await within(session.run("update shop_head set event_seq = 50001 where shop_id = $1", [shop_id]))
  await within(
    session.run(
      `insert into delivery_queue select gen_random_uuid(), 253402300799999, n from generate_series(1, 20000) n`
    )
  )
  await within(
    session.run(
      `insert into rate_limit select 'requests_per_minute', 'key ' || n, 1, ${T0} from generate_series(1, ${WINDOWS}) n`
    )
  )
  await within(session.run("analyze"))
  reads = await within(openSession(url, PLANNED_EACH_TIME))
  commands = await within(openSession(url, PLANNED_ONCE))
  const [row] = await within(
    session.run<typeof ticket>(`select id, number, client_id from ticket where change_seq = ${TICKETS / 2}`)
  )
  ticket = row!
}, 60_000)

afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

/** The one statement of `read` that these tests are about. */
const sentBy = async (read: Effect.Effect<unknown, unknown>) => {
  const sent = (await sentDuring(() => within(Effect.exit(read)))).filter(({ text }) =>
    /\b(row_to_json\(s\)|closure_due_at|tracked|due notifications)/.test(text)
  )
  expect(sent).toHaveLength(1)
  return sent[0]!
}

const planOfRead = async (read: Effect.Effect<unknown, unknown, Directory | Reads>): Promise<Plan> => {
  const { text, values } = await sentBy(Effect.provide(read, ports))
  return within(explainPlan(reads, text, values))
}

const page = (filter: TicketFilter, order: TicketOrder = { _tag: "Newest", after: null }) =>
  planOfRead(Effect.flatMap(Reads, (port) => port.tickets(shop_id, filter, order, 51)))

const small = { scanned: [], looked_at: expect.any(Number), sorted: expect.any(Number), pages: expect.any(Number) }

/** Expects a plan to scan no large table in full, and to read and sort at most `rows` rows. */
const expectAtMost = (plan: Plan, rows: number) => {
  expect(plan).toEqual(small)
  expect(plan.looked_at).toBeLessThanOrEqual(rows)
  expect(plan.sorted).toBeLessThanOrEqual(rows)
  // Each row costs one page of its table and one of an index, and 20 pages cover the descents from the indexes' roots.
  expect(plan.pages).toBeLessThanOrEqual(20 + 2 * rows)
}

describe(`reads scan few rows in a shop of ${TICKETS} tickets (docs/how-it-is-built.md)`, {
  timeout: 30_000
}, () => {
  it("a read of one ticket scans at most 10 rows", async () =>
    expectAtMost(await planOfRead(Effect.flatMap(Reads, (port) => port.ticket(shop_id, ticket.id))), 10))

  it("a read of a ticket by tracking code, without its shop, scans at most 10 rows", async () =>
    expectAtMost(await planOfRead(Effect.flatMap(Directory, (port) => port.tracked("C42"))), 10))

  it("a read of the tickets with one ticket number scans at most 50 rows", async () =>
    expectAtMost(
      await planOfRead(Effect.flatMap(Reads, (port) => port.ticketsOfNumber(shop_id, ticket.number, 100))),
      50
    ))

  it.each<[string, () => TicketFilter]>([
    ["all", () => ({})],
    ["of a state", () => ({ state: ["ready"] })],
    ["of some states", () => ({ state: ["ready", "workshop"] })],
    ["of all states", () => ({ state: ["ready", "workshop", "impossible", "collected", "abandoned"] })],
    ["of a number", () => ({ number: ticket.number })],
    ["of a client", () => ({ client_id: ticket.client_id })],
    ["for a phone", () => ({ phone: "+21620000042" as Phone })],
    ["with a tracking code", () => ({ tracking_code: "C42" })],
    ["with a tracking code, of two states", () => ({ tracking_code: "C42", state: ["ready", "collected"] })],
    ["with a reference", () => ({ external_ref: "R42" })],
    ["of some days", () => ({ created_after: T0 + 10_000_000, created_before: T0 + 20_000_000 })]
  ])("a page of the list of tickets %s scans at most 500 rows", async (_, filter) =>
    expectAtMost(await page(filter()), 500)
  )

  it("a page in the middle of the list of tickets scans at most 200 rows", async () =>
    expectAtMost(await page({}, { _tag: "Newest", after: ticket.id }), 200))

  it("the first and second page of the changes since an instant scan at most 200 rows each", async () => {
    expectAtMost(await page({}, { _tag: "Changes", since: T0 + 25_000_000, after: null }), 200)
    expectAtMost(await page({}, { _tag: "Changes", since: T0 + 25_000_000, after: 25_100 }), 200)
  })

  // A till that polls has already read nearly all changes.
  it.each([
    ["after the last change", 60_000_000, null],
    ["shortly before the last change", 49_999_000, null],
    ["after the last change, from a cursor", 60_000_000, 49_999]
  ])("a page of the changes since an instant %s scans at most 200 rows", async (_, later_ms, after) => {
    expectAtMost(await page({}, { _tag: "Changes", since: T0 + later_ms, after }), 200)
  })

  const seconds = (after: number, until: number) => ({
    created_after: T0 + after * 1000,
    created_before: T0 + until * 1000
  })

  it.each<[string, () => TicketFilter]>([
    ["with a reference", () => ({ external_ref: "R42" })],
    ["with a reference that nobody has", () => ({ external_ref: "none" })],
    ["of a number", () => ({ number: ticket.number })],
    ["of a client", () => ({ client_id: ticket.client_id })],
    ["for a phone", () => ({ phone: "+21620000042" as Phone })],
    ["of a rare state", () => ({ state: ["ready"] })],
    ["of a state that no ticket has", () => ({ state: ["impossible"] })],
    ["of some rare states", () => ({ state: ["ready", "impossible"] })],
    ["of a common state", () => ({ state: ["collected"] })],
    ["of all states", () => ({ state: ["ready", "workshop", "impossible", "collected", "abandoned"] })],
    ["of a state that is neither rare nor common", () => ({ state: ["workshop", "ready"] })],
    ["of a few seconds", () => seconds(40_000, 40_200)],
    ["of the last hours, which come after all others", () => seconds(40_000, 90_000)],
    ["of a rare state of the last hours", () => ({ state: ["ready"], ...seconds(40_000, 90_000) })],
    ["of a common state without a reference", () => ({ state: ["collected"], external_ref: "none" })]
  ])("a page of all changes to tickets %s scans a bounded number of rows", async (_, filter) => {
    expectAtMost(await page(filter(), { _tag: "Changes", since: 0, after: null }), 4 * ServiceLimits.changes_read_max)
    expectAtMost(await page(filter(), { _tag: "Changes", since: 0, after: 25_000 }), 4 * ServiceLimits.changes_read_max)
  })

  it("a read of the tickets that are due to close scans at most 600 rows", async () => {
    const due = Effect.provide(
      Effect.flatMap(Closures, (closures) => closures.due(T0 + 5_284_000_000, 256)),
      ports
    )
    const { text, values } = await sentBy(due)
    expectAtMost(await within(explainPlan(reads, text, values)), 600)
  })

  it("a read of the owners' due notices scans at most 10 rows while many notifications to clients are due", async () => {
    const read = Effect.flatMap(NotificationQueue, (queue) => queue.due(T0 + 2 * NOTIFICATIONS, 256, "owner"))
    const { text, values } = await sentBy(Effect.provide(read, ports))
    expectAtMost(await within(explainPlan(reads, text, values)), 10)
  })
})

describe("commands and claims scan a bounded number of rows (docs/how-it-is-built.md)", { timeout: 30_000 }, () => {
  it("each row that a command loads costs at most 10 scanned rows, because it is loaded by its key", async () => {
    const loads = [
      { shop_id, request: { _tag: "Ticket", id: ticket.id } },
      { shop_id, request: { _tag: "Client", id: ticket.client_id } },
      {
        shop_id,
        request: { _tag: "IdempotencyRecord", key: { caller_id: ticket.client_id, operation: "create", key: "k" } }
      }
    ] as const
    for (const { statement } of loadStatements(loads as never))
      expectAtMost(await within(explainPlan(commands, statement.text, statement.values)), 10)
  })

  it(`counting the requests of 64 callers scans at most 500 of ${WINDOWS} rate-limit windows`, async () => {
    const places = Array.from({ length: 64 }, (_, i) => ({
      policy: "requests_per_minute" as const,
      subject: `key ${(i + 1) * 1_000}`
    }))
    const windows = new LockedWindows([])
    for (const place of places) windows.put(place, { used: 2, resets_at: T0 + 1 })
    const [begin, ...statements] = [...lockStatements(places), ...windows.endStatements()]
    expect(begin!.name).toBe("begin")
    for (const { name, text, values } of statements) {
      if (name !== "commit") expectAtMost(await within(explainPlan(commands, text, values)), 500)
    }
  })

  it("a claim for a shop with 20,000 due deliveries scans at most 1,000 rows", async () => {
    await within(
      commands.run(`select set_config('workshop_claim.shops', '{${shop_id}}', false), set_config('workshop_claim.queue_ctids', array[ctid]::text, false),
        set_config('workshop_claim.due_from', '{0}', false), set_config('workshop_claim.backlog_ctids', '{null}', false), set_config('workshop_claim.turns', '{0}', false) from delivery_queue where shop_id = '${shop_id}'`)
    )
    const plan = await within(explainPlan(commands, CLAIM, [T0 + 1_000_000, 4, null]))
    expectAtMost(plan, 1_000)
    expectAtMost(await within(explainPlan(commands, RESCHEDULE_SHOPS, [T0 + 1_000_000, null, false])), 100)
  })

  it("a claim scans at most 300 of 20,000 shops without due deliveries", async () =>
    expectAtMost(await within(explainPlan(commands, LOCK_READY_QUEUES, [300, 0])), 300))

  it("making shops ready scans at most 100 of 20,000 shops whose deliveries are due later", async () =>
    expectAtMost(await within(explainPlan(commands, MAKE_READY, [T0 + 1_000_000])), 100))

  it("a claim scans at most 100 of 20,000 ready shops to find those that were served longest ago", async () => {
    await within(commands.run("begin"))
    await within(
      commands.run(`insert into delivery_queue select gen_random_uuid(), 0, n from generate_series(1, 20000) n`)
    )
    await within(
      commands.run(`insert into webhook select shop_id, 'https://shop.example/', 'whsec_1', null, null, null, 0, null, 0, 1, 0
        from delivery_queue where next_claim_at = 0 on conflict do nothing`)
    )
    // `explainPlan` runs in this transaction, so the plan covers the inserted rows, which the rollback removes.
    expectAtMost(await within(explainPlan(commands, LOCK_READY_QUEUES, [17, 0])), 100)
    await within(commands.run("rollback"))
  })

  it.each<[string, ReplayFilter, number]>([
    ["all events", {}, 3_500],
    ["the events since an instant after the last event", { since: T0 + 100_000 }, 5_100],
    ["the events until an instant before the first event", { until: T0 }, 5_100],
    ["one event by id", { event_ids: ["00000000-0000-7000-8000-000000000000" as EventId] }, 100]
  ])(
    "a step of a replay of %s scans a bounded number of rows in a shop of 50,000 events",
    async (name, filter, rows) => {
      await within(
        session.run(`insert into replay select $1, md5($2)::uuid, $3, 0, 50001, false, ${T0}`, [
          shop_id,
          name,
          JSON.stringify(filter)
        ])
      )
      const [{ id }] = (await within(session.run<{ id: string }>("select md5($1)::uuid as id", [name]))) as [
        { id: string }
      ]
      const [load] = loadStatements([{ shop_id, request: { _tag: "Replay", id, max: 1_000 } }] as never)
      expectAtMost(await within(explainPlan(commands, load!.statement.text, load!.statement.values)), rows)
      const counted = await within(explainPlan(reads, rangeOfShop, [shop_id, 0, JSON.stringify(filter), 1_000]))
      expectAtMost(counted, rows)
    }
  )

  it("ending expired leases scans at most 100 rows", async () =>
    expectAtMost(await within(explainPlan(commands, RECLAIM, [T0, 1_000])), 100))
})
