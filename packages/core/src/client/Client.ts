// Needs nothing at runtime but `fetch` and `crypto`: only types are imported.

import type { ShopChannel } from "../decisions/changeStatus.js"
import type { TicketInput } from "../decisions/createTicket.js"
import type { RewardRedeemed, StampsGiven } from "../decisions/giveStamps.js"
import type { ClientView } from "../domain/Client.js"
import type { LoyaltyCard, LoyaltyProgram } from "../domain/LoyaltyCard.js"
import type { ShopView } from "../domain/Shop.js"
import type { Ticket } from "../domain/Ticket.js"
import type { TicketStatus } from "../domain/TicketLifecycle.js"
import type { PageMeta, TicketQueryJson } from "../services/TicketQuery.js"
import type { TicketSummary } from "../services/Tickets.js"
import type { ClientResult } from "./ClientFailure.js"
import { type CallOptions, type ClientOptions, type Exchange, exchange } from "./Exchange.js"

/** Codes that any call may be answered with. */
export type CommonCode =
  | "VALIDATION_ERROR"
  | "UNAUTHENTICATED"
  | "FORBIDDEN"
  | "SHOP_NOT_APPROVED"
  | "ACCOUNT_DEACTIVATED"
  | "API_DISABLED"
  | "TOO_MANY_ATTEMPTS"
  | "INTERNAL"
  | "UNAVAILABLE"
type Findable = CommonCode | "NOT_FOUND"
type Movable = Findable | "CONFLICT"

/** A call that happens once however often it is made. */
export interface RepeatableOptions extends CallOptions {
  /**
   * One for each thing to be done, at most 80 characters: kept by you, a call made again after a crash does nothing
   * twice. Where the key is required, a fresh one by default, which covers the retries within this call.
   */
  readonly idempotencyKey?: string
}

/** A question for `Client.tickets`: the filters of the list as plain values. */
export type TicketQuery = typeof TicketQueryJson.Encoded

interface Replayed {
  /** Whether this repeats an answer given before. */
  readonly replayed: boolean
}

/** Where a walk through what changed stands. */
export interface SyncMeta extends PageMeta {
  /** Keep it with the page, in the same transaction if you can, and begin there next time. */
  readonly synced_until: string
}

type Page = ClientResult<ReadonlyArray<Ticket>, CommonCode, PageMeta>
type Changes = ClientResult<ReadonlyArray<Ticket>, CommonCode, SyncMeta>

/** From before the first ticket. */
const BEGINNING = "1970-01-01T00:00:00.000Z"

async function* pages(ask: Exchange, query: TicketQuery, options: CallOptions): AsyncGenerator<Page, void> {
  let cursor = query.cursor
  while (true) {
    const asked = { ...query, cursor }
    const page: Page = await ask({ method: "GET", path: "/tickets", query: asked, ...options })
    yield page
    if (!page.ok || page.meta.next_cursor === null) return
    cursor = page.meta.next_cursor
  }
}

const idPath = (kind: "tickets" | "clients", id: string) => `/${kind}/${encodeURIComponent(id)}`

/** An Idempotency-Key that nobody has used. */
const freshKey = () => crypto.randomUUID()

const ticketCalls = (ask: Exchange) => ({
  /** Opens a ticket under the shop's next number (Specification, Endpoints). */
  create: (
    body: typeof TicketInput.Encoded,
    { idempotencyKey = freshKey(), ...options }: RepeatableOptions = {}
  ): Promise<ClientResult<Ticket, Movable | "PROFANITY", Replayed>> =>
    ask({ method: "POST", path: "/tickets", body, idempotencyKey, ...options }),
  /** One page, the newest first; with `updated_since` in the order of changes (Specification, Lists and sync). */
  list: (query: TicketQuery = {}, options: CallOptions = {}): Promise<Page> =>
    ask({ method: "GET", path: "/tickets", query, ...options }),
  /** Page after page to the end. A failure is the last thing it yields. */
  pages: (query: TicketQuery = {}, options: CallOptions = {}): AsyncIterable<Page> => pages(ask, query, options),
  /**
   * Everything that changed since the `synced_until` of last time, page by page, in the order of changes, to the end:
   * none is ever missed; one may come again, so write by `id` (Specification, Lists and sync). Without `since`, from the beginning.
   */
  changes: (
    { since = BEGINNING, limit }: { readonly since?: string | undefined; readonly limit?: number | undefined } = {},
    options: CallOptions = {}
  ): AsyncIterable<Changes> =>
    pages(ask, { updated_since: since, limit: limit ?? null }, options) as AsyncIterable<Changes>,
  /** One ticket; another shop's is not found (Specification, Endpoints). */
  byId: (id: string, options: CallOptions = {}): Promise<ClientResult<Ticket, Findable>> =>
    ask({ method: "GET", path: idPath("tickets", id), ...options }),
  /** The ticket that somebody at the counter means by its number; `meta.others` are the rest (Specification, Endpoints). */
  byNumber: (
    number: number,
    options: CallOptions = {}
  ): Promise<ClientResult<Ticket, Findable, { readonly others: ReadonlyArray<TicketSummary> }>> =>
    ask({ method: "GET", path: `/tickets/by-number/${number}`, ...options }),
  /**
   * Moves a ticket. After a lost answer it is made again only under an `idempotencyKey` of yours; without one look at
   * the ticket first (Specification, States).
   */
  changeStatus: (
    id: string,
    status: TicketStatus,
    options: RepeatableOptions = {}
  ): Promise<ClientResult<Ticket, Movable, Replayed>> =>
    ask({ method: "POST", path: `${idPath("tickets", id)}/status`, body: { status }, ...options }),
  /** Records that the shop notified its client itself (Specification, Endpoints). */
  recordNotified: (
    id: string,
    channel: ShopChannel,
    options: RepeatableOptions = {}
  ): Promise<ClientResult<Ticket, Movable, Replayed>> =>
    ask({ method: "POST", path: `${idPath("tickets", id)}/notified`, body: { channel }, ...options })
})

const clientCalls = (ask: Exchange) => ({
  /** A client who knows the shop, by a number in international format (Specification, Endpoints). */
  byPhone: (phone: string, options: CallOptions = {}): Promise<ClientResult<ClientView, Findable>> =>
    ask({ method: "GET", path: "/clients", query: { phone }, ...options }),
  /** A client who knows the shop; unknown and blocking are the same 404 (Specification, Endpoints). */
  byId: (id: string, options: CallOptions = {}): Promise<ClientResult<ClientView, Findable>> =>
    ask({ method: "GET", path: idPath("clients", id), ...options }),
  /** The shop's programme and the client's card, also while the programme is off (Specification, Endpoints). */
  loyalty: (
    id: string,
    options: CallOptions = {}
  ): Promise<ClientResult<{ readonly program: LoyaltyProgram; readonly card: LoyaltyCard }, Findable>> =>
    ask({ method: "GET", path: `${idPath("clients", id)}/loyalty`, ...options }),
  /** Adds 1 to 10 stamps, all or none (Specification, Endpoints). */
  giveStamps: (
    id: string,
    count: number,
    { idempotencyKey = freshKey(), ...options }: RepeatableOptions = {}
  ): Promise<ClientResult<StampsGiven, Movable, Replayed>> =>
    ask({
      method: "POST",
      path: `${idPath("clients", id)}/loyalty/stamps`,
      body: { count },
      idempotencyKey,
      ...options
    }),
  /** Uses one reward (Specification, Endpoints). */
  redeem: (
    id: string,
    { idempotencyKey = freshKey(), ...options }: RepeatableOptions = {}
  ): Promise<ClientResult<RewardRedeemed, Movable, Replayed>> =>
    ask({ method: "POST", path: `${idPath("clients", id)}/loyalty/redeem`, body: {}, idempotencyKey, ...options })
})

/** The API as functions that answer values: `{ ok: true, value, meta }`, or `{ ok: false, error }` typed by `error.code`. */
export const createClient = (options: ClientOptions) => {
  const ask = exchange(options)
  return {
    shop: {
      /** The shop behind the key: the call to try a connection with (Specification, Endpoints). */
      read: (options: CallOptions = {}): Promise<ClientResult<ShopView, CommonCode>> =>
        ask({ method: "GET", path: "/shop", ...options })
    },
    tickets: ticketCalls(ask),
    clients: clientCalls(ask)
  }
}

/** The client that {@link createClient} makes. */
export type Client = ReturnType<typeof createClient>
