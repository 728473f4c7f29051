import { setTimeout as pause } from "node:timers/promises"
import type { Connections, Outcome, Response } from "./Connections.js"

interface OpenTicket {
  readonly shop: number
  readonly id: string
  readonly to: "ready" | "collected"
}

/** The outcome of a request. */
export interface EndedRequest {
  readonly outcome: Outcome
  /** The request with its outcome, if a valid request may not have this outcome. */
  readonly unexpected: string | undefined
}

/**
 * The number of open tickets that wait for their next change, so that no ticket is changed while it is being created.
 */
const BACKLOG = 200
/** The number of latest tickets from which the reads choose. */
const READ = 2_000

/** The outcomes that a valid request may have: a success, a limit (429), overload (503), or no response. */
const EXPECTED: ReadonlySet<Outcome> = new Set<Outcome>([200, 201, 429, 503, "timeout", "reset"])

/**
 * The requests of many tills. Of twenty requests, one creates a ticket, two change the state of a ticket, two sync, two
 * list, one reads the shop, and the others read a ticket. The keys are used in turn, so that no key reaches its limit.
 */
export class MixedLoad {
  readonly #connections: Connections
  readonly #keys: Array<ReadonlyArray<string>> = []
  readonly #open: Array<OpenTicket> = []
  readonly #known: Array<{ readonly shop: number; readonly id: string }> = []
  #requests = 0

  constructor(connections: Connections) {
    this.#connections = connections
  }

  /** Opens shops, each with five keys and a webhook. */
  async prepare(shops: number, hook: string): Promise<void> {
    let next = 0
    const worker = async () => {
      while (next < shops) await this.#openShop(next++, hook)
    }
    await Promise.all(Array.from({ length: 8 }, worker))
  }

  async #openShop(index: number, hook: string): Promise<void> {
    const shop = { name: `Shop ${index}`, currency: "TND", decimals: 3, time_zone: "Africa/Tunis" }
    const { data } = await this.#insist("POST", "/sandbox/shops", shop)
    const path = `/sandbox/shops/${data.shop.id}`
    const keys: Array<string> = [data.key]
    while (keys.length < 5)
      keys.push((await this.#insist("POST", `${path}/keys`, { name: `till ${keys.length}`, preset: "full" })).data.key)
    await this.#insist("PUT", `${path}/webhook`, { url: `${hook}${index}` })
    this.#keys.push(keys)
  }

  // biome-ignore lint/suspicious/noExplicitAny: the response is untyped JSON
  async #insist(method: string, path: string, body: object): Promise<any> {
    let last = ""
    for (let attempt = 0; attempt < 100; attempt++) {
      const { outcome, text } = await this.#call(method, path, undefined, performance.now(), body)
      if (outcome === 200 || outcome === 201) return JSON.parse(text)
      last = `${outcome}: ${text.slice(0, 400)}`
      await pause(200)
    }
    throw new Error(`${method} ${path} was repeated a hundred times, and the last outcome was ${last}`)
  }

  #call(method: string, path: string, key: string | undefined, due_ms: number, body?: object): Promise<Response> {
    const text = body === undefined ? "" : JSON.stringify(body)
    const header = method === "POST" && key !== undefined ? `Idempotency-Key: ${crypto.randomUUID()}\r\n` : ""
    const auth = key === undefined ? "" : `Authorization: Bearer ${key}\r\n`
    const length = body === undefined ? "" : `Content-Type: application/json\r\nContent-Length: ${text.length}\r\n`
    return this.#connections.send(
      `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${auth}${header}${length}\r\n`,
      text,
      due_ms
    )
  }

  /** Sends the next request of the mix. */
  async next(due_ms: number): Promise<EndedRequest> {
    const request = this.#requests++
    const shop = request % this.#keys.length
    const key = this.#keyOf(shop, Math.floor(request / this.#keys.length))
    const kind = Math.floor(Math.random() * 20)
    if (kind === 0 || this.#open.length < BACKLOG) return this.#create(shop, key, due_ms)
    if (kind <= 2) return this.#move(this.#open.shift()!, due_ms)
    if (kind <= 4) {
      const since = new Date(Date.now() - 60_000).toISOString()
      return this.#read(`/v1/tickets?limit=20&updated_since=${since}`, key, due_ms)
    }
    if (kind <= 6) return this.#read("/v1/tickets?limit=20", key, due_ms)
    if (kind === 7) return this.#read("/v1/shop", key, due_ms)
    const known = this.#known[Math.floor(Math.random() * this.#known.length)]
    if (known === undefined) return this.#read("/v1/shop", key, due_ms)
    return this.#read(`/v1/tickets/${known.id}`, this.#keyOf(known.shop, request), due_ms)
  }

  /** Sends a request of the client that sends far more requests than its key allows. */
  greedy(due_ms: number): Promise<EndedRequest> {
    return this.#read("/v1/shop", this.#keyOf(0, 0), due_ms)
  }

  #keyOf(shop: number, turn: number): string {
    const keys = this.#keys[shop]!
    return keys[turn % keys.length]!
  }

  async #create(shop: number, key: string, due_ms: number): Promise<EndedRequest> {
    const body = { service: "Hem", external_ref: crypto.randomUUID() }
    const response = await this.#call("POST", "/v1/tickets", key, due_ms, body)
    if (response.outcome === 201) {
      const { id } = JSON.parse(response.text).data
      this.#open.push({ shop, id, to: "ready" })
      this.#known.push({ shop, id })
      if (this.#known.length > READ) this.#known.shift()
    }
    return ended("POST /v1/tickets", response)
  }

  async #move(ticket: OpenTicket, due_ms: number): Promise<EndedRequest> {
    const { shop, id, to } = ticket
    const path = `/v1/tickets/${id}/status`
    const response = await this.#call("POST", path, this.#keyOf(shop, this.#requests), due_ms, { status: to })
    const isRefused = response.outcome === 503 || response.outcome === 429
    // Without a response the state of the ticket is unknown, so the load does not use the ticket again.
    if (isRefused) this.#open.push(ticket)
    else if (response.outcome === 200 && to === "ready") this.#open.push({ shop, id, to: "collected" })
    return ended(`POST ${path} ${to}`, response)
  }

  async #read(path: string, key: string, due_ms: number): Promise<EndedRequest> {
    return ended(`GET ${path}`, await this.#call("GET", path, key, due_ms))
  }
}

const ended = (request: string, { outcome, text }: Response): EndedRequest => ({
  outcome,
  unexpected: EXPECTED.has(outcome) ? undefined : `${request} got ${outcome}: ${text.slice(0, 400)}`
})
