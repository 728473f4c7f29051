import { Agent, request } from "node:http"
import { setTimeout as pause } from "node:timers/promises"
import { KEYS_PER_SHOP, key, ticketBody } from "../http/Workload.js"
import { SHOPS } from "./Attack.js"

const CLIENTS = 20
const PAUSE_MS = 30
const CREATES_PER_READS = 10

/** The latencies of honest requests in milliseconds, and their errors. */
export interface HonestLatencies {
  readonly ms: Array<number>
  readonly failures: Array<string>
}

/** Clients that create and read tickets. Each sends one request after another on a keep-alive connection. */
export class HonestClients {
  readonly #port: number
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
  /** The tickets whose creates got a 201, with their shops. */
  readonly created: Array<{ readonly id: string; readonly shop: number }> = []
  #next = 0
  #creates = 0

  constructor(port: number) {
    this.#port = port
  }

  close(): void {
    this.#agent.destroy()
  }

  /** Sends requests for some seconds. */
  async run(seconds: number): Promise<HonestLatencies> {
    const times: HonestLatencies = { ms: [], failures: [] }
    const until = performance.now() + seconds * 1_000
    const client = async () => {
      while (performance.now() < until) {
        await this.#step(times)
        await pause(PAUSE_MS)
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, client))
    return times
  }

  /** The number of tickets whose creates got a 201 and that do not exist. */
  async lost(): Promise<number> {
    let lost = 0
    for (const { id, shop } of this.created)
      if ((await this.#ask("GET", `/v1/tickets/${id}`, this.#keyOf(shop))).status !== 200) lost++
    return lost
  }

  /** The next key of a shop. The keys are used in turn, so that no key reaches its limit. */
  #keyOf(shop: number): string {
    return key(shop + (this.#next++ % KEYS_PER_SHOP) * SHOPS)
  }

  async #step({ ms, failures }: HonestLatencies): Promise<void> {
    const n = this.#next++
    const known = n % CREATES_PER_READS === 0 ? undefined : this.created[n % Math.max(1, this.created.length)]
    const begun = performance.now()
    try {
      if (known === undefined) {
        const shop = this.#creates++ % SHOPS
        const { status, text } = await this.#ask("POST", "/v1/tickets", this.#keyOf(shop), ticketBody(n))
        if (status === 201) this.created.push({ id: JSON.parse(text).data.id, shop })
        else failures.push(`POST ${status}`)
      } else {
        const { status } = await this.#ask("GET", `/v1/tickets/${known.id}`, this.#keyOf(known.shop))
        if (status !== 200) failures.push(`GET ${status}`)
      }
    } catch (error) {
      failures.push(String(error))
    }
    ms.push(performance.now() - begun)
  }

  #ask(method: string, path: string, bearer: string, body?: string): Promise<{ status: number; text: string }> {
    const headers: Record<string, string> = { authorization: `Bearer ${bearer}` }
    if (body !== undefined) {
      Object.assign(headers, {
        "content-type": "application/json",
        "idempotency-key": `n${this.#next}-${bearer}`.slice(0, 80)
      })
    }
    return new Promise((resolve, reject) => {
      const asked = request(
        { port: this.#port, host: "127.0.0.1", agent: this.#agent, method, path, headers },
        (response) => {
          let text = ""
          response.setEncoding("utf8")
          response.on("data", (part) => {
            text += part
          })
          response.on("end", () => resolve({ status: response.statusCode ?? 0, text }))
          response.on("error", reject)
        }
      )
      asked.setTimeout(10_000, () => asked.destroy(new Error("no response within ten seconds")))
      asked.on("error", reject)
      asked.end(body)
    })
  }
}
