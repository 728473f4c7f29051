import type { TicketId } from "@workshop/core/domain/Identifier"
import { type Ticket, TicketNotFound } from "@workshop/core/domain/Ticket"
import type { Handlers } from "@workshop/core/http/Endpoint"
import type { Failure } from "@workshop/core/http/ErrorTable"
import { createdTicket } from "@workshop/core/http/workshopHandlers"
import { Directory } from "@workshop/core/ports/Directory"
import { appOf, type Caller } from "@workshop/core/services/Caller"
import { Progress } from "@workshop/core/services/Progress"
import { Quotes } from "@workshop/core/services/Quotes"
import { Shops } from "@workshop/core/services/Shops"
import { Tickets } from "@workshop/core/services/Tickets"
import { Effect } from "effect"
import type { SandboxApi } from "./SandboxApi.js"

/** What the shop does with tickets in its app, and how the client answers a new price. */
export const appHandlers = Effect.gen(function* () {
  const directory = yield* Directory
  const shops = yield* Shops
  const tickets = yield* Tickets
  const quotes = yield* Quotes
  const progress = yield* Progress

  const onTicket = (id: TicketId, act: (caller: Caller) => Effect.Effect<Ticket, Failure>) =>
    Effect.flatMap(directory.shopOf({ _tag: "Ticket", id }), (shop_id) =>
      shop_id === null ? Effect.fail(new TicketNotFound()) : Effect.map(act(appOf(shop_id)), (data) => ({ data }))
    )

  return {
    create: ({ path, headers, payload }) =>
      Effect.zipRight(
        shops.byId(path.id),
        Effect.map(tickets.create(appOf(path.id), payload, headers["idempotency-key"]), createdTicket)
      ),
    edit: ({ path: { id }, payload }) => onTicket(id, (caller) => progress.edit(caller, id, payload)),
    quote: ({ path: { id }, payload }) => onTicket(id, (caller) => quotes.propose(caller, id, payload)),
    acceptQuote: ({ path: { id } }) => onTicket(id, (caller) => quotes.recordAnswer(caller, id, "accepted")),
    refuseQuote: ({ path: { id } }) => onTicket(id, (caller) => quotes.recordAnswer(caller, id, "refused")),
    delay: ({ path: { id }, payload }) => onTicket(id, (caller) => progress.announceDelay(caller, id, payload)),
    part: ({ path: { id }, payload }) => onTicket(id, (caller) => progress.recordPart(caller, id, payload)),
    photo: ({ path: { id }, payload }) => onTicket(id, (caller) => progress.attachPhoto(caller, id, payload))
  } satisfies Handlers<typeof SandboxApi, void>["appTickets"]
})
