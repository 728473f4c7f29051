import { Effect } from "effect"
import { withAuthor } from "../decisions/Command.js"
import { answerQuote, proposeQuote, type QuoteAnswer, type QuoteInput } from "../decisions/quotes.js"
import type { ClientId, TicketId } from "../domain/Identifier.js"
import { TicketNotFound } from "../domain/Ticket.js"
import { clientAuthor } from "../domain/TicketChange.js"
import { Directory, Store } from "../ports/StorePorts.js"
import { asCaller, type Caller } from "./Caller.js"
import { makeCommandRunner } from "./CommandRunner.js"

/** New prices: proposed by the shop, accepted or refused by the client (Specification, Tickets). */
export class Quotes extends Effect.Service<Quotes>()("@workshop/core/Quotes", {
  accessors: true,
  effect: Effect.gen(function* () {
    const run = makeCommandRunner(yield* Store)
    const directory = yield* Directory
    const answer = (status: QuoteAnswer) => (client_id: ClientId, id: TicketId) =>
      Effect.flatMap(directory.shopOf({ _tag: "Ticket", id }), (shop_id) =>
        shop_id === null
          ? Effect.fail(new TicketNotFound())
          : run(withAuthor(clientAuthor(client_id), answerQuote(shop_id, id, status, client_id)))
      )
    return {
      /** Proposes a new price for a ticket. */
      propose: (caller: Caller, id: TicketId, quote: QuoteInput) =>
        run(asCaller(caller, proposeQuote(caller.shop_id, id, quote))),
      /** The client accepts the proposed price. A ticket that is not theirs is not found. */
      accept: answer("accepted"),
      /**
       * The client refuses the proposed price, and the ticket keeps its price. A ticket that is not theirs is not
       * found.
       */
      refuse: answer("refused"),
      /** Records the client's answer that the shop got at the counter or by telephone. The client needs no account. */
      recordAnswer: (caller: Caller, id: TicketId, status: QuoteAnswer) =>
        run(asCaller(caller, answerQuote(caller.shop_id, id, status)))
    }
  })
}) {}
