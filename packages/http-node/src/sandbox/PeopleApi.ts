import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import {
  type ClientAccount,
  ClientId,
  ClientInput,
  Clients,
  type NotificationRecord,
  OfferId,
  type OfferRecord,
  Offers,
  ServiceLimits,
  ShopId,
  Shops,
  Ticket,
  toIso
} from "@workshop/core"
import { FailureBodyOf, type GroupHandlers, Nothing, SuccessBody, status201 } from "@workshop/core/http"
import { type Command, cardView, Directory, displayName, LoyaltyCard, Store } from "@workshop/core/store"
import { Effect, Either, Schema } from "effect"
import { data, described, titled } from "./described.js"
import { OfShop } from "./ShopsApi.js"

const OfClient = Schema.Struct({ id: ClientId })
const OfOffer = Schema.Struct({ id: OfferId })

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

/** The calls of clients: open an account, come to the counter, answer offers, read notifications (Specification, Sandbox). */
export class PeopleApi extends HttpApiGroup.make("people")
  .add(
    HttpApiEndpoint.get("list", "/shops/:id/clients")
      .setPath(OfShop)
      .addSuccess(SuccessBody(Schema.Array(ClientSeenBy)))
      .addError(FailureBodyOf("NOT_FOUND"))
      .annotateContext(
        described(
          "listClients",
          "List all clients",
          "Everybody who has an account, with what is between them and this shop: whether it knows them, whether they block it, and their card."
        )
      )
  )
  .add(
    HttpApiEndpoint.post("register", "/clients")
      .setPayload(ClientInput)
      .addSuccess(status201(SuccessBody(Schema.Struct({ id: Schema.String }))))
      .annotateContext(described("registerClient", "Open a client's account", "An account belongs to no shop."))
  )
  .add(
    HttpApiEndpoint.post("visit", "/clients/:id/visits")
      .setPath(OfClient)
      .setPayload(Schema.Struct({ shop_id: ShopId }).annotations({ identifier: "VisitInput" }))
      .addSuccess(SuccessBody(Visit))
      .addError(FailureBodyOf("NOT_FOUND"))
      .annotateContext(described("recordVisit", "Visit a shop's counter", "Makes the client known to the shop."))
  )
  .add(
    HttpApiEndpoint.get("offers", "/clients/:id/offers")
      .setPath(OfClient)
      .addSuccess(SuccessBody(Schema.Array(OfferView)))
      .addError(FailureBodyOf("NOT_FOUND"))
      .annotateContext(
        described("listOffers", "List a client's offers", "The tickets that were offered to the client's number.")
      )
  )
  .add(
    HttpApiEndpoint.get("inbox", "/clients/:id/inbox")
      .setPath(OfClient)
      .addSuccess(SuccessBody(Schema.Array(NotificationView)))
      .addError(FailureBodyOf("NOT_FOUND"))
      .annotateContext(
        described(
          "readInbox",
          "Read a client's inbox",
          "The notifications that the client got in the app, oldest first."
        )
      )
  )
  .add(
    HttpApiEndpoint.post("accept", "/offers/:id/accept")
      .setPath(OfOffer)
      .setPayload(Nothing)
      .addSuccess(SuccessBody(AnsweredOffer))
      .addError(FailureBodyOf("NOT_FOUND"))
      .addError(FailureBodyOf("CONFLICT"))
      .annotateContext(
        described(
          "acceptOffer",
          "Accept an offer",
          "Makes the client known to the shop, and links the ticket unless it is abandoned or linked already."
        )
      )
  )
  .add(
    HttpApiEndpoint.post("block", "/offers/:id/block")
      .setPath(OfOffer)
      .setPayload(Nothing)
      .addSuccess(SuccessBody(AnsweredOffer))
      .addError(FailureBodyOf("NOT_FOUND"))
      .addError(FailureBodyOf("CONFLICT"))
      .annotateContext(
        described("blockShop", "Block the shop of an offer", "For that shop, the client does not exist from then on.")
      )
  )
  .annotateContext(titled("Clients", "What clients do")) {}

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

/** Every account, with its link to a shop and its card there. Nothing is changed. */
const clientsOf = (
  shop_id: ShopId,
  accounts: ReadonlyArray<ClientAccount>
): Command<ReadonlyArray<typeof ClientSeenBy.Type>> => ({
  shop_id,
  asks: accounts.map(({ id }) => ({ _tag: "Client", id })),
  run: ({ links, cards, shop }) =>
    Either.right({
      answer: accounts.map((account) => {
        const { id, phone } = account
        const [link, card] = [links.get(id), cards.get(id)]
        return {
          id,
          display_name: displayName(account),
          phone,
          known: (link?.known_at ?? null) !== null,
          blocked: (link?.blocked_at ?? null) !== null,
          card: card === undefined ? null : cardView(card, shop.program)
        }
      }),
      changes: [],
      usages: []
    })
})

/** Handles the calls of clients. */
export const peopleHandlers = Effect.gen(function* () {
  const clients = yield* Clients
  const offers = yield* Offers
  const shops = yield* Shops
  const directory = yield* Directory
  const store = yield* Store
  const handlers: GroupHandlers<typeof PeopleApi, void> = {
    list: Effect.fnUntraced(function* ({ path }) {
      yield* shops.byId(path.id)
      const accounts = yield* directory.listClients(null, ServiceLimits.list_max)
      return data((yield* store.transact(clientsOf(path.id, accounts))).answer)
    }),
    register: ({ payload }) => Effect.map(clients.register(payload), ({ id }) => ({ status: 201, data: { id } })),
    visit: ({ path, payload: { shop_id } }) =>
      Effect.as(clients.visit(path.id, shop_id), data({ client_id: path.id, shop_id })),
    offers: ({ path }) => Effect.map(offers.ofClient(path.id), (found) => data(found.map(offerView))),
    inbox: ({ path }) => Effect.map(clients.inbox(path.id), (found) => data(found.map(notificationView))),
    accept: ({ path: { id } }) =>
      Effect.as(offers.answerForHolder(id, "accepted"), data({ id, status: "accepted" as const })),
    block: ({ path: { id } }) =>
      Effect.as(offers.answerForHolder(id, "blocked"), data({ id, status: "blocked" as const }))
  }
  return handlers
})
