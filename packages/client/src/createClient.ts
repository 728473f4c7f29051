import { type ClientResult, type CommonCode, WorkshopError } from "./result.js"
import { type CallOptions, type ClientOptions, makeTransport, type Transport } from "./transport.js"
import type {
  Client,
  ListMeta,
  Loyalty,
  NumberMeta,
  RepeatableMeta,
  RewardRedeemed,
  Shop,
  ShopChannel,
  StampsGiven,
  Ticket,
  TicketInput,
  TicketState,
  TicketStatus
} from "./types.js"

/** The codes of a call about one ticket or client, which may not exist. */
export type FindCode = CommonCode | "NOT_FOUND"

/** The codes of a call that changes data, which may conflict. */
export type ChangeCode = FindCode | "CONFLICT"

/** Options of a call that changes data. */
export interface RepeatableOptions extends CallOptions {
  /**
   * The idempotency key of the act, at most 80 characters. By default the client makes a new key for each call, and
   * uses it for the call's retries. Pass your own key and store it with your data, so that the act happens once even if
   * your program crashes and calls again.
   */
  readonly idempotencyKey?: string
}

/** The options of a sync. */
export interface SyncQuery {
  /** The last `synced_until`; by default all tickets are read. */
  readonly since?: string | undefined
  /** The tickets on a page: 1 to 100, 50 by default. */
  readonly limit?: number | undefined
}

/** The filter of a list of tickets; a ticket must match all given fields (Specification, Endpoints). */
export interface TicketListQuery {
  /** Only tickets in one of these states. */
  readonly state?: TicketState | ReadonlyArray<TicketState> | undefined
  /** Only tickets with this number. */
  readonly number?: number | undefined
  /** Only tickets of this client. */
  readonly client_id?: string | undefined
  /** Only tickets with this phone number in international format, such as `+21620123456`. */
  readonly phone?: string | undefined
  /** Only tickets with this reference. */
  readonly external_ref?: string | undefined
  /** Only the ticket with this tracking code; case and hyphens do not matter. */
  readonly tracking_code?: string | undefined
  /** Only tickets created at this ISO 8601 instant or later. A date means 00:00 UTC. */
  readonly created_after?: string | undefined
  /** Only tickets created before this ISO 8601 instant or date. */
  readonly created_before?: string | undefined
  /** The maximum number of tickets on a page: 1 to 100, 50 by default. */
  readonly limit?: number | undefined
  /** The `next_cursor` of the previous page, with the same filters. */
  readonly cursor?: string | null | undefined
  /** Only tickets that changed at this instant or later, in the order of changes. For a whole sync see `changes`. */
  readonly updated_since?: string | undefined
}

/** The position of a sync in the list of changes. */
export interface SyncMeta extends ListMeta {
  /** The `since` of the next sync. Save it with the page, in the same transaction if you can. */
  readonly synced_until: string
}

/** One page of tickets, or the failure of its request. */
export type Page<M = ListMeta> = ClientResult<ReadonlyArray<Ticket>, CommonCode, M>

/** All pages of a list: `for await (const page of pages)`. A failure is the last page. */
export interface Pages<M = ListMeta> extends AsyncIterable<Page<M>> {
  /**
   * All tickets of the pages: `for await (const ticket of pages.items())`.
   * @throws WorkshopError if a page fails.
   */
  readonly items: () => AsyncIterable<Ticket>
}

/** An instant before the first ticket. */
const BEGINNING = "1970-01-01T00:00:00.000Z"

async function* iteratePages<M extends ListMeta>(send: Transport, query: TicketListQuery, options: CallOptions) {
  let cursor = query.cursor
  while (true) {
    const page: Page<M> = await send({ method: "GET", path: "/tickets", query: { ...query, cursor }, ...options })
    yield page
    if (!page.ok || page.meta.next_cursor === null) return
    cursor = page.meta.next_cursor
  }
}

async function* iterateItems(pages: AsyncIterable<Page<ListMeta>>) {
  for await (const page of pages) {
    if (!page.ok) throw new WorkshopError(page.error)
    yield* page.value
  }
}

const pagesOf = <M extends ListMeta>(send: Transport, query: TicketListQuery, options: CallOptions): Pages<M> => {
  const walk = () => iteratePages<M>(send, query, options)
  return { [Symbol.asyncIterator]: walk, items: () => iterateItems(walk()) }
}

const pathOf = (kind: "tickets" | "clients", id: string) => `/${kind}/${encodeURIComponent(id)}`

const shopCalls = (send: Transport) => ({
  /** Reads the key's shop. Call it first to check the address and the key (Specification, Endpoints). */
  read: (options: CallOptions = {}): Promise<ClientResult<Shop, CommonCode>> =>
    send({ method: "GET", path: "/shop", ...options })
})

/**
 * Sends a request that changes data, always with an `Idempotency-Key`, so that it can be repeated after a lost
 * response.
 */
const makePost =
  (send: Transport) =>
  <A, C extends string>(
    path: string,
    body: unknown,
    { idempotencyKey = crypto.randomUUID(), ...options }: RepeatableOptions = {}
  ): Promise<ClientResult<A, C, RepeatableMeta>> =>
    send({ method: "POST", path, body, idempotencyKey, ...options })

const ticketCalls = (send: Transport) => {
  const post = makePost(send)
  return {
    /** Creates a ticket with the shop's next number (Specification, Endpoints). */
    create: (
      body: TicketInput,
      options?: RepeatableOptions
    ): Promise<ClientResult<Ticket, ChangeCode | "PROFANITY", RepeatableMeta>> => post("/tickets", body, options),
    /**
     * One page of tickets: newest first, or with `updated_since` in the order of changes (Specification, Lists and
     * sync).
     */
    list: (query: TicketListQuery = {}, options: CallOptions = {}): Promise<Page> =>
      send({ method: "GET", path: "/tickets", query: { ...query }, ...options }),
    /** All matching tickets, page by page. */
    pages: (query: TicketListQuery = {}, options: CallOptions = {}): Pages => pagesOf(send, query, options),
    /**
     * All tickets that changed since the last `synced_until`, page by page in the order of changes; without `since`,
     * all tickets. It misses no change, but may return one twice, so store tickets by `id` (Specification, Lists and
     * sync).
     */
    changes: (query: SyncQuery = {}, options: CallOptions = {}): Pages<SyncMeta> =>
      pagesOf(send, { updated_since: query.since ?? BEGINNING, limit: query.limit }, options),
    /** One ticket; a ticket of another shop is not found (Specification, Endpoints). */
    byId: (id: string, options: CallOptions = {}): Promise<ClientResult<Ticket, FindCode>> =>
      send({ method: "GET", path: pathOf("tickets", id), ...options }),
    /**
     * The newest open ticket with a number, or else the newest; `meta.others` has the others (Specification,
     * Endpoints).
     */
    byNumber: (number: number, options: CallOptions = {}): Promise<ClientResult<Ticket, FindCode, NumberMeta>> =>
      send({ method: "GET", path: `/tickets/by-number/${number}`, ...options }),
    /** Moves a ticket to another state (Specification, States). */
    changeStatus: (
      id: string,
      status: TicketStatus,
      options?: RepeatableOptions
    ): Promise<ClientResult<Ticket, ChangeCode, RepeatableMeta>> =>
      post(`${pathOf("tickets", id)}/status`, { status }, options),
    /** Records that the shop itself notified the ticket's client (Specification, Endpoints). */
    recordNotified: (
      id: string,
      channel: ShopChannel,
      options?: RepeatableOptions
    ): Promise<ClientResult<Ticket, ChangeCode, RepeatableMeta>> =>
      post(`${pathOf("tickets", id)}/notified`, { channel }, options)
  }
}

const clientCalls = (send: Transport) => {
  const post = makePost(send)
  return {
    /** A client whom the shop knows, by a phone number in international format (Specification, Endpoints). */
    byPhone: (phone: string, options: CallOptions = {}): Promise<ClientResult<Client, FindCode>> =>
      send({ method: "GET", path: "/clients", query: { phone }, ...options }),
    /** A client whom the shop knows. An unknown client and one who blocks the shop give the same 404 (Specification, Endpoints). */
    byId: (id: string, options: CallOptions = {}): Promise<ClientResult<Client, FindCode>> =>
      send({ method: "GET", path: pathOf("clients", id), ...options }),
    /** The shop's programme and the client's card, even while the programme is off (Specification, Endpoints). */
    loyalty: (id: string, options: CallOptions = {}): Promise<ClientResult<Loyalty, FindCode>> =>
      send({ method: "GET", path: `${pathOf("clients", id)}/loyalty`, ...options }),
    /** Adds 1 to 10 stamps, all or none (Specification, Endpoints). */
    giveStamps: (
      id: string,
      count: number,
      options?: RepeatableOptions
    ): Promise<ClientResult<StampsGiven, ChangeCode, RepeatableMeta>> =>
      post(`${pathOf("clients", id)}/loyalty/stamps`, { count }, options),
    /** Uses one reward (Specification, Endpoints). */
    redeem: (
      id: string,
      options?: RepeatableOptions
    ): Promise<ClientResult<RewardRedeemed, ChangeCode, RepeatableMeta>> =>
      post(`${pathOf("clients", id)}/loyalty/redeem`, {}, options)
  }
}

const OPTIONS =
  "baseUrl, key, retries, timeoutMs, maxRetryDelayMs, userAgent, onRequest, onResponse, fetch, wait, random"

/**
 * The API as functions that return values: `{ ok: true, value, meta, response }`, or `{ ok: false, error }` typed by
 * `error.code`. `unwrap` turns a result into its value or an exception.
 * @throws TypeError if `baseUrl` or `key` is missing, or an option is wrong or unknown.
 */
export const createClient = (options: ClientOptions) => {
  const unknown = Object.keys(options).find((name) => !OPTIONS.split(", ").includes(name))
  if (unknown !== undefined) throw new TypeError(`createClient has no option ${unknown}. The options are ${OPTIONS}.`)
  if (!URL.canParse(options.baseUrl) || !/^https?:/.test(options.baseUrl))
    throw new TypeError(
      `baseUrl must be the service's address, such as https://tickets.example.com, not ${options.baseUrl}`
    )
  if (typeof options.key !== "string" || !/^[\x21-\x7e]+$/.test(options.key))
    throw new TypeError("key must be the shop's API key, such as wk_live_.... Set it in your program's environment.")
  const send = makeTransport(options)
  return { shop: shopCalls(send), tickets: ticketCalls(send), clients: clientCalls(send) }
}

/** The client that {@link createClient} returns. */
export type WorkshopClient = ReturnType<typeof createClient>
