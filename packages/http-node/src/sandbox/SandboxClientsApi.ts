import { type ClientAccount, ClientInput, Clients, Offers, ShopId, Shops, Ticket } from "@workshop/core"
import { cardView, displayName, LoyaltyCard } from "@workshop/core/internal"
import { EmptyBody, FailureBodyOf, type GroupHandlers } from "@workshop/core/internal/http"
import { type Command, Directory, isBlocked, ServiceLimits, Store } from "@workshop/core/store"
import { Effect, Either, Schema } from "effect"
import { clientEndpoint, creationEndpoint, dataOnly, groupOf, offerEndpoint, shopEndpoint } from "./endpoints.js"
import { viewOf } from "./views.js"

const ClientSeenBy = Schema.Struct({
  id: Schema.String,
  display_name: Schema.String,
  phone: Schema.String,
  known: Schema.Boolean,
  blocked: Schema.Boolean,
  card: Schema.NullOr(LoyaltyCard)
}).annotations({ identifier: "SandboxClient" })

const OfferStatus = Schema.Literal("open", "accepted", "blocked")

const OfferView = Schema.Struct({
  id: Schema.String,
  shop_id: Schema.String,
  ticket_id: Schema.String,
  status: OfferStatus,
  created_at: Schema.String
}).annotations({ identifier: "Offer" })

const AnsweredOffer = Schema.Struct({ id: Schema.String, status: OfferStatus })

const NotificationView = Schema.Struct({
  id: Schema.String,
  shop_id: Schema.String,
  ticket_id: Schema.String,
  type: Schema.Literal("ticket.ready", "ticket.impossible"),
  created_at: Schema.String,
  ticket: Ticket
}).annotations({ identifier: "Notification" })

const Visit = Schema.Struct({ client_id: Schema.String, shop_id: Schema.String })

/** The endpoints of clients, who open an account, visit a shop, answer offers and read notifications (Specification, Sandbox). */
export class SandboxClientsApi extends groupOf(
  "clients",
  ["Clients", "Clients act in the app"],
  shopEndpoint("GET", "listClients", "/clients", Schema.Array(ClientSeenBy), [
    "List all clients",
    "Returns all clients with an account. For each client, it shows whether this shop knows the client, whether the client blocks the shop, and the loyalty card."
  ]),
  creationEndpoint("registerClient", "/clients", Schema.Struct({ id: Schema.String }), [
    "Create a client's account",
    "Creates an account, which is independent of any shop."
  ]).setPayload(ClientInput),
  clientEndpoint("POST", "recordVisit", "/visits", Visit, [
    "Visit a shop's counter",
    "Makes the client known to the shop."
  ]).setPayload(Schema.Struct({ shop_id: ShopId }).annotations({ identifier: "VisitInput" })),
  clientEndpoint("GET", "listOffers", "/offers", Schema.Array(OfferView), [
    "List a client's offers",
    "Returns the tickets that were offered to the client's phone number."
  ]),
  clientEndpoint("GET", "readInbox", "/inbox", Schema.Array(NotificationView), [
    "Read a client's inbox",
    "Returns the notifications that the client got in the app, oldest first."
  ]),
  offerEndpoint("POST", "acceptOffer", "/accept", AnsweredOffer, [
    "Accept an offer",
    "Makes the client known to the shop, and links the ticket unless it is abandoned or already linked."
  ])
    .setPayload(EmptyBody)
    .addError(FailureBodyOf("CONFLICT")),
  offerEndpoint("POST", "blockShop", "/block", AnsweredOffer, [
    "Block the shop of an offer",
    "From then on, the shop cannot tell the client from one that does not exist."
  ])
    .setPayload(EmptyBody)
    .addError(FailureBodyOf("CONFLICT"))
) {}

/** The fields of an offer that its client sees. */
export const offerView = viewOf(OfferView)

const notificationView = viewOf(NotificationView)

/** Reads every account with its link to a shop and its loyalty card there. */
const clientsOf = (
  shop_id: ShopId,
  accounts: ReadonlyArray<ClientAccount>
): Command<ReadonlyArray<typeof ClientSeenBy.Type>> => ({
  shop_id,
  loadRequests: accounts.map(({ id }) => ({ _tag: "Client", id })),
  run: ({ links, cards, shop }) =>
    Either.right({
      result: accounts.map((account) => {
        const { id, phone } = account
        const [link, card] = [links.get(id), cards.get(id)]
        return {
          id,
          display_name: displayName(account),
          phone,
          known: (link?.known_at ?? null) !== null,
          blocked: isBlocked(link),
          card: card === undefined ? null : cardView(card, shop.program)
        }
      }),
      changes: [],
      limitStatuses: []
    })
})

/** Handles the endpoints of clients. */
export const clientsHandlers = Effect.gen(function* () {
  const clients = yield* Clients
  const offers = yield* Offers
  const shops = yield* Shops
  const directory = yield* Directory
  const store = yield* Store
  const handlers: GroupHandlers<typeof SandboxClientsApi, void> = {
    listClients: Effect.fnUntraced(function* ({ path }) {
      yield* shops.byId(path.id)
      const accounts = yield* directory.listClients(null, ServiceLimits.list_max)
      return dataOnly((yield* store.transact(clientsOf(path.id, accounts))).result)
    }),
    registerClient: ({ payload }) => Effect.map(clients.register(payload), ({ id }) => ({ status: 201, data: { id } })),
    recordVisit: ({ path, payload: { shop_id } }) =>
      Effect.as(clients.visit(path.id, shop_id), dataOnly({ client_id: path.id, shop_id })),
    listOffers: ({ path }) =>
      Effect.map(offers.ofClient(path.id), (offersOfClient) => dataOnly(offersOfClient.map(offerView))),
    readInbox: ({ path }) =>
      Effect.map(clients.inbox(path.id), (notifications) => dataOnly(notifications.map(notificationView))),
    acceptOffer: ({ path: { id } }) =>
      Effect.as(offers.answerForHolder(id, "accepted"), dataOnly({ id, status: "accepted" as const })),
    blockShop: ({ path: { id } }) =>
      Effect.as(offers.answerForHolder(id, "blocked"), dataOnly({ id, status: "blocked" as const }))
  }
  return handlers
})
