import { StoreUnavailable } from "@workshop/core"
import { Cause, Data, Effect } from "effect"
import { doubtSessions, SessionRefused } from "./SessionClient.js"

/**
 * What a failed statement means for the commands of its batch: `data`: one of them brought something that the database
 * refuses; `conflict`: it lost against another transaction and may simply run again; `held`: a lock was not had in time;
 * `lost`: the connection is gone, and whether a commit on its way took place is not known; `late`: as `lost`, as no answer
 * came for so long; `clock`: this machine's clock is wrong, and nothing was done; `other`: anything else, of which the database says that nothing was done.
 */
export type FailureKind = "data" | "conflict" | "held" | "lost" | "late" | "clock" | "other"

/** A statement, or its connection, failed. */
export class PgFailure extends Data.TaggedError("PgFailure")<{
  readonly kind: FailureKind
  /** The SQLSTATE, where the database said one. */
  readonly code: string | null
  /** The constraint that refused, where one did. */
  readonly constraint: string | null
  readonly cause: unknown
}> {
  override get message() {
    return this.cause instanceof Error ? this.cause.message : String(this.cause)
  }

  /** Whether the connection is gone with it. */
  get isLoss(): boolean {
    return this.kind === "lost" || this.kind === "late"
  }
}

const byClass: Readonly<Record<string, FailureKind>> = { "22": "data", "23": "data", "54": "data", "08": "lost" }
const byCode: Readonly<Record<string, FailureKind>> = {
  "40001": "conflict",
  "40P01": "conflict",
  "55P03": "held",
  // The server shuts down, or an operator ended the connection.
  "57P01": "lost",
  "57P02": "lost",
  "57P03": "lost",
  "57P05": "lost",
  // The server heard nothing of the transaction for too long.
  "25P03": "lost"
}

/** A prepared statement that is there already, or is gone: others are in the session, too. */
const SHARED_SESSION = ["42P05", "26000"]

// Every SQLSTATE has a digit; the system's own EPIPE, which is as long, has none.
const SQLSTATE = /^(?=.*\d)[0-9A-Z]{5}$/

/** What `pg` says where an answer, or a connection, does not come. */
const NO_ANSWER = ["Query read timeout", "timeout expired"]

const kindOf = (code: string | null, cause: unknown): FailureKind => {
  if (code !== null) return byCode[code] ?? byClass[code.slice(0, 2)] ?? "other"
  return cause instanceof Error && NO_ANSWER.includes(cause.message) ? "late" : "lost"
}

/** Reads what `pg` threw. Whatever is not the database's own word is a broken connection. */
export const failureOf = (cause: unknown): PgFailure => {
  const { code, constraint } = (cause ?? {}) as { readonly code?: unknown; readonly constraint?: unknown }
  const sqlstate = typeof code === "string" && SQLSTATE.test(code) ? code : null
  if (sqlstate !== null && SHARED_SESSION.includes(sqlstate)) doubtSessions()
  return new PgFailure({
    kind: kindOf(sqlstate, cause),
    code: sqlstate,
    constraint: typeof constraint === "string" ? constraint : null,
    cause
  })
}

const MIGRATE = "call migrate(url) of @workshop/store-pg/migrate, or run workshop migrate"
const WITHOUT_SCHEMA = `The database has no schema of the workshop, or another version of it than this program needs: ${MIGRATE}`
const NOT_LET_IN = "The database does not let this user in: check the user and the password in the store's url"

/** What does not mend by itself, and what to do about it. */
const remedies: Readonly<Record<string, string>> = {
  // A table, a column, a function, a schema that is not there.
  "42P01": WITHOUT_SCHEMA,
  "42703": WITHOUT_SCHEMA,
  "42883": WITHOUT_SCHEMA,
  "3F000": WITHOUT_SCHEMA,
  "3D000": `The database does not exist: check the store's url; or create it, then ${MIGRATE}`,
  "28P01": NOT_LET_IN,
  "28000": NOT_LET_IN,
  "42501":
    "The database's user lacks a right that the workshop needs: run workshop migrate --roles as the owner of the tables, or use the role that migrated the schema"
}

/** What the database itself said, below what others wrapped it in. */
const sqlstateIn = (cause: unknown): string | null => {
  if (!(cause instanceof Error)) return null
  return failureOf(cause).code ?? sqlstateIn(cause.cause)
}

/** What to do about a session that is refused, below what others wrapped it in. */
const refusalIn = (cause: unknown): string | undefined => {
  if (cause instanceof SessionRefused) return cause.message
  return cause instanceof Error ? refusalIn(cause.cause) : undefined
}

/** Classes of SQLSTATE that say that our statement, or what we put into it, is wrong: a bug, which waiting does not mend. */
const OUR_MISTAKE = /^(22|42)/

/** A failure as the ports report it: `StoreUnavailable`, with a remedy where waiting is no use; a statement that is wrong is a defect. */
export const storeFailure = (cause: unknown): Cause.Cause<StoreUnavailable> => {
  const code = sqlstateIn(cause) ?? ""
  const clock = cause instanceof PgFailure && cause.kind === "clock" ? cause.message : undefined
  const remedy = clock ?? remedies[code] ?? refusalIn(cause)
  if (remedy !== undefined) return Cause.fail(new StoreUnavailable({ cause, remedy }))
  return OUR_MISTAKE.test(code) ? Cause.die(cause) : Cause.fail(new StoreUnavailable({ cause }))
}

/** Reports a failure of the database as {@link storeFailure} does. */
export const reported = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, StoreUnavailable, R> =>
  Effect.catchAll(effect, (cause) => Effect.failCause(storeFailure(cause)))
