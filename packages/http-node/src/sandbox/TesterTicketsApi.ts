import {
  PolicyLimits,
  type ShopId,
  Shops,
  Ticket,
  TicketId,
  TicketNotFound,
  TicketState,
  TrackingPages
} from "@workshop/core"
import {
  failureRows,
  nextDeadline,
  previewActs,
  type TicketActName,
  ticketActs,
  ticketView,
  toIso
} from "@workshop/core/internal"
import type { GroupHandlers } from "@workshop/core/internal/http"
import { Directory, Reads, type SeenTicket, ServiceLimits, Store, type TicketFilter } from "@workshop/core/store"
import { Effect, Schema } from "effect"
import { dataOnly, groupOf, shopEndpoint, ticketEndpoint } from "./endpoints.js"
import { countParameter, optionalParameter } from "./queryParameters.js"

const Deadline = Schema.Struct({
  at: Schema.String,
  kind: Schema.Literal("closure", "reopen_end").annotations({
    description: "The ticket's automatic closure, or the end of the period in which it can be reopened"
  })
}).annotations({ identifier: "TicketDeadline" })

const ListedTicket = Schema.Struct({ ...Ticket.fields, next: Schema.NullOr(Deadline) }).annotations({
  identifier: "SandboxTicket"
})

const actNames = Object.keys(ticketActs) as [TicketActName, ...Array<TicketActName>]

const Move = Schema.Struct({
  act: Schema.Literal(...actNames),
  accepted: Schema.Boolean,
  reason: Schema.NullOr(Schema.String).annotations({
    description: "The reason of the 409, or the code of another error, with which the action would be refused"
  })
}).annotations({ identifier: "TicketMove" })

const TicketsQuery = Schema.Struct({
  state: optionalParameter(TicketState, "Return only tickets in this state"),
  q: optionalParameter(
    Schema.String,
    "Return only tickets with this number, phone number or external reference, or with this text in the service or the item"
  ),
  before: optionalParameter(TicketId, "Return only tickets that are older than the ticket with this id"),
  limit: countParameter(ServiceLimits.list_max, "Return at most this many tickets. The default is 100")
})

/**
 * The endpoints that list a shop's tickets for a tester, without a key and without counting against limits
 * (Specification, Sandbox).
 */
export class TesterTicketsApi extends groupOf(
  "tickets",
  ["Tickets for testers", "A shop's tickets without an API key, and the actions that each ticket accepts"],
  shopEndpoint("GET", "findTickets", "/tickets", Schema.Array(ListedTicket), [
    "Find tickets",
    "Returns the tickets newest first, in the form of `/v1`. `next` is the next event that happens to the ticket without a request. The request needs no key and counts against no limit."
  ]).setUrlParams(TicketsQuery),
  ticketEndpoint("GET", "listMoves", "/moves", Schema.Array(Move), [
    "List the actions that a ticket accepts",
    "Tests every action on the ticket in its current state, without changing anything."
  ])
) {}

const DEFAULT_LIMIT = 100
/** The number of tickets that one read of a search returns. */
const READ_AT_ONCE = 500

/** Whether a ticket matches a search. */
const matches = (q: string) => {
  const searchText = q.trim().toLowerCase()
  const digits = searchText.replaceAll(/[\s()-]/g, "")
  return ({ record }: SeenTicket): boolean =>
    Number(searchText.replace(/^#/, "")) === record.number ||
    record.external_ref?.toLowerCase() === searchText ||
    (/^\+?\d{4,}$/.test(digits) && record.client_phone?.includes(digits) === true) ||
    [record.service, record.item].some((text) => text?.toLowerCase().includes(searchText) === true)
}

/** Handles the endpoints that search tickets and list the acts that a ticket accepts. */
export const testerTicketsHandlers = Effect.gen(function* () {
  const shops = yield* Shops
  const reads = yield* Reads
  const directory = yield* Directory
  const store = yield* Store
  const bounds = yield* PolicyLimits
  const pages = yield* TrackingPages

  /** Reads the newest tickets that match a filter and a search text. */
  const find = Effect.fnUntraced(function* find(
    shop_id: ShopId,
    filter: TicketFilter,
    { q, before, limit = DEFAULT_LIMIT }: typeof TicketsQuery.Type
  ) {
    const isMatch = q === undefined || q.trim() === "" ? () => true : matches(q)
    const foundTickets: Array<SeenTicket> = []
    let after = before ?? null
    while (true) {
      const { tickets } = yield* reads.tickets(shop_id, filter, { _tag: "Newest", after }, READ_AT_ONCE)
      foundTickets.push(...tickets.filter(isMatch))
      after = tickets.at(-1)?.record.id ?? null
      if (foundTickets.length >= limit || tickets.length < READ_AT_ONCE) return foundTickets.slice(0, limit)
    }
  })

  const handlers: GroupHandlers<typeof TesterTicketsApi, void> = {
    findTickets: Effect.fnUntraced(function* ({ path, urlParams }) {
      const { shop } = yield* shops.byId(path.id)
      const { state } = urlParams
      const tickets = yield* find(path.id, state === undefined ? {} : { state: [state] }, urlParams)
      const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
      return dataOnly(
        tickets.map(({ record, client }) => {
          const next = nextDeadline(record, now)
          return {
            ...ticketView(record, shop, client, pages.base_url),
            next: next && { at: toIso(next.at), kind: next.kind }
          }
        })
      )
    }),
    listMoves: Effect.fnUntraced(function* ({ path: { id } }) {
      const shop_id = yield* directory.shopOf({ _tag: "Ticket", id })
      if (shop_id === null) return yield* new TicketNotFound()
      const { result } = yield* store.transact(previewActs(shop_id, id, bounds))
      return dataOnly(
        result.map(({ act, refusal }) => {
          const row = refusal === null ? null : failureRows[refusal._tag]
          return { act, accepted: row === null, reason: row && ("reason" in row ? row.reason : row.code) }
        })
      )
    })
  }
  return handlers
})
