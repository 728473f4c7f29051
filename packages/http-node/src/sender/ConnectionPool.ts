import type { Socket } from "node:net"
import { Limits } from "@workshop/core"
import type { Call } from "./Call.js"

/** Exchanges of one shop at a time; the others wait, and their deadline runs. */
const MOST_PER_SHOP = Limits.deliveries_in_flight_per_shop
/** Connections kept alive for all shops together: beyond, they are closed after use. */
const MOST_IDLE = 1024

/** Receivers count from when they answered: a connection is let go of a little before they do. */
const SOONER_MS = 500

/** Connections in use and kept alive. */
export interface ConnectionCounts {
  readonly open: number
  readonly idle: number
}

/** Who uses a connection hears what comes of it. */
export interface Listener {
  readonly heard: (chunk: Buffer) => void
  readonly failed: (cause: Error) => void
  readonly closed: () => void
}

/** A connection that was dialled, and who uses it; nobody while it is idle. */
export interface Connection {
  readonly pool: string
  readonly socket: Socket
  user: Listener | null
}

/** Connections kept alive a while for the next event, apart by shop, route and address. */
export class Connections {
  readonly #idle_ms: number
  readonly #open = new Set<Connection>()
  readonly #idle = new Map<string, Array<Connection>>()
  readonly #shops = new Map<string, { taken: number; readonly waiting: Set<() => void> }>()
  #idle_count = 0

  constructor(idle_ms: number) {
    this.#idle_ms = idle_ms
  }

  get counts(): ConnectionCounts {
    return { open: this.#open.size, idle: this.#idle_count }
  }

  /** Waits for one of the shop's places, and gives it back at the end of the call. */
  place(shop_id: string, call: Call, taken: () => void): void {
    const shop = this.#shops.get(shop_id) ?? { taken: 0, waiting: new Set() }
    this.#shops.set(shop_id, shop)
    const take = () => {
      shop.waiting.delete(take)
      shop.taken += 1
      call.atEnd(() => {
        shop.taken -= 1
        const [next] = shop.waiting
        if (next !== undefined) next()
        else if (shop.taken === 0) this.#shops.delete(shop_id)
      })
      taken()
    }
    if (shop.taken < MOST_PER_SHOP) take()
    else {
      shop.waiting.add(take)
      call.atEnd(() => shop.waiting.delete(take))
    }
  }

  /** An idle connection of a pool that still stands, as far as can be told without writing to it; it is not idle any more. */
  reuse(pool: string): Connection | undefined {
    const idle = this.#idle.get(pool)
    for (let connection = idle?.at(-1); connection !== undefined; connection = idle?.at(-1)) {
      this.#wake(connection)
      if (connection.socket.writable) {
        connection.socket.setTimeout(0)
        connection.socket.ref()
        return connection
      }
      connection.socket.destroy()
    }
    return undefined
  }

  /** A connection on a socket that was just dialled. */
  open(pool: string, socket: Socket): Connection {
    const connection: Connection = { pool, socket, user: null }
    this.#open.add(connection)
    socket
      // A receiver that speaks unasked says goodbye (408) or worse; it would pass for the answer to the next event, and
      // drop by drop would keep the connection from ever being idle.
      .on("data", (chunk: Buffer) => (connection.user === null ? socket.destroy() : connection.user.heard(chunk)))
      .on("end", () => connection.user === null && socket.destroy())
      .on("timeout", () => connection.user === null && socket.destroy())
      .on("error", (cause) => connection.user?.failed(cause))
      .on("close", () => {
        this.#open.delete(connection)
        this.#wake(connection)
        connection.user?.closed()
      })
    return connection
  }

  /** Ends the use of a connection. It is kept for the next event, unless the receiver keeps it for too short a time or there are many. */
  leave(connection: Connection, kept_s: number | null): void {
    const { pool, socket } = connection
    connection.user = null
    const idle = this.#idle.get(pool) ?? []
    const for_ms = kept_s === null ? this.#idle_ms : Math.min(this.#idle_ms, 1000 * kept_s - SOONER_MS)
    const isKept = for_ms > 0 && socket.writable && this.#idle_count < MOST_IDLE
    if (!isKept) return void socket.destroy()
    idle.push(connection)
    this.#idle.set(pool, idle)
    this.#idle_count++
    socket.setTimeout(for_ms)
    socket.unref()
  }

  /** Closes all that are open. */
  destroy(): void {
    for (const { socket } of [...this.#open]) socket.destroy()
  }

  #wake(connection: Connection): void {
    const idle = this.#idle.get(connection.pool)
    const at = idle?.lastIndexOf(connection) ?? -1
    if (idle === undefined || at === -1) return
    idle.splice(at, 1)
    this.#idle_count--
    if (idle.length === 0) this.#idle.delete(connection.pool)
  }
}
