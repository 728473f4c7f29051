import { type CallName, callOf } from "../../testkit/Calls.js"
import type { EventJson, TicketJson } from "../../testkit/ResponseTypes.js"
import { ruleAt } from "../../testkit/RuleAddress.js"
import { DAY } from "../../testkit/Time.js"
import type { Breach } from "./Breach.js"
import type { RecordedRequest, Trace, Violation } from "./Trace.js"

/** Milliseconds since 1970 of an ISO text. */
export const toEpochMs = (iso: string): number => Date.parse(iso)

/** True for a 2xx. */
export const isSuccess = ({ response }: RecordedRequest): boolean =>
  response !== null && response.status >= 200 && response.status < 300

/** The data of a success. */
export const recordedDataOf = <A>({ response }: RecordedRequest): A => response?.body.data as A

/** True for a response that repeats an earlier one (Specification, Lists and sync). */
export const isReplay = ({ response }: RecordedRequest): boolean => response?.body.meta?.replayed === true

/** The code of a failure. */
export const codeOf = ({ response }: RecordedRequest): string | undefined => response?.body.error?.code

/** A detail of a failure. */
export const detailOf = ({ response }: RecordedRequest, name: string): unknown => response?.body.error?.details?.[name]

/** The broken rule with its evidence; null means that no rule is broken. */
export type CheckFinding = readonly [broken: Breach | null, evidence: unknown]

/** Makes a check of related rules, which reads a trace and yields its findings. */
export const makeCheck =
  (rule: string, section: string, find: (trace: Trace) => Iterable<CheckFinding>) =>
  (trace: Trace): ReadonlyArray<Violation> =>
    [...find(trace)].flatMap(([broken, evidence]) =>
      broken === null ? [] : [{ rule, section, rule_at: ruleAt(broken.anchor), message: broken.message, evidence }]
    )

/** The part of an exchange that is shown as evidence. */
export const evidenceOf = ({
  seq,
  step,
  now,
  action,
  method,
  path,
  query,
  key,
  idempotency_key,
  body,
  response
}: RecordedRequest) => ({
  exchange: seq,
  step,
  at: new Date(now).toISOString(),
  action,
  request: `${method} ${path}${query === "" ? "" : `?${query}`}`,
  key,
  idempotency_key,
  body,
  status: response?.status ?? null,
  answer: response?.body ?? null
})

/** The successful requests of a call, for the resource with this id or for any. */
export const successfulCalls = (
  { exchanges }: Pick<Trace, "exchanges">,
  name: CallName,
  resourceId?: string
): ReadonlyArray<RecordedRequest & { readonly id: string }> =>
  exchanges.flatMap((exchange) => {
    const call = callOf(exchange)
    return call?.name === name && (resourceId ?? call.id) === call.id && isSuccess(exchange)
      ? [{ ...exchange, id: call.id }]
      : []
  })

/** True for a request for a new ticket, through the API or in the app. */
export const isTicketCreation = (exchange: RecordedRequest): boolean =>
  /^create (ticket|in app)$/.test(callOf(exchange)?.name ?? "")

/** Groups values by name, and keeps their order. */
export const groupValues = <A>(items: Iterable<A>, nameOf: (one: A) => string): Map<string, Array<A>> => {
  const groups = new Map<string, Array<A>>()
  for (const item of items) {
    const name = nameOf(item)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [item])
    else group.push(item)
  }
  return groups
}

/** An event of a ticket. */
export type TicketEvent = EventJson & { readonly data: { readonly ticket: TicketJson } }

/** The events of each ticket of a shop, in their order. */
export const groupEventsByTicket = (events: ReadonlyArray<EventJson>): Map<string, Array<TicketEvent>> =>
  groupValues(
    events.filter((event): event is TicketEvent => event.data.ticket !== undefined),
    ({ data }) => data.ticket.id
  )

/** The settings of a shop at an instant, from the changes of its owner, oldest first. */
export const settingsAt = (trace: Trace, shop: string): ((now: number) => Readonly<Record<string, unknown>>) => {
  const changes = successfulCalls(trace, "change shop", shop)
  return (now) => {
    const lastChange = changes.findLast((change) => change.now <= now)
    return lastChange === undefined ? {} : recordedDataOf<Record<string, unknown>>(lastChange)
  }
}

/** The time for which an Idempotency-Key is valid (Specification, Idempotency). */
export const IDEMPOTENCY_TTL_MS = 30 * DAY

/** All requests that a caller made with one Idempotency-Key for one operation (Specification, Idempotency). */
export interface Operation {
  readonly call: "create ticket" | "add stamps" | "redeem reward"
  readonly shop: string
  readonly key: string
  readonly idempotency_key: string
  readonly exchanges: ReadonlyArray<RecordedRequest>
  /** The distinct results in the responses: one for each execution of the operation. */
  readonly results: ReadonlyArray<{ readonly data: unknown; readonly text: string; readonly exchange: RecordedRequest }>
  /**
   * True if a response was lost and no later response came while the key was valid, so that the operation may have been
   * executed once more.
   */
  readonly isUnknown: boolean
}

const resultsOf = (exchanges: ReadonlyArray<RecordedRequest>): Operation["results"] => {
  const results = new Map<string, Operation["results"][number]>()
  for (const exchange of exchanges) {
    if (!isSuccess(exchange)) continue
    const data = recordedDataOf<unknown>(exchange)
    const text = JSON.stringify(data)
    const earlierResult = results.get(text)
    // The first response is the response that is not a replay, unless it was lost.
    if (
      earlierResult === undefined ||
      (earlierResult.exchange.response?.body.meta?.replayed === true &&
        exchange.response?.body.meta?.replayed === false)
    )
      results.set(text, { data, text, exchange })
  }
  return [...results.values()]
}

const OPERATIONS: ReadonlySet<string | undefined> = new Set(["create ticket", "add stamps", "redeem reward"])

/** The operations with Idempotency-Keys through the API. */
export const operationsOf = ({ exchanges }: Pick<Trace, "exchanges">): ReadonlyArray<Operation> => {
  const requests = exchanges.filter(
    (exchange) => exchange.key !== null && exchange.idempotency_key !== null && OPERATIONS.has(callOf(exchange)?.name)
  )
  const groups = groupValues(requests, (exchange) =>
    JSON.stringify([exchange.key, callOf(exchange)!.name, exchange.idempotency_key])
  )
  return [...groups.values()].map((group) => {
    const first = group[0]!
    // A response after the key has expired does not count, because the repetition is then a new request.
    const isSettled = (unanswered: RecordedRequest) =>
      group.some(
        (exchange) =>
          exchange.seq > unanswered.seq && isSuccess(exchange) && exchange.now - unanswered.now < IDEMPOTENCY_TTL_MS
      )
    return {
      call: callOf(first)!.name as Operation["call"],
      shop: first.shop ?? "",
      key: first.key ?? "",
      idempotency_key: first.idempotency_key ?? "",
      exchanges: group,
      results: resultsOf(group),
      isUnknown: group.some((exchange) => exchange.response === null && !isSettled(exchange))
    }
  })
}
