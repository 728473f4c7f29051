import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { TicketEdit } from "@workshop/core/decisions/editTicket"
import { IdempotencyKey } from "@workshop/core/decisions/Idempotency"
import { DelayInput, PartInput, PhotoInput } from "@workshop/core/decisions/keepTicketNews"
import { QuoteInput } from "@workshop/core/decisions/quoteTicket"
import { TicketInput } from "@workshop/core/decisions/TicketInput"
import { TicketId } from "@workshop/core/domain/Identifier"
import { Ticket } from "@workshop/core/domain/Ticket"
import { Nothing } from "@workshop/core/http/Endpoint"
import { Answer, AnswerWith, created, FailureAnswer, RepeatableMeta } from "@workshop/core/http/Envelope"
import { Schema } from "effect"
import { OfShop } from "./ShopsApi.js"

/** As in `POST /v1/tickets`, save that the app may do without the header. */
const IdempotencyHeader = Schema.Struct({
  "idempotency-key": Schema.optionalWith(IdempotencyKey, { exact: true })
})

const TicketAnswer = AnswerWith(Ticket, RepeatableMeta)

/** An act on a ticket, at a path below it; it answers the ticket. */
const act = <const Name extends string>(name: Name, path: `/${string}` = `/${name}`) =>
  HttpApiEndpoint.post(name, `/tickets/:id${path}`)
    .setPath(Schema.Struct({ id: TicketId }))
    .addSuccess(Answer(Ticket))
    .addError(FailureAnswer("NOT_FOUND"))
    .addError(FailureAnswer("CONFLICT"))

/** Tickets as the shop works on them in its app, and the client's answers to new prices (Specification, Sandbox). */
export class AppTicketsApi extends HttpApiGroup.make("appTickets")
  .add(
    HttpApiEndpoint.post("create", "/shops/:id/tickets")
      .setPath(OfShop)
      .setHeaders(IdempotencyHeader)
      .setPayload(TicketInput)
      .addSuccess(created(TicketAnswer))
      .addSuccess(TicketAnswer)
      .addError(FailureAnswer("NOT_FOUND"))
      .addError(FailureAnswer("CONFLICT"))
      .addError(FailureAnswer("PROFANITY"))
      .addError(FailureAnswer("TOO_MANY_ATTEMPTS"))
  )
  .add(
    HttpApiEndpoint.patch("edit", "/tickets/:id")
      .setPath(Schema.Struct({ id: TicketId }))
      .setPayload(TicketEdit)
      .addSuccess(Answer(Ticket))
      .addError(FailureAnswer("NOT_FOUND"))
      .addError(FailureAnswer("CONFLICT"))
      .addError(FailureAnswer("PROFANITY"))
  )
  .add(act("quote").setPayload(QuoteInput))
  .add(act("acceptQuote", "/quote/accept").setPayload(Nothing))
  .add(act("refuseQuote", "/quote/refuse").setPayload(Nothing))
  .add(act("delay").setPayload(DelayInput))
  .add(act("part").setPayload(PartInput))
  .add(act("photo").setPayload(PhotoInput)) {}
