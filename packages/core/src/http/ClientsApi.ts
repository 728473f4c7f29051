import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { Schema } from "effect"
import { RewardRedeemed, StampCount, StampsGiven } from "../decisions/giveStamps.js"
import { ClientView } from "../domain/Client.js"
import { ClientId } from "../domain/Identifier.js"
import { LoyaltyCard, LoyaltyProgram } from "../domain/LoyaltyCard.js"
import { PhoneInQuery } from "../domain/Phone.js"
import { CountedPolicies, EmptyBody, RequiredScope } from "./Endpoint.js"
import { FailureBodyOf, RepeatableMeta, SuccessBody, SuccessBodyWithMeta } from "./Envelope.js"
import { describeEndpoint } from "./openapi/Annotations.js"
import { IdempotencyHeader } from "./TicketsApi.js"

const ById = Schema.Struct({ id: ClientId })

const ClientResponse = SuccessBody(ClientView).annotations({ identifier: "ClientResponse" })
const LoyaltyView = Schema.Struct({ program: LoyaltyProgram, card: LoyaltyCard }).annotations({
  identifier: "Loyalty",
  description: "A shop's loyalty programme and a client's card"
})
const LoyaltyResponse = SuccessBody(LoyaltyView).annotations({ identifier: "LoyaltyResponse" })
const StampsResponse = SuccessBodyWithMeta(StampsGiven, RepeatableMeta).annotations({ identifier: "StampsResponse" })
const RewardResponse = SuccessBodyWithMeta(RewardRedeemed, RepeatableMeta).annotations({ identifier: "RewardResponse" })

/** The endpoints of clients and their loyalty cards (Specification, Endpoints). */
export class ClientsApi extends HttpApiGroup.make("clients")
  .annotateContext(
    OpenApi.annotations({ title: "Clients", description: "The clients known to the shop, and their loyalty cards" })
  )
  .add(
    HttpApiEndpoint.get("byPhone", "/clients")
      .setUrlParams(Schema.Struct({ phone: PhoneInQuery }))
      .addSuccess(ClientResponse)
      .addError(FailureBodyOf("NOT_FOUND"))
      .annotate(RequiredScope, "clients:read")
      .annotateContext(
        describeEndpoint({
          identifier: "findClient",
          summary: "Find a client by phone number",
          description:
            "Finds only clients known to the shop: those who accepted an offer or came to the counter. An unknown number and the number of a client who blocks the shop get the same 404.",
          refusals: ["client_not_found"]
        })
      )
      .annotate(CountedPolicies, ["lookups_per_hour", "lookups_per_day"])
  )
  .add(
    HttpApiEndpoint.get("byId", "/clients/:id")
      .setPath(ById)
      .addSuccess(ClientResponse)
      .addError(FailureBodyOf("NOT_FOUND"))
      .annotate(RequiredScope, "clients:read")
      .annotateContext(
        describeEndpoint({
          identifier: "getClient",
          summary: "Read a client",
          description:
            "The client's name in the form that the client chose, their number of tickets with the shop, and their loyalty card.",
          refusals: ["client_not_found"]
        })
      )
  )
  .add(
    HttpApiEndpoint.get("loyalty", "/clients/:id/loyalty")
      .setPath(ById)
      .addSuccess(LoyaltyResponse)
      .addError(FailureBodyOf("NOT_FOUND"))
      .annotate(RequiredScope, "clients:read")
      .annotateContext(
        describeEndpoint({
          identifier: "getLoyalty",
          summary: "Read a loyalty card",
          description:
            "Returns the shop's programme and the client's card. Both can be read while the programme is off.",
          refusals: ["client_not_found"]
        })
      )
  )
  .add(
    HttpApiEndpoint.post("giveStamps", "/clients/:id/loyalty/stamps")
      .setPath(ById)
      .setHeaders(IdempotencyHeader)
      .setPayload(Schema.Struct({ count: StampCount }).annotations({ identifier: "StampsInput" }))
      .addSuccess(StampsResponse)
      .addError(FailureBodyOf("NOT_FOUND"))
      .addError(FailureBodyOf("CONFLICT"))
      .annotate(RequiredScope, "loyalty:write")
      .annotateContext(
        describeEndpoint({
          identifier: "addStamps",
          summary: "Add stamps to a card",
          description:
            "Adds all the stamps, or none if they would exceed the day's limit for this client and key. Stamps that tickets earn do not count towards the limit. A repeated request with the same `Idempotency-Key` adds no stamps.",
          refusals: ["client_not_found", "loyalty_off", "idempotency_key_reused"],
          limits: ["stamps_per_day"]
        })
      )
  )
  .add(
    HttpApiEndpoint.post("redeem", "/clients/:id/loyalty/redeem")
      .setPath(ById)
      .setHeaders(IdempotencyHeader)
      .setPayload(
        EmptyBody.annotations({
          identifier: "RedeemInput",
          description: "An empty object. The body may also be omitted"
        })
      )
      .addSuccess(RewardResponse)
      .addError(FailureBodyOf("NOT_FOUND"))
      .addError(FailureBodyOf("CONFLICT"))
      .annotate(RequiredScope, "loyalty:write")
      .annotateContext(
        describeEndpoint({
          identifier: "redeemReward",
          summary: "Use a reward",
          description:
            "Spends the stamps of one reward. Omit the body, or send an empty object. A repeated request with the same `Idempotency-Key` uses no further reward.",
          refusals: ["client_not_found", "loyalty_off", "no_reward", "idempotency_key_reused"]
        })
      )
  ) {}
