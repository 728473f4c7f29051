import {
  appOf,
  type Caller,
  Progress,
  Quotes,
  Shops,
  type Ticket,
  type TicketId,
  TicketNotFound,
  Tickets
} from "@workshop/core"
import { createdTicket, type Failure, type Handlers } from "@workshop/core/http"
import { Directory } from "@workshop/core/store"
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
