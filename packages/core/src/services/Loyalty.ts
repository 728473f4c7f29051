import { Effect } from "effect"
import { giveStamps, redeemReward, type StampCount } from "../decisions/giveStamps.js"
import { type IdempotencyKey, makeIdempotent } from "../decisions/Idempotency.js"
import type { ClientId } from "../domain/Identifier.js"
import { cardView } from "../domain/LoyaltyCard.js"
import { PolicyLimits } from "../ports/PolicyLimits.js"
import { Reads, Store } from "../ports/StorePorts.js"
import { type Caller, callerLimits } from "./Caller.js"
import { refuseMissingClient } from "./Clients.js"
import { makeCommandRunner } from "./CommandRunner.js"

/** Loyalty cards: reading them, adding stamps, redeeming rewards (Specification, Endpoints; Clients and loyalty). */
export class Loyalty extends Effect.Service<Loyalty>()("@workshop/core/Loyalty", {
  accessors: true,
  effect: Effect.gen(function* () {
    const run = makeCommandRunner(yield* Store)
    const reads = yield* Reads
    const limits = yield* PolicyLimits
    return {
      /** The shop's programme and the client's current card, even while the programme is off. */
      read: ({ shop_id }: Caller, id: ClientId) =>
        Effect.flatMap(reads.client(shop_id, { id }), (client) =>
          client === null
            ? refuseMissingClient(reads, shop_id)
            : Effect.succeed({ program: client.shop.program, card: cardView(client.card, client.shop.program) })
        ),
      /** Adds stamps to the card; a repetition with the same key adds none. */
      giveStamps: (caller: Caller, client_id: ClientId, count: StampCount, key: IdempotencyKey) => {
        const { shop_id, caller_id } = caller
        const command = giveStamps(shop_id, { client_id, caller_id, count, bounds: callerLimits(caller, limits) })
        const request = { client_id, count }
        return run(makeIdempotent({ caller_id, operation: "loyalty.stamps", key, request }, command))
      },
      /** Redeems one reward; a repetition with the same key redeems none. */
      redeem: ({ shop_id, caller_id }: Caller, client_id: ClientId, key: IdempotencyKey) => {
        const command = redeemReward(shop_id, { client_id, caller_id })
        const request = { client_id }
        return run(makeIdempotent({ caller_id, operation: "loyalty.redeem", key, request }, command))
      }
    }
  })
}) {}
