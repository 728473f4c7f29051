import { StoreUnavailable } from "../ports/StorePorts.js"

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

/**
 * Borrows a client from a `Pool` of the package `pg` for a transaction of your own, and returns it to the pool afterwards. Meanwhile a
 * connection that breaks does not end the process, as the `error` of a client without a listener does. Rejects with `StoreUnavailable` if
 * the pool has no client or the connection broke, so that `refusalResponse` answers 503; otherwise with what `use` rejects with. After
 * `giveUp`, such as where a rollback failed, the client counts as broken and does not return to the pool.
 */
export const withClient = async <Client extends BorrowedClient, A>(
  pool: PoolOf<Client>,
  use: (client: Client, giveUp: () => void) => Promise<A>
): Promise<A> => {
  const client = await pool.connect().catch((cause: unknown) => {
    throw new StoreUnavailable({ cause })
  })
  let isBroken = false
  const giveUp = () => {
    isBroken = true
  }
  client.on("error", giveUp)
  try {
    return await use(client, giveUp)
  } catch (cause) {
    throw isBroken ? new StoreUnavailable({ cause }) : cause
  } finally {
    client.off("error", giveUp)
    client.release(isBroken)
  }
}
