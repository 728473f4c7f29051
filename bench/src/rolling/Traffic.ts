import { randomInt, randomUUID } from "node:crypto"
import { setTimeout } from "node:timers/promises"
import type { ServiceNode } from "./Release.js"
import type { Seller } from "./Sellers.js"

/** A ticket in the state of its last response. */
interface AcknowledgedTicket {
  readonly id: string
  readonly number: number
  readonly state: string
}

/** A request with all its tries. */
interface Look {
  readonly phase: string
  readonly ms: number
  /** The number of 503 responses before the last response. */
  readonly unavailable: number
  /** The number of broken or refused connections before the last response. */
  readonly broken: number
}

interface Asked {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly key: string
  readonly body?: object
  readonly idempotencyKey?: string
}

const WORKERS = 8
const PAUSE_MS = 60
const AGAIN_MS = 50
/** The time after which a client gives up. */
const TIMEOUT_MS = 30_000

/** The phone number of a client without an account, to which the service sends notifications. */
const walkIn = () => `+21620${String(randomInt(1_000_000)).padStart(6, "0")}`

/** Clients that continually create, change and read tickets, and record the responses. */
export class Traffic {
  readonly looks: Array<Look> = []
  readonly failures: Array<string> = []
  /** The acknowledged tickets by id, each with a key that can read it. */
  readonly acknowledged = new Map<string, AcknowledgedTicket & { readonly key: string }>()
  phase = "before"
  nodes: ReadonlyArray<ServiceNode> = []
  #turn = 0
  #isOver = false

  /** Runs until `stop`. */
  async run(sellers: ReadonlyArray<Seller>): Promise<void> {
    const worker = async () => {
      while (!this.#isOver) await this.#serve(sellers[this.#turn++ % sellers.length]!)
    }
    await Promise.all(Array.from({ length: WORKERS }, worker))
  }

  stop(): void {
    this.#isOver = true
  }

  /** Creates a ticket, reads it, changes it, and finds it in the list. */
  async #serve({ key }: Seller): Promise<void> {
    const body = { service: "Resoling", item: "Brown boots", price_minor: 45_000, client_phone: walkIn() }
    const idempotencyKey = randomUUID()
    const ticket = await this.ask<AcknowledgedTicket>({
      method: "POST",
      path: "/v1/tickets",
      key,
      body,
      idempotencyKey
    })
    await setTimeout(PAUSE_MS)
    if (ticket === undefined) return
    this.#remember(ticket, key)
    const path = `/v1/tickets/${ticket.id}`
    await this.#same(await this.ask<AcknowledgedTicket>({ method: "GET", path, key }), ticket)
    await setTimeout(PAUSE_MS)
    const ready = await this.ask<AcknowledgedTicket>({
      method: "POST",
      path: `${path}/status`,
      key,
      body: { status: "ready" }
    })
    if (ready !== undefined) this.#remember(ready, key)
    await setTimeout(PAUSE_MS)
    const list = await this.ask<ReadonlyArray<AcknowledgedTicket>>({ method: "GET", path: "/v1/tickets?limit=5", key })
    if (list?.some(({ id }) => id === ticket.id) === false) this.failures.push("a ticket is missing in the list")
    await setTimeout(PAUSE_MS)
  }

  #remember({ id, number, state }: AcknowledgedTicket, key: string) {
    this.acknowledged.set(id, { id, number, state, key })
  }

  async #same(actual: AcknowledgedTicket | undefined, { id, number }: AcknowledgedTicket) {
    if (actual !== undefined && (actual.id !== id || actual.number !== number))
      this.failures.push(`ticket ${id} was read as ${actual.id} with number ${actual.number}`)
  }

  /** Sends a request to one node after another until one responds with a status other than 503. */
  async ask<Data>(request: Asked): Promise<Data | undefined> {
    const start = performance.now()
    const { phase } = this
    const failed = { unavailable: 0, broken: 0 }
    while (performance.now() - start < TIMEOUT_MS) {
      const { port } = this.nodes[this.#turn++ % this.nodes.length]!
      const response = await send(port, request)
      if (response !== undefined && response.status !== 503) {
        this.looks.push({ phase, ms: performance.now() - start, ...failed })
        if (response.status < 300) return response.body.data as Data
        this.failures.push(
          `${request.method} ${request.path.slice(0, 12)}: ${response.status} ${JSON.stringify(response.body)}`
        )
        return undefined
      }
      if (response === undefined) failed.broken++
      else failed.unavailable++
      await setTimeout(AGAIN_MS)
    }
    this.failures.push(`${request.method} ${request.path}: no response within ${TIMEOUT_MS} ms`)
    return undefined
  }
}

const send = async (port: number, { method, path, key, body, idempotencyKey }: Asked) => {
  const headers = {
    authorization: `Bearer ${key}`,
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey })
  }
  const text = body === undefined ? null : JSON.stringify(body)
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body: text })
    return { status: response.status, body: (await response.json()) as { readonly data?: unknown } }
  } catch {
    return undefined
  }
}
