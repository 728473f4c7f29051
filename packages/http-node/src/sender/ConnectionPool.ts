import type { Socket } from "node:net"
import { Limits } from "@workshop/core"
import type { AttemptProgress } from "./AttemptProgress.js"

/** The maximum number of concurrent requests of a shop. Further requests wait while their deadline runs. */
const MAX_REQUESTS_PER_SHOP = Limits.deliveries_in_flight_per_shop
/** The maximum number of idle connections of all shops. Further connections are closed after use. */
const MAX_IDLE_CONNECTIONS = 1024

/**
 * A connection is closed this much before the receiver's keep-alive timeout, which begins when the receiver sends its
 * response.
 */
const CLOSE_EARLIER_MS = 500

/** The numbers of open connections and of idle connections among them. */
export interface ConnectionCounts {
  /** All open connections, in use or idle. */
  readonly open: number
  /** The open connections that are kept for the next delivery to the same host. */
  readonly idle: number
}

/** The callbacks of the attempt that uses a connection. */
export interface ConnectionUser {
  readonly onData: (chunk: Buffer) => void
  readonly onError: (cause: Error) => void
  readonly onClose: () => void
}

/** An open connection and its user, which is null while the connection is idle. */
export interface SenderConnection {
  readonly key: string
  readonly socket: Socket
  user: ConnectionUser | null
}

/** The pool of kept-alive connections. The key includes the shop, the origin and the IP address. */
export class ConnectionPool {
  readonly #idle_ms: number
  readonly #open = new Set<SenderConnection>()
  readonly #idle = new Map<string, Array<SenderConnection>>()
  readonly #shops = new Map<string, { active: number; readonly waiting: Set<() => void> }>()
  #idle_count = 0

  constructor(idle_ms: number) {
    this.#idle_ms = idle_ms
  }

  get counts(): ConnectionCounts {
    return { open: this.#open.size, idle: this.#idle_count }
  }

  /** Calls `acquired` once the shop may send another request. The end of the attempt releases the slot. */
  acquireSlot(shop_id: string, progress: AttemptProgress, acquired: () => void): void {
    const shop = this.#shops.get(shop_id) ?? { active: 0, waiting: new Set() }
    this.#shops.set(shop_id, shop)
    const acquire = () => {
      shop.waiting.delete(acquire)
      shop.active += 1
      progress.onEnd(() => {
        shop.active -= 1
        const [next] = shop.waiting
        if (next !== undefined) next()
        else if (shop.active === 0) this.#shops.delete(shop_id)
      })
      acquired()
    }
    if (shop.active < MAX_REQUESTS_PER_SHOP) acquire()
    else {
      shop.waiting.add(acquire)
      progress.onEnd(() => shop.waiting.delete(acquire))
    }
  }

  /**
   * Takes an idle connection whose socket still seems writable. Only a write can show whether the connection is usable.
   */
  takeIdle(key: string): SenderConnection | undefined {
    const idle = this.#idle.get(key)
    for (let connection = idle?.at(-1); connection !== undefined; connection = idle?.at(-1)) {
      this.#removeIdle(connection)
      if (connection.socket.writable) {
        connection.socket.setTimeout(0)
        connection.socket.ref()
        return connection
      }
      connection.socket.destroy()
    }
    return undefined
  }

  /** Adds a new connection. */
  add(key: string, socket: Socket): SenderConnection {
    const connection: SenderConnection = { key, socket, user: null }
    this.#open.add(connection)
    socket
      // Closes an idle connection on which the receiver sends data, because the data would be read as the response to
      // the next event.
      .on("data", (chunk: Buffer) => (connection.user === null ? socket.destroy() : connection.user.onData(chunk)))
      .on("end", () => connection.user === null && socket.destroy())
      .on("timeout", () => connection.user === null && socket.destroy())
      .on("error", (cause) => connection.user?.onError(cause))
      .on("close", () => {
        this.#open.delete(connection)
        this.#removeIdle(connection)
        connection.user?.onClose()
      })
    return connection
  }

  /** Ends the use of a connection. Closes it if the receiver would close it soon or too many connections are idle. */
  release(connection: SenderConnection, keep_alive_s: number | null): void {
    const { key, socket } = connection
    connection.user = null
    const idle_ms =
      keep_alive_s === null ? this.#idle_ms : Math.min(this.#idle_ms, 1000 * keep_alive_s - CLOSE_EARLIER_MS)
    if (idle_ms <= 0 || !socket.writable || this.#idle_count >= MAX_IDLE_CONNECTIONS) return void socket.destroy()
    const idle = this.#idle.get(key) ?? []
    idle.push(connection)
    this.#idle.set(key, idle)
    this.#idle_count++
    socket.setTimeout(idle_ms)
    socket.unref()
  }

  /** Closes every connection. */
  closeAll(): void {
    for (const { socket } of [...this.#open]) socket.destroy()
  }

  #removeIdle(connection: SenderConnection): void {
    const idle = this.#idle.get(connection.key)
    const at = idle?.lastIndexOf(connection) ?? -1
    if (idle === undefined || at === -1) return
    idle.splice(at, 1)
    this.#idle_count--
    if (idle.length === 0) this.#idle.delete(connection.key)
  }
}
