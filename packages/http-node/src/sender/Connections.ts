import * as Http from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { Limits } from "@workshop/core/domain/Limits"
import { Effect } from "effect"
import type { Call } from "./Call.js"

/** Exchanges of one shop at a time; the others wait, and their deadline runs. */
const MOST_PER_SHOP = Limits.deliveries_in_flight_per_shop
/** Connections kept alive for all shops together: beyond, they are closed after use. */
const MOST_IDLE = 1024

/** A request's arguments with the pool it belongs to and, unless one is idle there, a connection dialled for it. */
export interface PooledRequestArgs extends Http.RequestOptions {
  readonly pool: string
  readonly dialled: Socket | undefined
}

// A receiver that speaks unasked says goodbye (408) or worse; it would pass for the answer to the next event, and drop
// by drop would keep the connection from ever being idle.
function closeOnWord(this: Duplex) {
  this.destroy()
}

/** Connections in use and kept alive. */
export interface ConnectionCounts {
  readonly open: number
  readonly idle: number
}

/**
 * Connections kept alive a while for the next event, apart by shop and address. Node's agent holds and times them; it
 * neither looks up nor dials, and so cannot reach what was not vetted.
 */
export class Connections extends Http.Agent {
  readonly #open = new Set<Duplex>()
  readonly #idle = new Set<Duplex>()
  readonly #shops = new Map<string, { taken: number; readonly waiting: Set<() => void> }>()

  constructor(idle_ms: number) {
    super({ keepAlive: true, timeout: idle_ms, maxFreeSockets: MOST_PER_SHOP })
  }

  get counts(): ConnectionCounts {
    return { open: this.#open.size, idle: this.#idle.size }
  }

  /** Waits for one of the shop's places, and gives it back at the end of the call. */
  place(shop_id: string, call: Call): Effect.Effect<void> {
    return Effect.async((resume) => {
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
        resume(Effect.void)
      }
      if (shop.taken < MOST_PER_SHOP) return take()
      shop.waiting.add(take)
      return Effect.sync(() => shop.waiting.delete(take))
    })
  }

  /** Whether a pool has a connection that still stands, as far as can be told without writing to it. */
  hasIdle(pool: string): boolean {
    for (const socket of [...(this.freeSockets[pool] ?? [])]) if (!socket.writable) socket.emit("agentRemove")
    return this.freeSockets[pool] !== undefined
  }

  /** A request on an idle connection of its pool or, failing that, on the one dialled for it. */
  request(args: PooledRequestArgs): Http.ClientRequest {
    const request = Http.request({ ...args, agent: this })
    // While it was dialled another one came free, and the agent took that.
    if (args.dialled !== undefined && !this.#open.has(args.dialled)) args.dialled.destroy()
    return request
  }

  override getName(options?: Http.ClientRequestArgs): string {
    return (options as PooledRequestArgs).pool
  }

  override createConnection(options: Http.ClientRequestArgs): Duplex | undefined {
    const { dialled } = options as PooledRequestArgs
    if (dialled === undefined) return undefined
    this.#open.add(dialled)
    dialled.once("close", () => {
      this.#open.delete(dialled)
      this.#idle.delete(dialled)
    })
    return dialled
  }

  override keepSocketAlive(socket: Duplex): boolean {
    // Declared without its answer, which says whether to keep the socket; a receiver may say how long it keeps it.
    const kept = this.#idle.size < MOST_IDLE && (super.keepSocketAlive(socket) as unknown as boolean)
    if (!kept) return false
    this.#idle.add(socket.on("data", closeOnWord))
    return true
  }

  override reuseSocket(socket: Duplex, request: Http.ClientRequest): void {
    this.#idle.delete(socket.off("data", closeOnWord))
    super.reuseSocket(socket, request)
  }
}
