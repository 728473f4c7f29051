import type * as Named from "@workshop/client"
import { Either, Schema } from "effect"
import type { ClientNotFound } from "../domain/Client.js"
import type { CallerId, ClientId, ShopId } from "../domain/Identifier.js"
import { toIso } from "../domain/Instant.js"
import { defaultLimits, Limits, type LimitsByPolicy } from "../domain/Limits.js"
import { type LimitReached, takeUses } from "../domain/LimitWindow.js"
import { cardView, LoyaltyCard, LoyaltyOff, NoReward, rewardsAvailable } from "../domain/LoyaltyCard.js"
import { type Command, makeCommand } from "./Command.js"
import * as Load from "./Load.js"

/** The number of stamps to add in one call (Specification, Endpoints). */
export const StampCount = Schema.Int.pipe(
  Schema.between(Limits.stamps_per_call_min, Limits.stamps_per_call_max, {
    message: () => `must be a whole number from ${Limits.stamps_per_call_min} to ${Limits.stamps_per_call_max}`
  }),
  Schema.brand("StampCount")
)
/** A whole number from `Limits.stamps_per_call_min` to `Limits.stamps_per_call_max`. */
export type StampCount = typeof StampCount.Type

/** The card after stamps were added, and the number of rewards that they unlocked (Specification, Clients and loyalty). */
export const StampsGiven = Schema.Struct({
  card: LoyaltyCard,
  added: Schema.Int,
  rewards_unlocked: Schema.Int
}).annotations({
  identifier: "StampsGiven",
  description: "How many stamps were added, and the card afterwards"
})
/** The number of added stamps, and the card afterwards, in the form of the API's JSON. */
export interface StampsGiven extends Named.StampsGiven {}

/** The card after a reward was used, and the reward (Specification, Clients and loyalty). */
export const RewardRedeemed = Schema.Struct({
  card: LoyaltyCard,
  reward: Schema.Struct({ label: Schema.NullOr(Schema.String), redeemed_at: Schema.String })
}).annotations({ identifier: "RewardRedeemed", description: "The reward that was used, and the card afterwards" })
/** The redeemed reward, and the card afterwards, in the form of the API's JSON. */
export interface RewardRedeemed extends Named.RewardRedeemed {}

/**
 * Adds stamps to a client's card, all or none. The limit `stamps_per_day` bounds the stamps that a caller gives a
 * client. Stamps that tickets earn and stamps that are given without `bounds` do not count (Specification, Endpoints;
 * Clients and loyalty).
 */
export const giveStamps = (
  shop_id: ShopId,
  {
    client_id,
    caller_id,
    count,
    bounds = defaultLimits
  }: {
    readonly client_id: ClientId
    readonly caller_id: CallerId
    readonly count: StampCount
    readonly bounds?: Pick<LimitsByPolicy, "stamps_per_day"> | null
  }
): Command<StampsGiven, ClientNotFound | LoyaltyOff | LimitReached> => {
  const key = { caller_id, client_id }
  return makeCommand(
    shop_id,
    { seen: Load.client(client_id), given: Load.stampLimit(key) },
    (loaded, changes, moment) => {
      const { shop, seen, given } = loaded
      if (!shop.program.active) return Either.left(new LoyaltyOff())
      const taken = takeUses({ stamps_per_day: given }, ["stamps_per_day"], {
        bounds,
        now: moment.now,
        time_zone: shop.time_zone,
        n: count
      })
      if (Either.isLeft(taken)) return Either.left(taken.left)
      const card = changes.addLedgerEntry(seen.card, { kind: "stamps", stamps: count, ticket_id: null, caller_id })
      const row = taken.right.windows.stamps_per_day
      if (row !== undefined) changes.add({ _tag: "StampLimitPut", key, row })
      const rewards_unlocked = rewardsAvailable(card, shop.program) - rewardsAvailable(seen.card, shop.program)
      return changes.toDecision({ card: cardView(card, shop.program), added: count, rewards_unlocked })
    }
  )
}

/** Uses one reward, which spends its stamps (Specification, Endpoints; Clients and loyalty). */
export const redeemReward = (
  shop_id: ShopId,
  { client_id, caller_id }: { readonly client_id: ClientId; readonly caller_id: CallerId }
): Command<RewardRedeemed, ClientNotFound | LoyaltyOff | NoReward> =>
  makeCommand(shop_id, { seen: Load.client(client_id) }, (loaded, changes, moment) => {
    const { shop, seen } = loaded
    const { active, stamps_required, reward_label } = shop.program
    if (!active) return Either.left(new LoyaltyOff())
    if (rewardsAvailable(seen.card, shop.program) === 0) {
      return Either.left(new NoReward({ balance: seen.card.balance, stamps_required }))
    }
    const card = changes.addLedgerEntry(seen.card, {
      kind: "redeem",
      stamps: -stamps_required,
      ticket_id: null,
      caller_id
    })
    const reward = { label: reward_label, redeemed_at: toIso(moment.now) }
    return changes.toDecision({ card: cardView(card, shop.program), reward })
  })
