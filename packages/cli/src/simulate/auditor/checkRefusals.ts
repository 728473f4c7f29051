import { HOUR } from "../../testkit/Time.js"
import {
  actOf,
  codeOf,
  dataOf,
  detailOf,
  eventsByTicket,
  isGood,
  ms,
  reporter,
  shown,
  type TicketEvent
} from "./Reading.js"
import type { RecordedRequest, Trace, Violation } from "./Trace.js"

const report = reporter("refusals", "Specification, States")

/** Which statuses a state accepts; a collected ticket only within its window. */
const ACCEPTS: Readonly<Record<string, ReadonlyArray<string>>> = {
  workshop: ["ready", "impossible"],
  ready: ["collected", "workshop"],
  impossible: ["collected", "workshop"],
  collected: ["workshop"],
  abandoned: []
}

/** What a status request must have met, given that its ticket stood so. */
const reasonFor = (event: TicketEvent, to: string, now: number): string | null => {
  const { state, collected_at } = event.data.ticket
  if (state === "abandoned") return "ABANDONED"
  if (state === "collected" && collected_at !== null && now - ms(collected_at) > 24 * HOUR) return "REOPEN_WINDOW"
  if (ACCEPTS[state]?.includes(to)) return null
  return state === to ? "SAME_STATE" : "INVALID_TRANSITION"
}

/** How a ticket may have stood at an instant: as it came there, and as it went through it. */
const standings = (events: ReadonlyArray<TicketEvent>, now: number) => {
  const before = events.filter(({ created_at }) => ms(created_at) < now).at(-1)
  const during = events.filter(({ created_at }) => ms(created_at) === now)
  return before === undefined ? during : [before, ...during]
}

const wrong = (exchange: RecordedRequest, events: ReadonlyArray<TicketEvent>): string | null => {
  const to = (exchange.body as { readonly status: string }).status
  if (isGood(exchange)) {
    const { state, updated_at } = dataOf<{ readonly state: string; readonly updated_at: string }>(exchange)
    if (state !== to) return `asked for ${to}, answered ${state}`
    return ms(updated_at) === exchange.now ? null : "updated_at is not the instant of the move"
  }
  if (codeOf(exchange) !== "CONFLICT") return null
  const possible = standings(events, exchange.now)
  const reason = detailOf(exchange, "reason")
  const found = possible.filter((event) => reasonFor(event, to, exchange.now) === reason)
  if (found.length === 0)
    return `${to} was refused for ${reason}, where the ticket was ${possible.map(({ data }) => data.ticket.state).join(" or ")}`
  const [from, state] = [detailOf(exchange, "from"), detailOf(exchange, "state")]
  if (!found.some(({ data }) => data.ticket.state === from)) return "details.from is not its state"
  return state === from ? null : `details.state is ${state}, and details.from ${from}`
}

/** A move is refused only where the ticket's state refuses it, for the reason that is so. */
export const checkRefusals = (trace: Trace): ReadonlyArray<Violation> => {
  const events = new Map(trace.shops.map((shop) => [shop.id, eventsByTicket(shop.events)]))
  return trace.exchanges.flatMap((exchange) => {
    const act = actOf(exchange)
    const known = act?.kind === "status" ? events.get(exchange.shop ?? "")?.get(act.id) : undefined
    const message = known === undefined ? null : wrong(exchange, known)
    return report(message, shown(exchange))
  })
}
