import { hash } from "node:crypto"
import { Limits, Policies, type Ticket } from "@workshop/core"
import { HOUR_MS } from "@workshop/core/store"
import { Schema } from "effect"
import { parsePhoneNumberFromString } from "libphonenumber-js"
import { nextMidnight, TimeZone } from "../../../packages/core/dist/domain/CalendarDay.js"
import { trackingCode, uuid } from "./PeerIds.js"
import { type LimitStatus, scarcer, type Window } from "./PeerLimits.js"
import type { Body } from "./PeerSchemas.js"
import { isForbidden } from "./PeerWords.js"
import { SHOP } from "./Workload.js"

/** A refusal with the fields of its response. */
export class Refusal extends Error {
  constructor(
    readonly statusCode: number,
    readonly code: string,
    readonly details?: object,
    readonly limitStatus?: LimitStatus
  ) {
    super(code)
  }
}

interface Answered {
  readonly fingerprint: string
  readonly ticket: string
  readonly expires_at: number
}

/** A stored event, with the fields for its delivery, its log and its replay. */
interface Event {
  readonly id: string
  readonly type: string
  readonly seq: number
  readonly ticket_id: string
  readonly created_at: number
  readonly body: string
}

export interface Shop {
  readonly id: string
  readonly is_active: boolean
  readonly is_approved: boolean
  readonly is_api_enabled: boolean
  next_number: number
  last_recorded_at: number
  hour: Window
  day: Window
  readonly tickets: Map<string, Ticket>
  readonly codes: Set<string>
  readonly offers: Map<string, object>
  /**
   * The indexes for the other endpoints, in order: the list, the look-up by number, the sync, and the closure after 60
   * days.
   */
  readonly byCreation: Array<string>
  readonly byNumber: Map<number, Array<string>>
  readonly changes: Array<Ticket>
  readonly closures: Map<string, number>
  readonly events: Array<Event>
  readonly answered: Map<string, Answered>
}

export interface Key {
  readonly id: string
  readonly shop: Shop
  readonly scopes: ReadonlyArray<string>
}

/** The result of a create: the ticket's JSON text. */
export interface CreateResult {
  readonly ticket: string
  readonly is_replay: boolean
  readonly limitStatus?: LimitStatus
}

const zone = Schema.decodeSync(TimeZone)(SHOP.time_zone)
const HOUR = Policies.tickets_per_hour.limit
const DAY = Policies.tickets_per_day.limit

export const sha256 = (text: string): string => hash("sha256", text)

export const openShop = (now: number): Shop => ({
  id: uuid(now),
  is_active: true,
  is_approved: true,
  is_api_enabled: true,
  next_number: 1,
  last_recorded_at: now,
  hour: { used: 0, resets_at: 0 },
  day: { used: 0, resets_at: 0 },
  tickets: new Map(),
  codes: new Set(),
  offers: new Map(),
  byCreation: [],
  byNumber: new Map(),
  changes: [],
  closures: new Map(),
  events: [],
  answered: new Map()
})

const phoneOf = (text: string): string => {
  const parsed = parsePhoneNumberFromString(text.trim(), { extract: false })
  if (parsed === undefined || parsed.ext !== undefined || !parsed.isPossible())
    throw new Refusal(400, "VALIDATION_ERROR", { issues: [{ in: "body", field: "client_phone" }] })
  return parsed.number
}

const trimmed = (text: string | null | undefined): string | null => text?.trim() ?? null

/** Normalises a body for storing and comparing. */
const read = (body: Body) => ({
  type: body.type ?? "repair",
  service: body.service.trim(),
  item: trimmed(body.item),
  description: trimmed(body.description),
  items: (body.items ?? []).map(({ label, service, price_minor }) => ({
    label: label.trim(),
    service: trimmed(service),
    price_minor: price_minor ?? null
  })),
  client_id: body.client_id?.toLowerCase() ?? null,
  client_phone: body.client_phone === null || body.client_phone === undefined ? null : phoneOf(body.client_phone),
  price_minor: body.price_minor ?? null,
  deposit_minor: body.deposit_minor ?? null,
  promised_at:
    body.promised_at === null || body.promised_at === undefined ? null : new Date(body.promised_at).toISOString(),
  external_ref: trimmed(body.external_ref)
})
type Input = ReturnType<typeof read>

const refuseWords = ({ service, item, description, items }: Input): void => {
  const refuse = (field: string, text: string | null) => {
    if (text !== null && isForbidden(text)) throw new Refusal(422, "PROFANITY", { field })
  }
  refuse("service", service)
  refuse("item", item)
  refuse("description", description)
  for (let i = 0; i < items.length; i++) {
    refuse(`items.${i}.label`, items[i]!.label)
    refuse(`items.${i}.service`, items[i]!.service)
  }
}

/** Counts a ticket against the shop's limits per hour and day, or refuses it. */
const count = (shop: Shop, now: number): LimitStatus => {
  if (now >= shop.hour.resets_at) shop.hour = { used: 0, resets_at: now + HOUR_MS }
  if (now >= shop.day.resets_at) shop.day = { used: 0, resets_at: nextMidnight(now, zone) }
  if (shop.day.used >= DAY)
    throw new Refusal(429, "TOO_MANY_ATTEMPTS", { limit: "tickets_per_day" }, { limit: DAY, remaining: 0, ...shop.day })
  if (shop.hour.used >= HOUR)
    throw new Refusal(
      429,
      "TOO_MANY_ATTEMPTS",
      { limit: "tickets_per_hour" },
      { limit: HOUR, remaining: 0, ...shop.hour }
    )
  const hour = { limit: HOUR, remaining: HOUR - ++shop.hour.used, resets_at: shop.hour.resets_at }
  return scarcer(hour, { limit: DAY, remaining: DAY - ++shop.day.used, resets_at: shop.day.resets_at })
}

const newCode = (codes: Set<string>): string => {
  let code = trackingCode()
  while (codes.has(code)) code = trackingCode()
  codes.add(code)
  return code
}

const newTicket = (shop: Shop, input: Input, now: number): Ticket => {
  const number = shop.next_number
  shop.next_number = number >= Limits.ticket_number_max ? 1 : number + 1
  const tracking_code = newCode(shop.codes)
  const at = new Date(now).toISOString()
  const { price_minor, deposit_minor } = input
  return {
    id: uuid(now),
    number,
    number_label: String(number).padStart(4, "0"),
    state: "workshop",
    outcome: null,
    type: input.type,
    service: input.service,
    item: input.item,
    description: input.description,
    items: input.items.map((item) => ({ id: uuid(now), ...item, done: false })),
    money: {
      currency: SHOP.currency,
      decimals: SHOP.decimals,
      price_minor,
      deposit_minor,
      remaining_minor: price_minor === null ? null : price_minor - (deposit_minor ?? 0),
      before_minor: null
    },
    quote: null,
    promised_at: input.promised_at,
    delay: null,
    part: null,
    client: null,
    client_phone: input.client_phone,
    tracking_code,
    tracking_url: SHOP.tracking_base_url + tracking_code,
    photo_url: null,
    created_at: at,
    updated_at: at,
    ready_at: null,
    collected_at: null,
    abandoned_at: null,
    abandon_reason: null,
    notified_at: null,
    created_via: "api",
    external_ref: input.external_ref
  }
}

/** The indexes for requests of a client's app, which do not name the shop. */
const shopOfTicket = new Map<string, Shop>()
const offersToPhone = new Map<string, Array<string>>()

const note = <K>(index: Map<K, Array<string>>, key: K, id: string): void => {
  const known = index.get(key)
  if (known === undefined) index.set(key, [id])
  else known.push(id)
}

/** Removes the expired responses, which are the first ones. */
const forget = (answered: Shop["answered"], now: number): void => {
  for (const [place, { expires_at }] of answered) {
    if (expires_at > now) return
    answered.delete(place)
  }
}

/** Creates a ticket once for each Idempotency-Key. All checks come before all effects. */
export const create = ({ id: key_id, shop }: Key, body: Body, idempotencyKey: string): CreateResult => {
  const input = read(body)
  const now = Math.max(Date.now(), shop.last_recorded_at)
  const fingerprint = sha256(JSON.stringify(input))
  const place = `${key_id} ${idempotencyKey.trim()}`
  const first = shop.answered.get(place)
  if (first !== undefined && now < first.expires_at) {
    if (first.fingerprint !== fingerprint) throw new Refusal(409, "CONFLICT", { reason: "IDEMPOTENCY_KEY_REUSED" })
    return { ticket: first.ticket, is_replay: true }
  }
  // No shop knows a client here, because the load does not link clients.
  if (input.client_id !== null) throw new Refusal(404, "NOT_FOUND")
  refuseWords(input)
  const limitStatus = count(shop, now)
  shop.last_recorded_at = now
  const made = newTicket(shop, input, now)
  // The ticket is serialised once, because the response, the stored response and the event have the same text.
  const ticket = JSON.stringify(made)
  const event = uuid(now)
  const body_text = `{"id":"${event}","type":"ticket.created","created_at":"${made.created_at}","api_version":"1","shop_id":"${shop.id}","data":{"ticket":${ticket}}}`
  shop.tickets.set(made.id, made)
  shopOfTicket.set(made.id, shop)
  shop.changes.push(made)
  shop.closures.set(made.id, now + Limits.closure_ms)
  shop.byCreation.push(made.id)
  note(shop.byNumber, made.number!, made.id)
  const seq = shop.events.length + 1
  shop.events.push({ id: event, type: "ticket.created", seq, ticket_id: made.id, created_at: now, body: body_text })
  if (made.client_phone !== null) {
    const offer = {
      id: uuid(now),
      shop_id: shop.id,
      ticket_id: made.id,
      phone: made.client_phone,
      status: "open",
      created_at: now,
      answered_at: null
    }
    shop.offers.set(offer.id, offer)
    note(offersToPhone, offer.phone, offer.id)
  }
  forget(shop.answered, now)
  shop.answered.set(place, { fingerprint, ticket, expires_at: now + Limits.idempotency_memory_ms })
  return { ticket, is_replay: false, limitStatus }
}
