import { readFileSync } from "node:fs"
import { Directory, SandboxData } from "@workshop/core/store"
import { SettableClock } from "@workshop/core/testing"
import { checkSchema, grantRoles, migrate, rolesSql } from "@workshop/store-pg/migrate"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { createTicket } from "../../../core/src/decisions/createTicket.js"
import { setWebhook } from "../../../core/src/decisions/webhookSettings.js"
import { openShop, runCommand, ticketInput } from "../../../core/src/testing/Fixtures.js"
import { applyMigrations } from "../../src/cells/CellMigrations.js"
import { PACKAGE_MIGRATIONS } from "../../src/migrate/Migration.js"
import { hiddenColumns, serviceRights } from "../../src/migrate/Rights.js"
import { openMigrationSession } from "../../src/migrate/Session.js"
import { retention } from "../../src/retention/Retention.js"
import { testDatabase } from "../cluster/TestDatabase.js"
import { node, runTest } from "../nodes/Node.js"
import { as, databaseOfRoles, renameRoles, roleIn } from "./TestRoles.js"

const file = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), "utf8")

const DENIED = "42501"
const JANUARY = Date.parse("2027-01-15T12:00:00Z")
const DAY = 24 * 60 * 60 * 1000

/**
 * The append-only tables, written by hand because a list read from roles.sql could not reveal an error in that file.
 */
const APPENDED = ["event", "attempt", "loyalty_ledger", "notice", "audit_entry"]

describe("the service's role (docs/operating.md, Database roles)", { timeout: 120_000 }, () => {
  it("the service's role cannot change or remove rows of append-only tables, nor the list of migrations", () =>
    runTest(
      Effect.gen(function* () {
        const { service } = yield* databaseOfRoles()
        const session = yield* openMigrationSession(service)
        for (const table of APPENDED) {
          for (const sql of [`update ${table} set shop_id = shop_id`, `delete from ${table}`, `truncate ${table}`])
            expect([sql, (yield* Effect.flip(session.run(sql))).code]).toEqual([sql, DENIED])
        }
        for (const sql of [
          "update event set body = ''",
          "update event_rest set body = ''",
          "delete from event_rest",
          "delete from attempt_rest",
          "update notification set type = ''",
          "insert into schema_migration values (1000, '', '', now(), 1)",
          "delete from schema_migration",
          "drop table schema_migration",
          "create table mine (n integer)"
        ])
          expect([sql, (yield* Effect.flip(session.run(sql))).code]).toEqual([sql, DENIED])
        yield* session.run("select from schema_migration")
      })
    ))

  it("the service's role can rewrite events only during a client's erasure", () =>
    runTest(
      Effect.gen(function* () {
        const { service } = yield* databaseOfRoles()
        const session = yield* openMigrationSession(service)
        for (const name of ["rewrite_events", "rewrite_attempts"]) {
          const refused = yield* Effect.flip(session.run(`select ${name}('[]')`))
          expect([refused.code, refused.message]).toEqual(["55000", expect.stringContaining("no erasure is under way")])
        }
        yield* session.run("insert into client_erasure values (gen_random_uuid(), '', '', '{}')")
        for (const name of ["rewrite_events", "rewrite_attempts"]) yield* session.run(`select ${name}('[]')`)
      })
    ))

  it("the service's role can remove all data only if a sandbox created the data", () =>
    runTest(
      Effect.gen(function* () {
        const { service } = yield* databaseOfRoles()
        const ports = yield* node({ url: service })
        yield* Effect.gen(function* () {
          const { id } = yield* openShop()
          const [{ clear }, { listShops, markSandboxMade, isSandboxMade }] = [yield* SandboxData, yield* Directory]
          expect(yield* clear).toBe(false)
          expect((yield* listShops(null, 2)).map((shop) => shop.id)).toEqual([id])
          yield* markSandboxMade
          expect(yield* clear).toBe(true)
          expect([yield* listShops(null, 2), yield* isSandboxMade]).toEqual([[], true])
        }).pipe(Effect.provide(ports))
      })
    ))

  it("the service's role has exactly the rights that the store's statements use", () => {
    const text = file("packages/store-pg/statements.sql")
      .replaceAll(/"|\bworkshop\./g, "")
      .replaceAll(/\/\*.*?\*\//g, "")
    const used = (pattern: RegExp) => new Set([...text.matchAll(pattern)].map(([, table]) => table!))
    const inserted = used(/\binsert\s+into (\w+)/g)
    const deleted = used(/\bdelete\s+from (\w+)/g)
    const updated = new Set([
      ...used(/(?:^|\()\s*update\s+(\w+) (?:\w+ )?set\b/gm),
      ...[...text.matchAll(/\binsert\s+into (\w+)[^;]*?\bdo update set\b/g)].map(([, table]) => table!)
    ])
    // Only a role that may not call maintain_partition deletes from these tables directly.
    for (const table of ["event_rest", "attempt_rest"]) deleted.delete(table)
    // statements.sql has no statements of several cells. PgCells.test.ts runs those as this role.
    const ofCells = ["cell", "shop_cell", "api_key_cell", "stale_account_copy"]
    for (const set of [inserted, deleted, updated]) for (const table of ofCells) set.delete(table)
    const granted = (right: string) =>
      Object.entries(serviceRights).flatMap(([table, rights]) =>
        (rights as ReadonlyArray<string>).includes(right) && !ofCells.includes(table) ? [table] : []
      )
    expect(granted("insert").sort()).toEqual([...inserted].sort())
    expect(granted("delete").sort()).toEqual([...deleted].sort())
    expect(granted("update").sort()).toEqual([...updated].sort())
  })

  it("the service's role can create partitions, drop them and remove old rows", () => {
    const clock = new SettableClock(JANUARY)
    return runTest(
      Effect.gen(function* () {
        const { url, service } = yield* databaseOfRoles()
        const session = yield* openMigrationSession(url)
        yield* session.run(
          `insert into event select gen_random_uuid(), gen_random_uuid(), 'ping', 1, null, ${JANUARY - 200 * DAY}, '{}' from generate_series(1, 1500)`
        )
        yield* session.run(
          `insert into notification (shop_id, id, client_id, type, ticket, ticket_id, created_at)
          select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'ready', '{}', gen_random_uuid(), 0`
        )
        const report = yield* (yield* retention({ url: service })).runOnce
        expect(report).toMatchObject({ missing: [], removed: 1500, expired: 1 })
        expect(report?.created).toHaveLength(6)
        clock.set(JANUARY + 200 * DAY)
        const later = yield* (yield* retention({ url: service })).runOnce
        expect(later?.dropped).toContain("event_2027_01")
        // The service's role has no rights on a new partition itself.
        expect(
          (yield* Effect.flip((yield* openMigrationSession(service)).run("update event_2027_08 set body = ''"))).code
        ).toBe(DENIED)
      }),
      clock
    )
  })
})

describe("the reading role (docs/operating.md, Database roles)", { timeout: 60_000 }, () => {
  it("the reading role can read tickets and deliveries, cannot read hashes, secrets or phone numbers, and cannot write", () =>
    runTest(
      Effect.gen(function* () {
        const { service, reader } = yield* databaseOfRoles()
        const ports = yield* node({ url: service })
        yield* Effect.gen(function* () {
          const { id } = yield* openShop()
          yield* runCommand(setWebhook(id, { url: "https://example.com/", secret: "whsec_x" }))
          yield* runCommand(createTicket(id, ticketInput(), { via: "api", foundWords: [] }))
        }).pipe(Effect.provide(ports))
        const session = yield* openMigrationSession(reader)
        expect(yield* session.run("select number, state, service from ticket")).toHaveLength(1)
        expect(yield* session.run("select * from delivery")).toHaveLength(1)
        for (const sql of [
          "select * from ticket",
          "select client_phone from ticket",
          "select phone from client_account",
          "select phone from offer",
          "select phones from client_erasure",
          "select hash from api_key",
          "select secret from webhook",
          "select previous_secret from webhook",
          "select body from event",
          "select body from event_rest",
          "select head from attempt",
          "select ticket from notification",
          "select response from idempotency_record",
          "update ticket set service = ''",
          "select maintain_partition('drop', 'event', '2026_01', 0, 0)"
        ])
          expect([sql, (yield* Effect.flip(session.run(sql))).code]).toEqual([sql, DENIED])
      })
    ))

  it("the reading role has no right on any column with phone, hash, secret or address in its name", () => {
    const tables = [
      ...file("packages/store-pg/schema.sql").matchAll(/^create (?:unlogged )?table (\w+) \(\n([^;]*?)\n\)/gm)
    ]
    const named = tables.flatMap(([, table, body]) =>
      [...body!.matchAll(/^ {2}(\w*(?:phone|hash|secret|url|body)\w*) /gm)].map(([, column]) => [table!, column!])
    )
    const harmless = ["ticket.photo_url", "shop.tracking_base_url"]
    const readable = named.filter(([table, column]) => {
      const hidden = hiddenColumns[table!] ?? []
      return !hidden.includes("*") && !hidden.includes(column!) && !harmless.includes(`${table}.${column}`)
    })
    expect(named.length).toBeGreaterThan(8)
    expect(readable).toEqual([])
  })
})

/** Creates a database and its roles with the statements of `make`, as an operator would, and runs `act` there. */
const withRoles = (
  make: (database: string) => ReadonlyArray<string>,
  act: (url: string, owner: string, service: string) => Effect.Effect<void, unknown>
) =>
  runTest(
    Effect.gen(function* () {
      const { url } = yield* testDatabase
      const admin = yield* openMigrationSession(url)
      const rolesUrl = new URL(url)
      rolesUrl.pathname = `${rolesUrl.pathname}_roles`
      const database = rolesUrl.pathname.slice(1)
      const roles = ["owner", "service", "reader"].map((role) => roleIn(rolesUrl.href, `workshop_${role}`))
      yield* Effect.acquireRelease(
        Effect.forEach(make(database), (sql) => admin.run(sql)),
        () =>
          Effect.orDie(
            Effect.forEach(
              [
                `drop database if exists ${database} with (force)`,
                ...roles.map((role) => `drop role if exists ${role}`)
              ],
              (sql) => admin.run(sql)
            )
          )
      )
      yield* act(rolesUrl.href, as(rolesUrl.href, roles[0]!), as(rolesUrl.href, roles[1]!))
    })
  )

const grantedBy = (url: string, owner: string, service: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      expect(yield* migrate(owner)).toHaveLength(PACKAGE_MIGRATIONS.length)
      const grant = Effect.flatMap(Effect.sync(rolesSql), (sql) =>
        Effect.flatMap(openMigrationSession(owner), ({ run }) => run(renameRoles(url, sql)))
      )
      yield* grant
      yield* grant
      yield* checkSchema(service)
      const session = yield* openMigrationSession(service)
      expect(yield* session.run("select rolsuper from pg_roles where rolname = current_user")).toEqual([
        { rolsuper: false }
      ])
      expect((yield* Effect.flip(session.run("update event set body = ''"))).code).toBe(DENIED)
      expect((yield* Effect.flip(session.run("create table mine (n integer)"))).code).toBe(DENIED)
      const granting = yield* Effect.flip(grantRoles(service))
      expect(granting.message).toContain("The database role may not grant the rights. Use the owner of the tables")
      const next = {
        ...PACKAGE_MIGRATIONS.at(-1)!,
        version: PACKAGE_MIGRATIONS.length + 1,
        name: "9999_mine",
        checksum: "mine"
      }
      const later = { ...next, isTransactional: true, statements: ["create table workshop.mine (n integer)"] }
      const migrating = yield* Effect.flip(applyMigrations(service, {}, [...PACKAGE_MIGRATIONS, later]))
      expect(migrating.message).toMatch(/^The database role may not migrate\. Use the owner of the tables/)
      const entries = yield* session.run("select from audit_entry where act = 'database.roles_granted'")
      expect(entries).toHaveLength(0)
      expect((yield* (yield* retention({ url: service })).runOnce)?.missing).toEqual([])
    })
  )

describe("roles that an operator creates", { timeout: 120_000 }, () => {
  it("the statements of docs/operating.md set the roles up: the owner migrates and grants, and a second run changes nothing", () => {
    const [page = ""] = [...file("docs/operating.md").matchAll(/```sql\n([\s\S]*?)```/g)].map(([, sql = ""]) => sql)
    return withRoles(
      (database) =>
        renameRoles(`postgres://x/${database}`, page)
          .replace(/create database workshop\b/, `create database ${database}`)
          .split(";")
          .filter((sql) => sql.trim() !== ""),
      grantedBy
    )
  })

  it("the statements of compose.yaml set the roles up, and its migration grants the rights", () =>
    withRoles(
      (database) => [`create database ${database}`],
      (url, owner, service) =>
        Effect.scoped(
          Effect.gen(function* () {
            const composed = file("compose/roles.sql")
              .replaceAll(/^(--|\\).*\n/gm, "")
              .replaceAll(/:'\w+'/g, "'secret'")
            yield* (yield* openMigrationSession(url)).run(renameRoles(url, composed))
            yield* grantedBy(url, owner, service)
          })
        )
    ))

  it("if a role is missing and the owner may not create it, the error names the role and the statement that creates it", () =>
    withRoles(
      (database) => {
        const owner = roleIn(`postgres://x/${database}`, "workshop_owner")
        return [`create role ${owner}`, `create database ${database} owner ${owner}`]
      },
      (url, owner) =>
        Effect.scoped(
          Effect.gen(function* () {
            yield* migrate(owner)
            const grant = renameRoles(url, rolesSql())
            const { message } = yield* Effect.flip((yield* openMigrationSession(owner)).run(grant))
            expect(message).toMatch(
              /^Postgres reported: the role workshop_service\S* does not exist, and workshop_owner\S* may not create it\. As a superuser, run "create role workshop_service\S*"\.$/
            )
          })
        )
    ))

  it("granting the roles again revokes the rights that an earlier docs/operating.md granted, including rights on future tables", () =>
    runTest(
      Effect.gen(function* () {
        const { url, service } = yield* databaseOfRoles()
        const session = yield* openMigrationSession(url)
        const role = roleIn(url, "workshop_service")
        yield* session.run(`alter default privileges grant select, insert, update, delete on tables to ${role};
          alter default privileges in schema workshop grant all on tables to ${role};
          grant all on all tables in schema workshop to ${role}`)
        yield* session.run(renameRoles(url, rolesSql()))
        yield* session.run("create table later (n integer)")
        // The state after a restore without privileges.
        yield* session.run("grant execute on function rewrite_events(json) to public")
        yield* session.run(renameRoles(url, rolesSql()))
        const stranger = roleIn(url, "workshop_reader")
        expect(
          yield* session.run(`select has_function_privilege('${stranger}', 'rewrite_events(json)', 'execute') as may`)
        ).toEqual([{ may: false }])
        const serviceSession = yield* openMigrationSession(service)
        for (const sql of ["select from later", "update event set body = ''", "update event_rest set body = ''"])
          expect([sql, (yield* Effect.flip(serviceSession.run(sql))).code]).toEqual([sql, DENIED])
      })
    ))
})
