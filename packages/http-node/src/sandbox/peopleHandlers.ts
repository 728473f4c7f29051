import { Clients, type NotificationRecord, type OfferRecord, Offers, toIso } from "@workshop/core"
import type { Handlers } from "@workshop/core/http"
import { Effect } from "effect"
import type { SandboxApi } from "./SandboxApi.js"

const offerView = ({ id, shop_id, ticket_id, status, created_at }: OfferRecord) => ({
  id,
  shop_id,
  ticket_id,
  status,
  created_at: toIso(created_at)
})

const notificationView = ({ id, shop_id, ticket_id, type, created_at, ticket }: NotificationRecord) => ({
  id,
  shop_id,
  ticket_id,
  type,
  created_at: toIso(created_at),
  ticket
})

const data = <A>(data: A) => ({ data })

/** What clients do. */
export const peopleHandlers = Effect.gen(function* () {
  const clients = yield* Clients
  const offers = yield* Offers
  return {
    register: ({ payload }) => Effect.map(clients.register(payload), ({ id }) => ({ status: 201, data: { id } })),
    visit: ({ path, payload: { shop_id } }) =>
      Effect.as(clients.visit(path.id, shop_id), data({ client_id: path.id, shop_id })),
    offers: ({ path }) => Effect.map(offers.ofClient(path.id), (found) => data(found.map(offerView))),
    inbox: ({ path }) => Effect.map(clients.inbox(path.id), (found) => data(found.map(notificationView))),
    accept: ({ path: { id } }) =>
      Effect.as(offers.answerForHolder(id, "accepted"), data({ id, status: "accepted" as const })),
    block: ({ path: { id } }) =>
      Effect.as(offers.answerForHolder(id, "blocked"), data({ id, status: "blocked" as const }))
  } satisfies Handlers<typeof SandboxApi, void>["people"]
})
