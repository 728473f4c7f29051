import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { Schema } from "effect"
import { ShopChannel } from "../decisions/changeStatus.js"
import { TicketInput } from "../decisions/createTicket.js"
import { IdempotencyKey } from "../decisions/Idempotency.js"
import { TicketId } from "../domain/Identifier.js"
import { Limits } from "../domain/Limits.js"
import { Ticket, TicketNumber } from "../domain/Ticket.js"
import { TicketState, TicketStatus } from "../domain/TicketLifecycle.js"
import { numberFromText, TicketQuery } from "../services/TicketQuery.js"
import { RequiredScope } from "./Endpoint.js"
import { FailureBodyOf, RepeatableMeta, SuccessBody, SuccessBodyWithMeta, withStatus201 } from "./Envelope.js"
import { describeEndpoint } from "./openapi/Annotations.js"

/** The header of the endpoints that require an idempotency key (Specification, Endpoints). */
export const IdempotencyHeader = Schema.Struct({ "idempotency-key": IdempotencyKey })

/** The header of the endpoints with an optional idempotency key (Specification, Endpoints). */
const OptionalIdempotencyHeader = Schema.Struct({
  "idempotency-key": Schema.optionalWith(IdempotencyKey, { exact: true })
})

const ById = Schema.Struct({ id: TicketId })

const ListMeta = Schema.Struct({
  has_more: Schema.Boolean,
  next_cursor: Schema.NullOr(Schema.String),
  synced_until: Schema.optionalWith(Schema.String, { exact: true })
}).annotations({ identifier: "ListMeta", description: "Whether there are more pages, and how to continue" })

const NumberMeta = Schema.Struct({
  others: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      number: Schema.Int,
      number_label: Schema.String,
      state: TicketState,
      created_at: Schema.String
    }).annotations({ identifier: "TicketSummary", description: "The main fields of a ticket" })
  )
}).annotations({ identifier: "NumberMeta", description: "The other tickets with the same number" })

const TicketResponse = SuccessBody(Ticket).annotations({ identifier: "TicketResponse" })
const RepeatableTicketResponse = SuccessBodyWithMeta(Ticket, RepeatableMeta).annotations({
  identifier: "RepeatableTicketResponse"
})
const TicketListResponse = SuccessBodyWithMeta(Schema.Array(Ticket), ListMeta).annotations({
  identifier: "TicketListResponse"
})
const NumberedTicketResponse = SuccessBodyWithMeta(Ticket, NumberMeta).annotations({
  identifier: "NumberedTicketResponse"
})

/** The endpoints of tickets (Specification, Endpoints). */
export class TicketsApi extends HttpApiGroup.make("tickets")
  .annotateContext(
    OpenApi.annotations({
      title: "Tickets",
      description: "Repairs and orders, from creation to collection"
    })
  )
  .add(
    HttpApiEndpoint.post("create", "/tickets")
      .setHeaders(IdempotencyHeader)
      .setPayload(TicketInput)
      .addSuccess(withStatus201(RepeatableTicketResponse))
      .addSuccess(RepeatableTicketResponse)
      .addError(FailureBodyOf("NOT_FOUND"))
      .addError(FailureBodyOf("CONFLICT"))
      .addError(FailureBodyOf("PROFANITY"))
      .annotate(RequiredScope, "tickets:write")
      .annotateContext(
        describeEndpoint({
          identifier: "createTicket",
          summary: "Create a ticket",
          description:
            "Creates a ticket in the workshop with the shop's next number. The first response is 201. A repeated request with the same `Idempotency-Key` gets 200 with the ticket of the first response and `meta.replayed` true.",
          refusals: ["client_not_found", "idempotency_key_reused", "forbidden_word"],
          limits: ["tickets_per_hour", "tickets_per_day"]
        })
      )
  )
  .add(
    HttpApiEndpoint.get("list", "/tickets")
      .setUrlParams(TicketQuery)
      .addSuccess(TicketListResponse)
      .annotate(RequiredScope, "tickets:read")
      .annotateContext(
        describeEndpoint({
          identifier: "listTickets",
          summary: "List, filter and sync tickets",
          description:
            "A ticket must match all given filters. Without `updated_since` the newest tickets come first. With it, changes come in the order in which they happened: follow `next_cursor` to the end, then save `meta.synced_until` as the next `updated_since`, so that you do not miss a change."
        })
      )
  )
  .add(
    HttpApiEndpoint.get("byId", "/tickets/:id")
      .setPath(ById)
      .addSuccess(TicketResponse)
      .addError(FailureBodyOf("NOT_FOUND"))
      .annotate(RequiredScope, "tickets:read")
      .annotateContext(
        describeEndpoint({
          identifier: "getTicket",
          summary: "Read a ticket",
          description: "Returns the ticket in its current state.",
          refusals: ["ticket_not_found"]
        })
      )
  )
  .add(
    HttpApiEndpoint.get("byNumber", "/tickets/by-number/:n")
      .setPath(Schema.Struct({ n: numberFromText(TicketNumber) }))
      .addSuccess(NumberedTicketResponse)
      .addError(FailureBodyOf("NOT_FOUND"))
      .annotate(RequiredScope, "tickets:read")
      .annotateContext(
        describeEndpoint({
          identifier: "getTicketByNumber",
          summary: "Read a ticket by its number",
          description: `Returns the newest open ticket with this number, or the newest of all if none is open. Numbers are used again after ${Limits.ticket_number_max}, so \`meta.others\` lists the other tickets with the number.`,
          refusals: ["ticket_not_found"]
        })
      )
  )
  .add(
    HttpApiEndpoint.post("changeStatus", "/tickets/:id/status")
      .setPath(ById)
      .setHeaders(OptionalIdempotencyHeader)
      .setPayload(Schema.Struct({ status: TicketStatus }).annotations({ identifier: "StatusInput" }))
      .addSuccess(RepeatableTicketResponse)
      .addError(FailureBodyOf("NOT_FOUND"))
      .addError(FailureBodyOf("CONFLICT"))
      .annotate(RequiredScope, "tickets:write")
      .annotateContext(
        describeEndpoint({
          identifier: "changeTicketStatus",
          summary: "Move a ticket to another state",
          description:
            "Makes one of the moves in the table of this document's introduction. If the move is refused, `details.allowed` lists the statuses that the ticket accepts. A linked client is notified in the app.",
          refusals: [
            "ticket_not_found",
            "same_state",
            "invalid_transition",
            "reopen_window",
            "abandoned_move",
            "idempotency_key_reused"
          ],
          limits: ["moves_per_day", "notifications_per_day"]
        })
      )
  )
  .add(
    HttpApiEndpoint.post("recordNotified", "/tickets/:id/notified")
      .setPath(ById)
      .setHeaders(OptionalIdempotencyHeader)
      .setPayload(Schema.Struct({ channel: ShopChannel }).annotations({ identifier: "NotifiedInput" }))
      .addSuccess(RepeatableTicketResponse)
      .addError(FailureBodyOf("NOT_FOUND"))
      .addError(FailureBodyOf("CONFLICT"))
      .annotate(RequiredScope, "tickets:write")
      .annotateContext(
        describeEndpoint({
          identifier: "recordNotified",
          summary: "Record that the client was notified",
          description:
            "Use this after the shop itself called or wrote to its client. It sets `notified_at`, which the client's page shows. It counts as a change by the shop, so the sixty days of a ticket in the workshop start again.",
          refusals: ["ticket_not_found", "abandoned", "idempotency_key_reused"],
          limits: ["notifications_per_day"]
        })
      )
  ) {}
