import { StoreUnavailable, TransactionRefused } from "../../ports/StorePorts.js"
import { describeExhaustion, isNoClientError, recordExhaustionOutside } from "./PoolExhaustion.js"

/** The SQLSTATEs with which Postgres ends a connection. They may arrive as the error of a statement, before the connection ends. */
export const CONNECTION_ENDED = [
  // The server shuts down, starts up, or an operator ended the connection.
  "57P01",
  "57P02",
  "57P03",
  "57P05",
  // The transaction sent no statement for too long.
  "25P03"
] as const

// A statement with the wrong number of parameters also fails with 08P01, but the connection stays open. From a pooler,
// 08P01 is fatal.
const isConnectionEndCode = (code: string, severity: unknown): boolean =>
  CONNECTION_ENDED.some((endedCode) => endedCode === code) ||
  (/^08[0-9A-Z]{3}$/.test(code) && (code !== "08P01" || severity === "FATAL"))

/**
 * Whether an error, or one that it wraps, means that the connection has ended, and not only that a statement failed.
 */
const isConnectionEnded = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  const { code, severity } = error as { readonly code?: unknown; readonly severity?: unknown }
  return (typeof code === "string" && isConnectionEndCode(code, severity)) || isConnectionEnded(error.cause)
}

/** The innermost error, because a query builder wraps the driver's error in one that contains only the statement. */
const innermostErrorOf = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error ? innermostErrorOf(error.cause) : error

/** The part of a client from a `Pool` of the package `pg` that borrowing needs. */
export interface BorrowedClient {
  /** Adds a listener. */
  readonly on: (event: "error", listener: (error: Error) => void) => unknown
  /** Removes a listener. */
  readonly off: (event: "error", listener: (error: Error) => void) => unknown
  /** Returns the client to its pool, which closes it if `destroy` is true. */
  readonly release: (destroy?: boolean) => void
}

/** A `Pool` of the package `pg`, whose `connect` also takes a callback. */
export interface PoolOf<Client> {
  /** Borrows a client. */
  readonly connect: {
    (): Promise<Client>
    (callback: never): void
  }
}

/** The error of a pool without a free client: all were in use, or it could not connect. */
const toStoreUnavailable = (pool: object, cause: unknown): StoreUnavailable => {
  const remedy = isNoClientError(cause) ? describeExhaustion(pool) : undefined
  if (remedy === undefined) return new StoreUnavailable({ cause })
  recordExhaustionOutside(pool, remedy)
  return new StoreUnavailable({ cause, remedy })
}

const NO_POOL = "The argument is not a pool of pg. Pass the Pool itself, not its url or a query builder's wrapper."

/**
 * Borrows a client from a `Pool` of the package `pg` for a transaction of your own, and returns it to the pool
 * afterwards. It listens to the client's `error` events, which would otherwise end the process if the connection breaks
 * meanwhile. Rejects with `StoreUnavailable` if the pool has no client, or the connection broke or the server ended it,
 * so that `refusalResponse` returns a 503; with `TransactionRefused` if the argument is no pool; otherwise with the
 * error of `use`. After `giveUp`, such as when a rollback failed, the client counts as broken and does not return to
 * the pool.
 */
export const withClient = async <Client extends BorrowedClient, A>(
  pool: PoolOf<Client>,
  use: (client: Client, giveUp: () => void) => Promise<A>
): Promise<A> => {
  if (typeof pool?.connect !== "function") throw new TransactionRefused({ message: NO_POOL })
  const client = await pool.connect().catch((cause: unknown) => {
    throw toStoreUnavailable(pool, cause)
  })
  let isBroken = false
  let brokenBy: unknown
  const giveUp = (error?: Error) => {
    isBroken = true
    brokenBy ??= error
  }
  client.on("error", giveUp)
  try {
    return await use(client, () => giveUp())
  } catch (cause) {
    // The server's last error rejects the statement before the client notices that its connection is closed.
    if (isConnectionEnded(cause)) giveUp()
    if (!isBroken || cause instanceof StoreUnavailable) throw cause
    throw new StoreUnavailable({ cause: brokenBy ?? innermostErrorOf(cause) })
  } finally {
    client.off("error", giveUp)
    client.release(isBroken)
  }
}
