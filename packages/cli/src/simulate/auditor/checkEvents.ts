import type { Event } from "../../testkit/Shapes.js"
import { operationsOf } from "./Operations.js"
import { actOf, dataOf, isGood, isReplay, ms, reporter, shown } from "./Reading.js"
import type { RecordedRequest, ShopTrace, Trace, Violation } from "./Trace.js"

const report = reporter("events", "Specification, Webhooks")

const ENTERED: Readonly<Record<string, string>> = {
  ready: "ticket.ready",
  impossible: "ticket.impossible",
  collected: "ticket.collected",
  workshop: "ticket.reopened"
}

/** The event that an act raises when it succeeds, and of which ticket. */
const raisedBy = (exchange: RecordedRequest): { readonly type: string; readonly ticket: string | null } | null => {
  const act = actOf(exchange)
  if (act === null || !isGood(exchange)) return null
  switch (act.kind) {
    case "create":
      return isReplay(exchange)
        ? null
        : { type: "ticket.created", ticket: dataOf<{ readonly id: string }>(exchange).id }
    case "status":
      return { type: ENTERED[(exchange.body as { readonly status: string }).status] ?? "", ticket: act.id }
    case "notified":
      return { type: "client.notified", ticket: act.id }
    case "quote":
      return { type: "quote.proposed", ticket: act.id }
    case "acceptQuote":
      return { type: "quote.accepted", ticket: act.id }
    case "refuseQuote":
      return { type: "quote.refused", ticket: act.id }
    case "edit":
    case "delay":
    case "part":
    case "photo":
      return { type: "ticket.updated", ticket: act.id }
    case "ping":
      return { type: "ping", ticket: null }
    default:
      return null
  }
}

const nameOf = (type: string, ticket: string | null, at: number): string => `${type} ${ticket} ${at}`

const ticketOf = ({ data }: Event): string | null => data.ticket?.id ?? null

/** Events that come of others, or of time; each with what must go before it. */
const follows = (event: Event, before: Event | undefined, exchanges: ReadonlyArray<RecordedRequest>): boolean => {
  const at = ms(event.created_at)
  switch (event.type) {
    case "ticket.abandoned":
      return true
    case "client.notified":
      return (
        event.data.channel === "app" &&
        (before?.type === "ticket.ready" || before?.type === "ticket.impossible") &&
        ticketOf(before) === ticketOf(event) &&
        before.created_at === event.created_at
      )
    case "client.linked":
      return (
        (before?.type === "ticket.created" && ticketOf(before) === ticketOf(event)) ||
        exchanges.some((one) => one.now === at && actOf(one)?.kind === "acceptOffer" && isGood(one))
      )
    default:
      return false
  }
}

const formWrong = ({ api_version, shop_id, type, data }: Event, shop: string): string | null => {
  if (api_version !== "1") return "api_version is not 1"
  if (shop_id !== shop) return "shop_id is another shop's"
  return type === "ping" || data.ticket !== undefined ? null : "it tells of no ticket"
}

/** Of a ticket with a client: that they were told, and linked at creation. */
const untold = (event: Event, next: Event | undefined): string | null => {
  const follower = {
    "ticket.ready": "client.notified",
    "ticket.impossible": "client.notified",
    "ticket.created": "client.linked"
  }[event.type]
  if (follower === undefined || (event.data.ticket?.client ?? null) === null) return null
  return next?.type === follower && ticketOf(next) === ticketOf(event)
    ? null
    : `${event.type} of a client without ${follower}`
}

const inShop = (trace: Trace, shop: ShopTrace, lost: number): ReadonlyArray<Violation> => {
  const found: Array<Violation> = []
  const mine = trace.exchanges.filter((one) => one.shop === shop.id)
  const expected = new Map<string, Array<RecordedRequest>>()
  for (const exchange of mine) {
    const raised = raisedBy(exchange)
    if (raised === null) continue
    const name = nameOf(raised.type, raised.ticket, exchange.now)
    expected.set(name, [...(expected.get(name) ?? []), exchange])
  }
  const created = new Set(
    operationsOf({ ...trace, exchanges: mine }).flatMap(({ kind, results }) =>
      kind === "create" ? results.map(({ data }) => (data as { readonly id: string }).id) : []
    )
  )
  let unclaimed = 0
  for (const [i, event] of shop.events.entries()) {
    const form = formWrong(event, shop.id) ?? untold(event, shop.events[i + 1])
    found.push(...report(form, event))
    const before = shop.events[i - 1]
    if (before !== undefined && ms(event.created_at) < ms(before.created_at))
      found.push(...report("events are out of order", [before, event]))
    const name = nameOf(event.type, ticketOf(event), ms(event.created_at))
    if (expected.get(name)?.shift() !== undefined || follows(event, before, mine)) continue
    if (event.type === "ticket.created") {
      if (!created.has(ticketOf(event) ?? "")) unclaimed++
    } else found.push(...report(`${event.type} comes of nothing that was done`, event))
  }
  for (const [name, left] of expected)
    for (const exchange of left)
      found.push(...report(`what was acknowledged raised no event ${name.split(" ")[0]}`, shown(exchange)))
  if (unclaimed > lost)
    found.push(...report(`${unclaimed} tickets were created and answered to nobody`, { shop: shop.id }))
  return found
}

/** Everything acknowledged raised its event, once; and no event came of nothing. */
export const checkEvents = (trace: Trace): ReadonlyArray<Violation> =>
  trace.shops.flatMap((shop) => {
    const lost = trace.exchanges.filter(
      (one) => one.shop === shop.id && one.answer === null && actOf(one)?.kind === "create"
    )
    return inShop(trace, shop, lost.length)
  })
