import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { ClientId, ClientInput, OfferId, ShopId, Ticket } from "@workshop/core"
import { FailureBodyOf, Nothing, SuccessBody, status201 } from "@workshop/core/http"
import { Schema } from "effect"

const OfClient = Schema.Struct({ id: ClientId })
const OfOffer = Schema.Struct({ id: OfferId })

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

/** What clients do: open an account, come to the counter, answer offers, read what they were told (Specification, Sandbox). */
export class PeopleApi extends HttpApiGroup.make("people")
  .add(
    HttpApiEndpoint.post("register", "/clients")
      .setPayload(ClientInput)
      .addSuccess(status201(SuccessBody(Schema.Struct({ id: Schema.String }))))
  )
  .add(
    HttpApiEndpoint.post("visit", "/clients/:id/visits")
      .setPath(OfClient)
      .setPayload(Schema.Struct({ shop_id: ShopId }).annotations({ identifier: "VisitInput" }))
      .addSuccess(SuccessBody(Visit))
      .addError(FailureBodyOf("NOT_FOUND"))
  )
  .add(
    HttpApiEndpoint.get("offers", "/clients/:id/offers")
      .setPath(OfClient)
      .addSuccess(SuccessBody(Schema.Array(OfferView)))
      .addError(FailureBodyOf("NOT_FOUND"))
  )
  .add(
    HttpApiEndpoint.get("inbox", "/clients/:id/inbox")
      .setPath(OfClient)
      .addSuccess(SuccessBody(Schema.Array(NotificationView)))
      .addError(FailureBodyOf("NOT_FOUND"))
  )
  .add(
    HttpApiEndpoint.post("accept", "/offers/:id/accept")
      .setPath(OfOffer)
      .setPayload(Nothing)
      .addSuccess(SuccessBody(AnsweredOffer))
      .addError(FailureBodyOf("NOT_FOUND"))
      .addError(FailureBodyOf("CONFLICT"))
  )
  .add(
    HttpApiEndpoint.post("block", "/offers/:id/block")
      .setPath(OfOffer)
      .setPayload(Nothing)
      .addSuccess(SuccessBody(AnsweredOffer))
      .addError(FailureBodyOf("NOT_FOUND"))
      .addError(FailureBodyOf("CONFLICT"))
  ) {}
