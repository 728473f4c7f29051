import { readFileSync } from "node:fs"
import { migrationsIn, OURS } from "@workshop/store-pg/migrate/Migration"
import { check, migrate } from "@workshop/store-pg/migrate/Migrator"
import { connect } from "@workshop/store-pg/migrate/Session"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { testDatabase } from "../cluster/TestDatabase.js"

const page = readFileSync(new URL("../../../../docs/operating.md", import.meta.url), "utf8")
const NAMES = ["workshop_owner", "workshop_service", "workshop"]

/** The page's statements, with names that no other run of the tests has. */
const [create = "", grant = "", execute = ""] = [...page.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, sql = ""]) =>
  sql.replaceAll(new RegExp(`\\b(${NAMES.join("|")})\\b`, "g"), `$1_${process.pid}`)
)
const [owner = "", service = "", database = ""] = NAMES.map((name) => `${name}_${process.pid}`)

const as = (url: string, role: string): string => {
  const theirs = new URL(url)
  theirs.pathname = `/${database}`
  theirs.searchParams.set("options", `-c role=${role}`)
  return theirs.href
}

const DROPPED = [
  `drop database if exists ${database}`,
  `drop role if exists ${owner}`,
  `drop role if exists ${service}`
]

it("the service's role reads and writes rows of every table, and cannot change the schema (docs/operating.md)", async () => {
  await Effect.gen(function* () {
    const { url } = yield* testDatabase
    const admin = yield* connect(url)
    const statements = create.split(";").filter((sql) => sql.trim() !== "")
    yield* Effect.acquireRelease(
      Effect.forEach(statements, (sql) => admin.run(sql)),
      () => Effect.orDie(Effect.forEach(DROPPED, (sql) => admin.run(sql)))
    )
    yield* Effect.scoped(
      Effect.gen(function* () {
        yield* (yield* connect(as(url, owner))).run(grant)
        expect(yield* migrate(as(url, owner))).toHaveLength((yield* migrationsIn(OURS)).length)
        yield* (yield* connect(as(url, owner))).run(execute)
        yield* check(as(url, service))
        const session = yield* connect(as(url, service))
        const closed =
          yield* session.run(`select relname from pg_class where relnamespace = 'public'::regnamespace and (
          relkind in ('r', 'p') and not (has_table_privilege(oid, 'select') and has_table_privilege(oid, 'insert')
            and has_table_privilege(oid, 'update') and has_table_privilege(oid, 'delete'))
          or relkind = 'S' and not has_sequence_privilege(oid, 'usage'))`)
        expect(closed).toEqual([])
        expect((yield* Effect.flip(session.run("create table mine (n integer)"))).code).toBe("42501")
        expect((yield* Effect.flip(session.run("drop table schema_migration"))).code).toBe("42501")
      })
    )
  }).pipe(Effect.scoped, Effect.runPromise)
}, 30_000)

/** The statements of compose/roles.sql as its psql would send them, with names that no other run of the tests has. */
const composed = readFileSync(new URL("../../../../compose/roles.sql", import.meta.url), "utf8")
  .replaceAll(/^(--|\\).*\n/gm, "")
  .replaceAll(/:'\w+'/g, "'secret'")
  .replaceAll(/\bworkshop_(owner|service)\b/g, `workshop_$1_${process.pid}`)

it("compose.yaml's roles are no superusers; one migrates, the other serves and makes partitions (compose/roles.sql)", async () => {
  await Effect.gen(function* () {
    const { url } = yield* testDatabase
    const admin = yield* connect(url)
    yield* Effect.acquireRelease(admin.run(`create database ${database}`), () =>
      Effect.orDie(Effect.forEach(DROPPED, (sql) => admin.run(sql)))
    )
    yield* Effect.scoped(
      Effect.gen(function* () {
        const there = new URL(url)
        there.pathname = `/${database}`
        yield* (yield* connect(there.href)).run(composed)
        expect(yield* migrate(as(url, owner))).toHaveLength((yield* migrationsIn(OURS)).length)
        yield* check(as(url, service))
        const session = yield* connect(as(url, service))
        const [rights] = yield* session.run(`select rolsuper, has_function_privilege(
          'keep_partition(text, text, text, bigint, bigint)', 'execute') as keeps from pg_roles where rolname = current_user`)
        expect(rights).toEqual({ rolsuper: false, keeps: true })
        expect(yield* session.run("select * from shop")).toEqual([])
        expect((yield* Effect.flip(session.run("create table mine (n integer)"))).code).toBe("42501")
      })
    )
  }).pipe(Effect.scoped, Effect.runPromise)
}, 30_000)
