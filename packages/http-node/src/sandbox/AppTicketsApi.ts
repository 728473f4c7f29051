import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import {
  appCaller,
  type Caller,
  DelayInput,
  IdempotencyKey,
  PartInput,
  PhotoInput,
  Progress,
  QuoteInput,
  Quotes,
  Shops,
  Ticket,
  TicketEdit,
  type TicketId,
  TicketInput,
  TicketNotFound,
  Tickets
} from "@workshop/core"
import type { Failure } from "@workshop/core/http"
import {
  createdTicketResponse,
  EmptyBody,
  FailureBodyOf,
  type GroupHandlers,
  RepeatableMeta,
  SuccessBodyWithMeta,
  withStatus201
} from "@workshop/core/internal/http"
import { Directory } from "@workshop/core/store"
import { Effect, Schema } from "effect"
import { qrSvg } from "../qr.js"
import { type Description, dataOnly, describeOperation, groupOf, OfShop, ticketEndpoint } from "./endpoints.js"

/** The Idempotency-Key of `POST /v1/tickets`, which the app may omit. */
const IdempotencyHeader = Schema.Struct({
  "idempotency-key": Schema.optionalWith(IdempotencyKey, { exact: true })
})

const TicketResponse = SuccessBodyWithMeta(Ticket, RepeatableMeta)

/** The URL of a ticket's tracking page, and its QR code. */
const QrCode = Schema.Struct({
  tracking_url: Schema.NullOr(Schema.String),
  svg: Schema.NullOr(Schema.String)
}).annotations({ identifier: "QrCode", description: "The address of a ticket's page, and its QR code as SVG" })

/** An endpoint that changes a ticket, at a path below the ticket's path; the response is the ticket. */
const ticketActEndpoint = <const Name extends string>(name: Name, path: `/${string}`, description: Description) =>
  ticketEndpoint("POST", name, path, Ticket, description).addError(FailureBodyOf("CONFLICT"))

/** The endpoints of the shop's app for tickets, and of the client's answers to quotes (Specification, Sandbox). */
export class AppTicketsApi extends groupOf(
  "appTickets",
  ["Tickets", "The shop manages tickets in its app"],
  HttpApiEndpoint.post("createTicketInApp", "/shops/:id/tickets")
    .setPath(OfShop)
    .setHeaders(IdempotencyHeader)
    .setPayload(TicketInput)
    .addSuccess(withStatus201(TicketResponse))
    .addSuccess(TicketResponse)
    .addError(FailureBodyOf("NOT_FOUND"))
    .addError(FailureBodyOf("CONFLICT"))
    .addError(FailureBodyOf("PROFANITY"))
    .addError(FailureBodyOf("TOO_MANY_ATTEMPTS"))
    .annotateContext(
      describeOperation("createTicketInApp", [
        "Create a ticket in the app",
        "As `POST /v1/tickets`, with `created_via` `app`. `Idempotency-Key` is optional. The ticket limits apply."
      ])
    ),
  ticketEndpoint("PATCH", "editTicket", "", Ticket, [
    "Edit a ticket",
    "Changes the fields of a ticket: an omitted field keeps its value, and null clears it. Raises ticket.updated."
  ])
    .setPayload(TicketEdit)
    .addError(FailureBodyOf("CONFLICT"))
    .addError(FailureBodyOf("PROFANITY")),
  ticketActEndpoint("proposeQuote", "/quote", [
    "Propose a new price",
    "Replaces an earlier proposed price."
  ]).setPayload(QuoteInput),
  ticketActEndpoint("acceptQuote", "/quote/accept", [
    "Accept the price",
    "Does what the client does in the app. The ticket gets the new price."
  ]).setPayload(EmptyBody),
  ticketActEndpoint("refuseQuote", "/quote/refuse", [
    "Refuse the price",
    "Does what the client does in the app. The ticket keeps its price."
  ]).setPayload(EmptyBody),
  ticketActEndpoint("announceDelay", "/delay", [
    "Postpone the promised date",
    "The ticket's `delay` then has the earlier date and the reason."
  ]).setPayload(DelayInput),
  ticketActEndpoint("recordPart", "/part", [
    "Record a part",
    "Records that a part was ordered or received."
  ]).setPayload(PartInput),
  ticketActEndpoint("attachPhoto", "/photo", [
    "Attach a photo",
    "Sets the https address of a picture of the item."
  ]).setPayload(PhotoInput),
  ticketEndpoint("GET", "readTicketQr", "/qr", QrCode, [
    "Read the QR code of a ticket's page",
    "Returns `tracking_url` and its QR code as SVG, for a receipt. Both are null if the ticket has no page."
  ])
) {}

/** Handles the endpoints of the shop's app for tickets, and of the client's answers to quotes. */
export const appTicketsHandlers = Effect.gen(function* () {
  const directory = yield* Directory
  const shops = yield* Shops
  const tickets = yield* Tickets
  const quotes = yield* Quotes
  const progress = yield* Progress

  const actOnTicket = (id: TicketId, run: (caller: Caller) => Effect.Effect<Ticket, Failure>) =>
    Effect.flatMap(directory.shopOf({ _tag: "Ticket", id }), (shop_id) =>
      shop_id === null ? Effect.fail(new TicketNotFound()) : run(appCaller(shop_id))
    )
  const respondToTicketAct = (...args: Parameters<typeof actOnTicket>) => Effect.map(actOnTicket(...args), dataOnly)

  const handlers: GroupHandlers<typeof AppTicketsApi, void> = {
    createTicketInApp: ({ path, headers, payload }) =>
      Effect.zipRight(
        shops.byId(path.id),
        Effect.map(tickets.create(appCaller(path.id), payload, headers["idempotency-key"]), createdTicketResponse)
      ),
    editTicket: ({ path: { id }, payload }) => respondToTicketAct(id, (caller) => progress.edit(caller, id, payload)),
    proposeQuote: ({ path: { id }, payload }) =>
      respondToTicketAct(id, (caller) => quotes.propose(caller, id, payload)),
    acceptQuote: ({ path: { id } }) => respondToTicketAct(id, (caller) => quotes.recordAnswer(caller, id, "accepted")),
    refuseQuote: ({ path: { id } }) => respondToTicketAct(id, (caller) => quotes.recordAnswer(caller, id, "refused")),
    announceDelay: ({ path: { id }, payload }) =>
      respondToTicketAct(id, (caller) => progress.announceDelay(caller, id, payload)),
    recordPart: ({ path: { id }, payload }) =>
      respondToTicketAct(id, (caller) => progress.recordPart(caller, id, payload)),
    attachPhoto: ({ path: { id }, payload }) =>
      respondToTicketAct(id, (caller) => progress.attachPhoto(caller, id, payload)),
    readTicketQr: ({ path: { id } }) =>
      Effect.map(
        actOnTicket(id, (caller) => tickets.byId(caller, id)),
        ({ tracking_url }) => dataOnly({ tracking_url, svg: tracking_url === null ? null : qrSvg(tracking_url) })
      )
  }
  return handlers
})
