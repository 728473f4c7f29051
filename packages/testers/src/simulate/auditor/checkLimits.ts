import { callOf } from "../../testkit/Calls.js"
import { HOUR, MINUTE } from "../../testkit/Time.js"
import { type Breach, makeBreach } from "./Breach.js"
import type { RecordedRequest, ShopTrace } from "./Trace.js"
import {
  type CheckFinding,
  codeOf,
  detailOf,
  evidenceOf,
  groupValues,
  isReplay,
  isSuccess,
  isTicketCreation,
  makeCheck,
  operationsOf,
  recordedDataOf,
  toEpochMs
} from "./traceQueries.js"

/** The limits of Specification, Limits, each with its rule. */
const LIMITS = {
  requests_per_minute: { limit: 120, anchor: "rule-limit-requests" },
  writes_per_minute: { limit: 30, anchor: "rule-limit-requests" },
  tickets_per_hour: { limit: 150, anchor: "rule-limit-tickets-hour" },
  tickets_per_day: { limit: 600, anchor: "rule-limit-tickets-hour" },
  lookups_per_hour: { limit: 60, anchor: "rule-limit-lookups-all" },
  lookups_per_day: { limit: 300, anchor: "rule-limit-lookups-all" },
  stamps_per_day: { limit: 20, anchor: "rule-limit-stamps" },
  unauthenticated_per_minute: { limit: 120, anchor: "rule-limit-unauthenticated" }
} as const satisfies Record<string, { readonly limit: number; readonly anchor: Breach["anchor"] }>

/** One use of a limit, or a refusal by it, at an instant. */
interface Use {
  readonly now: number
  /** `given_back` was counted and returned. `maybe` was cut off, so it may have been counted. */
  readonly outcome: "counted" | "given_back" | "maybe" | "refused"
  readonly count: number
  readonly exchange: unknown
}

/**
 * A limit on the uses within a window: a duration in milliseconds, or the calendar day whose name the function returns.
 */
interface Bound {
  readonly policy: keyof typeof LIMITS
  readonly window: number | ((now: number) => string)
}

interface Window {
  readonly since: number
  readonly hasEnded: (now: number) => boolean
  sure: number
  uncertainUses: number
}

const groupByInstant = (uses: ReadonlyArray<Use>): ReadonlyArray<ReadonlyArray<Use>> => {
  const groups: Array<Array<Use>> = []
  for (const makeUse of uses) {
    const lastGroup = groups.at(-1)
    if (lastGroup !== undefined && lastGroup[0]!.now === makeUse.now) lastGroup.push(makeUse)
    else groups.push([makeUse])
  }
  return groups
}

const openWindow = ({ window }: Bound, now: number): Window => {
  const hasEnded =
    typeof window === "number" ? (at: number) => at >= now + window : (at: number) => window(at) !== window(now)
  return { since: now, hasEnded, sure: 0, uncertainUses: 0 }
}

const findWindowBreaches = (
  { policy }: Bound,
  open: Window | null,
  uses: ReadonlyArray<Use>
): ReadonlyArray<CheckFinding> => {
  const [sure, maybe] = [open?.sure ?? 0, open?.uncertainUses ?? 0]
  const { limit, anchor } = LIMITS[policy]
  const findings: Array<CheckFinding> = []
  if (sure > limit)
    findings.push([
      makeBreach(anchor, `${policy}: ${sure} uses were accepted within one window, but only ${limit} are allowed`),
      uses.at(-1)?.exchange
    ])
  for (const { outcome, count, exchange } of uses)
    if (outcome === "refused" && sure + maybe + count <= limit)
      findings.push([makeBreach(anchor, `${policy}: a use was refused after only ${sure} of ${limit} uses`), exchange])
  return findings
}

/**
 * Counts the uses of a limit again. A window opens at the first use. After a request that was cut off and may have
 * opened a window, nothing is checked until every window that it may have opened has ended.
 */
const recountUses = (limitBound: Bound, uses: ReadonlyArray<Use>): ReadonlyArray<CheckFinding> => {
  const findings: Array<CheckFinding> = []
  let open: Window | null = null
  let isUncertain: ((now: number) => boolean) | null = null
  for (const group of groupByInstant(uses)) {
    const { now } = group[0]!
    if (open?.hasEnded(now)) open = null
    if (isUncertain?.(now)) isUncertain = null
    let transient = 0
    for (const { outcome, count } of group) {
      if (outcome === "refused") continue
      if (open === null && outcome === "maybe") isUncertain = openWindow(limitBound, now).hasEnded
      // Each use extends the unchecked period, because it may have opened another window.
      if (isUncertain !== null) isUncertain = openWindow(limitBound, now).hasEnded
      open ??= openWindow(limitBound, now)
      if (outcome === "counted") open.sure += count
      else if (outcome === "maybe") open.uncertainUses += count
      else transient += count
    }
    if (open !== null) open.uncertainUses += transient
    if (isUncertain === null) findings.push(...findWindowBreaches(limitBound, open, group))
    if (open !== null) open.uncertainUses -= transient
  }
  return findings
}

/** The name of the calendar day in a time zone (Specification, Limits). */
const makeDayFormatter = (time_zone: string): ((now: number) => string) => {
  const format = new Intl.DateTimeFormat("en-CA", { timeZone: time_zone })
  return (now) => format.format(now)
}

const refusingLimitOf = (exchange: RecordedRequest): unknown =>
  exchange.response?.status === 429 ? detailOf(exchange, "limit") : null

const use = (exchange: RecordedRequest, outcome: Use["outcome"], count = 1): Use => ({
  now: exchange.now,
  outcome,
  count,
  exchange: evidenceOf(exchange)
})

/** The limits that are checked first. A request that they refuse counts against no other limit. */
const GATE_LIMITS = new Set(["requests_per_minute", "writes_per_minute"])

const requestUsesOf = (exchange: RecordedRequest): ReadonlyArray<Use> => {
  if (exchange.response === null) return [use(exchange, "maybe")]
  const refusingLimit = refusingLimitOf(exchange)
  if (refusingLimit === "requests_per_minute") return [use(exchange, "refused")]
  if (refusingLimit === "writes_per_minute" || exchange.response.status === 401) return []
  return [use(exchange, refusingLimit === null ? "counted" : "given_back")]
}

const writeUsesOf = (exchange: RecordedRequest): ReadonlyArray<Use> => {
  if (exchange.response === null) return [use(exchange, "maybe")]
  const refusingLimit = refusingLimitOf(exchange)
  if (refusingLimit === "writes_per_minute") return [use(exchange, "refused")]
  const isTurnedAway = exchange.response.status === 401 || exchange.response.status === 403
  return isTurnedAway || refusingLimit === "requests_per_minute" ? [] : [use(exchange, "counted")]
}

const recountPerKey = (exchanges: ReadonlyArray<RecordedRequest>) => {
  const ofApi = exchanges.filter((exchange) => exchange.key !== null && exchange.path.startsWith("/v1"))
  return [...groupValues(ofApi, ({ key }) => key ?? "").values()].flatMap((requestsOfKey) => [
    ...recountUses({ policy: "requests_per_minute", window: MINUTE }, requestsOfKey.flatMap(requestUsesOf)),
    ...recountUses(
      { policy: "writes_per_minute", window: MINUTE },
      requestsOfKey.filter((request) => request.method === "POST" && callOf(request) !== null).flatMap(writeUsesOf)
    )
  ])
}

/** A ticket counts at the instant of its event of creation, even if the response was lost. */
const ticketUses = (shop: ShopTrace, requests: ReadonlyArray<RecordedRequest>, policy: string): ReadonlyArray<Use> => {
  const created = shop.events
    .filter(({ type }) => type === "ticket.created")
    .map((event): Use => ({ now: toEpochMs(event.created_at), outcome: "counted", count: 1, exchange: event }))
  const refused = requests
    .filter((request) => isTicketCreation(request) && refusingLimitOf(request) === policy)
    .map((request) => use(request, "refused"))
  return [...created, ...refused].sort((a, b) => a.now - b.now)
}

const lookupUses = (requests: ReadonlyArray<RecordedRequest>, policy: string): ReadonlyArray<Use> =>
  requests.flatMap((request) => {
    if (callOf(request)?.name !== "find client") return []
    if (isSuccess(request) || codeOf(request) === "NOT_FOUND") return [use(request, "counted")]
    return refusingLimitOf(request) === policy ? [use(request, "refused")] : []
  })

const recountPerShop = (shop: ShopTrace, requests: ReadonlyArray<RecordedRequest>) => {
  const day = makeDayFormatter(shop.time_zone)
  return [
    ...recountUses({ policy: "tickets_per_hour", window: HOUR }, ticketUses(shop, requests, "tickets_per_hour")),
    ...recountUses({ policy: "tickets_per_day", window: day }, ticketUses(shop, requests, "tickets_per_day")),
    ...recountUses({ policy: "lookups_per_hour", window: HOUR }, lookupUses(requests, "lookups_per_hour")),
    ...recountUses({ policy: "lookups_per_day", window: day }, lookupUses(requests, "lookups_per_day"))
  ]
}

const recountPerCard = (shop: ShopTrace, requests: ReadonlyArray<RecordedRequest>) => {
  const stampRequests = requests.filter((request) => callOf(request)?.name === "add stamps")
  const uncertain = new Set(
    operationsOf({ exchanges: stampRequests }).flatMap(({ exchanges }) =>
      exchanges.some(({ response }) => response === null) ? exchanges.map(({ seq }) => seq) : []
    )
  )
  return [...groupValues(stampRequests, (request) => `${request.key} ${callOf(request)?.id}`).values()].flatMap(
    (ofCard) => {
      const uses = ofCard.flatMap((request) => {
        const requestedCount = (request.body as { readonly count: number }).count
        if (refusingLimitOf(request) === "stamps_per_day") return [use(request, "refused", requestedCount)]
        if (uncertain.has(request.seq)) return [use(request, "maybe", requestedCount)]
        return isSuccess(request) && !isReplay(request)
          ? [use(request, "counted", recordedDataOf<{ readonly added: number }>(request).added)]
          : []
      })
      return recountUses({ policy: "stamps_per_day", window: makeDayFormatter(shop.time_zone) }, uses)
    }
  )
}

/** Finds limit headers of a response that are impossible. */
const findHeaderBreach = ({ response, path, key }: RecordedRequest): Breach | null => {
  if (response === null || key === null || !path.startsWith("/v1")) return null
  const headerBreach = (message: string) => makeBreach("rule-limit-headers", message)
  const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((name) =>
    Number(response.headers[`ratelimit-${name}`])
  )
  if (!Object.values(LIMITS).some((entry) => entry.limit === limit))
    return headerBreach(`RateLimit-Limit is ${limit}, which is not the value of any limit`)
  if (!(remaining! >= 0 && remaining! <= limit!)) return headerBreach(`RateLimit-Remaining is ${remaining} of ${limit}`)
  if (!(reset! >= 0 && reset! <= 26 * 3600))
    return headerBreach(`RateLimit-Reset is ${reset}, which is not between 0 and 26 hours`)
  if (response.status !== 429) return null
  const policy = String(response.body.error?.details?.limit)
  if (LIMITS[policy as keyof typeof LIMITS]?.limit !== limit)
    return headerBreach(`${policy} refused the request, but RateLimit-Limit is ${limit}`)
  if (GATE_LIMITS.has(policy) && (remaining !== 0 || reset! > 60))
    return headerBreach(
      `${policy} refused the request, but the headers show ${remaining} uses left and a reset in ${reset} s`
    )
  return response.headers["retry-after"] === response.headers["ratelimit-reset"]
    ? null
    : makeBreach("rule-error-retry-after", "Retry-After differs from RateLimit-Reset")
}

/** No limit allows too many uses, and no limit refuses a use while uses are left. */
export const checkLimits = makeCheck("limits", "Specification, Limits", function* (trace) {
  const byShop = groupValues(trace.exchanges, ({ shop }) => shop ?? "")
  yield* recountPerKey(trace.exchanges)
  for (const shop of trace.shops) {
    const requestsOfShop = byShop.get(shop.id) ?? []
    yield* recountPerShop(shop, requestsOfShop)
    yield* recountPerCard(shop, requestsOfShop)
  }
  for (const exchange of trace.exchanges) yield [findHeaderBreach(exchange), evidenceOf(exchange)]
})
