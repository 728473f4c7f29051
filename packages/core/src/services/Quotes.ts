import { Effect } from "effect"
import { answerQuote, proposeQuote, type QuoteInput } from "../decisions/quoteTicket.js"
import type { ShopId, TicketId } from "../domain/Identifier.js"
import { Store } from "../ports/Store.js"
import { answered } from "./answered.js"
import type { Caller } from "./Caller.js"
import { Shops } from "./Shops.js"

/** New prices: proposed by the shop, accepted or refused by its client (contract §4). */
export class Quotes extends Effect.Service<Quotes>()("@workshop/core/Quotes", {
  accessors: true,
  effect: Effect.gen(function* () {
    const run = answered(yield* Store)
    const shops = yield* Shops
    const answer = (status: "accepted" | "refused") => (shop_id: ShopId, id: TicketId) =>
      Effect.zipRight(shops.byId(shop_id), run(answerQuote(shop_id, id, status)))
    return {
      /** Proposes a new price for a ticket. */
      propose: ({ shop_id }: Caller, id: TicketId, quote: QuoteInput) => run(proposeQuote(shop_id, id, quote)),
      /** The client takes the proposed price. */
      accept: answer("accepted"),
      /** The client refuses it; the price stays. */
      refuse: answer("refused")
    }
  })
}) {}
