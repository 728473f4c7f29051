import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import {
  DelayInput,
  IdempotencyKey,
  PartInput,
  PhotoInput,
  QuoteInput,
  Ticket,
  TicketEdit,
  TicketId,
  TicketInput
} from "@workshop/core"
import {
  FailureBodyOf,
  Nothing,
  RepeatableMeta,
  SuccessBody,
  SuccessBodyWithMeta,
  status201
} from "@workshop/core/http"
import { Schema } from "effect"
import { OfShop } from "./ShopsApi.js"

/** As in `POST /v1/tickets`, save that the app may do without the header. */
const IdempotencyHeader = Schema.Struct({
  "idempotency-key": Schema.optionalWith(IdempotencyKey, { exact: true })
})

const TicketAnswer = SuccessBodyWithMeta(Ticket, RepeatableMeta)

/** An act on a ticket, at a path below it; it answers the ticket. */
const act = <const Name extends string>(name: Name, path: `/${string}` = `/${name}`) =>
  HttpApiEndpoint.post(name, `/tickets/:id${path}`)
    .setPath(Schema.Struct({ id: TicketId }))
    .addSuccess(SuccessBody(Ticket))
    .addError(FailureBodyOf("NOT_FOUND"))
    .addError(FailureBodyOf("CONFLICT"))

/** Tickets as the shop works on them in its app, and the client's answers to new prices (Specification, Sandbox). */
export class AppTicketsApi extends HttpApiGroup.make("appTickets")
  .add(
    HttpApiEndpoint.post("create", "/shops/:id/tickets")
      .setPath(OfShop)
      .setHeaders(IdempotencyHeader)
      .setPayload(TicketInput)
      .addSuccess(status201(TicketAnswer))
      .addSuccess(TicketAnswer)
      .addError(FailureBodyOf("NOT_FOUND"))
      .addError(FailureBodyOf("CONFLICT"))
      .addError(FailureBodyOf("PROFANITY"))
      .addError(FailureBodyOf("TOO_MANY_ATTEMPTS"))
  )
  .add(
    HttpApiEndpoint.patch("edit", "/tickets/:id")
      .setPath(Schema.Struct({ id: TicketId }))
      .setPayload(TicketEdit)
      .addSuccess(SuccessBody(Ticket))
      .addError(FailureBodyOf("NOT_FOUND"))
      .addError(FailureBodyOf("CONFLICT"))
      .addError(FailureBodyOf("PROFANITY"))
  )
  .add(act("quote").setPayload(QuoteInput))
  .add(act("acceptQuote", "/quote/accept").setPayload(Nothing))
  .add(act("refuseQuote", "/quote/refuse").setPayload(Nothing))
  .add(act("delay").setPayload(DelayInput))
  .add(act("part").setPayload(PartInput))
  .add(act("photo").setPayload(PhotoInput)) {}
