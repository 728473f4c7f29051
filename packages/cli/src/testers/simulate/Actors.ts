import type { Envelope } from "../../sandbox/Api.js"
import { type CallName, type Method, requestOf } from "../../sandbox/Calls.js"
import type { Ticket } from "../testkit/ResponseTypes.js"
import { MINUTE } from "../testkit/Time.js"
import type { RecordedResponse } from "./auditor/Trace.js"
import type { Dice } from "./Dice.js"
import type { SimulatedReceivers } from "./Observers.js"

/** A key that somebody holds, revoked or not. */
export interface HeldKey {
  readonly id: string
  readonly text: string
  readonly scopes: "full" | "read"
  isRevoked: boolean
}

/** A ticket as a till remembers it: perhaps it has changed since. */
export interface KnownTicket {
  readonly id: string
  state: string
  number: number
  ready_at: string | null
  collected_at: string | null
  deposit_minor: number
}

/** A request under an Idempotency-Key, to be made again as it was. */
export interface Attempt {
  readonly key: HeldKey
  readonly path: string
  readonly once: string
  readonly body: unknown
  readonly act: string
}

/** A shop as its tills and its owner know it. */
export interface KnownShop {
  readonly id: string
  readonly name: string
  readonly time_zone: string
  readonly keys: Array<HeldKey>
  readonly tickets: Map<string, KnownTicket>
  /** Requests whose response never came. */
  open: Array<Attempt>
  /** Requests that were answered. */
  readonly done: Array<Attempt>
  readonly feed: { updated_since: string; cursor: string | null; readonly tickets: Map<string, Ticket> }
  isWebhookSet: boolean
  /** A flag that its owner or the operator switched off. */
  off: string | null
  readonly events: Array<string>
}

/** A client as they know themselves. */
export interface KnownClient {
  readonly id: string
  readonly phone: string
  /** The open offers that the client has seen. */
  offers: Array<{ readonly id: string; readonly shop: string }>
}

/** The actors and what they know: the whole state of a simulation, except that of the service. */
export class Actors {
  readonly shops: Array<KnownShop> = []
  readonly clients: Array<KnownClient> = []
  /** The instant of the sandbox clock. */
  now = 0
  #drawn: number

  /** `taken`: how many names and numbers earlier runs used, where the service keeps what they left. */
  constructor(taken = 0) {
    this.#drawn = taken
  }

  /** A name that nothing has had yet. */
  fresh(prefix: string): string {
    this.#drawn += 1
    return `${prefix}-${this.#drawn}`
  }

  /** An unused phone number. */
  freshPhone(): string {
    this.#drawn += 1
    return `+2162${String(this.#drawn).padStart(7, "0")}`
  }
}

/** A fault of a request on its way: its response is lost, or it is cut off while the service works on it. */
export type SimulatedFault = "plain" | "lost" | "cut"

/** A request that an actor is about to make. */
export interface PlannedRequest {
  readonly actor: string
  /** The name of the act, in a few words. */
  readonly act: string
  /** The shop it is about. */
  readonly shop: string | null
  readonly key?: HeldKey
  readonly method: Method
  readonly path: string
  readonly query?: string
  readonly once?: string
  readonly body?: unknown
  readonly fault?: SimulatedFault
  /** The actor's reaction to the response, or to null if none came. */
  readonly onResponse?: (response: RecordedResponse | null) => void
}

/** A request by which an actor makes a call, about the thing with an id. */
export const planned = (
  actor: string,
  act: string,
  shop: string | null,
  [call, id, body]: readonly [call: CallName, id?: string, body?: unknown]
): PlannedRequest => ({ actor, act, shop, ...requestOf(call, id), body })

/** The context in which an activity is planned: the actors, and the dice that decide. */
export interface Planning {
  readonly actors: Actors
  readonly dice: Dice
  readonly receivers: SimulatedReceivers
  /** The address of a shop's receiver. */
  readonly receiverOf: (shop: string) => string
}

/** Something that actors do. */
export interface Activity {
  readonly weight: number
  /** Nothing else happens at its instant. */
  readonly isAlone?: boolean
  /** Its requests, all made at once; null where it cannot be done now. */
  readonly plan: (planning: Planning) => ReadonlyArray<PlannedRequest> | null
}

/** The data of a success, where one came. */
export const successData = <A>(response: { readonly status: number; readonly body: Envelope } | null): A | null =>
  response !== null && response.status < 300 ? (response.body.data as A) : null

/** Keeps what a till remembers of a ticket in a response. */
export const remember = (shop: KnownShop, { id, state, number, ready_at, collected_at, money }: Ticket): void => {
  shop.tickets.set(id, { id, state, number, ready_at, collected_at, deposit_minor: money?.deposit_minor ?? 0 })
}

/** Remembers the ticket in a success. */
export const remembering =
  (shop: KnownShop): NonNullable<PlannedRequest["onResponse"]> =>
  (response) => {
    const ticket = successData<Ticket>(response)
    if (ticket !== null) remember(shop, ticket)
  }

/** One of a shop's tickets, rather a newer one. */
export const drawKnown = ({ tickets }: KnownShop, dice: Dice): KnownTicket | undefined => {
  const all = [...tickets.values()]
  return dice.chance(0.6) ? dice.pick(all.slice(-12)) : dice.pick(all)
}

const SERVICES = ["Resoling", "Hem", "Zip", "Screen", "New lining", "Polish"] as const
const ITEMS = ["Brown boots", "Grey trousers", "Suitcase", "Phone", "Winter coat"] as const

/** A phone number that no client has. */
export const UNKNOWN_PHONE = "+21629999999"

/** The body of a request for a new ticket. */
export const drawTicket = ({ actors, dice }: Planning): Record<string, unknown> => {
  const price_minor = dice.between(0, 400) * 250
  const client = dice.pick(actors.clients)
  const whom = dice.between(0, 9)
  return {
    service: dice.oneOf(SERVICES),
    ...(dice.chance(0.7) ? { item: dice.oneOf(ITEMS) } : {}),
    ...(dice.chance(0.2) ? { type: "prepare" } : {}),
    ...(dice.chance(0.6) ? { price_minor } : {}),
    ...(dice.chance(0.15) ? { items: [{ label: "Left", price_minor: 100 }, { label: "Right" }] } : {}),
    ...(dice.chance(0.2) ? { promised_at: new Date(actors.now + dice.between(60, 9000) * MINUTE).toISOString() } : {}),
    ...(dice.chance(0.3) ? { external_ref: actors.fresh("order") } : {}),
    ...(whom < 4 && client !== undefined ? { client_phone: client.phone } : {}),
    ...(whom === 4 ? { client_phone: UNKNOWN_PHONE } : {}),
    ...(whom > 7 && client !== undefined ? { client_id: client.id } : {})
  }
}
