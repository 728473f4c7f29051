import { Effect, type Scope } from "effect"
import { databaseUrl } from "../connection/Address.js"
import { closeClient, IN_TRANSIT_MS } from "../connection/Connection.js"
import { DatabaseFailed, type DatabaseFailure } from "../connection/DatabaseFailed.js"
import { connectionFailure } from "../connection/FailedServer.js"
import { DEFAULT_SCHEMA, quoteSchema } from "../connection/Schema.js"
import { connectClient, formatMs, READS_ONLY, SessionClient } from "../connection/SessionClient.js"

/** A dedicated connection, whose session locks and settings persist between calls. */
export interface Session {
  /** Runs a statement and returns its rows. Without values, the text may have several statements. */
  readonly run: <Row = unknown>(
    sql: string,
    values?: ReadonlyArray<unknown>
  ) => Effect.Effect<ReadonlyArray<Row>, DatabaseFailed>
}

const CONNECTING_MS = 10_000

const codeOf = (error: unknown): string | undefined =>
  typeof error === "object" && error !== null && "code" in error ? String(error.code) : undefined

const wordsOf = (error: unknown): string => {
  const words = error instanceof Error ? error.message : String(error)
  return (words === "" ? (codeOf(error) ?? "no answer") : words).replace(/\.$/, "")
}

/** Matches the messages of Node and the driver for an invalid certificate, or a server without TLS. */
const UNTRUSTED = /certificate|altnames|does not support SSL/i

/** The failures that a responding server reports, by SQLSTATE. */
const refusals: Readonly<Record<string, readonly [DatabaseFailure, what: string]>> = {
  "3D000": ["no_database", "The database does not exist"],
  "28000": ["no_entry", "The database refused the user"],
  "28P01": ["no_entry", "The database refused the user"]
}

const connectFailure = (error: unknown) => {
  const words = wordsOf(error)
  const code = codeOf(error)
  const [reason, what] = UNTRUSTED.test(words)
    ? (["untrusted", "The database's certificate or encryption could not be verified"] as const)
    : (refusals[code ?? ""] ?? (["unreachable", "The database cannot be reached"] as const))
  return new DatabaseFailed({
    reason,
    code,
    what: `${what} (${(reason === "unreachable" && connectionFailure(error)) || words})`
  })
}

/** The schema of a session's statements, and their timeout. Migrations have no timeout. */
interface SessionOptions {
  /** The schema in `search_path`, so that statements without a qualifier, such as those of migrations, find their tables. */
  readonly schema?: string | undefined
  /** How long a statement may take, in milliseconds. */
  readonly statement_timeout_ms?: number
}

const openClient = (
  url: string,
  { schema = DEFAULT_SCHEMA, statement_timeout_ms }: SessionOptions
): Promise<SessionClient> => {
  const shown = statement_timeout_ms === undefined ? "0" : formatMs(statement_timeout_ms)
  const config = {
    url,
    settings: { search_path: quoteSchema(schema), statement_timeout: shown, lock_timeout: shown },
    connectionTimeoutMillis: CONNECTING_MS,
    keepAlive: true,
    ...(statement_timeout_ms === undefined ? {} : { query_timeout: statement_timeout_ms + IN_TRANSIT_MS })
  }
  return connectClient(url, () => new SessionClient(config))
}

/** The SQLSTATE of a read-only server or transaction. */
const READ_ONLY = "25006"

/** Turns the driver's error for a statement into a DatabaseFailed. */
export const statementFailure = (error: unknown) => {
  const code = codeOf(error)
  const what = code === READ_ONLY ? READS_ONLY.replace(/\.$/, "") : `Postgres reported: ${wordsOf(error)}`
  return new DatabaseFailed({ reason: "statement", code, what })
}

/** Opens a connection that closes with the scope. `url` is a connection string of Postgres. */
export const openMigrationSession = (
  url: string,
  options: SessionOptions = {}
): Effect.Effect<Session, DatabaseFailed, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.flatMap(databaseUrl(url), () =>
      Effect.tryPromise({ try: () => openClient(url, options), catch: connectFailure })
    ),
    (client) => closeClient({ client, isOpen: true })
  ).pipe(
    Effect.map((client) => ({
      run: <Row>(sql: string, values?: ReadonlyArray<unknown>) =>
        Effect.tryPromise({
          try: async () =>
            (values === undefined ? await client.query(sql) : await client.query(sql, [...values])).rows as Array<Row>,
          catch: statementFailure
        })
    }))
  )
