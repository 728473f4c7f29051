import { Effect } from "effect"
import { withAuthor } from "../decisions/Command.js"
import { answerOffer } from "../decisions/clientLink.js"
import { ClientNotFound } from "../domain/Client.js"
import type { ClientId, OfferId } from "../domain/Identifier.js"
import { OfferNotFound } from "../domain/Offer.js"
import { clientAuthor } from "../domain/TicketChange.js"
import { Directory, Store } from "../ports/StorePorts.js"
import { makeCommandRunner } from "./CommandRunner.js"

/** Tickets offered to a phone number, and the answers of the account with that number (Specification, Endpoints; Tickets). */
export class Offers extends Effect.Service<Offers>()("@workshop/core/Offers", {
  accessors: true,
  effect: Effect.gen(function* () {
    const run = makeCommandRunner(yield* Store)
    const directory = yield* Directory
    const answer = (status: "accepted" | "blocked", id: OfferId, client_id?: ClientId) =>
      Effect.flatMap(directory.shopOf({ _tag: "Offer", id }), (shop_id) =>
        shop_id === null
          ? Effect.fail(new OfferNotFound())
          : run(withAuthor(clientAuthor(client_id ?? null), answerOffer(shop_id, id, status, client_id)))
      )
    return {
      /** The offers that a client sees, oldest first. */
      ofClient: Effect.fnUntraced(function* ofClient(id: ClientId) {
        if ((yield* directory.account(id)) === null) return yield* new ClientNotFound()
        return yield* directory.offers(id)
      }),
      /** The client accepts the offer; the shop knows them from now on. An offer to another number is not found. */
      accept: (client_id: ClientId, id: OfferId) => answer("accepted", id, client_id),
      /** The client blocks the shop permanently. An offer to another number is not found. */
      block: (client_id: ClientId, id: OfferId) => answer("blocked", id, client_id),
      /** Answers the offer for the account with its number, without checking the caller: for tests and the sandbox only. */
      answerForHolder: (id: OfferId, status: "accepted" | "blocked") => answer(status, id)
    }
  })
}) {}
