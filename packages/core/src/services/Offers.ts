import { Effect } from "effect"
import { answerOffer } from "../decisions/meetClient.js"
import { ClientNotFound } from "../domain/Client.js"
import type { ClientId, OfferId } from "../domain/Identifier.js"
import { OfferNotFound } from "../domain/Offer.js"
import { Directory } from "../ports/Directory.js"
import { Store } from "../ports/Store.js"
import { answered } from "./answered.js"

/** Tickets offered to a phone number, and the answers of whoever holds it (spec §4, contract §4). */
export class Offers extends Effect.Service<Offers>()("@workshop/core/Offers", {
  accessors: true,
  effect: Effect.gen(function* () {
    const run = answered(yield* Store)
    const directory = yield* Directory
    const answer = (status: "accepted" | "blocked") => (id: OfferId) =>
      Effect.flatMap(directory.shopOf({ _tag: "Offer", id }), (shop_id) =>
        shop_id === null ? Effect.fail(new OfferNotFound()) : run(answerOffer(shop_id, id, status))
      )
    return {
      /** The offers that a client sees, oldest first. */
      ofClient: Effect.fnUntraced(function* (id: ClientId) {
        if ((yield* directory.account(id)) === null) return yield* new ClientNotFound()
        return yield* directory.offers(id)
      }),
      /** The client takes the ticket as theirs; the shop knows them from now on. */
      accept: answer("accepted"),
      /** The client blocks the shop, for good. */
      block: answer("blocked")
    }
  })
}) {}
