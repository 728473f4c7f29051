import { Entropy } from "@workshop/core"
import { checkSchema, migrate } from "@workshop/store-pg/migrate"
import { Clock, Effect, Fiber, Layer, Logger, Schedule } from "effect"
import { describe, expect, it } from "vitest"
import { applyMigrations } from "../../src/cells/CellMigrations.js"
import { lockOf } from "../../src/connection/Schema.js"
import { layer as migratedStore } from "../../src/MigratedStore.js"
import { migrationsOf, PACKAGE_MIGRATIONS } from "../../src/migrate/Migration.js"
import { checkSchemaAgainst } from "../../src/migrate/Migrator.js"
import { openMigrationSession } from "../../src/migrate/Session.js"
import { testDatabase } from "../cluster/TestDatabase.js"
import { emptySchema, type Files } from "./Fixture.js"

const INSTANT = Date.parse("2026-03-01T10:00:00.000Z")
const LONG = 30_000

const FIRST: Files = { "0001_letter.sql": "create table letter (id integer primary key, words text);" }
const BOTH: Files = {
  ...FIRST,
  "0002_sender.sql": "alter table letter add sender text; insert into letter values (1, 'hello', 'me');"
}

const atInstant = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.withClock(effect, Object.assign(Clock.make(), { currentTimeMillis: Effect.succeed(INSTANT) }))

const run = <A, E>(effect: Effect.Effect<A, E, import("effect").Scope.Scope>) =>
  Effect.runPromise(Effect.scoped(effect))

const migrated = (files: Files) =>
  Effect.gen(function* () {
    const place = yield* emptySchema
    yield* applyMigrations(place.url, place.at, migrationsOf(files))
    return place
  })

/** A logger that records the level and the text of each line. */
const recordedLogs = () => {
  const logs: Array<string> = []
  const logging = Logger.replace(
    Logger.defaultLogger,
    Logger.make(({ logLevel, message }) => void logs.push(`${logLevel.label} ${message}`))
  )
  return { logs, logging }
}

describe("migrate", { timeout: LONG }, () => {
  it("migrate applies each missing migration once, in order, and records the current time of Effect's Clock", () =>
    run(
      Effect.gen(function* () {
        const { url, at, session } = yield* emptySchema
        expect(yield* applyMigrations(url, at, migrationsOf(FIRST))).toEqual(["0001_letter"])
        const both = migrationsOf(BOTH)
        expect(yield* atInstant(applyMigrations(url, at, both))).toEqual(["0002_sender"])
        expect(yield* applyMigrations(url, at, both)).toEqual([])
        expect(yield* session.run("select * from letter")).toEqual([{ id: 1, words: "hello", sender: "me" }])
        const rows = yield* session.run(
          "select version, name, length(checksum) as hex from schema_migration order by 1"
        )
        expect(rows).toEqual([
          { version: 1, name: "0001_letter", hex: 64 },
          { version: 2, name: "0002_sender", hex: 64 }
        ])
        const [last] = yield* session.run("select applied_at from schema_migration where version = 2")
        expect(last).toEqual({ applied_at: new Date(INSTANT) })
      })
    ))

  it("migrate and the check at a start refuse a database whose encoding is not UTF8, and name its encoding", () =>
    run(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        const session = yield* openMigrationSession(url)
        const name = `${new URL(url).pathname.slice(1)}_latin`
        yield* session.run(`create database ${name} encoding 'LATIN1' locale 'C' template template0`)
        yield* Effect.addFinalizer(() => Effect.orDie(session.run(`drop database ${name} with (force)`)))
        const latin = new URL(url)
        latin.pathname = name
        for (const refusal of [yield* Effect.flip(migrate(latin.href)), yield* Effect.flip(checkSchema(latin.href))]) {
          expect([refusal._tag, refusal.message]).toEqual([
            "EncodingRefused",
            "The database has the encoding LATIN1, which cannot store every character. Create a database with the encoding UTF8 (createdb --encoding=UTF8 --template=template0), and use that database."
          ])
        }
        expect(
          yield* Effect.scoped(
            Effect.flatMap(openMigrationSession(latin.href), (it) =>
              it.run("select from pg_tables where schemaname in ('public', 'workshop')")
            )
          )
        ).toEqual([])
      })
    ))

  it("if several processes migrate at once, one applies the migrations and the others apply none", () =>
    run(
      Effect.gen(function* () {
        const { url, at, session } = yield* emptySchema
        const folder = migrationsOf(BOTH)
        const applied = yield* Effect.all(
          [applyMigrations(url, at, folder), applyMigrations(url, at, folder), applyMigrations(url, at, folder)],
          {
            concurrency: "unbounded"
          }
        )
        expect(applied.flat()).toEqual(["0001_letter", "0002_sender"])
        expect(yield* session.run("select count(*)::int as n from letter")).toEqual([{ n: 1 }])
      })
    ))

  it("migrate can be interrupted while it waits for another process, and then no longer waits for the lock", () =>
    run(
      Effect.gen(function* () {
        const { url, at, session } = yield* emptySchema
        const folder = migrationsOf(FIRST)
        yield* session.run(`select pg_advisory_lock(${lockOf(7305808, at.schema)})`)
        const fiber = yield* Effect.fork(applyMigrations(url, at, folder))
        yield* session
          .run("select from pg_stat_activity where query like 'select pg_try_advisory_lock(7305808,%'")
          .pipe(
            Effect.filterOrFail((rows) => rows.length > 0),
            Effect.retry(Schedule.intersect(Schedule.spaced("20 millis"), Schedule.recurs(500)))
          )
        yield* Fiber.interrupt(fiber)
        yield* session.run(`select pg_advisory_unlock(${lockOf(7305808, at.schema)})`)
        expect(yield* applyMigrations(url, at, folder)).toEqual(["0001_letter"])
      })
    ))

  it("migrate refuses a schema that already has a table with the name of one of the first migration's tables", () =>
    run(
      Effect.gen(function* () {
        const { url, at, session } = yield* emptySchema
        yield* session.run(`create schema if not exists "${at.schema}"; create table "${at.schema}".letter (n integer)`)
        const error = yield* Effect.flip(applyMigrations(url, at, migrationsOf(FIRST)))
        expect(error.message).toBe(
          'The schema contains objects that the service did not create (Postgres reported: relation "letter" already exists). Choose another name with --schema or the option schema.'
        )
      })
    ))

  it("a failed migration is rolled back, and the earlier migrations stay applied", () =>
    run(
      Effect.gen(function* () {
        const { url, at, session } = yield* emptySchema
        const broken = { ...FIRST, "0002_broken.sql": "create table half (n integer); select 1 / 0;" }
        const error = yield* Effect.flip(applyMigrations(url, at, migrationsOf(broken)))
        expect(error._tag).toBe("MigrationFailed")
        expect(error.message).toBe(
          "The migration 0002_broken failed (Postgres reported: division by zero). Solve this problem, and run workshop migrate again."
        )
        expect(yield* session.run("select to_regclass('half') as half, to_regclass('letter')::text as letter")).toEqual(
          [{ half: null, letter: "letter" }]
        )
        expect(yield* applyMigrations(url, at, migrationsOf(BOTH))).toEqual(["0002_sender"])
      })
    ))

  it("a migration with `no transaction` in its header runs outside a transaction, so that it can build indexes concurrently", () =>
    run(
      Effect.gen(function* () {
        const { url, at, session } = yield* emptySchema
        const index = [
          "-- no transaction",
          "-- What an attempt that was cut short has left is of no use.",
          "drop index concurrently if exists by_words;",
          "create index concurrently by_words on letter (words);"
        ].join("\n")
        const applied = yield* applyMigrations(url, at, migrationsOf({ ...FIRST, "0002_index.sql": index }))
        expect(applied).toEqual(["0001_letter", "0002_index"])
        const valid = yield* session.run("select indisvalid from pg_index where indexrelid = 'by_words'::regclass")
        expect(valid).toEqual([{ indisvalid: true }])
      })
    ))

  it("migrate gives up a lock request after its timeout, so that queries behind it can proceed, and then retries", () =>
    run(
      Effect.gen(function* () {
        const { url, at, session } = yield* migrated(FIRST)
        yield* session.run("create sequence attempts")
        // A sequence also counts attempts that were rolled back.
        const sql = "select nextval('attempts'); alter table letter add seen boolean;"
        const folder = migrationsOf({ ...FIRST, "0002_seen.sql": sql })
        yield* session.run("begin; lock table letter in access share mode")
        const fiber = yield* Effect.fork(applyMigrations(url, at, folder))
        yield* session.run<{ again: boolean }>("select last_value > 1 as again from attempts").pipe(
          Effect.filterOrFail(([row]) => row?.again === true),
          Effect.retry(Schedule.intersect(Schedule.spaced("20 millis"), Schedule.recurs(500)))
        )
        yield* session.run("select words from letter")
        yield* session.run("commit")
        expect(yield* Fiber.join(fiber)).toEqual(["0002_seen"])
      })
    ))
})

describe("rolling upgrades", { timeout: LONG }, () => {
  const EXPANDING = { ...FIRST, "0002_sender.sql": "alter table letter add sender text not null default 'me';" }

  it("a release keeps running, and can start again, after a later release has only added to the schema", () =>
    run(
      Effect.gen(function* () {
        const { url, at } = yield* migrated(EXPANDING)
        const old = migrationsOf(FIRST)
        yield* checkSchemaAgainst(url, at, old)
        expect(yield* applyMigrations(url, at, old)).toEqual([])
        yield* checkSchemaAgainst(url, at, migrationsOf(EXPANDING))
      })
    ))

  it("a program that still needs a column that a migration removed is refused, and a later program is not", () =>
    run(
      Effect.gen(function* () {
        const contracted = {
          ...EXPANDING,
          "0003_words.sql": "-- Nobody reads it.\n-- readable from 2\nalter table letter drop words;"
        }
        const { url, at } = yield* migrated(contracted)
        expect((yield* Effect.flip(checkSchemaAgainst(url, at, migrationsOf(FIRST))))._tag).toBe("SchemaNewer")
        yield* checkSchemaAgainst(url, at, migrationsOf(EXPANDING))
      })
    ))

  it("migrate adds the column readable_from to the table of migrations of an old release", () =>
    run(
      Effect.gen(function* () {
        const { url, at, session } = yield* migrated(FIRST)
        yield* session.run("alter table schema_migration drop readable_from")
        yield* checkSchemaAgainst(url, at, migrationsOf(FIRST))
        expect(yield* applyMigrations(url, at, migrationsOf(BOTH))).toEqual(["0002_sender"])
      })
    ))

  it("migrate warns once if it creates a new, empty schema while other schemas have the workshop's tables", () => {
    const { logs, logging } = recordedLogs()
    return run(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        const database = new URL(url).pathname.slice(1)
        const session = yield* openMigrationSession(url)
        yield* session.run("drop schema workshop cascade")
        for (const schema of ["tickets", "tickets", "tikets"]) yield* Effect.provide(migrate(url, { schema }), logging)
        expect(logs).toEqual([
          `WARN The schema tikets of the database ${database} is new and begins without data, but the database also has the workshop's tables in tickets. If the name of the schema is wrong, correct it`
        ])
      })
    )
  })

  it("a store that migrates logs the number of applied migrations and the schema, and logs nothing if there were none", () => {
    const { logs, logging } = recordedLogs()
    return run(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        yield* (yield* openMigrationSession(url)).run("drop schema workshop cascade")
        // Two servers, because `new URL` cannot parse such an address.
        const servers = url.replace(new URL(url).host, `${new URL(url).host},${new URL(url).host}`)
        const options = { url: servers, schema: "orders" }
        const start = Effect.scoped(Layer.build(Layer.provide(migratedStore(options), Entropy.layer)))
        yield* Effect.provide(start, logging)
        yield* Effect.provide(start, logging)
        const database = new URL(url).pathname.slice(1)
        expect(logs).toEqual([
          expect.stringMatching(
            new RegExp(`^INFO Applied \\d+ migrations to the schema orders of the database ${database}$`)
          )
        ])
      })
    )
  })

  it("with createSchema: false, a store refuses a schema without tables, names it, and creates nothing", () =>
    run(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        const database = new URL(url).pathname.slice(1)
        const session = yield* openMigrationSession(url)
        const options = { schema: "tikets", createSchema: false }
        const started = Layer.build(Layer.provide(migratedStore({ url, ...options }), Entropy.layer))
        expect(yield* Effect.flip(Effect.scoped(started))).toMatchObject({
          _tag: "SchemaMissing",
          message: `The schema tikets of the database ${database} does not have the workshop's tables, which are in workshop. Check the store's schema and url, or omit createSchema: false to begin in this schema without data.`
        })
        const schemas = yield* session.run("select from pg_namespace where nspname = 'tikets'")
        expect(schemas).toEqual([])
        yield* session.run("drop schema workshop cascade; create schema tikets")
        expect((yield* Effect.flip(migrate(url, options))).message).toMatch(
          /^The schema tikets of the database \w+ does not have the workshop's tables, and no other schema has them\. Check /
        )
        yield* migrate(url, { schema: "tikets" })
        yield* Effect.scoped(started)
      })
    ))

  it("migrate of an older program logs that a newer release made the schema, and applies nothing", () => {
    const logs: Array<string> = []
    const logging = Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ message }) => void logs.push(String(message)))
    )
    return run(
      Effect.gen(function* () {
        const { url, at } = yield* migrated(BOTH)
        expect(yield* Effect.provide(applyMigrations(url, at, migrationsOf(FIRST)), logging)).toEqual([])
        expect(logs).toEqual([
          "The database has version 2 of the schema, from a newer release than this program, which has version 1. This program can use the newer version, so it applied no migration."
        ])
      })
    )
  })

  it("a migration without a transaction is split into statements at a semicolon that ends a line, except inside a function body", () =>
    run(
      Effect.gen(function* () {
        const sql = [
          "-- Counts letters.",
          "-- no transaction",
          "create function letters() returns bigint language plpgsql as $body$",
          "begin",
          "  return (select count(*) from letter);",
          "end $body$;",
          "create index concurrently by_words on letter (words);"
        ].join("\n")
        const { session } = yield* migrated({ ...FIRST, "0002_count.sql": sql })
        expect(yield* session.run("select letters()::int as n")).toEqual([{ n: 0 }])
      })
    ))

  it("migrate refuses a database with an incompletely built index, and names the index and the remedy", () =>
    run(
      Effect.gen(function* () {
        const { url, at, session } = yield* migrated(FIRST)
        yield* session.run("insert into letter values (1, 'a'), (2, 'a')")
        yield* Effect.flip(session.run("create unique index concurrently one_word on letter (words)"))
        const refused = yield* Effect.flip(applyMigrations(url, at, migrationsOf(FIRST)))
        expect(refused.message).toBe(
          'The creation of these indexes was interrupted: one_word. For each index, run a statement such as "reindex index concurrently one_word". Then run workshop migrate again.'
        )
        yield* session.run("delete from letter where id = 2; reindex index one_word")
        expect(yield* applyMigrations(url, at, migrationsOf(FIRST))).toEqual([])
      })
    ))
})

describe("a database that does not match the program is refused with a remedy", { timeout: LONG }, () => {
  const refusal = (before: Files, after: Files, meanwhile = "select 1") =>
    run(
      Effect.gen(function* () {
        const { url, at, session } = yield* migrated(before)
        yield* session.run(meanwhile)
        const folder = migrationsOf(after)
        const [migrating, checking] = [
          yield* Effect.either(applyMigrations(url, at, folder)),
          yield* Effect.flip(checkSchemaAgainst(url, at, folder))
        ]
        return { migrating: migrating._tag === "Left" ? migrating.left.message : migrating.right, checking }
      })
    )

  it("migrate and check refuse a database that a later release made unusable for this program", async () => {
    const contracted = { ...BOTH, "0003_gone.sql": "-- readable from 2\nalter table letter drop sender;" }
    const { migrating, checking } = await refusal(contracted, FIRST)
    const message =
      "The database has version 3 of the schema, which needs at least version 2 of the program, but this program has version 1. Update the program."
    expect([checking._tag, checking.message, migrating]).toEqual(["SchemaNewer", message, message])
  })

  it("migrate and check refuse a migration whose file changed after it was applied, unless only the line endings changed", async () => {
    const changed = { "0001_letter.sql": "create table letter (id bigint primary key);" }
    const { migrating, checking } = await refusal(FIRST, changed)
    const message =
      "The migration 0001_letter was changed after it was applied to the database. Use the release that migrated the database, or undo the change to the migration."
    expect([checking._tag, checking.message, migrating]).toEqual(["MigrationChanged", message, message])
    const [unix, windows] = ["select 1;\nselect 2;\n", "select 1;\r\nselect 2;\r\n"]
    await run(
      Effect.gen(function* () {
        const { url, at } = yield* migrated({ "0001_ends.sql": unix })
        yield* checkSchemaAgainst(url, at, migrationsOf({ "0001_ends.sql": windows }))
      })
    )
  })

  it("migrate and check refuse a database that lacks a migration but has later ones", async () => {
    const { migrating, checking } = await refusal(BOTH, BOTH, "delete from schema_migration where version = 1")
    const message =
      "The database has not applied migration 1, but has applied later migrations. Restore the database from a backup, or ask who changed the table schema_migration."
    expect([checking._tag, checking.message, migrating]).toEqual(["MigrationGap", message, message])
  })

  it("migrationsOf refuses files that are not numbered from 1 without gaps", () => {
    const holed = { ...FIRST, "0003_late.sql": "select 1;" }
    expect(() => migrationsOf(holed)).toThrow("The number of the migration 0003_late.sql is missing or used twice")
  })

  it("migrate and check report an unreachable database with a remedy", async () => {
    const error = await run(Effect.flip(migrate("postgres://nobody@127.0.0.1:1/none")))
    expect(error.message).toBe(
      "The database cannot be reached (connect ECONNREFUSED 127.0.0.1:1). Check that the database server is running, and that the store's url has its address."
    )
  })
})

describe("check", { timeout: LONG }, () => {
  it("check refuses a database without tables, names the command that migrates it, and succeeds afterwards", () =>
    run(
      Effect.gen(function* () {
        const { url, at } = yield* emptySchema
        const folder = migrationsOf(BOTH)
        const before = yield* Effect.flip(checkSchemaAgainst(url, at, folder))
        expect(before.message).toBe(
          `The database has the workshop's tables in workshop, but not in the schema ${at.schema}. Check the store's schema, or run workshop migrate to begin in this schema without data.`
        )
        yield* applyMigrations(url, at, folder)
        yield* checkSchemaAgainst(url, at, folder)
      })
    ))

  it("check accepts a database that the packaged migrations created", () =>
    run(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        yield* checkSchema(url)
        expect(PACKAGE_MIGRATIONS.length).toBeGreaterThan(0)
      })
    ))
})
