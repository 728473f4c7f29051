import { Effect } from "effect"
import { withAuthor } from "../decisions/Command.js"
import { editTicket, type TicketEdit } from "../decisions/editTicket.js"
import { answerQuote, proposeQuote, type QuoteAnswer, type QuoteInput } from "../decisions/quotes.js"
import {
  announceDelay,
  attachPhoto,
  type DelayInput,
  type PartInput,
  type PhotoInput,
  recordPart
} from "../decisions/ticketProgress.js"
import { checkedTexts } from "../domain/ForbiddenWord.js"
import type { ClientId, TicketId } from "../domain/Identifier.js"
import { TicketNotFound } from "../domain/Ticket.js"
import { theClient } from "../domain/TicketChange.js"
import { ProfanityFilter } from "../ports/ProfanityFilter.js"
import { Directory, Store } from "../ports/StorePorts.js"
import { asCaller, type Caller } from "./Caller.js"
import { commandRunner } from "./CommandRunner.js"

/** The calls of the shop's app while the work goes on: delays, parts, pictures, corrections (Specification, Tickets; States). */
export class Progress extends Effect.Service<Progress>()("@workshop/core/Progress", {
  accessors: true,
  effect: Effect.gen(function* () {
    const run = commandRunner(yield* Store)
    const profanity = yield* ProfanityFilter
    return {
      /** Corrects the fields of a ticket. */
      edit: (caller: Caller, id: TicketId, edit: TicketEdit) =>
        Effect.flatMap(profanity.find(checkedTexts(edit)), (found) =>
          run(asCaller(caller, editTicket(caller.shop_id, id, edit, found)))
        ),
      /** Changes the promised date to a later one. */
      announceDelay: (caller: Caller, id: TicketId, input: DelayInput) =>
        run(asCaller(caller, announceDelay(caller.shop_id, id, input))),
      /** Records a part as ordered or received. */
      recordPart: (caller: Caller, id: TicketId, input: PartInput) =>
        run(asCaller(caller, recordPart(caller.shop_id, id, input))),
      /** Sets the ticket's picture. */
      attachPhoto: (caller: Caller, id: TicketId, input: PhotoInput) =>
        run(asCaller(caller, attachPhoto(caller.shop_id, id, input)))
    }
  })
}) {}

/** New prices: proposed by the shop, accepted or refused by the client (Specification, Tickets). */
export class Quotes extends Effect.Service<Quotes>()("@workshop/core/Quotes", {
  accessors: true,
  effect: Effect.gen(function* () {
    const run = commandRunner(yield* Store)
    const directory = yield* Directory
    const answer = (status: QuoteAnswer) => (client_id: ClientId, id: TicketId) =>
      Effect.flatMap(directory.shopOf({ _tag: "Ticket", id }), (shop_id) =>
        shop_id === null
          ? Effect.fail(new TicketNotFound())
          : run(withAuthor(theClient(client_id), answerQuote(shop_id, id, status, client_id)))
      )
    return {
      /** Proposes a new price for a ticket. */
      propose: (caller: Caller, id: TicketId, quote: QuoteInput) =>
        run(asCaller(caller, proposeQuote(caller.shop_id, id, quote))),
      /** The client accepts the proposed price. A ticket that is not theirs is not found. */
      accept: answer("accepted"),
      /** The client refuses it; the price stays. A ticket that is not theirs is not found. */
      refuse: answer("refused"),
      /** Records the client's answer that the shop got itself, at the counter or by telephone; the client needs no account. */
      recordAnswer: (caller: Caller, id: TicketId, status: QuoteAnswer) =>
        run(asCaller(caller, answerQuote(caller.shop_id, id, status)))
    }
  })
}) {}
