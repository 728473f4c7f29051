import type { Envelope } from "../testkit/Api.js"
import { type CallName, type Method, requestOf } from "../testkit/Calls.js"
import type { TicketJson } from "../testkit/ResponseTypes.js"
import { MINUTE } from "../testkit/Time.js"
import type { RecordedResponse } from "./auditor/Trace.js"
import type { Dice } from "./Dice.js"
import type { SimulatedReceivers } from "./Observers.js"

/** A key that an actor holds. It may be revoked. */
export interface HeldKey {
  readonly id: string
  readonly text: string
  readonly scopes: "full" | "read"
  isRevoked: boolean
}

/** A ticket as a till last saw it. It may have changed since. */
export interface KnownTicket {
  readonly id: string
  state: string
  number: number
  ready_at: string | null
  collected_at: string | null
  deposit_minor: number
}

/** A request with an Idempotency-Key, which can be repeated unchanged. */
export interface SentAttempt {
  readonly key: HeldKey
  readonly path: string
  readonly idempotency_key: string
  readonly body: unknown
  readonly action: string
}

/** A shop, with the knowledge of its tills and its owner. */
export interface KnownShop {
  readonly id: string
  readonly name: string
  readonly time_zone: string
  readonly keys: Array<HeldKey>
  readonly tickets: Map<string, KnownTicket>
  /** The requests whose response was lost. */
  openAttempts: Array<SentAttempt>
  /** The requests that got a response. */
  readonly doneAttempts: Array<SentAttempt>
  readonly feed: { updated_since: string; cursor: string | null; readonly tickets: Map<string, TicketJson> }
  isWebhookSet: boolean
  /** The flag that the owner or the operator turned off; null if all are on. */
  offFlag: string | null
  readonly events: Array<string>
}

/** A client, with the client's knowledge. */
export interface KnownClient {
  readonly id: string
  readonly phone: string
  /** The open offers that the client has seen. */
  offers: Array<{ readonly id: string; readonly shop: string }>
}

/** The actors with their knowledge, which is the whole state of a simulation except the service's own state. */
export class Actors {
  readonly shops: Array<KnownShop> = []
  readonly clients: Array<KnownClient> = []
  /** The instant of the sandbox clock. */
  now = 0
  #drawn: number

  /** `namesToSkip` is the number of names and phone numbers that earlier runs on the same service may have used. */
  constructor(namesToSkip = 0) {
    this.#drawn = namesToSkip
  }

  /** Returns a name that was not used before. */
  freshName(prefix: string): string {
    this.#drawn += 1
    return `${prefix}-${this.#drawn}`
  }

  /** Returns an unused phone number. */
  freshPhone(): string {
    this.#drawn += 1
    return `+2162${String(this.#drawn).padStart(7, "0")}`
  }
}

/**
 * The behaviour of a request's connection: normal, with a lost response, or cut while the service processes the
 * request.
 */
export type SimulatedFault = "plain" | "lost" | "cut"

/** A request that an actor is about to make. */
export interface PlannedRequest {
  readonly actor: string
  /** A short name of the request, by which the report groups requests. */
  readonly action: string
  /** The shop that the request is about. */
  readonly shop: string | null
  readonly key?: HeldKey
  readonly method: Method
  readonly path: string
  readonly query?: string
  readonly idempotency_key?: string
  readonly body?: unknown
  readonly fault?: SimulatedFault
  /** The actor's reaction to the response, or to null if none came. */
  readonly onResponse?: (response: RecordedResponse | null) => void
}

/** The request of an actor's call for the resource with this id. */
export const planRequest = (
  actor: string,
  action: string,
  shop: string | null,
  [call, id, body]: readonly [call: CallName, id?: string, body?: unknown]
): PlannedRequest => ({ actor, action, shop, ...requestOf(call, id), body })

/** The context in which an activity is planned: the actors, and the dice for random choices. */
export interface PlanContext {
  readonly actors: Actors
  readonly dice: Dice
  readonly receivers: SimulatedReceivers
  /** The address of a shop's receiver. */
  readonly receiverOf: (shop: string) => string
}

/** An activity of actors, such as creating a ticket. */
export interface Activity {
  readonly weight: number
  /** True if no other activity may happen at the same instant. */
  readonly isAlone?: boolean
  /** The requests of the activity, which are made concurrently; null if the activity is not possible now. */
  readonly plan: (planning: PlanContext) => ReadonlyArray<PlannedRequest> | null
}

/** The data of a response; undefined if it is not a success. */
export const successData = <A>(response: { readonly status: number; readonly body: Envelope } | null): A | null =>
  response !== null && response.status < 300 ? (response.body.data as A) : null

/** Replaces a till's knowledge of a ticket by the ticket in a response. */
export const remember = (shop: KnownShop, { id, state, number, ready_at, collected_at, money }: TicketJson): void => {
  shop.tickets.set(id, { id, state, number, ready_at, collected_at, deposit_minor: money?.deposit_minor ?? 0 })
}

/** Remembers the ticket in a success. */
export const rememberTicket =
  (shop: KnownShop): NonNullable<PlannedRequest["onResponse"]> =>
  (response) => {
    const ticket = successData<TicketJson>(response)
    if (ticket !== null) remember(shop, ticket)
  }

/** Draws one of a shop's tickets; newer ones are more likely. */
export const drawKnownTicket = ({ tickets }: KnownShop, dice: Dice): KnownTicket | undefined => {
  const allTickets = [...tickets.values()]
  return dice.chance(0.6) ? dice.pick(allTickets.slice(-12)) : dice.pick(allTickets)
}

const SERVICES = ["Resoling", "Hem", "Zip", "Screen", "New lining", "Polish"] as const
const ITEMS = ["Brown boots", "Grey trousers", "Suitcase", "Phone", "Winter coat"] as const

/** A phone number that no client has. */
export const UNKNOWN_PHONE = "+21629999999"

/** The body of a request for a new ticket. */
export const drawTicket = ({ actors, dice }: PlanContext): Record<string, unknown> => {
  const price_minor = dice.integerBetween(0, 400) * 250
  const client = dice.pick(actors.clients)
  const whom = dice.integerBetween(0, 9)
  return {
    service: dice.oneOf(SERVICES),
    ...(dice.chance(0.7) ? { item: dice.oneOf(ITEMS) } : {}),
    ...(dice.chance(0.2) ? { type: "prepare" } : {}),
    ...(dice.chance(0.6) ? { price_minor } : {}),
    ...(dice.chance(0.15) ? { items: [{ label: "Left", price_minor: 100 }, { label: "Right" }] } : {}),
    ...(dice.chance(0.2)
      ? { promised_at: new Date(actors.now + dice.integerBetween(60, 9000) * MINUTE).toISOString() }
      : {}),
    ...(dice.chance(0.3) ? { external_ref: actors.freshName("order") } : {}),
    ...(whom < 4 && client !== undefined ? { client_phone: client.phone } : {}),
    ...(whom === 4 ? { client_phone: UNKNOWN_PHONE } : {}),
    ...(whom > 7 && client !== undefined ? { client_id: client.id } : {})
  }
}
