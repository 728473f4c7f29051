import { Effect, Schedule } from "effect"
import { DENIED } from "../connection/DatabaseFailed.js"
import { quoteSchema } from "../connection/Schema.js"
import { MigrationFailed, MoveRefused, SchemaNotMade } from "./MigrationError.js"
import { serviceFunctions, serviceRights } from "./Rights.js"
import type { Session } from "./Session.js"
import { isBusy, LOCK_TIMEOUT } from "./TableLock.js"

/*
 * Moves the tables of the workshop from one schema of a database to another with `alter … set schema` in one
 * transaction, which copies no data.
 */

const TYPES = ["instant", "limit_window"]

/** The names of what is moved. */
interface MovedNames {
  readonly tables: ReadonlyArray<string>
  readonly sequences: ReadonlyArray<string>
  /** The functions that name tables, with the types of their parameters. Their `search_path` must be their schema. */
  readonly functions: ReadonlyArray<string>
}

const PRESENT: MovedNames = { tables: Object.keys(serviceRights), sequences: [], functions: serviceFunctions }

/** The migration that renamed tables and a function, and their names before it. */
const RENAMED_BY = 33
const FORMER_NAMES: Readonly<Record<string, string>> = {
  api_key_cell: "key_cell",
  backlogged_queue: "delivery_round",
  database_label: "mark",
  delivery_queue: "delivery_turn",
  idempotency_record: "remembered",
  queued_notification: "message",
  stale_account_copy: "account_copy",
  stamp_limit: "stamps_used"
}
const FORMER: MovedNames = {
  tables: [...PRESENT.tables.map((name) => FORMER_NAMES[name] ?? name), "server_life"],
  sequences: ["delivery_turns"],
  functions: PRESENT.functions.map((name) => name.replace("maintain_partition", "keep_partition"))
}

/**
 * Shows whether the workshop's tables have the old or the new names, because other programs' tables in the schema may
 * have either.
 */
const namesIn = (session: Session, schema: string) =>
  Effect.map(
    session.run<{ version: number }>(`select max(version) as version from ${quoteSchema(schema)}.schema_migration`),
    ([row]) => (row!.version < RENAMED_BY ? FORMER : PRESENT)
  )

/** All tables of the workshop, including the partitions of months, whether attached or not. */
const FIND = `select c.relname as name from pg_class c
  where c.relnamespace = to_regnamespace($1) and c.relkind in ('r', 'p')
    and (c.relname = any ($2::text[]) or c.relname ~ '^(event|attempt)_[0-9]{4}_[0-9]{2}$') order by 1`

/** Selects the other connections of workshop processes to this database, as far as this role can see their names. */
const OTHERS = `select from pg_stat_activity a
  where a.datname = current_database() and a.pid <> pg_backend_pid() and a.application_name like 'workshop %'`

const BUSY_RETRIES = Schedule.intersect(Schedule.jittered(Schedule.spaced("250 millis")), Schedule.recurs(240))

const isThere = (session: Session, schema: string) =>
  Effect.map(
    session.run<{ is_there: boolean }>("select to_regclass($1) is not null as is_there", [
      `${quoteSchema(schema)}.schema_migration`
    ]),
    ([row]) => row?.is_there === true
  )

/**
 * Creates the schema unless it exists. Checks first, because Postgres requires the right to create even if the schema
 * exists.
 */
export const makeSchema = (session: Session, schema: string) =>
  Effect.gen(function* () {
    const schemas = yield* session.run("select from pg_namespace where nspname = $1", [schema])
    if (schemas.length > 0) return
    yield* session.run(`create schema ${quoteSchema(schema)}`).pipe(
      Effect.catchIf(
        ({ code }) => code === DENIED,
        () =>
          Effect.flatMap(
            session.run<{ role: string }>("select current_user as role"),
            ([row]) => new SchemaNotMade({ schema, role: row!.role })
          )
      )
    )
  })

/** Selects the roles with rights on the tables, because they need a right on the new schema too. */
const GRANTEES = `select distinct case r.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(r.grantee)) end as name
  from pg_class c, aclexplode(c.relacl) r where c.relnamespace = to_regnamespace($1) and c.relname = any ($2::text[]) and r.grantee <> c.relowner`

const setSchema = (session: Session, from: string, to: string, names: MovedNames) =>
  Effect.gen(function* () {
    const tables = (yield* session.run<{ name: string }>(FIND, [quoteSchema(from), names.tables])).map(
      ({ name }) => name
    )
    const grantees = yield* session.run<{ name: string }>(GRANTEES, [quoteSchema(from), tables])
    const [own, other] = [quoteSchema(from), quoteSchema(to)]
    yield* session.run(`begin; set local lock_timeout = '${LOCK_TIMEOUT}'`)
    yield* session.run(
      `lock table ${tables.map((name) => `${own}.${quoteSchema(name)}`).join(", ")} in access exclusive mode`
    )
    yield* session.run(
      [
        ...grantees.map(({ name }) => `grant usage on schema ${other} to ${name}`),
        ...tables.map((name) => `alter table ${own}.${quoteSchema(name)} set schema ${other}`),
        ...names.sequences.map((name) => `alter sequence ${own}.${name} set schema ${other}`),
        `alter function ${own}.at(${own}.instant) set schema ${other}`,
        ...names.functions.map((name) => `alter function ${own}.${name} set schema ${other}`),
        ...names.functions.map((name) => `alter function ${other}.${name} set search_path = ${other}, pg_temp`),
        ...TYPES.map((name) => `alter type ${own}.${name} set schema ${other}`),
        "commit"
      ].join(";\n")
    )
  }).pipe(
    Effect.onError(() => Effect.exit(session.run("rollback"))),
    Effect.retry({ while: isBusy, schedule: BUSY_RETRIES })
  )

/**
 * Moves the tables from one schema to another in one transaction. Returns false if the tables are in the new schema
 * already.
 */
export const move = (session: Session, from: string, to: string) =>
  Effect.gen(function* () {
    const [isOld, isNew] = [yield* isThere(session, from), yield* isThere(session, to)]
    if (from === to || (isNew && !isOld)) return false
    if (!isOld)
      return yield* new MoveRefused({
        message: `The schema ${from} does not have the workshop's tables. Correct --move-from.`
      })
    if (isNew)
      return yield* new MoveRefused({
        message: `The schemas ${from} and ${to} both have the workshop's tables. Omit --move-from, and choose one of the schemas with --schema.`
      })
    const names = yield* namesIn(session, from)
    // Their statements name the schema, or tables that the migrations after the move rename.
    const others = yield* session.run(OTHERS)
    if (others.length > 0)
      return yield* new MoveRefused({
        message: `Processes of the workshop are connected to the database (${others.length === 1 ? "1 connection" : `${others.length} connections`}). Stop these processes, because they would not find the tables after the move.`
      })
    yield* makeSchema(session, to)
    yield* setSchema(session, from, to, names)
    return true
  }).pipe(
    Effect.catchTag("DatabaseFailed", ({ code, what }) =>
      Effect.fail(
        new MigrationFailed({
          name: `from ${from} to ${to}`,
          code,
          message: `The tables could not be moved from ${from} to ${to}, and are still in ${from} (${what}). Solve this problem, or wait until no transaction uses the tables. Then run workshop migrate again.`
        })
      )
    )
  )
