import { StoreUnavailable } from "@workshop/core"
import { CONNECTION_ENDED } from "@workshop/core/internal"
import { Cause, Data, Effect } from "effect"
import { DENIED } from "./DatabaseFailed.js"
import { connectionFailure } from "./FailedServer.js"
import { READS_ONLY, recheckSessions, SessionRefused } from "./SessionClient.js"
import { otherSchemasMessage } from "./TablesElsewhere.js"

/**
 * The effect of a failed statement on the commands of its batch. `data`: the database refuses the data of one command.
 * `conflict`: the transaction conflicted with another one and can be retried. `lockTimeout`: a lock was not free in
 * time. `connectionLost`: the connection broke, so it is unknown whether a commit in progress succeeded.
 * `responseTimeout`: like `connectionLost`, because no result arrived in time. `wrongClock`: this machine's clock is
 * wrong, and nothing was written. `other`: any other error after which the database has rolled back.
 */
export type FailureKind =
  | "data"
  | "conflict"
  | "lockTimeout"
  | "connectionLost"
  | "responseTimeout"
  | "wrongClock"
  | "other"

/** The failure of a statement or of its connection. */
export class PgFailure extends Data.TaggedError("PgFailure")<{
  readonly kind: FailureKind
  /** The SQLSTATE, if the database returned one. */
  readonly code: string | null
  /** The violated constraint, if any. */
  readonly constraint: string | null
  readonly cause: unknown
}> {
  /** The message of `cause`, for logs. */
  override get message() {
    return this.cause instanceof Error ? this.cause.message : String(this.cause)
  }

  /** Whether the connection is lost too. */
  get isLoss(): boolean {
    return this.kind === "connectionLost" || this.kind === "responseTimeout"
  }
}

const byClass: Readonly<Record<string, FailureKind>> = {
  "22": "data",
  "23": "data",
  "54": "data",
  "08": "connectionLost"
}
const byCode: Readonly<Record<string, FailureKind>> = {
  "40001": "conflict",
  "40P01": "conflict",
  "55P03": "lockTimeout",
  ...Object.fromEntries(CONNECTION_ENDED.map((code) => [code, "connectionLost" as const]))
}

/**
 * The SQLSTATEs of a prepared statement that exists already or no longer exists, which means that a pooler shares the
 * session.
 */
const SHARED_SESSION = ["42P05", "26000"]

// Every SQLSTATE contains a digit, unlike the system's error code EPIPE, which has the same length.
const SQLSTATE = /^(?=.*\d)[0-9A-Z]{5}$/

/** The messages of `pg` for a result that does not arrive in time and for a connection that does not open in time. */
const TIMEOUT_MESSAGES = ["Query read timeout", "timeout expired"]

/**
 * Whether a row failed because its month's partition was created meanwhile. The bounds of a partition have no
 * constraint name.
 */
const isPartitionMissed = (code: string, constraint: string | null): boolean => code === "23514" && constraint === null

const kindOf = (code: string | null, constraint: string | null, cause: unknown): FailureKind => {
  if (code !== null && isPartitionMissed(code, constraint)) return "conflict"
  if (code !== null) return byCode[code] ?? byClass[code.slice(0, 2)] ?? "other"
  return cause instanceof Error && TIMEOUT_MESSAGES.includes(cause.message) ? "responseTimeout" : "connectionLost"
}

/** Converts an error that `pg` threw. Every error that did not come from the database counts as a broken connection. */
export const failureOf = (cause: unknown): PgFailure => {
  const { code, constraint: name } = (cause ?? {}) as { readonly code?: unknown; readonly constraint?: unknown }
  const sqlstate = typeof code === "string" && SQLSTATE.test(code) ? code : null
  const constraint = typeof name === "string" ? name : null
  if (sqlstate !== null && SHARED_SESSION.includes(sqlstate)) recheckSessions()
  return new PgFailure({
    kind: kindOf(sqlstate, constraint, cause),
    code: sqlstate,
    constraint,
    cause
  })
}

const MIGRATE = "call migrate(url) of @workshop/store-pg/migrate, or run workshop migrate."
const WITHOUT_SCHEMA = `The database does not have the workshop's schema in the version that this program needs. To create or update the schema, ${MIGRATE}`
const USER_REFUSED = "The database refused the user. Check the user and the password in the store's url."

const LOCKED =
  "Another transaction, such as one of within, of a migration or of an operator, held a lock for too long. Commit or roll back sooner, or find that transaction with pg_blocking_pids."
const DEADLOCK =
  "Two transactions waited for each other's locks, so Postgres ended a statement of one of them. Roll back and run the transaction again. If it uses several shops, use them in the order of their ids."

/** Errors that a retry does not solve, each with its remedy. */
const remedies: Readonly<Record<string, string>> = {
  // A table, column, function or schema that does not exist.
  "42P01": WITHOUT_SCHEMA,
  "42703": WITHOUT_SCHEMA,
  "42883": WITHOUT_SCHEMA,
  "3F000": WITHOUT_SCHEMA,
  "3D000": `The database does not exist. Check the store's url. To create the database, run createdb, and then ${MIGRATE}`,
  "25006": READS_ONLY,
  "55P03": LOCKED,
  "40P01": DEADLOCK,
  "28P01": USER_REFUSED,
  "28000": USER_REFUSED,
  // The decisions check all other unique values.
  "23505":
    "A randomly drawn id or code already exists. Use different random bytes in each run (in a test, another seed or a separate schema), or omit randomBytes.",
  [DENIED]:
    "The database user lacks a right that the workshop needs. Run workshop migrate --roles as the owner of the tables, or use the role that migrated the schema."
}

/** Returns the database's error from the errors that wrap it, or null. */
const fromDatabase = (cause: unknown): (PgFailure & { readonly code: string }) | null => {
  if (!(cause instanceof Error)) return null
  const failure = failureOf(cause)
  return failure.code === null ? fromDatabase(cause.cause) : (failure as PgFailure & { readonly code: string })
}

const sqlstateIn = (cause: unknown): string | null => fromDatabase(cause)?.code ?? null

/** The remedy for an error that a retry does not solve. */
const remedyIn = (cause: unknown): string | undefined => {
  const failure = fromDatabase(cause)
  if (failure === null) return refusalIn(cause)
  const remedy = remedies[failure.code]
  const otherSchemas = remedy === WITHOUT_SCHEMA ? otherSchemasMessage(failure.message) : undefined
  return otherSchemas === undefined
    ? (remedy ?? refusalIn(cause))
    : `${otherSchemas}. Check the store's schema. To begin in this schema without data, ${MIGRATE}`
}

/** The only unique constraint that no decision can check: another ticket of the shop has the tracking code already. */
const TRACKING_CODE = "ticket_tracking_code"

/** Whether a ticket's tracking code was taken. Citus appends the number of the shard to the constraint's name. */
export const isCodeTaken = ({ code, constraint }: PgFailure): boolean =>
  code === "23505" && (constraint ?? "").startsWith(TRACKING_CODE)

/** Whether the role of the connection lacks a right. */
export const isDenied = (cause: unknown): boolean => sqlstateIn(cause) === DENIED

/** Returns the remedy of a SessionRefused from the errors that wrap it. */
const refusalIn = (cause: unknown): string | undefined => {
  if (cause instanceof SessionRefused) return cause.message
  return cause instanceof Error ? refusalIn(cause.cause) : undefined
}

/** The SQLSTATE classes of an invalid statement or value, which mean a bug in the store. */
const STORE_BUG_CLASSES = /^(22|42)/

/**
 * The cause that the ports report for a failure: `StoreUnavailable`, with a remedy if a retry does not help, or a
 * defect for an invalid statement.
 */
export const storeFailure = (cause: unknown): Cause.Cause<StoreUnavailable> => {
  const code = sqlstateIn(cause) ?? ""
  const clock = cause instanceof PgFailure && cause.kind === "wrongClock" ? cause.message : undefined
  const remedy = clock ?? remedyIn(cause)
  if (remedy !== undefined) return Cause.fail(new StoreUnavailable({ cause, remedy }))
  if (STORE_BUG_CLASSES.test(code)) return Cause.die(cause)
  const reason = connectionFailure(cause)
  return Cause.fail(new StoreUnavailable({ cause, ...(reason !== undefined && { reason }) }))
}

/** Turns any failure of an effect into a {@link storeFailure}. */
export const reportFailure = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, StoreUnavailable, R> =>
  Effect.catchAll(effect, (cause) => Effect.failCause(storeFailure(cause)))
