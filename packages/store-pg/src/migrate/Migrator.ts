import { Clock, Effect, Schedule } from "effect"
import { type Migration, migrationsIn, OURS } from "./Migration.js"
import {
  MigrationBusy,
  MigrationChanged,
  MigrationFailed,
  MigrationGap,
  SchemaBehind,
  SchemaNewer
} from "./MigrationError.js"
import { connect, type Session } from "./Session.js"

/** A row of `schema_migration`. */
interface Applied {
  readonly version: number
  readonly name: string
  readonly checksum: string
}

const TABLE = `create table if not exists schema_migration (
  version integer primary key,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null
)`

/** One number for every program of ours that migrates; advisory locks are a database's own. */
const LOCK = 7_305_808
const UNDEFINED_TABLE = "42P01"
/** Somebody works in the table: a lock that is not given soon would make everybody queue behind us. */
const BUSY_CODES = ["55P03", "40P01"]
const LOCK_TIMEOUT = "2s"

const BUSY = Schedule.intersect(Schedule.spaced("1 second"), Schedule.recurs(100))
const ANOTHER = Schedule.intersect(Schedule.spaced("200 millis"), Schedule.recurs(3000))

const appliedIn = (session: Session) =>
  session.run<Applied>("select version, name, checksum from schema_migration order by version").pipe(
    Effect.catchIf(
      ({ code }) => code === UNDEFINED_TABLE,
      () => Effect.succeed<ReadonlyArray<Applied>>([])
    )
  )

/** Holds what was applied to what we know, and answers what is left to apply. */
const remaining = (applied: ReadonlyArray<Applied>, known: ReadonlyArray<Migration>) => {
  const last = applied.at(-1)?.version ?? 0
  if (last > known.length) return new SchemaNewer({ database: last, program: known.length })
  const hole = applied.findIndex(({ version }, i) => version !== i + 1)
  if (hole >= 0) return new MigrationGap({ missing: hole + 1 })
  const changed = applied.find(({ checksum }, i) => known[i]?.checksum !== checksum)
  if (changed !== undefined) return new MigrationChanged({ name: changed.name })
  return Effect.succeed(known.slice(applied.length))
}

/**
 * Waits for the lock, which goes with the session. Asked again and again, since a session that waits for it would itself
 * hold up an index built concurrently.
 */
const locked = (session: Session) =>
  session.run<{ held: boolean }>(`select pg_try_advisory_lock(${LOCK}) as held`).pipe(
    Effect.filterOrFail(
      ([row]) => row?.held === true,
      () => new MigrationBusy()
    ),
    Effect.retry({ while: (error) => error._tag === "MigrationBusy", schedule: ANOTHER })
  )

const record = (session: Session, { version, name, checksum }: Migration) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    session.run(
      "insert into schema_migration (version, name, checksum, applied_at) values ($1, $2, $3, to_timestamp($4 / 1000.0))",
      [version, name, checksum, now]
    )
  )

const inTransaction = (session: Session, migration: Migration) =>
  Effect.gen(function* () {
    yield* session.run(`begin; set local lock_timeout = '${LOCK_TIMEOUT}'`)
    yield* Effect.forEach(migration.statements, (sql) => session.run(sql))
    yield* record(session, migration)
    yield* session.run("commit")
  }).pipe(Effect.onError(() => Effect.exit(session.run("rollback"))))

const outside = (session: Session, migration: Migration) =>
  Effect.zipRight(
    Effect.forEach(migration.statements, (sql) => session.run(sql)),
    record(session, migration)
  )

const apply = (session: Session, migration: Migration) =>
  (migration.isTransactional ? inTransaction : outside)(session, migration).pipe(
    Effect.retry({ while: ({ code }) => code !== undefined && BUSY_CODES.includes(code), schedule: BUSY }),
    Effect.mapError(
      ({ code, what }) =>
        new MigrationFailed({
          name: migration.name,
          code,
          message: `The migration ${migration.name} failed and can be run again once this is mended (${what}).`
        })
    ),
    Effect.as(migration.name)
  )

const unhurried = "set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0"

/**
 * Brings a database to the schema of this program, and answers the names of the migrations it applied, which may be
 * none. Two processes at once are safe: one waits. A database that is newer than the program is left as it is.
 * @param url - A connection string whose role may create tables, straight to Postgres: session locks pass no pooler.
 */
export const migrate = (url: string, folder: string = OURS) =>
  Effect.scoped(
    Effect.gen(function* () {
      const known = yield* migrationsIn(folder)
      const session = yield* connect(url)
      yield* session.run(unhurried)
      yield* locked(session)
      yield* session.run(TABLE)
      const left = yield* remaining(yield* appliedIn(session), known)
      return yield* Effect.forEach(left, (migration) => apply(session, migration))
    })
  )

/**
 * Succeeds when the database has exactly the schema of this program; needs no right but to read `schema_migration`.
 * `SchemaBehind` names the command that helps.
 */
export const check = (url: string, folder: string = OURS) =>
  Effect.scoped(
    Effect.gen(function* () {
      const known = yield* migrationsIn(folder)
      const applied = yield* appliedIn(yield* connect(url))
      const left = yield* remaining(applied, known)
      if (left.length > 0) return yield* new SchemaBehind({ database: applied.length, program: known.length })
    })
  )
