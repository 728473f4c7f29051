import type { Ticket } from "../../testkit/Shapes.js"
import { dataOf, isGood, ms, reporter, shown } from "./Reading.js"
import type { RecordedRequest, ShopTrace, Trace, Violation } from "./Trace.js"

const report = reporter("sync", "Specification, Endpoints; Lists and sync")

/** A block hides a client from tickets that nobody touched since: the feed need not tell of it. */
const comparable = ({ client: _, ...ticket }: Ticket): string => JSON.stringify(ticket)

const feedWrong = ({ id, listed, synced }: ShopTrace): ReadonlyArray<Violation> => {
  const found: Array<Violation> = []
  const known = new Map(synced.map((ticket) => [ticket.id, ticket]))
  for (const ticket of listed) {
    const mine = known.get(ticket.id)
    known.delete(ticket.id)
    if (mine === undefined) found.push(...report(`the feed never told of ticket ${ticket.id}`, { shop: id, ticket }))
    else if (comparable(mine) !== comparable(ticket))
      found.push(...report(`the feed left ticket ${ticket.id} behind`, { shop: id, feed: mine, ticket }))
    else if (mine.client === null && ticket.client !== null)
      found.push(
        ...report(`the feed never told of the client of ticket ${ticket.id}`, { shop: id, feed: mine, ticket })
      )
  }
  for (const ticket of known.values())
    found.push(...report(`the feed told of ticket ${ticket.id}, which is not there`, { shop: id, ticket }))
  return found
}

const isList = ({ method, path }: RecordedRequest): boolean => method === "GET" && path === "/v1/tickets"

/** Newest first; of a feed, oldest change first. */
const orderWrong = (exchange: RecordedRequest): string | null => {
  const tickets = dataOf<ReadonlyArray<Ticket>>(exchange)
  const query = new URLSearchParams(exchange.query)
  const isFeed = query.has("updated_since")
  const limit = Number(query.get("limit") ?? 50)
  if (tickets.length > limit) return `${tickets.length} tickets on a page of ${limit}`
  for (const [i, ticket] of tickets.entries()) {
    const before = tickets[i - 1]
    if (before === undefined) continue
    const isWrong = isFeed
      ? ms(ticket.updated_at) < ms(before.updated_at)
      : ms(ticket.created_at) > ms(before.created_at) ||
        (ticket.created_at === before.created_at && ticket.id > before.id)
    if (isWrong) return `ticket ${ticket.id} is out of order`
  }
  const { meta } = exchange.answer!.body
  if ((meta?.has_more === true) !== (typeof meta?.next_cursor === "string"))
    return "has_more disagrees with next_cursor"
  return isFeed && typeof meta?.synced_until !== "string" ? "the feed does not say how far it goes" : null
}

/** Pages are in their order, and whoever follows the feed knows what the store knows. */
export const checkSync = (trace: Trace): ReadonlyArray<Violation> => [
  ...trace.shops.flatMap(feedWrong),
  ...trace.exchanges.flatMap((exchange) => {
    const message = isList(exchange) && isGood(exchange) ? orderWrong(exchange) : null
    return report(message, shown(exchange))
  })
]
