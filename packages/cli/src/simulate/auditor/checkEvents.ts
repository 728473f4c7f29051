import { deedsOf } from "./Deeds.js"
import type { ClosedShop, Evidence, Exchange, SeenEvent, Violation } from "./Evidence.js"
import { actOf, dataOf, isGood, isReplay, ms, shown } from "./Reading.js"

const violation = (message: string, evidence: unknown): Violation => ({
  rule: "events",
  section: "Specification, Webhooks",
  message,
  evidence
})

const ENTERED: Readonly<Record<string, string>> = {
  ready: "ticket.ready",
  impossible: "ticket.impossible",
  collected: "ticket.collected",
  workshop: "ticket.reopened"
}

/** The event that an act raises when it succeeds, and of which ticket. */
const raisedBy = (exchange: Exchange): { readonly type: string; readonly ticket: string | null } | null => {
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

const ticketOf = ({ data }: SeenEvent): string | null => data.ticket?.id ?? null

/** Events that come of others, or of time; each with what must go before it. */
const follows = (event: SeenEvent, before: SeenEvent | undefined, exchanges: ReadonlyArray<Exchange>): boolean => {
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

const formWrong = ({ api_version, shop_id, type, data }: SeenEvent, shop: string): string | null => {
  if (api_version !== "1") return "api_version is not 1"
  if (shop_id !== shop) return "shop_id is another shop's"
  return type === "ping" || data.ticket !== undefined ? null : "it tells of no ticket"
}

/** Of a ticket with a client: that they were told, and linked at creation. */
const untold = (event: SeenEvent, next: SeenEvent | undefined): string | null => {
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

const inShop = (evidence: Evidence, shop: ClosedShop, lost: number): ReadonlyArray<Violation> => {
  const found: Array<Violation> = []
  const mine = evidence.exchanges.filter((one) => one.shop === shop.id)
  const expected = new Map<string, Array<Exchange>>()
  for (const exchange of mine) {
    const raised = raisedBy(exchange)
    if (raised === null) continue
    const name = nameOf(raised.type, raised.ticket, exchange.now)
    expected.set(name, [...(expected.get(name) ?? []), exchange])
  }
  const created = new Set(
    deedsOf({ ...evidence, exchanges: mine }).flatMap(({ kind, results }) =>
      kind === "create" ? results.map(({ data }) => (data as { readonly id: string }).id) : []
    )
  )
  let unclaimed = 0
  for (const [i, event] of shop.events.entries()) {
    const form = formWrong(event, shop.id) ?? untold(event, shop.events[i + 1])
    if (form !== null) found.push(violation(form, event))
    const before = shop.events[i - 1]
    if (before !== undefined && ms(event.created_at) < ms(before.created_at))
      found.push(violation("events are out of order", [before, event]))
    const name = nameOf(event.type, ticketOf(event), ms(event.created_at))
    if (expected.get(name)?.shift() !== undefined || follows(event, before, mine)) continue
    if (event.type === "ticket.created") {
      if (!created.has(ticketOf(event) ?? "")) unclaimed++
    } else found.push(violation(`${event.type} comes of nothing that was done`, event))
  }
  for (const [name, left] of expected)
    for (const exchange of left)
      found.push(violation(`what was acknowledged raised no event ${name.split(" ")[0]}`, shown(exchange)))
  if (unclaimed > lost)
    found.push(violation(`${unclaimed} tickets were created and answered to nobody`, { shop: shop.id }))
  return found
}

/** Everything acknowledged raised its event, once; and no event came of nothing. */
export const checkEvents = (evidence: Evidence): ReadonlyArray<Violation> =>
  evidence.shops.flatMap((shop) => {
    const lost = evidence.exchanges.filter(
      (one) => one.shop === shop.id && one.answer === null && actOf(one)?.kind === "create"
    )
    return inShop(evidence, shop, lost.length)
  })
