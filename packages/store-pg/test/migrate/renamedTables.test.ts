import type { CallerId, ShopId } from "@workshop/core"
import { Deliveries, NotificationQueue, Reads } from "@workshop/core/store"
import { checkData, checkSchema, migrate } from "@workshop/store-pg/migrate"
import { Effect } from "effect"
import pg from "pg"
import { describe, expect, it } from "vitest"
import { until } from "../../../../test/until.js"
import { type IdempotencyKey, makeIdempotent } from "../../../core/src/decisions/Idempotency.js"
import { setWebhook } from "../../../core/src/decisions/webhookSettings.js"
import { createTestTicket, openAccount, openShop, putChanges, runCommand } from "../../../core/src/testing/Fixtures.js"
import { record, statusResult } from "../../../core/src/testing/TestDispatcher.js"
import { applyMigrations } from "../../src/cells/CellMigrations.js"
import { PACKAGE_MIGRATIONS } from "../../src/migrate/Migration.js"
import { checkSchemaAgainst } from "../../src/migrate/Migrator.js"
import { openMigrationSession, type Session } from "../../src/migrate/Session.js"
import { retention } from "../../src/retention/Retention.js"
import { testDatabase } from "../cluster/TestDatabase.js"
import { node, runTest } from "../nodes/Node.js"
import { roleIn } from "./TestRoles.js"

/** The migrations of the release before the tables were renamed. */
const BEFORE = PACKAGE_MIGRATIONS.slice(0, 32)
const OLD = { schema: "old" }

/** The tables that 0033 renamed, or of which it renamed columns: their names before, and the columns' names before and since. */
const RENAMED: Readonly<Record<string, readonly [table: string, columns: Readonly<Record<string, string>>]>> = {
  api_key: ["api_key", { place: "insert_order" }],
  api_key_cell: ["key_cell", {}],
  audit_entry: ["audit_entry", { place: "insert_order" }],
  backlogged_queue: ["delivery_round", {}],
  database_label: ["mark", {}],
  delivery: ["delivery", { attempts_in_round: "attempts_since_reset" }],
  delivery_queue: ["delivery_turn", { look_at: "next_claim_at" }],
  idempotency_record: ["remembered", { answer: "response" }],
  notice: ["notice", { place: "insert_order" }],
  notification: ["notification", { place: "insert_order" }],
  offer: ["offer", { place: "insert_order" }],
  queued_notification: ["message", {}],
  shop_head: ["shop_head", { last_instant: "last_recorded_at", ids_made: "id_counter" }],
  stale_account_copy: ["account_copy", { n: "change_number" }],
  stamp_limit: ["stamps_used", {}],
  webhook: ["webhook", { steps_told: "failure_steps_notified", released_at: "enabled_at" }]
}

/** Tables that the rows of the others belong to, and that kept their names. */
const OTHERS = ["attempt", "client_account", "event", "shop", "ticket"]

const ONCE = "once" as IdempotencyKey

const createOnce = (shop_id: ShopId, client_phone: string) =>
  makeIdempotent(
    { caller_id: "till" as CallerId, operation: "create ticket", key: ONCE, request: {} },
    createTestTicket(shop_id, { service: "Hem", client_phone })
  )

/** Writes rows to every renamed table of the schema `workshop`. */
const fill = (session: Session) =>
  Effect.gen(function* () {
    const { id: shop_id } = yield* openShop()
    const { id: client_id, phone } = yield* openAccount()
    yield* runCommand(setWebhook(shop_id, { url: "https://shop.example/hook", secret: "whsec_1" }))
    const { data } = yield* runCommand(createOnce(shop_id, phone))
    yield* runCommand(createTestTicket(shop_id))
    const [claim] = yield* (yield* Deliveries).claim(Date.now(), 1)
    yield* record(claim!, statusResult(500))
    const row = { used: 3, resets_at: Date.now() + 3_600_000 }
    const key = { caller_id: "till" as CallerId, client_id }
    yield* runCommand(putChanges(shop_id, { _tag: "StampLimitPut", key, row }))
    yield* session.run(`insert into api_key (id, shop_id, name, scopes, hash, last_four, created_at)
      values (gen_random_uuid(), '${shop_id}', 'till', '{}', repeat('a', 64), 'aaaa', 1)`)
    yield* session.run(`insert into notice (shop_id, id, kind, created_at, url, failures_in_row)
      values ('${shop_id}', gen_random_uuid(), 'webhook_failing', 1, 'https://shop.example/hook', 5)`)
    yield* session.run(
      "insert into queued_notification (shop_id, id, receiver, attempts_made, due_at) select shop_id, id, 'owner', 0, 1 from notice"
    )
    yield* session.run(`insert into notification (shop_id, id, client_id, type, ticket, ticket_id, created_at)
      values ('${shop_id}', gen_random_uuid(), '${client_id}', 'ticket.ready', '{}', '${data.id}', 1)`)
    yield* session.run("insert into database_label values ('sandbox')")
    yield* session.run(`insert into stale_account_copy (client_id, cell) values ('${client_id}', 'north')`)
    yield* session.run("insert into api_key_cell values (repeat('b', 64), 'north')")
    return { shop_id, phone, ticket_id: data.id }
  })

const rowsOf = (session: Session, table: string) =>
  Effect.map(
    session.run<{ row: Readonly<Record<string, unknown>> }>(
      `select row_to_json(t) as row from ${table} t order by t::text`
    ),
    (rows) => rows.map(({ row }) => row)
  )

/** Copies the rows of `workshop` to tables of the previous release, under the names that the tables had. */
const copyToOld = (session: Session) =>
  Effect.gen(function* () {
    for (const table of [...OTHERS, ...Object.keys(RENAMED)]) {
      const [before, columns] = RENAMED[table] ?? [table, {}]
      const former = Object.fromEntries(Object.entries(columns).map(([was, is]) => [is, was]))
      const rows = (yield* rowsOf(session, `workshop.${table}`)).map((row) =>
        Object.fromEntries(Object.entries(row).map(([column, value]) => [former[column] ?? column, value]))
      )
      yield* session.run(
        `insert into old.${before} overriding system value select * from json_populate_recordset(null::old.${before}, $1)`,
        [JSON.stringify(rows)]
      )
    }
  })

/**
 * A schema of the previous release with a row of every renamed table, beside the schema `workshop` with the same rows.
 */
const oldSchema = Effect.gen(function* () {
  const { url } = yield* testDatabase
  const session = yield* openMigrationSession(url)
  yield* applyMigrations(url, OLD, BEFORE)
  const filled = yield* Effect.provide(fill(session), yield* node({ url }))
  const month = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth()))
  const name = month.toISOString().slice(0, 7).replace("-", "_")
  const until = Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1)
  for (const table of ["event", "attempt"])
    yield* session.run(`select old.keep_partition('attach', '${table}', '${name}', ${month.getTime()}, ${until})`)
  yield* copyToOld(session)
  return { url, session, month: name, ...filled }
})

describe("0033_names", { timeout: 60_000 }, () => {
  it("0033 keeps the rows of every renamed table, and a store reads them and writes more", () =>
    runTest(
      Effect.gen(function* () {
        const { url, session, month, shop_id, phone, ticket_id } = yield* oldSchema
        expect((yield* migrate(url, OLD))[0]).toBe("0033_names")
        for (const table of [...OTHERS, ...Object.keys(RENAMED)].filter((name) => name !== "audit_entry")) {
          const rows = yield* rowsOf(session, `workshop.${table}`)
          expect(rows.length, table).toBeGreaterThan(0)
          expect(yield* rowsOf(session, `old.${table}`), table).toEqual(rows)
        }
        expect(yield* rowsOf(session, "old.audit_entry")).toEqual(
          expect.arrayContaining([...(yield* rowsOf(session, "workshop.audit_entry"))])
        )
        expect(yield* session.run(`select from old.event_${month}`)).toHaveLength(2)
        const ports = yield* node({ url, ...OLD })
        yield* Effect.gen(function* () {
          const replay = yield* runCommand(createOnce(shop_id, phone))
          expect([replay.replayed, replay.data.id]).toEqual([true, ticket_id])
          expect((yield* runCommand(createTestTicket(shop_id))).number).toBe(3)
          expect((yield* (yield* Deliveries).claim(Date.now() + 86_400_000, 9)).length).toBe(3)
          expect((yield* (yield* NotificationQueue).due(Date.now(), 9, "owner")).length).toBe(1)
          const { webhook } = (yield* (yield* Reads).shop(shop_id))!
          expect(webhook).toMatchObject({ failures_in_row: 1, failure_steps_notified: 0, generation: 1 })
        }).pipe(Effect.provide(ports))
        const report = yield* (yield* retention({ url, ...OLD })).runOnce
        expect([report?.missing, report?.created.length]).toEqual([[], 4])
      })
    ))

  it("0033 keeps the rights of the service's role, including on the function that it renames", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        const session = yield* openMigrationSession(url)
        yield* applyMigrations(url, OLD, BEFORE)
        const role = roleIn(url, "renamed_service")
        yield* session.run(`create role ${role}; grant select on old.remembered to ${role};
          grant execute on function old.keep_partition(text, text, text, bigint, bigint) to ${role}`)
        yield* Effect.addFinalizer(() => Effect.orDie(session.run(`drop owned by ${role}; drop role ${role}`)))
        yield* migrate(url, OLD)
        expect(
          yield* session.run(`select has_table_privilege('${role}', 'old.idempotency_record', 'select') as may_read,
            has_function_privilege('${role}', 'old.maintain_partition(text, text, text, bigint, bigint)', 'execute') as may_maintain,
            has_function_privilege('public', 'old.clear_sandbox()', 'execute') as may_all_clear,
            (select array_agg(distinct proconfig::text) from pg_proc where prosecdef and pronamespace = 'old'::regnamespace) as paths`)
        ).toEqual([
          { may_read: true, may_maintain: true, may_all_clear: false, paths: ['{"search_path=old, pg_temp"}'] }
        ])
      })
    ))

  it("the previous release refuses the renamed tables, and this release the old tables, each with an error that names the versions", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        yield* applyMigrations(url, OLD, BEFORE)
        expect((yield* Effect.flip(checkSchema(url, OLD))).message).toBe(
          `The schema old of the database has version 32, but this program needs version ${PACKAGE_MIGRATIONS.length}. Run workshop migrate.`
        )
        yield* migrate(url, OLD)
        const newer = `The database has version ${PACKAGE_MIGRATIONS.length} of the schema, which needs at least version 33 of the program, but this program has version 32. Update the program.`
        expect((yield* Effect.flip(checkSchemaAgainst(url, OLD, BEFORE))).message).toBe(newer)
        expect((yield* Effect.flip(applyMigrations(url, OLD, BEFORE))).message).toBe(newer)
      })
    ))

  it("tables of the previous release are moved from public, and other programs' tables that have one of their new names stay", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        const session = yield* openMigrationSession(url)
        yield* session.run("drop schema workshop cascade")
        yield* applyMigrations(url, { schema: "public" }, BEFORE)
        yield* session.run("insert into public.mark values ('sandbox')")
        const process = new pg.Client({ connectionString: url, application_name: "workshop reads" })
        yield* Effect.promise(() => process.connect())
        const running = yield* Effect.flip(migrate(url, { moveFrom: "public" }))
        yield* Effect.promise(() => process.end())
        const connected = session.run(
          "select from pg_stat_activity where datname = current_database() and application_name = 'workshop reads'"
        )
        yield* until("the process is gone", connected, ({ length }) => length === 0)
        expect(running.message).toBe(
          "Processes of the workshop are connected to the database (1 connection). Stop these processes, because they would not find the tables after the move."
        )
        expect((yield* migrate(url, { moveFrom: "public" }))[0]).toBe("0033_names")
        expect(yield* session.run("select name from workshop.database_label")).toEqual([{ name: "sandbox" }])
        expect(yield* session.run("select from pg_class where relnamespace = 'public'::regnamespace")).toEqual([])
        yield* session.run("create table workshop.message (id integer); create table workshop.mark (id integer)")
        expect(yield* migrate(url, { schema: "elsewhere", moveFrom: "workshop" })).toEqual([])
        expect(
          yield* session.run("select relname from pg_class where relnamespace = 'workshop'::regnamespace order by 1")
        ).toEqual([{ relname: "mark" }, { relname: "message" }])
      })
    ))

  it("migrate recognizes cells of the previous release by their labels", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        const session = yield* openMigrationSession(url)
        for (const [schema, labels] of [
          ["old", ""],
          ["old_north", "('cell:north'), ('cell_id:one')"]
        ] as const) {
          yield* applyMigrations(url, { schema }, BEFORE)
          if (labels !== "") yield* session.run(`insert into ${schema}.mark values ${labels}`)
        }
        yield* session.run(
          "insert into old.cell (name, takes_shops, shops, id) values ('home', true, 0, null), ('north', true, 0, 'one')"
        )
        expect((yield* Effect.flip(migrate(url, { schema: "old_north" }))).message).toMatch(
          /^The database is the cell north/
        )
        const cells = [{ name: "north" }]
        expect(yield* migrate(url, { ...OLD, cells })).toEqual(
          expect.arrayContaining(["0033_names", "north: 0033_names"])
        )
        expect(yield* session.run("select name from old_north.database_label order by 1")).toEqual([
          { name: "cell:north" },
          { name: "cell_id:one" }
        ])
        expect((yield* checkData(url, { timeoutMs: 60_000, ...OLD, cells })).findings).toEqual([])
      })
    ))
})
