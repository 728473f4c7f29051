import type { Event } from "../../testkit/Shapes.js"
import { operationsOf } from "./Operations.js"
import { actOf, check, dataOf, type Finding, isGood, isReplay, ms, shown } from "./queries.js"
import type { RecordedRequest, ShopTrace, Trace } from "./Trace.js"

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
  return type === "ping" || data.ticket !== undefined ? null : "it has no ticket"
}

/** With a client, a ticket's creation is followed by the link, and the end of its work by a notification. */
const followerMissing = (event: Event, next: Event | undefined): string | null => {
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

function* eventsIn(trace: Trace, shop: ShopTrace): Iterable<Finding> {
  const mine = trace.exchanges.filter((one) => one.shop === shop.id)
  const lost = mine.filter((one) => one.answer === null && actOf(one)?.kind === "create").length
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
    yield [formWrong(event, shop.id) ?? followerMissing(event, shop.events[i + 1]), event]
    const before = shop.events[i - 1]
    if (before !== undefined && ms(event.created_at) < ms(before.created_at))
      yield ["events are out of order", [before, event]]
    const name = nameOf(event.type, ticketOf(event), ms(event.created_at))
    if (expected.get(name)?.shift() !== undefined || follows(event, before, mine)) continue
    if (event.type !== "ticket.created") yield [`${event.type} comes of nothing that was done`, event]
    else if (!created.has(ticketOf(event) ?? "")) unclaimed++
  }
  for (const [name, left] of expected)
    for (const exchange of left) yield [`what was acknowledged raised no event ${name.split(" ")[0]}`, shown(exchange)]
  if (unclaimed > lost) yield [`${unclaimed} tickets were created and answered to nobody`, { shop: shop.id }]
}

/** Every acknowledged act raised its event, once; and every event comes of an act. */
export const checkEvents = check("events", "Specification, Webhooks", function* (trace) {
  for (const shop of trace.shops) yield* eventsIn(trace, shop)
})
