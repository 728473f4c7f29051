import type { Event, Ticket } from "../../testkit/Shapes.js"
import type { RecordedRequest, Trace, Violation } from "./Trace.js"

/** Milliseconds since 1970 of an ISO text. */
export const ms = (iso: string): number => Date.parse(iso)

/** A request that was answered with a success. */
export const isGood = ({ answer }: RecordedRequest): boolean =>
  answer !== null && answer.status >= 200 && answer.status < 300

/** The data of a success. */
export const dataOf = <A>({ answer }: RecordedRequest): A => answer?.body.data as A

/** Whether an answer repeats an earlier one (Specification, Lists and sync). */
export const isReplay = ({ answer }: RecordedRequest): boolean => answer?.body.meta?.replayed === true

/** The code of a failure. */
export const codeOf = ({ answer }: RecordedRequest): string | undefined => answer?.body.error?.code

/** A detail of a failure. */
export const detailOf = ({ answer }: RecordedRequest, name: string): unknown => answer?.body.error?.details?.[name]

/** A violation of a check's rule, and what shows it; none where there is no message. */
export type Finding = readonly [message: string | null, evidence: unknown]

/** A check of one rule: it goes through a trace and yields its findings. */
export const check =
  (rule: string, section: string, find: (trace: Trace) => Iterable<Finding>) =>
  (trace: Trace): ReadonlyArray<Violation> =>
    [...find(trace)].flatMap(([message, evidence]) => (message === null ? [] : [{ rule, section, message, evidence }]))

/** The part of an exchange that is shown as evidence: enough to find it and to see what is wrong. */
export const shown = ({ seq, step, now, act, method, path, query, key, once, body, answer }: RecordedRequest) => ({
  exchange: seq,
  step,
  at: new Date(now).toISOString(),
  act,
  request: `${method} ${path}${query === "" ? "" : `?${query}`}`,
  key,
  once,
  body,
  status: answer?.status ?? null,
  answer: answer?.body ?? null
})

const ACTS = {
  create: /^\/(?:v1|sandbox\/shops\/[^/]+)\/tickets$/,
  status: /^\/v1\/tickets\/([^/]+)\/status$/,
  notified: /^\/v1\/tickets\/([^/]+)\/notified$/,
  stamps: /^\/v1\/clients\/([^/]+)\/loyalty\/stamps$/,
  redeem: /^\/v1\/clients\/([^/]+)\/loyalty\/redeem$/,
  edit: /^\/sandbox\/tickets\/([^/]+)$/,
  quote: /^\/sandbox\/tickets\/([^/]+)\/quote$/,
  acceptQuote: /^\/sandbox\/tickets\/([^/]+)\/quote\/accept$/,
  refuseQuote: /^\/sandbox\/tickets\/([^/]+)\/quote\/refuse$/,
  delay: /^\/sandbox\/tickets\/([^/]+)\/delay$/,
  part: /^\/sandbox\/tickets\/([^/]+)\/part$/,
  photo: /^\/sandbox\/tickets\/([^/]+)\/photo$/,
  acceptOffer: /^\/sandbox\/offers\/([^/]+)\/accept$/,
  blockOffer: /^\/sandbox\/offers\/([^/]+)\/block$/,
  ping: /^\/sandbox\/shops\/([^/]+)\/webhook\/ping$/,
  rotate: /^\/sandbox\/shops\/([^/]+)\/webhook\/rotate$/,
  enable: /^\/sandbox\/shops\/([^/]+)\/webhook\/enable$/,
  replay: /^\/sandbox\/shops\/([^/]+)\/deliveries\/replay$/
} as const

/** A kind of POST, or the PATCH that edits a ticket. */
export type ActKind = keyof typeof ACTS

/** The kind of a request, by its path, and the id in it. */
export const actOf = ({ method, path }: RecordedRequest): { readonly kind: ActKind; readonly id: string } | null => {
  if (method !== "POST" && method !== "PATCH") return null
  for (const [kind, pattern] of Object.entries(ACTS)) {
    const found = pattern.exec(path)
    if (found !== null) return { kind: kind as ActKind, id: found[1] ?? "" }
  }
  return null
}

/** The exchanges of one kind that were answered with a success. */
export const goodActs = (
  { exchanges }: Trace,
  kind: ActKind
): ReadonlyArray<RecordedRequest & { readonly id: string }> =>
  exchanges.flatMap((exchange) => {
    const act = actOf(exchange)
    return act?.kind === kind && isGood(exchange) ? [{ ...exchange, id: act.id }] : []
  })

/** Puts things into groups by a name, in their order. */
export const grouped = <A>(all: Iterable<A>, nameOf: (one: A) => string): Map<string, Array<A>> => {
  const groups = new Map<string, Array<A>>()
  for (const one of all) {
    const name = nameOf(one)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [one])
    else group.push(one)
  }
  return groups
}

/** An event of a ticket. */
export type TicketEvent = Event & { readonly data: { readonly ticket: Ticket } }

/** The events of each ticket of a shop, in their order. */
export const eventsByTicket = (events: ReadonlyArray<Event>): Map<string, Array<TicketEvent>> =>
  grouped(
    events.filter((event): event is TicketEvent => event.data.ticket !== undefined),
    ({ data }) => data.ticket.id
  )

/** The settings of a shop that were in force at an instant: a table of what its owner changed, oldest first. */
export const settingsAt = (
  { exchanges }: Trace,
  shop: string
): ((now: number) => Readonly<Record<string, unknown>>) => {
  const changes = exchanges.filter(
    (one) => one.method === "PATCH" && one.path === `/sandbox/shops/${shop}` && isGood(one)
  )
  return (now) => {
    const last = changes.findLast((change) => change.now <= now)
    return (last === undefined ? {} : dataOf<Record<string, unknown>>(last)) as Readonly<Record<string, unknown>>
  }
}
