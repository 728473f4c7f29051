import { callOf } from "../../testkit/Calls.js"
import { HOUR, MINUTE } from "../../testkit/Time.js"
import { type Breach, breaks } from "./Breach.js"
import type { RecordedRequest, ShopTrace } from "./Trace.js"
import {
  type CheckFinding,
  codeOf,
  detailOf,
  evidenceOf,
  groupValues,
  isCreate,
  isGood,
  isReplay,
  makeCheck,
  ms,
  operationsOf,
  recordedData
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
  readonly what: "counted" | "given_back" | "maybe" | "refused"
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
  readonly ends: (now: number) => boolean
  sure: number
  maybe: number
}

const atInstants = (uses: ReadonlyArray<Use>): ReadonlyArray<ReadonlyArray<Use>> => {
  const groups: Array<Array<Use>> = []
  for (const use of uses) {
    const last = groups.at(-1)
    if (last !== undefined && last[0]!.now === use.now) last.push(use)
    else groups.push([use])
  }
  return groups
}

const openWindow = ({ window }: Bound, now: number): Window => {
  const ends =
    typeof window === "number" ? (at: number) => at >= now + window : (at: number) => window(at) !== window(now)
  return { since: now, ends, sure: 0, maybe: 0 }
}

const windowFindings = (
  { policy }: Bound,
  open: Window | null,
  uses: ReadonlyArray<Use>
): ReadonlyArray<CheckFinding> => {
  const [sure, maybe] = [open?.sure ?? 0, open?.maybe ?? 0]
  const { limit, anchor } = LIMITS[policy]
  const findings: Array<CheckFinding> = []
  if (sure > limit)
    findings.push([
      breaks(anchor, `${policy}: ${sure} uses were accepted within one window, but only ${limit} are allowed`),
      uses.at(-1)?.exchange
    ])
  for (const { what, count, exchange } of uses)
    if (what === "refused" && sure + maybe + count <= limit)
      findings.push([breaks(anchor, `${policy}: a use was refused after only ${sure} of ${limit} uses`), exchange])
  return findings
}

/**
 * Counts the uses of a limit again. A window opens at the first use. After a request that was cut off and may have
 * opened a window, nothing is checked until every window that it may have opened has ended.
 */
const recount = (bound: Bound, uses: ReadonlyArray<Use>): ReadonlyArray<CheckFinding> => {
  const findings: Array<CheckFinding> = []
  let open: Window | null = null
  let blurred: ((now: number) => boolean) | null = null
  for (const group of atInstants(uses)) {
    const { now } = group[0]!
    if (open?.ends(now)) open = null
    if (blurred?.(now)) blurred = null
    let transient = 0
    for (const { what, count } of group) {
      if (what === "refused") continue
      if (open === null && what === "maybe") blurred = openWindow(bound, now).ends
      // Each use extends the unchecked period, because it may have opened another window.
      if (blurred !== null) blurred = openWindow(bound, now).ends
      open ??= openWindow(bound, now)
      if (what === "counted") open.sure += count
      else if (what === "maybe") open.maybe += count
      else transient += count
    }
    if (open !== null) open.maybe += transient
    if (blurred === null) findings.push(...windowFindings(bound, open, group))
    if (open !== null) open.maybe -= transient
  }
  return findings
}

/** The name of the calendar day in a time zone (Specification, Limits). */
const dayIn = (time_zone: string): ((now: number) => string) => {
  const format = new Intl.DateTimeFormat("en-CA", { timeZone: time_zone })
  return (now) => format.format(now)
}

const refusedBy = (exchange: RecordedRequest): unknown =>
  exchange.response?.status === 429 ? detailOf(exchange, "limit") : null

const use = (exchange: RecordedRequest, what: Use["what"], count = 1): Use => ({
  now: exchange.now,
  what,
  count,
  exchange: evidenceOf(exchange)
})

/** The limits that are checked first. A request that they refuse counts against no other limit. */
const AT_GATE = new Set(["requests_per_minute", "writes_per_minute"])

const requestUse = (exchange: RecordedRequest): ReadonlyArray<Use> => {
  if (exchange.response === null) return [use(exchange, "maybe")]
  const by = refusedBy(exchange)
  if (by === "requests_per_minute") return [use(exchange, "refused")]
  if (by === "writes_per_minute" || exchange.response.status === 401) return []
  return [use(exchange, by === null ? "counted" : "given_back")]
}

const writeUse = (exchange: RecordedRequest): ReadonlyArray<Use> => {
  if (exchange.response === null) return [use(exchange, "maybe")]
  const by = refusedBy(exchange)
  if (by === "writes_per_minute") return [use(exchange, "refused")]
  const isTurnedAway = exchange.response.status === 401 || exchange.response.status === 403
  return isTurnedAway || by === "requests_per_minute" ? [] : [use(exchange, "counted")]
}

const perKey = (exchanges: ReadonlyArray<RecordedRequest>) => {
  const ofApi = exchanges.filter((one) => one.key !== null && one.path.startsWith("/v1"))
  return [...groupValues(ofApi, ({ key }) => key ?? "").values()].flatMap((mine) => [
    ...recount({ policy: "requests_per_minute", window: MINUTE }, mine.flatMap(requestUse)),
    ...recount(
      { policy: "writes_per_minute", window: MINUTE },
      mine.filter((one) => one.method === "POST" && callOf(one) !== null).flatMap(writeUse)
    )
  ])
}

/** A ticket counts at the instant of its event of creation, even if the response was lost. */
const ticketUses = (shop: ShopTrace, mine: ReadonlyArray<RecordedRequest>, policy: string): ReadonlyArray<Use> => {
  const created = shop.events
    .filter(({ type }) => type === "ticket.created")
    .map((event): Use => ({ now: ms(event.created_at), what: "counted", count: 1, exchange: event }))
  const refused = mine.filter((one) => isCreate(one) && refusedBy(one) === policy).map((one) => use(one, "refused"))
  return [...created, ...refused].sort((a, b) => a.now - b.now)
}

const lookupUses = (mine: ReadonlyArray<RecordedRequest>, policy: string): ReadonlyArray<Use> =>
  mine.flatMap((one) => {
    if (callOf(one)?.name !== "find client") return []
    if (isGood(one) || codeOf(one) === "NOT_FOUND") return [use(one, "counted")]
    return refusedBy(one) === policy ? [use(one, "refused")] : []
  })

const perShop = (shop: ShopTrace, mine: ReadonlyArray<RecordedRequest>) => {
  const day = dayIn(shop.time_zone)
  return [
    ...recount({ policy: "tickets_per_hour", window: HOUR }, ticketUses(shop, mine, "tickets_per_hour")),
    ...recount({ policy: "tickets_per_day", window: day }, ticketUses(shop, mine, "tickets_per_day")),
    ...recount({ policy: "lookups_per_hour", window: HOUR }, lookupUses(mine, "lookups_per_hour")),
    ...recount({ policy: "lookups_per_day", window: day }, lookupUses(mine, "lookups_per_day"))
  ]
}

const perCard = (shop: ShopTrace, mine: ReadonlyArray<RecordedRequest>) => {
  const given = mine.filter((one) => callOf(one)?.name === "add stamps")
  const unknown = new Set(
    operationsOf({ exchanges: given }).flatMap(({ exchanges }) =>
      exchanges.some(({ response }) => response === null) ? exchanges.map(({ seq }) => seq) : []
    )
  )
  return [...groupValues(given, (one) => `${one.key} ${callOf(one)?.id}`).values()].flatMap((ofCard) => {
    const uses = ofCard.flatMap((one) => {
      const asked = (one.body as { readonly count: number }).count
      if (refusedBy(one) === "stamps_per_day") return [use(one, "refused", asked)]
      if (unknown.has(one.seq)) return [use(one, "maybe", asked)]
      return isGood(one) && !isReplay(one)
        ? [use(one, "counted", recordedData<{ readonly added: number }>(one).added)]
        : []
    })
    return recount({ policy: "stamps_per_day", window: dayIn(shop.time_zone) }, uses)
  })
}

/** Finds limit headers of a response that are impossible. */
const headerWrong = ({ response, path, key }: RecordedRequest): Breach | null => {
  if (response === null || key === null || !path.startsWith("/v1")) return null
  const wrong = (message: string) => breaks("rule-limit-headers", message)
  const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((name) =>
    Number(response.headers[`ratelimit-${name}`])
  )
  if (!Object.values(LIMITS).some((one) => one.limit === limit))
    return wrong(`RateLimit-Limit is ${limit}, which is not the value of any limit`)
  if (!(remaining! >= 0 && remaining! <= limit!)) return wrong(`RateLimit-Remaining is ${remaining} of ${limit}`)
  if (!(reset! >= 0 && reset! <= 26 * 3600))
    return wrong(`RateLimit-Reset is ${reset}, which is not between 0 and 26 hours`)
  if (response.status !== 429) return null
  const policy = String(response.body.error?.details?.limit)
  if (LIMITS[policy as keyof typeof LIMITS]?.limit !== limit)
    return wrong(`${policy} refused the request, but RateLimit-Limit is ${limit}`)
  if (AT_GATE.has(policy) && (remaining !== 0 || reset! > 60))
    return wrong(`${policy} refused the request, but the headers show ${remaining} uses left and a reset in ${reset} s`)
  return response.headers["retry-after"] === response.headers["ratelimit-reset"]
    ? null
    : breaks("rule-error-retry-after", "Retry-After differs from RateLimit-Reset")
}

/** No limit allows too many uses, and none refuses a use while some are left. */
export const checkLimits = makeCheck("limits", "Specification, Limits", function* (trace) {
  const byShop = groupValues(trace.exchanges, ({ shop }) => shop ?? "")
  yield* perKey(trace.exchanges)
  for (const shop of trace.shops) {
    const mine = byShop.get(shop.id) ?? []
    yield* perShop(shop, mine)
    yield* perCard(shop, mine)
  }
  for (const exchange of trace.exchanges) yield [headerWrong(exchange), evidenceOf(exchange)]
})
