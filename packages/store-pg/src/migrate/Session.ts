import { Data, Effect, type Scope } from "effect"
import pg from "pg"

/** What Postgres, or the way to it, did not do. */
export class DatabaseFailed extends Data.TaggedError("DatabaseFailed")<{
  /** Its SQLSTATE, or the code of the system where no server answered. */
  readonly code: string | undefined
  /** One sentence. */
  readonly message: string
}> {}

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
    code: codeOf(error),
    message: `The database cannot be reached (${wordsOf(error)}): check that it runs, and --database-url.`
  })

const opened = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECTING_MS })
  // The statement in flight tells of a lost connection; without a listener an idle one would end the process.
  client.on("error", () => {})
  await client.connect()
  return client
}

/** Opens a connection that closes with the scope. `url` is a connection string of Postgres. */
export const connect = (url: string): Effect.Effect<Session, DatabaseFailed, Scope.Scope> =>
  Effect.acquireRelease(Effect.tryPromise({ try: () => opened(url), catch: refused }), (client) =>
    Effect.exit(Effect.tryPromise(() => client.end()))
  ).pipe(
    Effect.map((client) => ({
      run: <Row>(sql: string, values?: ReadonlyArray<unknown>) =>
        Effect.tryPromise({
          try: async () =>
            (values === undefined ? await client.query(sql) : await client.query(sql, [...values])).rows as Array<Row>,
          catch: (error) => new DatabaseFailed({ code: codeOf(error), message: `Postgres says: ${wordsOf(error)}.` })
        })
    }))
  )
