import { TransactionConnection } from "@effect/sql/SqlClient"
import type { Connection as SqlConnection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import * as PgClient from "@effect/sql-pg/PgClient"
import type { StoreUnavailable } from "@workshop/core"
import { countClientsInUse, describeInUse, isNoClientError, recordExhaustion } from "@workshop/core/internal"
import { Context, Effect, Layer, Runtime, type Scope } from "effect"
import pg from "pg"
import { countPool } from "../observe/PgMetrics.js"
import { parseAddress } from "./Address.js"
import { AbandonedSessions } from "./CommitWaits.js"
import { CONNECT_TIMEOUT_MS, IN_TRANSIT_MS, STATEMENT_TIMEOUT_MS, streamOf } from "./Connection.js"
import { reportFailure } from "./PgFailure.js"
import { ReadClient, TIMED_OUT } from "./ReadClient.js"
import { type Database, DEFAULT_SCHEMA } from "./Schema.js"
import { formatMs, PLANNED_BY_COST, type SessionConfig, SessionRefused } from "./SessionClient.js"

/** The time that a read waits for a lock, such as the lock of an operator who alters a table. */
export const READ_LOCK_TIMEOUT_MS = 1_000

type ConnectCallback = (error: Error | undefined, client: pg.PoolClient | undefined, release: () => void) => void

const allInUse = (connections: number) =>
  `${describeInUse(connections, "connection", "the store's pool for reads", CONNECT_TIMEOUT_MS)}. Raise the store's readConnections, or run more processes.`

/**
 * A pool that tries the servers of its address in order. Abandoned connections that wait for a standby count against
 * its maximum size.
 */
class FailoverPool extends pg.Pool {
  readonly #url: string
  readonly #max: number
  readonly #abandoned: AbandonedSessions
  readonly #onExhaustion: (pool: FailoverPool, message: string) => void

  constructor(
    config: pg.PoolConfig & SessionConfig & { readonly max: number },
    onExhaustion: (pool: FailoverPool, message: string) => void
  ) {
    super(config)
    this.#onExhaustion = onExhaustion
    this.#url = config.url
    this.#max = config.max
    this.#abandoned = new AbandonedSessions(config.url)
  }

  /**
   * Records a connection whose result was late, because it still occupies a connection of the server while its commit
   * waits for a standby.
   */
  abandon({ pid }: ReadClient): void {
    this.#abandoned.add(pid)
  }

  // The overloads of `connect` cannot be distinguished by type here.
  override connect(callback?: ConnectCallback): never {
    this.options.max = Math.max(1, this.#max - this.#abandoned.waiting)
    const attempt = (remainingTries: number, onConnected: ConnectCallback): void =>
      super.connect((error, client, release) => {
        if (isNoClientError(error)) return onConnected(this.#exhaustion() ?? error, client, release)
        return error !== undefined && remainingTries > 1
          ? attempt(remainingTries - 1, onConnected)
          : onConnected(error, client, release)
      })
    if (callback !== undefined) return attempt(parseAddress(this.#url).servers.length, callback) as never
    return super.connect() as never
  }

  #exhaustion(): SessionRefused | undefined {
    const connections = countClientsInUse(this)
    if (connections === undefined) return undefined
    const message = allInUse(connections)
    this.#onExhaustion(this, message)
    return new SessionRefused({ message })
  }
}

/** A pool of connections for reads. Several schemas may share it. */
export const readPool = ({
  url,
  connections
}: Pick<Database, "url"> & { readonly connections: number }): Effect.Effect<pg.Pool, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.map(Effect.runtime<never>(), (runtime) => {
      const config = {
        Client: ReadClient,
        url,
        settings: {
          ...PLANNED_BY_COST,
          lock_timeout: formatMs(READ_LOCK_TIMEOUT_MS),
          statement_timeout: formatMs(STATEMENT_TIMEOUT_MS),
          idle_in_transaction_session_timeout: formatMs(STATEMENT_TIMEOUT_MS)
        },
        application_name: "workshop reads",
        max: connections,
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
        query_timeout: STATEMENT_TIMEOUT_MS + IN_TRANSIT_MS,
        keepAlive: true,
        // Pipelining makes the driver close the connection if a result does not arrive in time.
        pipeline: true
      } as unknown as pg.PoolConfig & SessionConfig & { readonly max: number }
      const pool = new FailoverPool(
        config,
        (pool, message) => void Runtime.runFork(runtime)(recordExhaustion("store", pool, message))
      )
      const idle = new Set<pg.PoolClient>()
      pool.on("acquire", (client) => idle.delete(client))
      pool.on("remove", (client) => idle.delete(client))
      pool.on("release", (_, client) => idle.add(client))
      // The pool replaces a broken connection when it is next needed. A network failure breaks all connections, which
      // the pool would notice only when a read on each of them times out, so all are replaced at once.
      const dropOthers = () => {
        const others = [...idle]
        idle.clear()
        for (const client of others) streamOf(client).destroy()
      }
      pool.on("error", dropOthers)
      pool.on("connect", (client) =>
        client.on(TIMED_OUT as "end", () => {
          if (client instanceof ReadClient) pool.abandon(client)
          dropOthers()
        })
      )
      return pool
    }),
    (pool) => Effect.promise(() => pool.end())
  ).pipe(Effect.tap(countPool))

/** A view of the pool whose clients use the tables of one schema. */
const poolInSchema = (currentPool: () => pg.Pool, schema: string): pg.Pool => {
  const connect = (callback: ConnectCallback): void =>
    currentPool().connect((error, client, release) => {
      if (client instanceof ReadClient) client.useSchema(schema)
      callback(error, client, release)
    })
  return new Proxy(currentPool(), {
    get: (_, name) => (name === "connect" ? connect : Reflect.get(currentPool(), name, currentPool()))
  })
}

/** The reads of a schema on a pool, as an Effect SQL client. A read waits for a connection for a bounded time. */
export const readsOn = (currentPool: () => pg.Pool, { schema = DEFAULT_SCHEMA }: Pick<Database, "schema">) =>
  Layer.orDie(PgClient.layerFromPool({ acquire: Effect.sync(() => poolInSchema(currentPool, schema)) }))

/** The connection of the transaction that a fiber has joined, for the reads in it; null outside of one. */
export class JoinedReads extends Context.Reference<JoinedReads>()("@workshop/store-pg/JoinedReads", {
  defaultValue: (): SqlConnection | null => null
}) {}

/**
 * Makes a read use the transaction that its fiber has joined, or otherwise the store's own pool. Without this, a read
 * could use the transaction of an embedder's `SqlClient`, which is in the context under the same key.
 */
const onJoinedOrOwnConnection = <R>(context: Context.Context<R>): Context.Context<R> => {
  const joined = Context.get(context, JoinedReads)
  if (joined !== null) return Context.add(context, TransactionConnection, [joined, 0] as const) as Context.Context<R>
  if (!context.unsafeMap.has(TransactionConnection.key)) return context
  return Context.omit(TransactionConnection)(
    context as Context.Context<R | TransactionConnection>
  ) as Context.Context<R>
}

/** Turns a read's SqlError into `StoreUnavailable`, or into a defect if its statement is invalid. */
export const runRead = <A, R>(read: Effect.Effect<A, SqlError, R>): Effect.Effect<A, StoreUnavailable, R> =>
  Effect.mapInputContext(reportFailure(read), onJoinedOrOwnConnection<R>)
