import type { Ticket } from "../../testkit/Shapes.js"
import { check, dataOf, type Finding, isGood, ms, shown } from "./queries.js"
import type { RecordedRequest, ShopTrace } from "./Trace.js"

/** A block hides a client from tickets that nobody touched since: the feed need not show it. */
const comparable = ({ client: _, ...ticket }: Ticket): string => JSON.stringify(ticket)

function* feedWrong({ id, listed, synced }: ShopTrace): Iterable<Finding> {
  const known = new Map(synced.map((ticket) => [ticket.id, ticket]))
  for (const ticket of listed) {
    const feed = known.get(ticket.id)
    known.delete(ticket.id)
    if (feed === undefined) yield [`the feed never showed ticket ${ticket.id}`, { shop: id, ticket }]
    else if (comparable(feed) !== comparable(ticket))
      yield [`the feed left ticket ${ticket.id} behind`, { shop: id, feed, ticket }]
    else if (feed.client === null && ticket.client !== null)
      yield [`the feed never showed the client of ticket ${ticket.id}`, { shop: id, feed, ticket }]
  }
  for (const ticket of known.values())
    yield [`the feed showed ticket ${ticket.id}, which is not there`, { shop: id, ticket }]
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

/** Pages are in their order, and a till that follows the feed knows what the store knows. */
export const checkSync = check("sync", "Specification, Endpoints; Lists and sync", function* (trace) {
  for (const shop of trace.shops) yield* feedWrong(shop)
  for (const exchange of trace.exchanges)
    if (isList(exchange) && isGood(exchange)) yield [orderWrong(exchange), shown(exchange)]
})
