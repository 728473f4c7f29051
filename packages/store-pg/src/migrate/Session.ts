import { Effect, type Scope } from "effect"
import pg from "pg"
import { DatabaseFailed } from "./DatabaseFailed.js"
import { databaseUrl } from "./DatabaseUrl.js"

/** One connection of its own: session locks and settings hold from call to call. */
export interface Session {
  /** Runs a statement, or several where no values are given, and answers the rows of a single one. */
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

const refused = (error: unknown) =>
  new DatabaseFailed({
    reason: "unreachable",
    code: codeOf(error),
    what: `The database cannot be reached (${wordsOf(error)})`
  })

const opened = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECTING_MS })
  // The statement in flight tells of a lost connection; without a listener an idle one would end the process.
  client.on("error", () => {})
  await client.connect()
  return client
}

const asked = (error: unknown) =>
  new DatabaseFailed({ reason: "statement", code: codeOf(error), what: `Postgres says: ${wordsOf(error)}` })

/** Opens a connection that closes with the scope. `url` is a connection string of Postgres. */
export const connect = (url: string): Effect.Effect<Session, DatabaseFailed, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.flatMap(databaseUrl(url), () => Effect.tryPromise({ try: () => opened(url), catch: refused })),
    (client) => Effect.exit(Effect.tryPromise(() => client.end()))
  ).pipe(
    Effect.map((client) => ({
      run: <Row>(sql: string, values?: ReadonlyArray<unknown>) =>
        Effect.tryPromise({
          try: async () =>
            (values === undefined ? await client.query(sql) : await client.query(sql, [...values])).rows as Array<Row>,
          catch: asked
        })
    }))
  )
