import type { HttpRequest } from "@workshop/core/http"
import { bodyText, SIGNATURE_HEADER } from "@workshop/core/internal"
import * as MemoryStore from "@workshop/store-memory"
import { Effect, Layer, Logger, ManagedRuntime } from "effect"
import { inProcessServiceLayer, makeInProcessPipeline } from "../../packages/testers/src/testkit/InProcessService.js"
import { readOnce } from "../readOnce.js"
import { Grammar } from "./Grammar.js"

// biome-ignore lint/suspicious/noExplicitAny: the body is untyped JSON
type Json = any

/** The content of `openapi.json`. */
export interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, unknown>> }>>>
  >
}

interface Till {
  readonly key: string
  readonly shop: string
  readonly client: string
  readonly tickets: Array<string>
  readonly cursors: Array<string>
}

/** Generates a request to the API from nearly valid parts. */
const requestOf = (grammar: Grammar, till: Till) => {
  const { draws } = grammar
  const id = () =>
    draws.chance(0.85) && till.tickets.length > 0 ? draws.oneOf(till.tickets) : grammar.bent(till.client)
  const client = () => (draws.chance(0.85) ? till.client : grammar.bent(till.client))
  const query = () => {
    const all = new URLSearchParams()
    const values: Readonly<Record<string, string>> = {
      state: "ready,workshop",
      number: "1",
      limit: "3",
      client_id: client(),
      phone: "+21620000001",
      external_ref: "a",
      created_after: "2026-01-01",
      created_before: "2027-01-01",
      updated_since: "2026-01-01T00:00:00Z",
      tracking_code: "7K3M-Q9XD",
      cursor: draws.oneOf([...till.cursors, "e30.0"])
    }
    for (const [name, value] of Object.entries(values))
      if (draws.chance(0.15)) all.append(name, draws.chance(0.3) ? grammar.bent(value) : value)
    return draws.chance(0.1) ? grammar.bent(all.toString()) : all.toString()
  }
  const ticket = () => ({
    service: "Hem",
    type: "repair",
    item: "Boots",
    description: "x",
    items: [{ label: "a", price_minor: 1 }, { label: "b" }],
    client_id: client(),
    client_phone: "+21620000001",
    price_minor: 100,
    deposit_minor: 10,
    promised_at: "2026-12-01T10:00:00Z",
    external_ref: grammar.word()
  })
  const parts = [
    { method: "GET", template: "/v1/shop", path: "/v1/shop" },
    { method: "POST", template: "/v1/tickets", path: "/v1/tickets", body: grammar.body(ticket()) },
    { method: "GET", template: "/v1/tickets", path: "/v1/tickets", query: query() },
    { method: "GET", template: "/v1/tickets/{id}", path: `/v1/tickets/${id()}` },
    {
      method: "GET",
      template: "/v1/tickets/by-number/{n}",
      path: `/v1/tickets/by-number/${draws.chance(0.7) ? draws.integerBetween(0, 40) : grammar.word()}`
    },
    {
      method: "POST",
      template: "/v1/tickets/{id}/status",
      path: `/v1/tickets/${id()}/status`,
      body: grammar.body({ status: grammar.word() })
    },
    {
      method: "POST",
      template: "/v1/tickets/{id}/notified",
      path: `/v1/tickets/${id()}/notified`,
      body: grammar.body({ channel: grammar.word() })
    },
    {
      method: "GET",
      template: "/v1/clients",
      path: "/v1/clients",
      query: `phone=${encodeURIComponent(grammar.bent("+21620000001").toWellFormed())}`
    },
    { method: "GET", template: "/v1/clients/{id}", path: `/v1/clients/${client()}` },
    { method: "GET", template: "/v1/clients/{id}/loyalty", path: `/v1/clients/${client()}/loyalty` },
    {
      method: "POST",
      template: "/v1/clients/{id}/loyalty/stamps",
      path: `/v1/clients/${client()}/loyalty/stamps`,
      body: grammar.body({ count: draws.integerBetween(0, 12) })
    },
    { method: "POST", template: "/v1/clients/{id}/loyalty/redeem", path: `/v1/clients/${client()}/loyalty/redeem` }
  ]
  return draws.oneOf<{
    readonly method: string
    readonly template: string
    readonly path: string
    readonly query?: string
    readonly body?: unknown
  }>(parts)
}

const arrival = (
  method: string,
  path: string,
  query: string,
  headers: Readonly<Record<string, string | undefined>>,
  text: string,
  twice: string | null
): HttpRequest => ({
  method,
  path,
  query,
  header: (name) => headers[name],
  repeats: (name) => name === twice,
  address: "127.0.0.1",
  body: readOnce(new TextEncoder().encode(text))
})

/**
 * Sends `count` nearly valid requests to the service in this process, and checks each response against its schema.
 * Yields the error or null for each.
 */
export async function* fuzzRequests(seed: number, count: number, document: Document): AsyncGenerator<string | null> {
  const grammar = new Grammar(seed)
  const { draws } = grammar
  const service = inProcessServiceLayer({
    store: MemoryStore.layer,
    receiverAt: () => undefined,
    seed,
    start: Date.UTC(2026, 10, 20),
    signatureHeader: SIGNATURE_HEADER
  })
  const runtime = ManagedRuntime.make(Layer.merge(service, Logger.replace(Logger.defaultLogger, Logger.none)))
  const pipe = await runtime.runPromise(makeInProcessPipeline(true))
  const ask = async (request: HttpRequest) => {
    const response = await Effect.runPromise(pipe(request))
    return { status: response.status, text: bodyText(response) }
  }
  const sandbox = async (method: string, path: string, body: unknown): Promise<Json> => {
    const { text } = await ask(
      arrival(method, path, "", { "content-type": "application/json" }, JSON.stringify(body), null)
    )
    return JSON.parse(text).data
  }
  await sandbox("POST", "/sandbox/clock", { freeze: true })
  const tills: Array<Till> = []
  for (let index = 0; index < 8; index++) {
    const opened = await sandbox("POST", "/sandbox/shops", {
      name: `Shop ${index}`,
      currency: "TND",
      decimals: 3,
      time_zone: "Africa/Tunis"
    })
    const shop = opened.shop.id
    await sandbox("PATCH", `/sandbox/shops/${shop}`, {
      program: { active: true, name: "S", stamps_required: 2, stamps_per_ticket: 1, reward_label: "x" }
    })
    const client = (
      await sandbox("POST", "/sandbox/clients", { given_name: "A", family_name: "B", phone: `+2162000000${index}` })
    ).id
    await sandbox("POST", `/sandbox/clients/${client}/visits`, { shop_id: shop })
    tills.push({ key: opened.key, shop, client, tickets: [], cursors: [] })
  }
  for (let done = 0; done < count; done++) {
    if (done % 100 === 99)
      await sandbox("POST", "/sandbox/clock", { advance_ms: draws.oneOf([61_000, 61_000, 3_600_000]) })
    const till = draws.oneOf(tills)
    const { method, template, path, query = "", body } = requestOf(grammar, till)
    const text = body === undefined ? "" : grammar.json(body)
    const headers = {
      authorization: draws.chance(0.98) ? `Bearer ${till.key}` : grammar.bent(`Bearer ${till.key}`),
      "idempotency-key": draws.chance(0.9) ? (draws.chance(0.9) ? `k${done}` : grammar.bent("key")) : undefined,
      "content-type":
        text === ""
          ? undefined
          : draws.chance(0.97)
            ? "application/json"
            : grammar.bent("application/json; charset=utf-8")
    }
    const twice = draws.chance(0.01) ? draws.oneOf(["authorization", "idempotency-key", "host"]) : null
    const shown = () => `${method} ${path}?${query} ${JSON.stringify(headers)} ${text.slice(0, 300)}`
    try {
      const { status, text: response } = await ask(arrival(method, path, query, headers, text, twice))
      const parsed: Json = JSON.parse(response)
      const known = document.paths[template]?.[method.toLowerCase()]?.responses ?? {}
      if (status >= 500) yield `${status} to ${shown()}: ${response.slice(0, 300)}`
      else if (known[status] === undefined && status !== 404) yield `${status} is not in the document, to ${shown()}`
      else if (parsed.success !== status < 300) yield `no envelope, to ${shown()}`
      else yield null
      if (status === 201 && template === "/v1/tickets") till.tickets.push(parsed.data.id)
      if (parsed.meta?.next_cursor) till.cursors.push(parsed.meta.next_cursor)
      if (till.tickets.length > 50) till.tickets.splice(0, 25)
      if (till.cursors.length > 20) till.cursors.splice(0, 10)
    } catch (error) {
      yield `${error} at ${shown()}`
    }
  }
  await runtime.dispose()
}
