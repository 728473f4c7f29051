import { Effect } from "effect"
import { answerQuote, proposeQuote, type QuoteAnswer, type QuoteInput } from "../decisions/quoteTicket.js"
import type { ClientId, TicketId } from "../domain/Identifier.js"
import { TicketNotFound } from "../domain/Ticket.js"
import { Directory } from "../ports/Directory.js"
import { Store } from "../ports/Store.js"
import { resultOf } from "./answered.js"
import type { Caller } from "./Caller.js"

/** New prices: proposed by the shop, accepted or refused by its client (Specification, Tickets). */
export class Quotes extends Effect.Service<Quotes>()("@workshop/core/Quotes", {
  accessors: true,
  effect: Effect.gen(function* () {
    const run = resultOf(yield* Store)
    const directory = yield* Directory
    const answer = (status: QuoteAnswer) => (client_id: ClientId, id: TicketId) =>
      Effect.flatMap(directory.shopOf({ _tag: "Ticket", id }), (shop_id) =>
        shop_id === null ? Effect.fail(new TicketNotFound()) : run(answerQuote(shop_id, id, status, client_id))
      )
    return {
      /** Proposes a new price for a ticket. */
      propose: ({ shop_id }: Caller, id: TicketId, quote: QuoteInput) => run(proposeQuote(shop_id, id, quote)),
      /** The client takes the proposed price. A ticket that is not theirs is not found. */
      accept: answer("accepted"),
      /** The client refuses it; the price stays. A ticket that is not theirs is not found. */
      refuse: answer("refused"),
      /** Notes what the client said to the shop itself, at the counter or by telephone; they need no account. */
      recordAnswer: ({ shop_id }: Caller, id: TicketId, status: QuoteAnswer) => run(answerQuote(shop_id, id, status))
    }
  })
}) {}
