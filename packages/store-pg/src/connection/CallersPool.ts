import type { Reactivity } from "@effect/experimental/Reactivity"
import { make as makeSqlClient, SqlClient } from "@effect/sql/SqlClient"
import type { Connection as SqlConnection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import { makeCompiler } from "@effect/sql-pg/PgClient"
import {
  countClientsInUse,
  describeExhaustion,
  describeInUse,
  isNoClientError,
  recordExhaustion
} from "@workshop/core/internal"
import { Effect, Exit, Layer, type Scope, Stream } from "effect"
import pg from "pg"
import {
  abandonedSessions,
  BEGIN,
  COMMIT,
  CONNECT_TIMEOUT_MS,
  type Connection,
  type ConnectionOptions,
  connect,
  IN_TRANSIT_MS,
  type QueryResult,
  type ReconnectingConnection,
  ROLLBACK,
  STATEMENT_TIMEOUT_MS,
  sessionSettings
} from "./Connection.js"
import { DatabaseFailed } from "./DatabaseFailed.js"
import { recordServer } from "./FailedServer.js"
import { failureOf, PgFailure } from "./PgFailure.js"
import { type Database, DEFAULT_SCHEMA, inSchema } from "./Schema.js"
import { PLANNED_EACH_TIME, SessionRefused, type Settings, settingsText } from "./SessionClient.js"
import { type Statement, textsIn } from "./Statement.js"

/*
 * Clients of `pg` that belong to an embedder: a client in the embedder's transaction (JoinedConnection.ts), or the
 * clients of their pool.
 *
 * A batch or a read borrows a client of the pool for its transaction and returns it unchanged: settings apply to the
 * transaction alone, and nothing is prepared. The pool may therefore connect through a pooler in transaction mode.
 */

/** The methods of a `pg` client that the store uses. */
export interface PgClient {
  readonly query: (query: object) => Promise<QueryResult | ReadonlyArray<QueryResult>>
  readonly on?: (event: "error" | "end", listener: () => void) => unknown
}

interface PoolClient extends PgClient {
  readonly on: (event: "error" | "end", listener: () => void) => unknown
  readonly off: (event: "error" | "end", listener: () => void) => unknown
  readonly release: (destroy?: boolean) => void
}

/** A `Pool` of the package `pg`. */
export interface PoolLike {
  /** Resolves to a client of the pool. */
  // biome-ignore lint/suspicious/noExplicitAny: the overloads of `pg` fit no narrower type
  readonly connect: (...args: Array<any>) => any
  /** Adds a listener, as an `EventEmitter` does. */
  // biome-ignore lint/suspicious/noExplicitAny: the same
  readonly on?: (...args: Array<any>) => any
  /** Removes a listener, as an `EventEmitter` does. */
  // biome-ignore lint/suspicious/noExplicitAny: the same
  readonly off?: (...args: Array<any>) => any
}

/**
 * Prevents the end of an idle connection from ending the process, until the scope closes: `pg` emits it as an `error` of the pool, which is
 * uncaught without a listener. The pool has removed the client by then, and opens another one when it is needed.
 */
const ignorePoolErrors = (pool: PoolLike): Effect.Effect<void, never, Scope.Scope> => {
  const ignore = () => undefined
  return Effect.acquireRelease(
    Effect.sync(() => void pool.on?.("error", ignore)),
    () => Effect.sync(() => void pool.off?.("error", ignore))
  )
}

/** The default parsers of `pg`, because an embedder's client may parse JSON or numbers differently. */
const types = { getTypeParser: pg.types.getTypeParser }

/**
 * Sends statements one after another, unprepared. `begin` replaces {@link BEGIN}. For a text with several statements,
 * returns the last result. A statement that the server does not cancel after `statement_timeout_ms` fails as late
 * {@link IN_TRANSIT_MS} afterwards.
 */
export const sendOn =
  (
    client: PgClient,
    schema: string,
    {
      begin,
      statement_timeout_ms = STATEMENT_TIMEOUT_MS
    }: { readonly begin?: string; readonly statement_timeout_ms?: number } = {}
  ) =>
  async (statements: ReadonlyArray<Statement>): Promise<ReadonlyArray<QueryResult>> => {
    const textOf = textsIn(schema)
    const results: Array<QueryResult> = []
    const query_timeout = statement_timeout_ms + IN_TRANSIT_MS
    for (const statement of statements) {
      const query =
        statement === BEGIN && begin !== undefined
          ? { text: begin, query_timeout }
          : { text: textOf(statement), values: [...statement.values], types, query_timeout }
      const result = await client.query(query)
      results.push(Array.isArray(result) ? result.at(-1) : result)
    }
    return results
  }

/** A connection for the store's reads, based on a function that runs a statement. */
export const sqlConnection = (send: (statement: Statement) => Effect.Effect<QueryResult, PgFailure>): SqlConnection => {
  const run = (text: string, values: ReadonlyArray<unknown> = []) =>
    send({ name: "", text, values }).pipe(
      Effect.mapBoth({
        onFailure: ({ cause }) => new SqlError({ cause, message: "Failed to execute statement" }),
        onSuccess: ({ rows }) => rows as ReadonlyArray<never>
      }),
      Effect.uninterruptible
    )
  return {
    execute: run,
    executeRaw: run,
    executeUnprepared: run,
    executeValues: () => Effect.dieMessage("The store reads rows by their names"),
    executeStream: () => Stream.dieMessage("Streaming reads are not supported")
  }
}

/**
 * SQL of a text that identifies the database of a connection: the start time of the server, the database, and its
 * tables.
 */
export const DATABASE_IDENTITY = `concat_ws(' ', pg_postmaster_start_time(),
    (select oid from pg_database where datname = current_database()), to_regclass('workshop.shop_head')::oid)`

const identityQuery = (schema: string): Statement => ({
  name: "",
  text: inSchema(`select /* workshop pool */ ${DATABASE_IDENTITY} as database, gen_random_uuid()::text as id`, schema),
  values: []
})

const identify = (send: Connection["send"], schema: string) =>
  Effect.map(
    send([identityQuery(schema)]),
    ([result]) => result!.rows[0] as { readonly database: string; readonly id: string }
  )

/**
 * Checks whether a {@link DATABASE_IDENTITY} equals the identity of the store's database, which is read over the
 * store's url and cached. If the two differ, the cached identity is read again, because a restart of the server changes
 * it.
 */
export const storeDatabaseCheck = (database: Database): ((identity: string) => Effect.Effect<boolean, PgFailure>) => {
  const { schema = DEFAULT_SCHEMA } = database
  const serially = Effect.unsafeMakeSemaphore(1).withPermits(1)
  let storesIdentity: string | undefined
  const readStores = Effect.scoped(
    Effect.flatMap(connect({ ...database, name: "workshop look", lock_timeout_ms: 1_000 }), ({ send }) =>
      identify(send, schema)
    )
  )
  const check = (identity: string) =>
    Effect.suspend(() =>
      identity === storesIdentity
        ? Effect.succeed(true)
        : Effect.map(readStores, ({ database }) => {
            storesIdentity = database
            return storesIdentity === identity
          })
    )
  return (identity) =>
    Effect.suspend(() => (identity === storesIdentity ? Effect.succeed(true) : serially(check(identity))))
}

const ELSEWHERE = "The pool connects to another database or server than the store's url"

const refusal = (message: string) =>
  new PgFailure({ kind: "other", code: null, constraint: null, cause: new SessionRefused({ message }) })

/** A borrowed client. */
interface BorrowedConnection {
  readonly client: PoolClient
  isOpen: boolean
  readonly release: (destroy: boolean) => void
}

const ENDED = "Your pool was ended before the workshop. Call pool.end() after workshop.stop()."

const hasEnded = (pool: PoolLike & { readonly ending?: boolean }): boolean => pool.ending === true

/** The host and the port to which a pool of the package `pg` connects, from its options and the environment. */
const serverOf = ({ options }: PoolLike & { readonly options?: pg.PoolConfig }) => {
  const { host, port } = new pg.Client(options)
  return { host, port }
}

/** Listens to the `error` event of a client while it is borrowed, because its pool does not. */
const borrowedClient = (client: PoolClient): BorrowedConnection => {
  const borrowed: BorrowedConnection = {
    client,
    isOpen: true,
    release: (destroy) => {
      // Removing the listener is safe, because `release` makes the pool listen again synchronously.
      client.off("error", markBroken)
      client.off("end", markBroken)
      client.release(destroy)
    }
  }
  const markBroken = () => {
    borrowed.isOpen = false
  }
  client.on("error", markBroken)
  client.on("end", markBroken)
  return borrowed
}

const allInUse = (clients: number) =>
  `${describeInUse(clients, "client", "your pool", CONNECT_TIMEOUT_MS)}. Raise the pool's max, return its clients sooner, or use a separate pool for within.`

/**
 * Fails because no client was available in time: with `exhaustion` if all were in use, or because Postgres does not
 * respond.
 */
const withoutClient = (
  pool: PoolLike,
  cause: Error,
  exhaustion: string | undefined
): Effect.Effect<never, PgFailure> => {
  if (exhaustion !== undefined)
    return Effect.zipRight(recordExhaustion("embedder", pool, exhaustion), Effect.fail(refusal(exhaustion)))
  recordServer(cause, serverOf(pool))
  return Effect.fail(failureOf(cause))
}

/** Borrows a client. A client that arrives after the time limit is returned at once. */
const borrow = (pool: PoolLike): Effect.Effect<BorrowedConnection, PgFailure> =>
  Effect.async<BorrowedConnection, PgFailure>((resume) => {
    let isLate = false
    Promise.resolve(pool.connect()).then(
      // Listens synchronously, because the connection may break before the fiber resumes.
      (client: PoolClient) => (isLate ? client.release() : resume(Effect.succeed(borrowedClient(client)))),
      (cause: Error) =>
        resume(
          hasEnded(pool)
            ? Effect.fail(refusal(ENDED))
            : withoutClient(pool, cause, isNoClientError(cause) ? describeExhaustion(pool) : undefined)
        )
    )
    return Effect.sync(() => {
      isLate = true
    })
  }).pipe(
    Effect.interruptible,
    Effect.timeoutTo({
      duration: CONNECT_TIMEOUT_MS,
      onSuccess: Effect.succeed,
      onTimeout: () => {
        const clients = countClientsInUse(pool)
        const cause = new Error(`no connection within ${CONNECT_TIMEOUT_MS} ms`)
        return withoutClient(pool, cause, clients === undefined ? undefined : allInUse(clients))
      }
    }),
    Effect.flatten
  )

const beginWith = (settings: Settings): string => `${BEGIN.text}; select ${settingsText(settings, true)}`

/** The store's use of a caller's pool. */
export interface CallersPool {
  /** Fails if the pool does not lead to the database of the store's url; succeeds if this cannot be checked now. */
  readonly checkDatabase: Effect.Effect<void, DatabaseFailed>
  /** A connection for batches, which borrows a client from the first statement of a batch until `release`. */
  readonly reconnecting: (options: ConnectionOptions) => Effect.Effect<ReconnectingConnection, never, Scope.Scope>
  /** The SQL client for reads, each of which borrows a client of the pool. */
  readonly reads: Layer.Layer<SqlClient, never, Reactivity>
}

/** The process id of a client's session on the server, which `pg` stores to cancel statements. */
const pidOf = (client: PgClient): number => (client as { readonly processID?: number }).processID ?? 0

/** A connection that borrows a client for the time of a transaction. */
const borrowingConnection =
  (pool: PoolLike, verifyClient: (client: PgClient) => Effect.Effect<string, PgFailure>, schema: string) =>
  (options: ConnectionOptions) =>
    Effect.gen(function* () {
      const begin = beginWith(sessionSettings(options))
      let heldConnection: { readonly borrowed: BorrowedConnection; readonly connection: Connection } | undefined
      let id: string | undefined
      const abandonedSession = abandonedSessions(options)
      const giveBack = (destroy: boolean) =>
        Effect.sync(() => {
          const { borrowed } = heldConnection ?? {}
          heldConnection = undefined
          if (destroy && borrowed !== undefined) abandonedSession.add(pidOf(borrowed.client))
          borrowed?.release(destroy || !borrowed.isOpen)
        })
      const opened = Effect.gen(function* () {
        yield* giveBack(true)
        yield* abandonedSession.ended
        const borrowed = yield* borrow(pool)
        const sessionId = verifyClient(borrowed.client).pipe(
          Effect.tapError(() => Effect.sync(() => borrowed.release(true)))
        )
        // The id never changes, because receipts are looked up by it, even if another client of the pool wrote them.
        id ??= yield* sessionId
        const send = sendOn(borrowed.client, schema, { begin })
        const connection: Connection = {
          id,
          send: (statements) => Effect.tryPromise({ try: () => send(statements), catch: failureOf }),
          isOpen: () => borrowed.isOpen,
          broken: Effect.never
        }
        heldConnection = { borrowed, connection }
        return connection
      })
      const drop = giveBack(true)
      yield* Effect.addFinalizer(() => drop)
      const connection = Effect.suspend(() =>
        heldConnection?.borrowed.isOpen ? Effect.succeed(heldConnection.connection) : opened
      )
      return {
        connection,
        drop,
        release: giveBack(false),
        undo: (failure) =>
          failure.isLoss || failure.kind === "other" || heldConnection === undefined
            ? drop
            : heldConnection.connection.send([ROLLBACK]).pipe(
                Effect.catchAll(() => drop),
                Effect.asVoid
              )
      } satisfies ReconnectingConnection
    })

const readConnection = (pool: PoolLike, schema: string) => {
  const settings = sessionSettings({
    plans: PLANNED_EACH_TIME,
    lock_timeout_ms: 1_000,
    silent_ms: STATEMENT_TIMEOUT_MS
  })
  const begin = beginWith(settings)
  return sqlConnection((statement) =>
    Effect.acquireUseRelease(
      borrow(pool),
      ({ client }) =>
        Effect.map(
          Effect.tryPromise({
            try: () => sendOn(client, schema, { begin })([BEGIN, statement, COMMIT]),
            catch: failureOf
          }),
          (results) => results[1]!
        ),
      // After a failure the client may be within a transaction, or still wait for the previous statement's result.
      ({ release, isOpen }, exit) => Effect.sync(() => release(Exit.isFailure(exit) || !isOpen))
    )
  )
}

/** Checks an embedder's pool, and listens to its errors until the scope closes. */
export const callersPool = (
  pool: PoolLike,
  database: Database
): Effect.Effect<CallersPool, DatabaseFailed, Scope.Scope> =>
  Effect.gen(function* () {
    yield* ignorePoolErrors(pool)
    const { schema = DEFAULT_SCHEMA } = database
    const isStoreDatabase = storeDatabaseCheck(database)
    let isStoreDatabaseKnown = false
    const verifyClient = (client: PgClient) =>
      Effect.gen(function* () {
        const send = sendOn(client, schema)
        const identity = yield* identify(
          (statements) => Effect.tryPromise({ try: () => send(statements), catch: failureOf }),
          schema
        )
        if (!isStoreDatabaseKnown && !(yield* isStoreDatabase(identity.database)))
          return yield* refusal(`${ELSEWHERE}. Pass a pool that connects to the store's database.`)
        isStoreDatabaseKnown = true
        return identity.id
      })
    const checkDatabase = Effect.acquireUseRelease(
      borrow(pool),
      ({ client }) => verifyClient(client),
      ({ release }, exit) => Effect.sync(() => release(Exit.isFailure(exit)))
    ).pipe(
      Effect.catchAll(({ cause }) =>
        cause instanceof SessionRefused && cause.message.startsWith(ELSEWHERE)
          ? new DatabaseFailed({ reason: "bad_pool", code: undefined, what: ELSEWHERE })
          : Effect.void
      ),
      Effect.asVoid
    )
    const reads = Layer.effect(
      SqlClient,
      makeSqlClient({
        acquirer: Effect.succeed(readConnection(pool, schema)),
        compiler: makeCompiler(),
        spanAttributes: []
      })
    )
    return { checkDatabase, reconnecting: borrowingConnection(pool, verifyClient, schema), reads }
  })
