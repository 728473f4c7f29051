import { Effect, Exit, Scope } from "effect"
import type pg from "pg"
import { AbandonedSessions } from "./CommitWaits.js"
import { failureOf, type PgFailure } from "./PgFailure.js"
import { type Database, DEFAULT_SCHEMA } from "./Schema.js"
import { connectClient, formatMs, PLANNED_ONCE, SessionClient, type Settings } from "./SessionClient.js"
import { type Statement, textsIn } from "./Statement.js"

/** The result of a statement: the tag, such as `COMMIT`, and the rows. */
export interface QueryResult {
  readonly command: string
  readonly rows: ReadonlyArray<Readonly<Record<string, unknown>>>
}

/** The address of a database, and the settings of a connection to it. */
export interface ConnectionOptions extends Database {
  /** The `application_name`, which `pg_stat_activity` shows. */
  readonly name: string
  /** The time that a statement may wait for a lock, in milliseconds. */
  readonly lock_timeout_ms: number
  /** Whether a commit is confirmed only once it is on disk; true by default. */
  readonly isSynchronous?: boolean
  /** The time that a statement may take, in milliseconds; {@link STATEMENT_TIMEOUT_MS} by default. */
  readonly statement_timeout_ms?: number
  /** The planner settings of the session; by default, each statement is planned once. */
  readonly plans?: Settings
  /** Called with the payload of each notification that the connection receives. */
  readonly onNotification?: (payload: string) => void
}

/** The time that opening a connection may take, in real time. */
export const CONNECT_TIMEOUT_MS = 2_000

/** The time, in real time, after which the server cancels a statement. */
export const STATEMENT_TIMEOUT_MS = 3_000

/**
 * The time after a statement's timeout within which its result must arrive. Normally the server cancels a late
 * statement and the connection can be used again. Without a result, the connection counts as lost.
 */
export const IN_TRANSIT_MS = 500

/** The time that closing a connection may take, because a silently broken connection never confirms it. */
const CLOSE_TIMEOUT = "500 millis"

/**
 * The time after which the server ends a transaction in which no statement arrives. Otherwise, if the network breaks
 * during a transaction, its locks would block its shops until the server notices, which takes hours.
 */
const SILENT_TRANSACTION_MS = 4_000

/** The SQLSTATE of a general warning. Statements of the store that succeed cause none. */
const SQLSTATE_WARNING = "01000"

/** Begins a transaction. */
export const BEGIN: Statement = { name: "begin", text: "begin isolation level read committed", values: [] }
/** Commits a transaction. */
export const COMMIT: Statement = { name: "commit", text: "commit", values: [] }
/** Rolls a transaction back. */
export const ROLLBACK: Statement = { name: "rollback", text: "rollback", values: [] }

/** A connection whose statements are pipelined: they are sent together, without waiting for each other's results. */
export interface Connection {
  /** An id that no other connection has. */
  readonly id: string
  /**
   * Sends statements in one packet. Returns all results, or fails with the first failure. After a failure in a
   * transaction the server refuses the statements that follow, and COMMIT rolls back. Outside of a transaction, each
   * statement is a transaction.
   */
  readonly send: (statements: ReadonlyArray<Statement>) => Effect.Effect<ReadonlyArray<QueryResult>, PgFailure>
  /** False once the connection broke. */
  readonly isOpen: () => boolean
  /** Succeeds once the connection broke. */
  readonly broken: Effect.Effect<void>
}

/** A connection that this process opened. */
interface OwnConnection extends Connection {
  /** The process id of its session on the server. */
  readonly pid: number
}

interface WithSocket {
  readonly connection: {
    readonly stream: { readonly cork: () => void; readonly uncork: () => void; readonly destroy: () => void }
  }
}

/** The socket of a client. */
export const streamOf = (client: pg.ClientBase) => (client as unknown as WithSocket).connection.stream

interface OpenClient {
  readonly client: SessionClient
  readonly textOf: (statement: Omit<Statement, "values">) => string
  isOpen: boolean
  /** Callbacks, called once the connection broke. */
  readonly onBreak: Set<() => void>
}

/** The settings of a session, or of a transaction on a client of an embedder's pool. */
export const sessionSettings = ({
  lock_timeout_ms,
  isSynchronous = true,
  statement_timeout_ms = STATEMENT_TIMEOUT_MS,
  silent_ms = SILENT_TRANSACTION_MS,
  plans = PLANNED_ONCE
}: Pick<ConnectionOptions, "lock_timeout_ms" | "isSynchronous" | "statement_timeout_ms" | "plans"> & {
  readonly silent_ms?: number
}): Settings => ({
  ...plans,
  ...(isSynchronous ? {} : { synchronous_commit: "off" }),
  lock_timeout: formatMs(lock_timeout_ms),
  statement_timeout: formatMs(statement_timeout_ms),
  idle_in_transaction_session_timeout: formatMs(silent_ms)
})

const open = async (options: ConnectionOptions): Promise<OpenClient> => {
  const { url, name, onNotification, statement_timeout_ms = STATEMENT_TIMEOUT_MS } = options
  const config = {
    url,
    application_name: name,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: statement_timeout_ms + IN_TRANSIT_MS,
    keepAlive: true,
    pipeline: true,
    settings: { default_transaction_isolation: "read committed", ...sessionSettings(options) }
  }
  const client = await connectClient(url, () => new SessionClient(config))
  const openClient: OpenClient = {
    client,
    textOf: textsIn(options.schema ?? DEFAULT_SCHEMA),
    isOpen: true,
    onBreak: new Set()
  }
  const markBroken = () => {
    openClient.isOpen = false
    for (const onBreak of openClient.onBreak) onBreak()
  }
  client.on("error", markBroken).on("end", markBroken)
  if (onNotification !== undefined) client.on("notification", ({ payload = "" }) => onNotification(payload))
  return openClient
}

/** Ends the connection of a client. If the server does not respond in time, closes the socket. */
export const closeClient = ({ client, isOpen }: Pick<OpenClient, "client" | "isOpen">): Effect.Effect<void> =>
  (isOpen ? Effect.promise(() => client.end()) : Effect.void).pipe(
    Effect.interruptible,
    Effect.timeoutOption(CLOSE_TIMEOUT),
    Effect.zipRight(Effect.sync(() => streamOf(client).destroy()))
  )

/**
 * Sends statements without waiting for each other's results. If a value cannot be encoded, sends none of them and
 * closes the connection, because a COMMIT among them must not commit the others.
 */
const pipeline = (client: pg.ClientBase, statements: ReadonlyArray<pg.QueryConfig>) =>
  new Promise<ReadonlyArray<QueryResult>>((resolve, reject) => {
    const stream = streamOf(client)
    const results: Array<QueryResult> = []
    let isEncoding = true
    stream.cork()
    for (const statement of statements)
      client.query(statement, (error: Error | null, result: QueryResult) => {
        if (error !== null && isEncoding) stream.destroy()
        if (error !== null) reject(error)
        else if (results.push(result) === statements.length) resolve(results)
      })
    isEncoding = false
    stream.uncork()
  })

const send = async (
  { client, textOf }: Pick<OpenClient, "client" | "textOf">,
  statements: ReadonlyArray<Statement>
): Promise<ReadonlyArray<QueryResult>> => {
  const warnings: Array<string> = []
  const onWarning = ({ code = "", message = "" }) => {
    if (code === SQLSTATE_WARNING) warnings.push(message)
  }
  const toQuery = (statement: Statement) => ({
    name: statement.name,
    text: textOf(statement),
    values: [...statement.values]
  })
  client.on("notice", onWarning)
  try {
    const results = await pipeline(client, statements.map(toQuery))
    // A commit is confirmed with a warning if its wait for a synchronous standby was cancelled, so it may be lost in a
    // failover.
    if (warnings.length > 0) throw new Error(`The database warned: ${warnings.join("; ")}`)
    return results
  } catch (error) {
    const failure = failureOf(error)
    // The late result may still arrive, and the driver would assign it to a later statement.
    if (failure.kind === "responseTimeout") streamOf(client).destroy()
    throw error
  } finally {
    client.off("notice", onWarning)
  }
}

const connectionOf = (openClient: OpenClient): OwnConnection => ({
  id: openClient.client.id,
  pid: openClient.client.pid,
  send: (statements) => Effect.tryPromise({ try: () => send(openClient, statements), catch: failureOf }),
  isOpen: () => openClient.isOpen,
  broken: Effect.async<void>((resume) => {
    if (!openClient.isOpen) return resume(Effect.void)
    const onBreak = () => resume(Effect.void)
    openClient.onBreak.add(onBreak)
    return Effect.sync(() => openClient.onBreak.delete(onBreak))
  })
})

/** Opens a connection. The end of the scope closes it. */
export const connect = (options: ConnectionOptions): Effect.Effect<OwnConnection, PgFailure, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(Effect.tryPromise({ try: () => open(options), catch: failureOf }), closeClient),
    connectionOf
  )

/** At most one open connection, which is opened when it is first needed and reopened after it broke. */
export interface ReconnectingConnection {
  /** Returns the connection, for one fiber at a time. Fails if none can be opened. */
  readonly connection: Effect.Effect<Connection, PgFailure>
  /** Closes the connection, so that the next use opens a new one. */
  readonly drop: Effect.Effect<void>
  /** Returns a borrowed connection after its transaction has ended. The next use may get another connection. */
  readonly release: Effect.Effect<void>
  /**
   * Ends the transaction after a failure. Closes the connection if it is lost, or if the server reported an unexpected
   * error, for example because a failover made the server read-only.
   */
  readonly undo: (failure: PgFailure) => Effect.Effect<void>
}

/**
 * The abandoned connections, by purpose and address. They are stored here, because each use may make a new
 * `ReconnectingConnection`.
 */
const abandonedByUrl = new Map<string, AbandonedSessions>()

/** The abandoned connections of a purpose at an address. */
export const abandonedSessions = ({ name, url }: Pick<ConnectionOptions, "name" | "url">): AbandonedSessions => {
  const key = `${name} ${url}`
  const sessions = abandonedByUrl.get(key) ?? new AbandonedSessions(url)
  abandonedByUrl.set(key, sessions)
  return sessions
}

/** Makes a reconnecting connection. Its open connection is closed with the scope. */
export const makeReconnecting = (
  options: ConnectionOptions
): Effect.Effect<ReconnectingConnection, never, Scope.Scope> =>
  Effect.gen(function* () {
    const abandonedBefore = abandonedSessions(options)
    let open: { readonly connection: OwnConnection; readonly scope: Scope.CloseableScope } | undefined

    const drop = Effect.suspend(() => {
      const { scope, connection } = open ?? {}
      open = undefined
      if (connection !== undefined) abandonedBefore.add(connection.pid)
      return scope === undefined ? Effect.void : Scope.close(scope, Exit.void)
    })

    const opened = Effect.gen(function* () {
      yield* drop
      yield* abandonedBefore.ended
      const scope = yield* Scope.make()
      const connection = yield* Effect.onError(Scope.extend(connect(options), scope), () =>
        Scope.close(scope, Exit.void)
      )
      open = { connection, scope }
      return connection
    })

    yield* Effect.addFinalizer(() => drop)
    const connection = Effect.suspend(() => (open?.connection.isOpen() ? Effect.succeed(open.connection) : opened))
    return {
      connection,
      drop,
      release: Effect.void,
      undo: (failure) =>
        failure.isLoss || failure.kind === "other"
          ? drop
          : Effect.flatMap(connection, ({ send }) => send([ROLLBACK])).pipe(Effect.catchAll(() => drop))
    }
  })
