import type { CallerId, Entropy, ShopId, StorePorts, TicketId } from "@workshop/core"
import { type Claim, Deliveries, RateLimits, Reads } from "@workshop/core/store"
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { changeStatus } from "../../core/src/decisions/changeStatus.js"
import { createTicket } from "../../core/src/decisions/createTicket.js"
import { type IdempotencyKey, makeIdempotent } from "../../core/src/decisions/Idempotency.js"
import { setWebhook } from "../../core/src/decisions/webhookSettings.js"
import { FIRST_PAGE, openShop, runCommand, ticketInput } from "../../core/src/testing/Fixtures.js"
import { record, statusResult } from "../../core/src/testing/TestDispatcher.js"
import { openMigrationSession, type Session } from "../src/migrate/Session.js"
import { testDatabase } from "./cluster/TestDatabase.js"
import { node, type Ports, RealClock } from "./nodes/Node.js"

/**
 * Creates triggers that count the rows of each statement in the table `written`, within the statement's transaction.
 */
const COUNTING = `
  create table written (at bigint generated always as identity, name text, act text, n integer);
  create function count_rows() returns trigger language plpgsql set search_path = workshop as $body$
  declare
    n integer;
    same integer;
  begin
    if tg_op = 'UPDATE' then
      select count(*), count(*) filter (where o.row = r.row) into n, same
        from (select row_number() over () as i, x::text as row from was x) o join (select row_number() over () as i, x::text as row from became x) r using (i);
      insert into written (name, act, n) values (tg_table_name, 'updated', n - same), (tg_table_name, 'updated without a change', same);
    else
      if tg_op = 'INSERT' then select count(*) into n from became; else select count(*) into n from was; end if;
      insert into written (name, act, n) values (tg_table_name, case tg_op when 'INSERT' then 'inserted' else 'deleted' end, n);
    end if;
    return null;
  end $body$;
  do $body$
  declare
    name text;
  begin
    for name in select relname from pg_class
      where relnamespace = 'workshop'::regnamespace and relkind in ('r', 'p') and not relispartition and relname <> 'written' loop
      execute format('create trigger inserted after insert on %I referencing new table as became for each statement execute function count_rows()', name);
      execute format('create trigger updated after update on %I referencing old table as was new table as became for each statement execute function count_rows()', name);
      execute format('create trigger deleted after delete on %I referencing old table as was for each statement execute function count_rows()', name);
    end loop;
  end $body$`

const scope = Effect.runSync(Scope.make())
const within = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) =>
  Effect.runPromise(Effect.withClock(Scope.extend(effect, scope), new RealClock()))

let session: Session
let ports: Ports
let quiet: ShopId
let hooked: ShopId

type Act = Effect.Effect<unknown, unknown, StorePorts | Entropy>

const runAct = <A, E>(act: Effect.Effect<A, E, StorePorts | Entropy>) => within(Effect.provide(act, ports))

/** The number of rows that an act wrote, by table and operation. */
const rowsOf = async (act: Act) => {
  await within(session.run("truncate written"))
  await runAct(act)
  const rows = await within(
    session.run<{ name: string; act: string; n: number }>(
      "select name, act, sum(n)::integer as n from written group by 1, 2 having sum(n) > 0"
    )
  )
  return Object.fromEntries(rows.map(({ name, act, n }) => [`${name} ${act}`, n]))
}

const createTicketCommand = (shop_id: ShopId, input?: Parameters<typeof ticketInput>[0]) =>
  createTicket(shop_id, ticketInput(input), { via: "api", foundWords: [] })
const created = async (shop_id: ShopId) => (await runAct(runCommand(createTicketCommand(shop_id)))).id as TicketId

const createWithKey = (key: string) =>
  runCommand(
    makeIdempotent(
      { caller_id: "till" as CallerId, operation: "create ticket", key: key as IdempotencyKey, request: {} },
      createTicketCommand(quiet)
    )
  )
const counting = Effect.flatMap(RateLimits, (limits) =>
  limits.take([{ policy: "requests_per_minute", subject: "a caller", time_zone: null }], Date.now())
)
const claiming = Effect.flatMap(Deliveries, ({ claim }) => claim(Date.now(), 1))
const claimed = async (): Promise<Claim> => (await runAct(claiming))[0]!

beforeAll(async () => {
  const { url } = await within(testDatabase)
  session = await within(openMigrationSession(url))
  await within(session.run(COUNTING))
  ports = await within(node({ url, lanes: 1 }))
  quiet = (await runAct(openShop())).id
  hooked = (await runAct(openShop())).id
  await runAct(runCommand(setWebhook(hooked, { url: "https://shop.example/hook", secret: "whsec_1" })))
  // The first batch of a connection inserts its receipt, and a shop's first event inserts its row of the delivery
  // queue.
  await created(hooked)
}, 60_000)

afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

/** The rows that every command with an event writes. */
const command = { "batch_receipt updated": 1, "shop_head updated": 1, "event inserted": 1 }

/**
 * Removes the rows of the shop's schedule in the delivery queue from `rows`. Before that, expects that each of the
 * schedule's tables has at most one written row, and no update without a change.
 */
const besideQueue = (rows: Readonly<Record<string, number>>) => {
  const isOfQueue = ([name]: readonly [string, number]) => /^(delivery|backlogged)_queue /.test(name)
  const ofQueue = Object.entries(rows).filter(isOfQueue)
  const tables = ofQueue.map(([name]) => name.split(" ")[0])
  expect(new Set(tables).size).toBe(tables.length)
  expect(ofQueue.filter(([name, n]) => n > 1 || name.endsWith("without a change"))).toEqual([])
  return Object.fromEntries(Object.entries(rows).filter((row) => !isOfQueue(row)))
}

/** An update that changes no value has a separate count, `updated without a change`, which no act may have. */
describe("the rows that each act writes (docs/how-it-is-built.md)", { timeout: 60_000 }, () => {
  it("a create writes the ticket, its event, and a delivery if the shop has a webhook", async () => {
    expect(await rowsOf(runCommand(createTicketCommand(quiet)))).toEqual({ ...command, "ticket inserted": 1 })
    const rows = { ...command, "ticket inserted": 1, "delivery inserted": 1 }
    expect(besideQueue(await rowsOf(runCommand(createTicketCommand(hooked))))).toEqual(rows)
  })

  it("a create with a phone number also writes an offer", async () =>
    expect(
      await rowsOf(runCommand(createTicketCommand(quiet, { service: "Hem", client_phone: "+21620123456" })))
    ).toEqual({
      ...command,
      "ticket inserted": 1,
      "offer inserted": 1
    }))

  it("a create with an idempotency key also writes its response, and a retry writes nothing", async () => {
    expect(await rowsOf(createWithKey("one"))).toEqual({
      ...command,
      "ticket inserted": 1,
      "idempotency_record inserted": 1
    })
    expect(await rowsOf(createWithKey("one"))).toEqual({})
  })

  it("a change of state writes the ticket, its event and a delivery", async () => {
    const id = await created(hooked)
    const rows = { ...command, "ticket updated": 1, "delivery inserted": 1 }
    expect(besideQueue(await rowsOf(runCommand(changeStatus(hooked, id, "ready"))))).toEqual(rows)
    expect(besideQueue(await rowsOf(runCommand(changeStatus(hooked, id, "collected"))))).toEqual(rows)
  })

  it("a command that is refused writes nothing", async () => {
    const id = await created(quiet)
    expect(await rowsOf(Effect.flip(runCommand(changeStatus(quiet, id, "collected"))))).toEqual({})
  })

  it("a claim updates the delivery", async () => {
    await created(hooked)
    expect(besideQueue(await rowsOf(claiming))).toEqual({ "delivery updated": 1 })
  })

  it("a successful attempt writes itself and removes the delivery", async () => {
    await created(hooked)
    const claim = await claimed()
    expect(besideQueue(await rowsOf(record(claim, statusResult(200))))).toEqual({
      "batch_receipt updated": 1,
      "attempt inserted": 1,
      "delivery deleted": 1
    })
  })

  it("a failed attempt writes itself, the time of the next attempt, and the webhook's number of failures", async () => {
    await created(hooked)
    const claim = await claimed()
    expect(besideQueue(await rowsOf(record(claim, statusResult(500))))).toEqual({
      "batch_receipt updated": 1,
      "attempt inserted": 1,
      "delivery updated": 1,
      "shop_head updated": 1,
      "webhook updated": 1
    })
  })

  it("a rate-limited request writes the window of its limit", async () => {
    await runAct(counting)
    expect(await rowsOf(counting)).toEqual({ "rate_limit updated": 1 })
  })

  it("reads write nothing", async () =>
    expect(await rowsOf(Effect.flatMap(Reads, (reads) => reads.tickets(quiet, {}, FIRST_PAGE, 50)))).toEqual({}))
})
