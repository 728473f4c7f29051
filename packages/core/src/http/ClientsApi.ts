import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { Schema } from "effect"
import { RewardRedeemed, StampCount, StampsGiven } from "../decisions/giveStamps.js"
import { ClientView } from "../domain/Client.js"
import { ClientId } from "../domain/Identifier.js"
import { LoyaltyCard } from "../domain/LoyaltyCard.js"
import { LoyaltyProgram } from "../domain/LoyaltyProgram.js"
import { PhoneInQuery } from "../domain/Phone.js"
import { CountedAs, RequiredScope } from "./Endpoint.js"
import { Answer, AnswerWith, FailureAnswer, RepeatableMeta } from "./Envelope.js"
import { IdempotencyHeader } from "./TicketsApi.js"

const ById = Schema.Struct({ id: ClientId })

/** The endpoints of clients and their loyalty cards (spec §4). */
export class ClientsApi extends HttpApiGroup.make("clients")
  .add(
    HttpApiEndpoint.get("byPhone", "/clients")
      .setUrlParams(Schema.Struct({ phone: PhoneInQuery }))
      .addSuccess(Answer(ClientView))
      .addError(FailureAnswer("NOT_FOUND"))
      .annotate(RequiredScope, "clients:read")
      .annotate(CountedAs, ["lookups_per_hour", "lookups_per_day"])
  )
  .add(
    HttpApiEndpoint.get("byId", "/clients/:id")
      .setPath(ById)
      .addSuccess(Answer(ClientView))
      .addError(FailureAnswer("NOT_FOUND"))
      .annotate(RequiredScope, "clients:read")
  )
  .add(
    HttpApiEndpoint.get("loyalty", "/clients/:id/loyalty")
      .setPath(ById)
      .addSuccess(
        Answer(Schema.Struct({ program: LoyaltyProgram, card: LoyaltyCard }).annotations({ identifier: "Loyalty" }))
      )
      .addError(FailureAnswer("NOT_FOUND"))
      .annotate(RequiredScope, "clients:read")
  )
  .add(
    HttpApiEndpoint.post("giveStamps", "/clients/:id/loyalty/stamps")
      .setPath(ById)
      .setHeaders(IdempotencyHeader)
      .setPayload(Schema.Struct({ count: StampCount }).annotations({ identifier: "StampsInput" }))
      .addSuccess(AnswerWith(StampsGiven, RepeatableMeta))
      .addError(FailureAnswer("NOT_FOUND"))
      .addError(FailureAnswer("CONFLICT"))
      .annotate(RequiredScope, "loyalty:write")
  )
  .add(
    HttpApiEndpoint.post("redeem", "/clients/:id/loyalty/redeem")
      .setPath(ById)
      .setHeaders(IdempotencyHeader)
      .setPayload(
        Schema.Struct({}).annotations({ identifier: "RedeemInput", description: "Nothing; the body may be left out" })
      )
      .addSuccess(AnswerWith(RewardRedeemed, RepeatableMeta))
      .addError(FailureAnswer("NOT_FOUND"))
      .addError(FailureAnswer("CONFLICT"))
      .annotate(RequiredScope, "loyalty:write")
  ) {}
