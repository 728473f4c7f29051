import { Clock, Effect, Schedule } from "effect"
import { DENIED, NO_TABLE, withRoleRemedy } from "../connection/DatabaseFailed.js"
import { checkedSchema, type Database, inSchema, lockOf } from "../connection/Schema.js"
import { type FoundTables, SELECT_OTHER_SCHEMAS } from "../connection/TablesElsewhere.js"
import { type Migration, PACKAGE_MIGRATIONS } from "./Migration.js"
import {
  EncodingRefused,
  IndexInvalid,
  MigrationBusy,
  MigrationChanged,
  MigrationFailed,
  MigrationGap,
  SchemaBehind,
  type SchemaCheckError,
  SchemaMissing,
  SchemaNewer,
  TablesElsewhere
} from "./MigrationError.js"
import { makeSchema, move } from "./Move.js"
import { recordAct } from "./OperatorAudit.js"
import { openMigrationSession, type Session } from "./Session.js"
import { isBusy, LOCK_TIMEOUT } from "./TableLock.js"

/** A row of `schema_migration`. */
interface AppliedMigration {
  readonly version: number
  readonly name: string
  readonly checksum: string
  /** The oldest version of the program that can run on the schema since this migration. */
  readonly readable_from: number
}

const TABLE = `create table if not exists workshop.schema_migration (
  version integer primary key,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null,
  readable_from integer not null default 1
);
alter table workshop.schema_migration add column if not exists readable_from integer not null default 1`

/**
 * The number of the advisory lock that a process holds while it migrates a schema. Each database has its own advisory
 * locks.
 */
const LOCK = 7_305_808
/**
 * The pauses between attempts to lock a table. They grow, because a waiting migration blocks all later transactions on
 * the table.
 */
const PAUSES = Schedule.exponential("500 millis", 1.5).pipe(
  Schedule.union(Schedule.spaced("15 seconds")),
  Schedule.jittered
)
const BUSY = Schedule.intersect(PAUSES, Schedule.recurs(60))
const LOCK_RETRIES = Schedule.intersect(Schedule.spaced("200 millis"), Schedule.recurs(3000))

const readApplied = (session: Session, schema: string) =>
  // The table of an older program lacks `readable_from`. The statement reads the row as JSON, in which a missing column
  // is null.
  session
    .run<AppliedMigration>(
      inSchema(
        `select /* workshop schema version */ version, name, checksum, coalesce((to_jsonb(m) ->> 'readable_from')::integer, 1) as readable_from
      from workshop.schema_migration m order by version`,
        schema
      )
    )
    .pipe(
      Effect.catchIf(
        ({ code }) => code !== undefined && NO_TABLE.includes(code),
        () => Effect.succeed<ReadonlyArray<AppliedMigration>>([])
      )
    )

/** Refuses a database that cannot store every character, for example LATIN1, which has no "€". */
const checkEncoding = (session: Session) =>
  Effect.flatMap(
    session.run<{ readonly server_encoding: string }>(
      "select /* workshop encoding */ current_setting('server_encoding') as server_encoding"
    ),
    ([row]) => {
      const encoding = row!.server_encoding
      return encoding === "UTF8" ? Effect.void : new EncodingRefused({ encoding })
    }
  )

/** The oldest version of the program that can use the schema. */
const readableFrom = (rows: ReadonlyArray<{ readonly readable_from: number | null }>): number =>
  Math.max(1, ...rows.map(({ readable_from }) => readable_from ?? 1))

/**
 * Compares the applied migrations with this program's, and returns the missing ones. Accepts a newer schema if its
 * migrations only added to it, so that nodes of the old release can run while nodes of the new release start.
 */
const remainingMigrations = (applied: ReadonlyArray<AppliedMigration>, migrations: ReadonlyArray<Migration>) => {
  const database = applied.at(-1)?.version ?? 0
  const program = migrations.length
  const gapIndex = applied.findIndex(({ version }, i) => version !== i + 1)
  if (gapIndex >= 0) return new MigrationGap({ missing: gapIndex + 1 })
  const readable_from = readableFrom(applied)
  if (readable_from > program) return new SchemaNewer({ database, readable_from, program })
  const changed = migrations.find(({ checksum }, i) => applied[i] !== undefined && applied[i].checksum !== checksum)
  if (changed !== undefined) return new MigrationChanged({ name: changed.name })
  return Effect.succeed(migrations.slice(applied.length))
}

/**
 * Waits for the lock, which ends with the session. It polls, because a statement that waits for the lock would block
 * the concurrent build of an index.
 */
export const takeLock = (session: Session, schema: string) =>
  session.run<{ held: boolean }>(`select pg_try_advisory_lock(${lockOf(LOCK, schema)}) as held`).pipe(
    Effect.filterOrFail(
      ([row]) => row?.held === true,
      () => new MigrationBusy()
    ),
    Effect.retry({ while: (error) => error._tag === "MigrationBusy", schedule: LOCK_RETRIES })
  )

const record = (session: Session, { version, name, checksum, readable_from }: Migration) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    session.run(
      `insert into schema_migration (version, name, checksum, applied_at, readable_from)
      values ($1, $2, $3, to_timestamp($4 / 1000.0), $5)`,
      [version, name, checksum, now, readable_from ?? 1]
    )
  )

/** Fails if an index of this schema is not valid. */
const indexesValid = (session: Session) =>
  Effect.flatMap(
    session.run<{ name: string }>(
      `select i.indexrelid::regclass::text as name from pg_index i join pg_class c on c.oid = i.indrelid
      where not i.indisvalid and c.relnamespace = quote_ident(current_schema())::regnamespace and c.relkind = 'r' order by 1`
    ),
    (rows) => (rows.length === 0 ? Effect.void : new IndexInvalid({ names: rows.map(({ name }) => name) }))
  )

const inTransaction = (session: Session, migration: Migration) =>
  Effect.gen(function* () {
    yield* session.run(`begin; set local lock_timeout = '${LOCK_TIMEOUT}'`)
    yield* Effect.forEach(migration.statements, (sql) => session.run(sql))
    yield* record(session, migration)
    yield* session.run("commit")
  }).pipe(Effect.onError(() => Effect.exit(session.run("rollback"))))

/**
 * Runs a migration outside of a transaction. The concurrent build of an index has no lock timeout, because it does not
 * block others while it waits; other statements have one.
 */
const runOutsideTransaction = (session: Session, migration: Migration) =>
  Effect.forEach(migration.statements, (sql) =>
    session
      .run(`set lock_timeout = '${/\bconcurrently\b/i.test(sql) ? 0 : LOCK_TIMEOUT}'`)
      .pipe(Effect.zipRight(session.run(sql)), Effect.retry({ while: isBusy, schedule: BUSY }))
  ).pipe(Effect.zipRight(session.run("set lock_timeout = 0")), Effect.zipRight(record(session, migration)))

/**
 * Creates the table of migrations, or adds the column that an older table lacks. Checks first, because `alter table`
 * blocks readers.
 */
const prepareTable = (session: Session, schema: string) =>
  session
    .run<{ is_there: boolean }>(
      inSchema(
        `select count(*) > 0 as is_there from pg_attribute
        where attrelid = to_regclass('workshop.schema_migration') and attname = 'readable_from'`,
        schema
      )
    )
    .pipe(Effect.flatMap(([row]) => (row?.is_there === true ? Effect.void : session.run(inSchema(TABLE, schema)))))

/** The SQLSTATEs of a schema, table, type or function that exists already. */
const NAME_TAKEN_CODES: ReadonlySet<string> = new Set(["42P06", "42P07", "42710", "42723"])
const isFirst = ({ name }: Migration) => name.startsWith("0001_")

const OWNER_MIGRATES = "The database role may not migrate. Use the owner of the tables, such as workshop_owner"

const applyMigration = (session: Session, migration: Migration) =>
  (migration.isTransactional ? inTransaction : runOutsideTransaction)(session, migration).pipe(
    Effect.retry({ while: (error) => migration.isTransactional && isBusy(error), schedule: BUSY }),
    Effect.mapError(
      ({ code, what }) =>
        new MigrationFailed({
          name: migration.name,
          code,
          message:
            code === DENIED
              ? `${OWNER_MIGRATES} (${migration.name}: ${what}).`
              : isFirst(migration) && NAME_TAKEN_CODES.has(code ?? "")
                ? `The schema contains objects that the service did not create (${what}). Choose another name with --schema or the option schema.`
                : `The migration ${migration.name} failed (${what}). Solve this problem, and run workshop migrate again.`
        })
    ),
    Effect.as(migration.name)
  )

/** Adds an entry to the audit log, unless the schema's version is from before the audit log. */
const recordMigration = (session: Session, details: Readonly<Record<string, unknown>>) =>
  Effect.flatMap(
    session.run<{ is_there: boolean }>("select to_regclass('audit_entry') is not null as is_there"),
    ([row]) => (row?.is_there === true ? recordAct(session, "database.migrated", details) : Effect.void)
  )

const WITHOUT_TIMEOUTS = "set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0"

/** The options of the migration of one schema. */
export interface SchemaMigrationOptions extends Pick<Database, "schema"> {
  /**
   * The schema in which an earlier release created the tables, usually `public`. The tables are first moved to
   * `schema`, without copying data. Has no effect if they were moved already.
   */
  readonly moveFrom?: string | undefined
  /**
   * If false, a schema without the workshop's tables is refused, because its name may be misspelt; true by default.
   * Further cells are created in either case.
   */
  readonly createSchema?: boolean | undefined
}

/**
 * Unless the schema is named explicitly, refuses to create empty tables while `public` has the tables of an earlier
 * release.
 */
const refuseTablesInPublic = (session: Session) =>
  session
    .run<{ is_there: boolean }>(
      "select to_regclass('workshop.schema_migration') is null and to_regclass('public.shop_head') is not null and to_regclass('public.schema_migration') is not null as is_there"
    )
    .pipe(Effect.flatMap(([row]) => (row?.is_there === true ? new TablesElsewhere({ schema: "public" }) : Effect.void)))

const findOtherTables = (session: Session, schema: string) =>
  Effect.map(session.run<FoundTables>(SELECT_OTHER_SCHEMAS, [schema]), ([row]) => row!)

/** Warns if a schema is new although other schemas have tables, because its name may be misspelt. */
const warnOfOtherSchemas = (session: Session, schema: string) =>
  Effect.flatMap(findOtherTables(session, schema), ({ database, others }) =>
    others.length === 0
      ? Effect.void
      : Effect.logWarning(
          `The schema ${schema} of the database ${database} is new and begins without data, but the database also has the workshop's tables in ${others.join(", ")}. If the name of the schema is wrong, correct it`
        )
  )

/** Refuses a schema without any applied migration. */
const refuseNewSchema = (session: Session, schema: string) =>
  Effect.flatMap(readApplied(session, schema), ({ length }) =>
    length > 0
      ? Effect.void
      : Effect.flatMap(findOtherTables(session, schema), (otherTables) => new SchemaMissing({ ...otherTables, schema }))
  )

/** Migrates one schema, and returns the names of the migrations that it applied. */
export const migrateSchema = (
  url: string,
  options: SchemaMigrationOptions & { readonly isCell?: boolean },
  migrations: ReadonlyArray<Migration>
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const schema = yield* checkedSchema(options.schema)
      const session = yield* openMigrationSession(url, { schema })
      yield* checkEncoding(session)
      yield* session.run(WITHOUT_TIMEOUTS)
      // On Citus, this creates the tables on the coordinator, because a cell's schema is later distributed as a whole.
      // Without Citus it has no effect.
      yield* session.run("set citus.enable_schema_based_sharding = off")
      yield* takeLock(session, schema)
      const moveFrom = options.moveFrom === undefined ? undefined : yield* checkedSchema(options.moveFrom)
      const isMoved = moveFrom !== undefined && (yield* move(session, moveFrom, schema))
      if (moveFrom === undefined && options.schema === undefined) yield* refuseTablesInPublic(session)
      if (options.createSchema === false) yield* refuseNewSchema(session, schema)
      yield* makeSchema(session, schema)
      yield* prepareTable(session, schema)
      const applied = yield* readApplied(session, schema)
      const remaining = yield* remainingMigrations(applied, migrations)
      if (applied.length > migrations.length)
        yield* Effect.logWarning(
          `The database has version ${applied.length} of the schema, from a newer release than this program, which has version ${migrations.length}. This program can use the newer version, so it applied no migration.`
        )
      const names = yield* Effect.forEach(remaining, (migration) => applyMigration(session, migration))
      // There is no warning for a cell, whose schema is new while other cells' schemas have tables.
      if (applied.length === 0 && options.isCell !== true) yield* warnOfOtherSchemas(session, schema)
      yield* indexesValid(session)
      if (names.length > 0 || isMoved) {
        const versions = { version_before: applied.length, version: applied.length + remaining.length }
        yield* recordMigration(session, { ...versions, moved_from: isMoved ? moveFrom : null })
      }
      return names
    })
  ).pipe(Effect.mapError(withRoleRemedy(OWNER_MIGRATES)))

/** Does {@link checkSchema} on an open session, for any cell. */
export const checkOn = (session: Session, schema: string, migrations: ReadonlyArray<Migration> = PACKAGE_MIGRATIONS) =>
  Effect.gen(function* () {
    yield* checkEncoding(session)
    const applied = yield* readApplied(session, schema)
    const remaining = yield* remainingMigrations(applied, migrations)
    const versions = { database: applied.length, program: migrations.length }
    if (remaining.length > 0) return yield* new SchemaBehind({ ...versions, schema, others: [] })
  })

/** Like {@link checkOn}, but if the schema has no tables, the error names the schemas that have them. */
export const checkNamed = (
  session: Session,
  schema: string,
  migrations: ReadonlyArray<Migration> = PACKAGE_MIGRATIONS
) =>
  Effect.catchTag(checkOn(session, schema, migrations), "SchemaBehind", ({ database, program }) =>
    Effect.flatMap(
      database > 0 ? Effect.succeed([]) : Effect.map(findOtherTables(session, schema), ({ others }) => others),
      (others) => new SchemaBehind({ database, program, schema, others })
    )
  )

/** The time that a statement of the schema check may take. */
const TIMEOUTS = { statement_timeout_ms: 3_000 }

/**
 * Succeeds if this program can run on the database's schema and the encoding is UTF8. Needs only the right to read
 * `schema_migration`. The message of `SchemaBehind` names the command to run. Fails within seconds if the database does
 * not respond.
 */
export const checkSchema = (
  url: string,
  options: Pick<Database, "schema"> = {}
): Effect.Effect<void, SchemaCheckError> => checkSchemaAgainst(url, options, PACKAGE_MIGRATIONS)

/** Does {@link checkSchema} for a program that has the given migrations. */
export const checkSchemaAgainst = (
  url: string,
  options: Pick<Database, "schema">,
  migrations: ReadonlyArray<Migration>
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const schema = yield* checkedSchema(options.schema)
      yield* checkNamed(yield* openMigrationSession(url, { ...TIMEOUTS, schema }), schema, migrations)
    })
  )
