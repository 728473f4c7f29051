import { callOf } from "../../testkit/Calls.js"
import type { TicketJson } from "../../testkit/ResponseTypes.js"
import { HOUR, MINUTE } from "../../testkit/Time.js"
import { type Breach, makeBreach } from "./Breach.js"
import type { RecordedRequest, ShopTrace, Trace } from "./Trace.js"
import {
  type CheckFinding,
  codeOf,
  detailOf,
  evidenceOf,
  groupEventsByTicket,
  groupValues,
  IDEMPOTENCY_TTL_MS,
  isReplay,
  isSuccess,
  makeCheck,
  type Operation,
  operationsOf,
  recordedDataOf,
  settingsAt,
  successfulCalls,
  type TicketEvent,
  toEpochMs
} from "./traceQueries.js"

/** The codes of Specification, Errors, with their statuses. */
const CODES: Readonly<Record<string, number>> = {
  VALIDATION_ERROR: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  SHOP_NOT_APPROVED: 403,
  ACCOUNT_DEACTIVATED: 403,
  API_DISABLED: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  PROFANITY: 422,
  TOO_MANY_ATTEMPTS: 429
}

const findEnvelopeBreach = (exchange: RecordedRequest): Breach | null => {
  const { response } = exchange
  if (response === null) return null
  const { status, headers, body } = response
  const envelopeBreach = (message: string) => makeBreach("rule-envelope-success", message)
  if (status >= 500) return makeBreach("rule-error-failures", `the response has the status ${status}`)
  if (headers["request-id"] === undefined) return makeBreach("rule-error-request-id", "the response has no Request-Id")
  if (["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"].some((name) => headers[name] === undefined))
    return makeBreach("rule-limit-headers", "the response has no RateLimit headers")
  if (body.success !== status < 300) return envelopeBreach("success does not match the status of the response")
  if (body.success) return body.data === undefined ? envelopeBreach("a successful response has no data") : null
  if (body.error === undefined) return envelopeBreach("a response with an error status has no error")
  if (CODES[body.error.code] !== status)
    return makeBreach(
      "rule-error-shop-not-approved",
      `the code ${body.error.code} does not belong to the status ${status}`
    )
  return status === 409 && body.error.details?.reason === undefined
    ? makeBreach("rule-error-validation", "a 409 has no details.reason")
    : null
}

/**
 * Every response has the envelope, with a code that matches its status, and none is a 5xx (Specification, Requests and
 * responses; Errors).
 */
export const checkEnvelopes = makeCheck("envelope", "Specification, Requests and responses", function* ({ exchanges }) {
  for (const exchange of exchanges) yield [findEnvelopeBreach(exchange), evidenceOf(exchange)]
})

interface Key {
  readonly scopes: ReadonlyArray<string>
  readonly revoked_at: number
}

const ALL_SCOPES = ["tickets:read", "tickets:write", "clients:read", "loyalty:write"]
const PRESETS: Readonly<Record<string, ReadonlyArray<string>>> = {
  full: ALL_SCOPES,
  read: ["tickets:read", "clients:read"]
}

/** Every key that was made, with its scopes and the time when it was revoked. */
const keysOf = ({ exchanges }: Trace): Map<string, Key> => {
  const keys = new Map<string, Key>()
  const add = (id: string | undefined, scopes: ReadonlyArray<string>) =>
    keys.set(id ?? "", { scopes, revoked_at: Number.POSITIVE_INFINITY })
  for (const exchange of exchanges) {
    const call = isSuccess(exchange) ? callOf(exchange) : null
    if (call?.name === "open shop") add(recordedDataOf<{ readonly key_id?: string }>(exchange).key_id, ALL_SCOPES)
    if (call?.name === "create key") {
      const requestBody = exchange.body as
        | { readonly scopes?: ReadonlyArray<string>; readonly preset?: string }
        | undefined
      const scopes = requestBody?.scopes ?? PRESETS[requestBody?.preset ?? "full"] ?? ALL_SCOPES
      add(recordedDataOf<{ readonly id?: string }>(exchange).id, scopes)
    }
    const revoked = call?.name === "revoke key" ? keys.get(call.id) : undefined
    if (call !== null && revoked !== undefined && exchange.now < revoked.revoked_at)
      keys.set(call.id, { ...revoked, revoked_at: exchange.now })
  }
  return keys
}

const SCOPES: ReadonlyArray<readonly [method: string, path: RegExp, scope: string]> = [
  ["GET", /^\/v1\/tickets(\/|$)/, "tickets:read"],
  ["POST", /^\/v1\/tickets(\/|$)/, "tickets:write"],
  ["GET", /^\/v1\/clients(\/|$)/, "clients:read"],
  ["POST", /^\/v1\/clients\/[^/]+\/loyalty\/(stamps|redeem)$/, "loyalty:write"]
]

const FLAGS: ReadonlyArray<readonly [flag: string, code: string, anchor: Breach["anchor"]]> = [
  ["active", "ACCOUNT_DEACTIVATED", "rule-error-order-of-403"],
  ["approved", "SHOP_NOT_APPROVED", "rule-error-order-of-403"],
  ["api_enabled", "API_DISABLED", "rule-api-disabled"]
]

const findKeyBreach = (exchange: RecordedRequest, { revoked_at }: Key): Breach | null => {
  const isTurnedAway = exchange.response?.status === 401
  if (isTurnedAway && exchange.now < revoked_at)
    return makeBreach("rule-key-missing", "a request with a valid key was refused with 401")
  const isRefused = isTurnedAway || detailOf(exchange, "limit") === "unauthenticated_per_minute"
  return !isRefused && exchange.now > revoked_at + MINUTE
    ? makeBreach("rule-key-revoked", "a key was still accepted more than a minute after it was revoked")
    : null
}

const findFlagBreach = (exchange: RecordedRequest, settings: Readonly<Record<string, unknown>>): Breach | null => {
  const offFlag = FLAGS.find(([flag]) => settings[flag] === false)
  const code = codeOf(exchange)
  if (offFlag !== undefined)
    return isSuccess(exchange)
      ? makeBreach(offFlag[2], `the request succeeded although the shop's ${offFlag[0]} is false`)
      : null
  const refusingFlag = FLAGS.find(([, name]) => name === code)
  return refusingFlag === undefined
    ? null
    : makeBreach(
        refusingFlag[2],
        `the request was refused with ${code} although the shop is approved, is active and may use the API`
      )
}

const findScopeBreach = (exchange: RecordedRequest, { scopes }: Key): Breach | null => {
  const neededScope = SCOPES.find(([method, path]) => method === exchange.method && path.test(exchange.path))?.[2]
  if (codeOf(exchange) === "FORBIDDEN")
    return neededScope === undefined || scopes.includes(neededScope) || detailOf(exchange, "scope") !== neededScope
      ? makeBreach("rule-scope-all", "the request was refused although its key has the scope")
      : null
  return isSuccess(exchange) && neededScope !== undefined && !scopes.includes(neededScope)
    ? makeBreach("rule-scope-all", `the request succeeded although its key lacks the scope ${neededScope}`)
    : null
}

/** A key does what its scopes allow, until a minute after it is revoked, while its shop may use the API. */
export const checkAccess = makeCheck("access", "Specification, Keys and scopes; Errors", function* (trace) {
  const keys = keysOf(trace)
  const byShop = groupValues(
    trace.exchanges.filter(
      (exchange) => exchange.key !== null && exchange.response !== null && exchange.path.startsWith("/v1")
    ),
    ({ shop }) => shop ?? ""
  )
  for (const [shop, mine] of byShop) {
    const settings = settingsAt(trace, shop)
    for (const exchange of mine) {
      const key = keys.get(exchange.key ?? "")
      if (key === undefined) continue
      const breach =
        findKeyBreach(exchange, key) ??
        findFlagBreach(exchange, settings(exchange.now)) ??
        findScopeBreach(exchange, key)
      yield [breach, evidenceOf(exchange)]
    }
  }
})

/** The statuses that a state accepts. A collected ticket accepts them only within the reopening window. */
const ACCEPTS: Readonly<Record<string, ReadonlyArray<string>>> = {
  workshop: ["ready", "impossible"],
  ready: ["collected", "workshop"],
  impossible: ["collected", "workshop"],
  collected: ["workshop"],
  abandoned: []
}

/** The reason why a status must be refused in the state of its ticket; null if it must succeed. */
const refusalReasonFor = (event: TicketEvent, to: string, now: number): string | null => {
  const { state, collected_at } = event.data.ticket
  if (state === "abandoned") return "ABANDONED"
  if (state === "collected" && collected_at !== null && now - toEpochMs(collected_at) > 24 * HOUR)
    return "REOPEN_WINDOW"
  if (ACCEPTS[state]?.includes(to)) return null
  return state === to ? "SAME_STATE" : "INVALID_TRANSITION"
}

/**
 * The states that a ticket may have had at an instant: its state before the instant, and the states that it entered at
 * the instant.
 */
const possibleStates = (events: ReadonlyArray<TicketEvent>, now: number) => {
  const lastEventBefore = events.filter(({ created_at }) => toEpochMs(created_at) < now).at(-1)
  const eventsDuring = events.filter(({ created_at }) => toEpochMs(created_at) === now)
  return lastEventBefore === undefined ? eventsDuring : [lastEventBefore, ...eventsDuring]
}

const findStatusBreach = (exchange: RecordedRequest, events: ReadonlyArray<TicketEvent>): Breach | null => {
  const to = (exchange.body as { readonly status: string }).status
  if (isSuccess(exchange)) {
    const { state, updated_at } = recordedDataOf<{ readonly state: string; readonly updated_at: string }>(exchange)
    if (state !== to)
      return makeBreach(
        "rule-status-workshop-ready-2",
        `the requested status was ${to}, but the ticket's state is ${state}`
      )
    return toEpochMs(updated_at) === exchange.now
      ? null
      : makeBreach("rule-instants-held", "updated_at differs from the time of the status change")
  }
  if (codeOf(exchange) !== "CONFLICT") return null
  const possible = possibleStates(events, exchange.now)
  const reason = detailOf(exchange, "reason")
  const matchingEvents = possible.filter((event) => refusalReasonFor(event, to, exchange.now) === reason)
  if (matchingEvents.length === 0)
    return makeBreach(
      reason === "REOPEN_WINDOW" ? "rule-reopen-at-24h" : "rule-status-all-refused",
      `${to} was refused for ${reason}, but the ticket was ${possible.map(({ data }) => data.ticket.state).join(" or ")}`
    )
  const [from, state] = [detailOf(exchange, "from"), detailOf(exchange, "state")]
  if (!matchingEvents.some(({ data }) => data.ticket.state === from))
    return makeBreach("rule-status-all-refused", "details.from differs from the ticket's state")
  return state === from
    ? null
    : makeBreach("rule-status-all-refused-2", `details.state is ${state}, but details.from is ${from}`)
}

/** A status is refused only if the ticket's state does not accept it, and with the right reason. */
export const checkRefusals = makeCheck("refusals", "Specification, States", function* ({ shops, exchanges }) {
  const events = new Map(shops.map((shop) => [shop.id, groupEventsByTicket(shop.events)]))
  for (const exchange of exchanges) {
    const call = callOf(exchange)
    const history = call?.name === "set status" ? events.get(exchange.shop ?? "")?.get(call.id) : undefined
    if (history !== undefined) yield [findStatusBreach(exchange, history), evidenceOf(exchange)]
  }
})

/**
 * The client is not compared, because a block hides the client without a change of the ticket, and the feed does not
 * show that.
 */
const withoutClient = ({ client: _, ...ticket }: TicketJson): string => JSON.stringify(ticket)

function* findFeedBreaches({ id, listed, synced }: ShopTrace): Iterable<CheckFinding> {
  const missedBreach = (message: string) => makeBreach("rule-sync-equal-instants", message)
  const syncedById = new Map(synced.map((ticket) => [ticket.id, ticket]))
  for (const ticket of listed) {
    const feed = syncedById.get(ticket.id)
    syncedById.delete(ticket.id)
    if (feed === undefined) yield [missedBreach(`the sync never returned ticket ${ticket.id}`), { shop: id, ticket }]
    else if (withoutClient(feed) !== withoutClient(ticket))
      yield [missedBreach(`the sync returned an outdated version of ticket ${ticket.id}`), { shop: id, feed, ticket }]
    else if (feed.client === null && ticket.client !== null)
      yield [missedBreach(`the sync never returned the client of ticket ${ticket.id}`), { shop: id, feed, ticket }]
  }
  for (const ticket of syncedById.values())
    yield [
      makeBreach("rule-sync-order", `the sync returned ticket ${ticket.id}, which the list does not have`),
      { shop: id, ticket }
    ]
}

/** Finds a page in the wrong order: a list is newest first, and a feed is oldest change first. */
const findOrderBreach = (exchange: RecordedRequest): Breach | null => {
  const tickets = recordedDataOf<ReadonlyArray<TicketJson>>(exchange)
  const query = new URLSearchParams(exchange.query)
  const isFeed = query.has("updated_since")
  const limit = Number(query.get("limit") ?? 50)
  if (tickets.length > limit)
    return makeBreach("rule-list-default-page", `a page has ${tickets.length} tickets, but its limit is ${limit}`)
  for (const [i, ticket] of tickets.entries()) {
    const previousTicket = tickets[i - 1]
    if (previousTicket === undefined) continue
    const isWrong = isFeed
      ? toEpochMs(ticket.updated_at) < toEpochMs(previousTicket.updated_at)
      : toEpochMs(ticket.created_at) > toEpochMs(previousTicket.created_at) ||
        (ticket.created_at === previousTicket.created_at && ticket.id > previousTicket.id)
    if (isWrong)
      return makeBreach(isFeed ? "rule-sync-order" : "rule-list-newest-first", `ticket ${ticket.id} is out of order`)
  }
  const { meta } = exchange.response!.body
  if ((meta?.has_more === true) !== (typeof meta?.next_cursor === "string"))
    return makeBreach("rule-list-default-page", "has_more does not match next_cursor")
  return isFeed && typeof meta?.synced_until !== "string"
    ? makeBreach("rule-sync-meta", "a response of the sync has no meta.synced_until")
    : null
}

/** The entries of pages are in order, and a till that follows the feed has the same tickets as the store. */
export const checkSync = makeCheck("sync", "Specification, Endpoints; Lists and sync", function* (trace) {
  for (const shop of trace.shops) yield* findFeedBreaches(shop)
  for (const exchange of successfulCalls(trace, "list tickets")) yield [findOrderBreach(exchange), evidenceOf(exchange)]
})

/** The status of the first response to each operation, with the rule that demands it. */
const FIRST_RESPONSES = {
  "create ticket": { status: 201, anchor: "rule-create" },
  "add stamps": { status: 200, anchor: "rule-stamps-2" },
  "redeem reward": { status: 200, anchor: "rule-redeem" }
} as const satisfies Record<Operation["call"], { readonly status: number; readonly anchor: Breach["anchor"] }>

const replayBreach = (message: string): Breach => makeBreach("rule-replay", message)

const findResponseFormBreach = (exchange: RecordedRequest, call: Operation["call"]): Breach | null => {
  const { response } = exchange
  if (response === null || !isSuccess(exchange)) return null
  const replayed = isReplay(exchange)
  if (!replayed && response.body.meta?.replayed !== false) return replayBreach("the response has no meta.replayed")
  if (replayed !== (response.headers["idempotent-replayed"] === "true"))
    return replayBreach("the header Idempotent-Replayed does not match meta.replayed")
  const { status, anchor } = replayed ? ({ status: 200, anchor: "rule-replay" } as const) : FIRST_RESPONSES[call]
  return response.status === status
    ? null
    : makeBreach(anchor, `the response has the status ${response.status} instead of ${status}`)
}

/**
 * True if a request without a response may have been executed once more after its key had expired. A repetition then
 * shows that result.
 */
const mayBeSecondResult = ({ exchanges }: Operation, first: RecordedRequest, repetition: RecordedRequest): boolean =>
  exchanges.some(
    (exchange) =>
      exchange.response === null && exchange.seq < repetition.seq && exchange.now - first.now >= IDEMPOTENCY_TTL_MS
  )

const findRepetitionBreach = (operation: Operation): Breach | null => {
  // A response that is not a replay shows when the operation was executed.
  const executions = operation.exchanges.filter((exchange) => isSuccess(exchange) && !isReplay(exchange))
  for (const [i, execution] of executions.entries()) {
    const previousExecution = executions[i - 1]
    if (previousExecution !== undefined && execution.now - previousExecution.now < IDEMPOTENCY_TTL_MS)
      return replayBreach("the operation was carried out twice for one Idempotency-Key")
  }
  for (const exchange of operation.exchanges) {
    if (!isSuccess(exchange) || !isReplay(exchange)) continue
    const first = executions.findLast((execution) => execution.seq < exchange.seq || execution.now === exchange.now)
    if (first === undefined || mayBeSecondResult(operation, first, exchange)) continue
    if (JSON.stringify(recordedDataOf(first)) !== JSON.stringify(recordedDataOf(exchange)))
      return replayBreach("a repeated request got a different response than the first")
  }
  const isLong = operation.exchanges.at(-1)!.now - operation.exchanges[0]!.now >= IDEMPOTENCY_TTL_MS
  return operation.results.length > 1 && executions.length <= 1 && !isLong
    ? replayBreach("repeated requests got different responses")
    : null
}

/** A key is refused as used only if another request with it succeeded. */
const findWrongReuse = (operation: Operation): RecordedRequest | null => {
  for (const exchange of operation.exchanges) {
    if (codeOf(exchange) !== "CONFLICT" || detailOf(exchange, "reason") !== "IDEMPOTENCY_KEY_REUSED") continue
    const text = JSON.stringify([exchange.path, exchange.body])
    const other = operation.exchanges.some(
      (one) =>
        (isSuccess(one) || one.response === null) &&
        one.now <= exchange.now &&
        JSON.stringify([one.path, one.body]) !== text
    )
    if (!other) return exchange
  }
  return null
}

/** An operation with an Idempotency-Key is executed once, and a repetition gets the first response unchanged. */
export const checkIdempotency = makeCheck("idempotency", "Specification, Endpoints; Idempotency", function* (trace) {
  const operationOfTicket = new Map<string, Operation>()
  for (const operation of operationsOf(trace)) {
    for (const exchange of operation.exchanges)
      yield [findResponseFormBreach(exchange, operation.call), evidenceOf(exchange)]
    const reuse = findWrongReuse(operation)
    yield [findRepetitionBreach(operation), operation.exchanges.map(evidenceOf)]
    if (reuse !== null)
      yield [
        makeBreach(
          "rule-idempotency-reused",
          "an Idempotency-Key was refused as used, but no other request had used it"
        ),
        evidenceOf(reuse)
      ]
    if (operation.call !== "create ticket") continue
    for (const { data, exchange } of operation.results) {
      const { id, created_at } = data as { readonly id: string; readonly created_at: string }
      const other = operationOfTicket.get(id)
      if (other !== undefined && other !== operation)
        yield [
          makeBreach("rule-idempotency-by-key", `ticket ${id} was returned for two Idempotency-Keys`),
          evidenceOf(exchange)
        ]
      if (!isReplay(exchange) && toEpochMs(created_at) !== exchange.now)
        yield [
          makeBreach("rule-instants-held", `created_at of ticket ${id} differs from the time of its request`),
          evidenceOf(exchange)
        ]
      operationOfTicket.set(id, operation)
    }
  }
})
