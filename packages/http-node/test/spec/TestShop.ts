import {
  type Caller,
  DelayInput,
  KeyInput,
  Keys,
  PartInput,
  PhotoInput,
  Progress,
  QuoteInput,
  Quotes,
  type ShopId,
  ShopPatch,
  Shops,
  TicketInput,
  Tickets,
  Webhooks
} from "@workshop/core"
import { Effect, Schema } from "effect"
import { expect } from "vitest"
import type { Services } from "../TestServiceLayer.js"
import type { ApiResponse, Call } from "./Wire.js"

export const ALL_SCOPES = ["tickets:read", "tickets:write", "clients:read", "loyalty:write"] as const

/** The JSON of a ticket (Specification, Resources). */
export interface TicketJson {
  readonly id: string
  readonly number: number
  readonly number_label: string
  readonly state: string
  readonly outcome: string | null
  readonly service: string
  readonly client: { readonly id: string; readonly display_name: string } | null
  readonly items: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly money: Readonly<Record<string, unknown>>
  readonly created_at: string
  readonly updated_at: string
  readonly [field: string]: unknown
}

/** The JSON of an event (Specification, Resources). */
export interface EventJson {
  readonly id: string
  readonly type: string
  readonly created_at: string
  readonly api_version: string
  readonly shop_id: string
  readonly data: { readonly ticket: TicketJson; readonly [field: string]: unknown }
}

export interface CardJson {
  readonly balance: number
  readonly lifetime: number
  readonly rewards_available: number
  readonly rewards_redeemed: number
  readonly updated_at: string | null
}

/** The parts of the test service that a shop uses. */
interface TestServiceParts {
  readonly api: <D>(method: string, path: string, call?: Call) => Promise<ApiResponse<D>>
  readonly act: <A, E>(effect: Effect.Effect<A, E, Services>) => Promise<A>
}

/** A shop with a key of all scopes. Its methods send API requests, or run acts of its owner in the app. */
export class TestShop {
  readonly service: TestServiceParts
  readonly id: ShopId
  key = ""
  keyId = ""
  #attempts = 0

  constructor(service: TestServiceParts, id: ShopId) {
    this.service = service
    this.id = id
  }

  /** Creates the shop and its first key. */
  async open(name: string): Promise<void> {
    const created = await this.newKey(ALL_SCOPES, `till ${name}`)
    this.key = created.key
    this.keyId = created.id
  }

  newKey(
    scopes: ReadonlyArray<string> = ALL_SCOPES,
    name = "till"
  ): Promise<{ readonly id: string; readonly key: string }> {
    const input = Schema.decodeUnknownSync(KeyInput)({ name, scopes })
    return this.service.act(
      Effect.flatMap(Keys, (keys) => keys.create(this.id, input)).pipe(
        Effect.map(({ key, record }) => ({ id: record.id as string, key }))
      )
    )
  }

  revoke(keyId: string): Promise<unknown> {
    return this.service.act(Effect.flatMap(Keys, (keys) => keys.revoke(keyId as never)))
  }

  change(patch: Readonly<Record<string, unknown>>): Promise<unknown> {
    const decoded = Schema.decodeUnknownSync(ShopPatch)(patch)
    return this.service.act(Effect.flatMap(Shops, (shops) => shops.change(this.id, decoded)))
  }

  /** The events as sent, oldest first. */
  async events(): Promise<ReadonlyArray<EventJson>> {
    return (await this.eventTexts()).map((text) => JSON.parse(text) as EventJson)
  }

  async eventTypes(): Promise<ReadonlyArray<string>> {
    return (await this.events()).map(({ type }) => type)
  }

  async eventTexts(): Promise<ReadonlyArray<string>> {
    const events = await this.service.act(Effect.flatMap(Webhooks, (webhooks) => webhooks.events(this.id)))
    return events.map(({ body }) => body)
  }

  /** A new Idempotency-Key. */
  newIdempotencyKey(): string {
    return `attempt ${++this.#attempts}`
  }

  get<D = TicketJson>(path: string, query: Call["query"] = "", call: Call = {}): Promise<ApiResponse<D>> {
    return this.service.api<D>("GET", path, { key: this.key, query, ...call })
  }

  post<D = TicketJson>(path: string, body?: unknown, call: Call = {}): Promise<ApiResponse<D>> {
    return this.service.api<D>("POST", path, { key: this.key, body, ...call })
  }

  /** Requests a new ticket, with a new Idempotency-Key by default, and returns the response. */
  tryCreate(body: unknown, call: Call = {}): Promise<ApiResponse<TicketJson>> {
    return this.post("/v1/tickets", body, { idempotency_key: this.newIdempotencyKey(), ...call })
  }

  /** Creates a ticket. */
  async create(body: unknown = { service: "Hem" }, call: Call = {}): Promise<TicketJson> {
    const response = await this.tryCreate(body, call)
    expect(response.status, response.text).toBe(201)
    return response.data
  }

  /** Requests a status, and returns the response. */
  tryMove(id: string, status: unknown): Promise<ApiResponse<TicketJson>> {
    return this.post(`/v1/tickets/${id}/status`, { status })
  }

  /** Moves a ticket through the given statuses. */
  async move(id: string, ...statuses: ReadonlyArray<string>): Promise<TicketJson> {
    for (const status of statuses) {
      const response = await this.tryMove(id, status)
      expect(response.status, response.text).toBe(200)
    }
    return this.ticket(id)
  }

  async ticket(id: string): Promise<TicketJson> {
    return (await this.get(`/v1/tickets/${id}`)).data
  }

  stamp<D = { readonly card: CardJson; readonly added: number; readonly rewards_unlocked: number }>(
    client: string,
    count: unknown,
    call: Call = {}
  ): Promise<ApiResponse<D>> {
    return this.post<D>(
      `/v1/clients/${client}/loyalty/stamps`,
      { count },
      { idempotency_key: this.newIdempotencyKey(), ...call }
    )
  }

  redeem<D = { readonly card: CardJson; readonly reward: unknown }>(
    client: string,
    call: Call = {}
  ): Promise<ApiResponse<D>> {
    return this.post<D>(`/v1/clients/${client}/loyalty/redeem`, undefined, {
      idempotency_key: this.newIdempotencyKey(),
      ...call
    })
  }

  get caller(): Caller {
    return { shop_id: this.id, caller_id: this.keyId as never, scopes: ALL_SCOPES, via: "app" }
  }

  /** Creates a ticket in the app. */
  createInApp(body: Readonly<Record<string, unknown>> = { service: "Hem" }) {
    const input = Schema.decodeUnknownSync(TicketInput)(body)
    return this.service.act(Effect.flatMap(Tickets, (tickets) => tickets.create(this.caller, input)))
  }

  /** Postpones the promised time in the app. */
  delay(id: string, delay: Readonly<Record<string, unknown>>) {
    const input = Schema.decodeUnknownSync(DelayInput)(delay)
    return this.service.act(Effect.flatMap(Progress, (app) => app.announceDelay(this.caller, id as never, input)))
  }

  /** Records a part in the app. */
  part(id: string, part: Readonly<Record<string, unknown>>) {
    const input = Schema.decodeUnknownSync(PartInput)(part)
    return this.service.act(Effect.flatMap(Progress, (app) => app.recordPart(this.caller, id as never, input)))
  }

  /** Adds a photo to the ticket in the app. */
  photo(id: string, photo_url: string) {
    const input = Schema.decodeUnknownSync(PhotoInput)({ photo_url })
    return this.service.act(Effect.flatMap(Progress, (app) => app.attachPhoto(this.caller, id as never, input)))
  }

  /** Proposes a price in the app. */
  quote(id: string, quote: Readonly<Record<string, unknown>>) {
    const input = Schema.decodeUnknownSync(QuoteInput)(quote)
    return this.service.act(Effect.flatMap(Quotes, (quotes) => quotes.propose(this.caller, id as never, input)))
  }

  /** Accepts or refuses the proposed price as the client. */
  answerQuote(id: string, decision: "accept" | "refuse") {
    const response = decision === "accept" ? "accepted" : "refused"
    return this.service.act(Effect.flatMap(Quotes, (quotes) => quotes.recordAnswer(this.caller, id as never, response)))
  }
}
