import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { Schema } from "effect"
import { IdempotencyKey } from "../decisions/Idempotency.js"
import { ShopChannel } from "../decisions/recordNotified.js"
import { TicketInput } from "../decisions/TicketInput.js"
import { TicketId } from "../domain/Identifier.js"
import { Ticket } from "../domain/Ticket.js"
import { TicketState, TicketStatus } from "../domain/TicketLifecycle.js"
import { TicketNumber } from "../domain/TicketNumber.js"
import { TicketQuery, wholeNumber } from "../services/TicketQuery.js"
import { RequiredScope } from "./Endpoint.js"
import { Answer, AnswerWith, created, FailureAnswer, RepeatableMeta } from "./Envelope.js"

/** The header of the three idempotent endpoints (spec §4). */
export const IdempotencyHeader = Schema.Struct({ "idempotency-key": IdempotencyKey })

const ById = Schema.Struct({ id: TicketId })

const ListMeta = Schema.Struct({
  has_more: Schema.Boolean,
  next_cursor: Schema.NullOr(Schema.String),
  synced_until: Schema.optionalWith(Schema.String, { exact: true })
}).annotations({ identifier: "ListMeta" })

const NumberMeta = Schema.Struct({
  others: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      number: Schema.Int,
      number_label: Schema.String,
      state: TicketState,
      created_at: Schema.String
    })
  )
}).annotations({ identifier: "NumberMeta" })

const TicketAnswer = AnswerWith(Ticket, RepeatableMeta)

/** The endpoints of tickets (spec §4). */
export class TicketsApi extends HttpApiGroup.make("tickets")
  .add(
    HttpApiEndpoint.post("create", "/tickets")
      .setHeaders(IdempotencyHeader)
      .setPayload(TicketInput)
      .addSuccess(created(TicketAnswer))
      .addSuccess(TicketAnswer)
      .addError(FailureAnswer("NOT_FOUND"))
      .addError(FailureAnswer("CONFLICT"))
      .addError(FailureAnswer("PROFANITY"))
      .annotate(RequiredScope, "tickets:write")
  )
  .add(
    HttpApiEndpoint.get("list", "/tickets")
      .setUrlParams(TicketQuery)
      .addSuccess(AnswerWith(Schema.Array(Ticket), ListMeta))
      .annotate(RequiredScope, "tickets:read")
  )
  .add(
    HttpApiEndpoint.get("byId", "/tickets/:id")
      .setPath(ById)
      .addSuccess(Answer(Ticket))
      .addError(FailureAnswer("NOT_FOUND"))
      .annotate(RequiredScope, "tickets:read")
  )
  .add(
    HttpApiEndpoint.get("byNumber", "/tickets/by-number/:n")
      .setPath(Schema.Struct({ n: wholeNumber(TicketNumber) }))
      .addSuccess(AnswerWith(Ticket, NumberMeta))
      .addError(FailureAnswer("NOT_FOUND"))
      .annotate(RequiredScope, "tickets:read")
  )
  .add(
    HttpApiEndpoint.post("changeStatus", "/tickets/:id/status")
      .setPath(ById)
      .setPayload(Schema.Struct({ status: TicketStatus }).annotations({ identifier: "StatusInput" }))
      .addSuccess(Answer(Ticket))
      .addError(FailureAnswer("NOT_FOUND"))
      .addError(FailureAnswer("CONFLICT"))
      .annotate(RequiredScope, "tickets:write")
  )
  .add(
    HttpApiEndpoint.post("recordNotified", "/tickets/:id/notified")
      .setPath(ById)
      .setPayload(Schema.Struct({ channel: ShopChannel }).annotations({ identifier: "NotifiedInput" }))
      .addSuccess(Answer(Ticket))
      .addError(FailureAnswer("NOT_FOUND"))
      .addError(FailureAnswer("CONFLICT"))
      .annotate(RequiredScope, "tickets:write")
  ) {}
