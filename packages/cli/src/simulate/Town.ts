import type { SeenTicket } from "./auditor/Evidence.js"

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
  /** Requests whose answer never came. */
  open: Array<Attempt>
  /** Requests that were answered. */
  readonly done: Array<Attempt>
  readonly feed: { updated_since: string; cursor: string | null; readonly tickets: Map<string, SeenTicket> }
  isWebhookSet: boolean
  /** A flag that its owner or the operator switched off. */
  off: string | null
  readonly events: Array<string>
}

/** A client as they know themselves. */
export interface KnownClient {
  readonly id: string
  readonly phone: string
  /** Offers that nobody answered yet, as far as the client looked. */
  offers: Array<{ readonly id: string; readonly shop: string }>
}

/** Everybody who acts, and what they know: the whole state of a simulation besides the service's. */
export class Town {
  readonly shops: Array<KnownShop> = []
  readonly clients: Array<KnownClient> = []
  /** The instant at which the sandbox clock stands. */
  now = 0
  #drawn: number

  /** `taken`: how many names and numbers others had before, where the service keeps what they left. */
  constructor(taken = 0) {
    this.#drawn = taken
  }

  /** A name that nothing has had yet. */
  fresh(prefix: string): string {
    this.#drawn += 1
    return `${prefix}-${this.#drawn}`
  }

  /** A phone number that nobody has had yet. */
  freshPhone(): string {
    this.#drawn += 1
    return `+2162${String(this.#drawn).padStart(7, "0")}`
  }
}

/** What a till makes of a ticket it was answered. */
export const remember = (
  shop: KnownShop,
  ticket: SeenTicket & { readonly money?: { readonly deposit_minor: number | null } }
): void => {
  const { id, state, number, ready_at, collected_at, money } = ticket
  shop.tickets.set(id, { id, state, number, ready_at, collected_at, deposit_minor: money?.deposit_minor ?? 0 })
}
