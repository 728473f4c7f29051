import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { setTimeout as pause } from "node:timers/promises"

// biome-ignore lint/suspicious/noExplicitAny: the body is untyped JSON
export type Json = any

/** An operation and its outcome. The times come from this process, whose clock has no faults. */
export interface Operation {
  readonly kind: "create" | "status" | "stamps" | "read"
  readonly shop: number
  readonly idempotency_key: string | null
  readonly ticket: string | null
  readonly to: string | null
  readonly began: number
  ended: number
  /** Null if no response came. */
  status: number | null
  response: Json
}

/** A shop under load. */
export interface LoadedShop {
  readonly id: string
  readonly keys: ReadonlyArray<string>
  readonly client: string
  readonly tickets: Array<string>
  readonly mirror: Map<string, Json>
  sync: { since: string; cursor: string | null }
}

/** An event that arrived at the receiver, and the status of the response. */
export interface Arrival {
  readonly at: number
  readonly id: string
  readonly body: string
  readonly status: number | null
}

/**
 * The longest time for which a request is repeated without a fault. It is longer than the window of a limit on
 * requests.
 */
const TIMEOUT_MS = 90_000

const stuck = (request: string, status: number | null) =>
  new Error(
    `${request} was repeated for ${TIMEOUT_MS / 1000} s without faults, and last got ${status === null ? "no response" : `a ${status}`}`
  )

/** A receiver of deliveries that responds at random until it is set to be healthy. */
export class Receiver {
  readonly arrivals: Array<Arrival> = []
  readonly #server: Server
  isWell = false
  url = ""

  constructor(chance: () => number) {
    this.#server = createServer(async (request, response) => {
      const body = await text(request).catch(() => "")
      if (body === "") return
      const luck = chance()
      const status = this.isWell || luck < 0.85 ? 200 : luck < 0.95 ? 500 : null
      this.arrivals.push({ at: Date.now(), id: JSON.parse(body).id, body, status })
      if (!this.isWell && luck > 0.8) await pause(luck * 500)
      if (status === null) request.socket.destroy()
      else response.writeHead(status).end()
    })
  }

  async open(): Promise<void> {
    this.#server.listen(0, "127.0.0.1")
    await once(this.#server, "listening")
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`
  }

  end(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

/** Tills that send requests to the nodes, and record each operation. */
export class Load {
  readonly operations: Array<Operation> = []
  readonly shops: Array<LoadedShop> = []
  readonly #bases: ReadonlyArray<string>
  readonly #chance: () => number
  #over_at = Number.POSITIVE_INFINITY

  constructor(bases: ReadonlyArray<string>, chance: () => number) {
    this.#bases = bases
    this.#chance = chance
  }

  get isOver(): boolean {
    return this.#over_at < Number.POSITIVE_INFINITY
  }

  /** Starts no further operations. Operations in flight are still repeated until they get a response. */
  end(): void {
    this.#over_at = Date.now()
  }

  #base(): string {
    return this.#bases[Math.floor(this.#chance() * this.#bases.length)]!
  }

  async call(
    method: string,
    path: string,
    options: {
      readonly key?: string
      readonly idempotency_key?: string
      readonly body?: Json
      readonly base?: string
    } = {}
  ): Promise<{ readonly status: number | null; readonly response: Json }> {
    const { key, idempotency_key, body, base = this.#base() } = options
    try {
      const response = await fetch(base + path, {
        method,
        headers: {
          "content-type": "application/json",
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...(idempotency_key === undefined ? {} : { "idempotency-key": idempotency_key })
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(5000)
      })
      return { status: response.status, response: await response.json() }
    } catch {
      return { status: null, response: null }
    }
  }

  /** Repeats a call until a response other than 429 or 503 arrives. Fails after {@link TIMEOUT_MS}. */
  async insist(
    method: string,
    path: string,
    options: Parameters<Load["call"]>[2] = {}
  ): Promise<{ readonly status: number; readonly response: Json }> {
    const until = Date.now() + TIMEOUT_MS
    while (true) {
      const { status, response } = await this.call(method, path, options)
      if (status !== null && status !== 503 && status !== 429) return { status, response }
      if (Date.now() > until) throw stuck(`${method} ${path}`, status)
      await pause(status === 429 ? 1000 : 100)
    }
  }

  async open(count: number, hook: string): Promise<void> {
    for (let index = 0; index < count; index++) {
      const body = { name: `Shop ${index}`, currency: "TND", decimals: 3, time_zone: "Africa/Tunis" }
      const { data } = (await this.insist("POST", "/sandbox/shops", { body })).response
      const keys: Array<string> = [data.key]
      for (let more = 0; more < 4; more++)
        keys.push(
          (
            await this.insist("POST", `/sandbox/shops/${data.shop.id}/keys`, {
              body: { name: `till ${more}`, preset: "full" }
            })
          ).response.data.key
        )
      await this.insist("PUT", `/sandbox/shops/${data.shop.id}/webhook`, { body: { url: `${hook}${index}` } })
      await this.insist("PATCH", `/sandbox/shops/${data.shop.id}`, {
        body: {
          program: { active: true, name: "Stamps", stamps_required: 10, stamps_per_ticket: 1, reward_label: "Hem" }
        }
      })
      const phone = `+2162${String(1_000_000 + index)}`
      const client = (
        await this.insist("POST", "/sandbox/clients", { body: { given_name: "Amira", family_name: "Ben", phone } })
      ).response.data.id
      await this.insist("POST", `/sandbox/clients/${client}/visits`, { body: { shop_id: data.shop.id } })
      this.shops.push({
        id: data.shop.id,
        keys,
        client,
        tickets: [],
        mirror: new Map(),
        sync: { since: "2000-01-01T00:00:00Z", cursor: null }
      })
    }
  }

  /**
   * Performs and records an operation. With an Idempotency-Key it is repeated until a response other than 503 arrives,
   * which may be a 429.
   */
  async #operate(
    operation: Pick<Operation, "kind" | "shop" | "idempotency_key" | "ticket" | "to">,
    path: string,
    key: string,
    body: Json
  ): Promise<Operation> {
    const began = Date.now()
    while (true) {
      const attempt: Operation = { ...operation, began, ended: 0, status: null, response: null }
      const { status, response } = await this.call("POST", path, {
        key,
        body,
        ...(operation.idempotency_key === null ? {} : { idempotency_key: operation.idempotency_key })
      })
      Object.assign(attempt, { status, response, ended: Date.now() })
      this.operations.push(attempt)
      if (operation.idempotency_key === null || (status !== null && status !== 503)) return attempt
      if (Date.now() > this.#over_at + TIMEOUT_MS) throw stuck(`POST ${path}`, status)
      await pause(150)
    }
  }

  /** Runs a till until the load ends, with a request about every `every_ms` milliseconds. */
  async till(index: number, shop: number, every_ms: number): Promise<void> {
    const { keys, tickets, client } = this.shops[shop]!
    const key = keys[index % keys.length]!
    while (!this.isOver) {
      const luck = this.#chance()
      const ticket = tickets.length === 0 ? undefined : tickets[Math.floor(this.#chance() * tickets.length)]
      // Creates are rarer than changes, because a shop may create only 150 tickets an hour.
      if (luck < (tickets.length < 10 ? 0.35 : 0.15) || ticket === undefined) {
        const name = randomUUID()
        const body = { service: "Hem", external_ref: name, ...(luck < 0.1 ? { client_id: client } : {}) }
        const created = await this.#operate(
          { kind: "create", shop, idempotency_key: name, ticket: null, to: null },
          "/v1/tickets",
          key,
          body
        )
        if (created.status !== null && created.status < 300) tickets.push(created.response.data.id)
      } else if (luck < 0.8) {
        const to = ["ready", "collected", "workshop", "impossible"][Math.floor(this.#chance() * 4)]!
        const keyed = this.#chance() < 0.5 ? randomUUID() : null
        await this.#operate(
          { kind: "status", shop, idempotency_key: keyed, ticket, to },
          `/v1/tickets/${ticket}/status`,
          key,
          {
            status: to
          }
        )
      } else if (luck < 0.9) {
        await this.#operate(
          { kind: "stamps", shop, idempotency_key: randomUUID(), ticket: null, to: "1" },
          `/v1/clients/${client}/loyalty/stamps`,
          key,
          { count: 1 }
        )
      } else await this.call("GET", `/v1/tickets/${ticket}`, { key })
      await pause(every_ms * (0.5 + this.#chance()))
    }
  }

  /** Reads a shop's changes until there are no further ones. */
  async follow(shop: LoadedShop): Promise<void> {
    while (true) {
      const query = new URLSearchParams({
        updated_since: shop.sync.since,
        limit: "20",
        ...(shop.sync.cursor === null ? {} : { cursor: shop.sync.cursor })
      })
      const { status, response } = await this.call("GET", `/v1/tickets?${query}`, { key: shop.keys.at(-1)! })
      if (status !== 200) return
      for (const ticket of response.data) shop.mirror.set(ticket.id, ticket)
      if (!response.meta.has_more) {
        shop.sync = { since: response.meta.synced_until, cursor: null }
        return
      }
      shop.sync.cursor = response.meta.next_cursor
    }
  }

  async follower(shop: number, every_ms: number): Promise<void> {
    while (!this.isOver) {
      await this.follow(this.shops[shop]!)
      await pause(every_ms)
    }
  }
}
