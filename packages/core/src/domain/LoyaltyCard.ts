import type * as Named from "@workshop/client"
import { Data, Schema } from "effect"
import type { CallerId, ClientId, ShopId, TicketId } from "./Identifier.js"
import { type Instant, toIsoOrNull } from "./Instant.js"
import { Limits } from "./Limits.js"
import { RefusalOf } from "./RefusalOf.js"
import { Text } from "./Text.js"

const StampsFrom = (min: number) =>
  Schema.Int.pipe(
    Schema.between(min, Limits.program_stamps_max, {
      message: () => `must be a whole number from ${min} to ${Limits.program_stamps_max}`
    })
  )

/** A shop's loyalty programme: how many stamps a ticket gives, and how many a reward costs (Specification, Clients and loyalty). */
export const LoyaltyProgram = Schema.Struct({
  active: Schema.Boolean,
  name: Schema.NullOr(Text(Limits.name_characters)),
  stamps_required: StampsFrom(1),
  stamps_per_ticket: StampsFrom(0),
  reward_label: Schema.NullOr(Text(Limits.name_characters))
}).annotations({ identifier: "LoyaltyProgram", description: "A shop's rules for stamps and rewards" })
export interface LoyaltyProgram extends Named.LoyaltyProgram {}

/** The default programme of a new shop. */
export const noProgram: LoyaltyProgram = {
  active: false,
  name: null,
  stamps_required: 10,
  stamps_per_ticket: 1,
  reward_label: null
}

/** The shop's loyalty programme is off; cards can still be read (Specification, Clients and loyalty). */
export class LoyaltyOff extends RefusalOf("LoyaltyOff", "The shop's loyalty programme is off") {}

/** A client's card in a shop (Specification, Resources). */
export const LoyaltyCard = Schema.Struct({
  balance: Schema.Int.annotations({ description: "Stamps not yet spent" }),
  lifetime: Schema.Int.annotations({ description: "All stamps ever given; this number never decreases" }),
  rewards_available: Schema.Int,
  rewards_redeemed: Schema.Int,
  updated_at: Schema.NullOr(Schema.String)
}).annotations({ identifier: "LoyaltyCard", description: "A client's stamps and rewards at one shop" })
export interface LoyaltyCard extends Named.LoyaltyCard {}

/** A card as it is stored: always the sum of the ledger's entries. */
export interface CardRecord {
  readonly shop_id: ShopId
  readonly client_id: ClientId
  readonly balance: number
  readonly lifetime: number
  readonly rewards_redeemed: number
  readonly updated_at: Instant | null
}

/**
 * One entry of the append-only ledger: stamps that were added, earned by a ticket, or spent on a reward (Specification, Clients and
 * loyalty).
 */
export interface LedgerEntry {
  readonly shop_id: ShopId
  readonly id: string
  readonly client_id: ClientId
  readonly kind: "stamps" | "ticket" | "redeem"
  /** The number of stamps, positive if they were given, and negative if they were spent. */
  readonly stamps: number
  readonly ticket_id: TicketId | null
  readonly caller_id: CallerId | null
  readonly created_at: Instant
}

/** The card has no reward to redeem. */
export class NoReward extends Data.TaggedError("NoReward")<{
  readonly balance: number
  readonly stamps_required: number
}> {
  override get message() {
    return `A reward costs ${this.stamps_required} stamps, but the card has only ${this.balance}`
  }
}

/** The card of a client who never used it (Specification, Clients and loyalty). */
export const blankCard = (shop_id: ShopId, client_id: ClientId): CardRecord => ({
  shop_id,
  client_id,
  balance: 0,
  lifetime: 0,
  rewards_redeemed: 0,
  updated_at: null
})

/** The card after one more entry of the ledger. */
export const applyEntry = (card: CardRecord, entry: LedgerEntry): CardRecord => ({
  ...card,
  balance: card.balance + entry.stamps,
  lifetime: card.lifetime + Math.max(0, entry.stamps),
  rewards_redeemed: card.rewards_redeemed + (entry.kind === "redeem" ? 1 : 0),
  updated_at: entry.created_at
})

/** How many rewards the card's stamps would buy now. */
export const rewardsAvailable = (card: CardRecord, program: LoyaltyProgram): number =>
  Math.floor(card.balance / program.stamps_required)

/** The card, as responses contain it. */
export const cardView = (card: CardRecord, program: LoyaltyProgram): LoyaltyCard => ({
  balance: card.balance,
  lifetime: card.lifetime,
  rewards_available: rewardsAvailable(card, program),
  rewards_redeemed: card.rewards_redeemed,
  updated_at: toIsoOrNull(card.updated_at)
})

/** The key of a stamp limit: a client and the caller who adds the stamps (Specification, Limits). */
export interface StampLimitKey {
  readonly caller_id: CallerId
  readonly client_id: ClientId
}

/** The key of a stamp count in a shop's state. */
export const stampLimitKey = (key: StampLimitKey): string => `${key.caller_id} ${key.client_id}`

/** The inverse of {@link stampLimitKey}. */
export const stampLimitOf = (key: string): StampLimitKey => {
  const [caller_id, client_id] = key.split(" ") as [StampLimitKey["caller_id"], StampLimitKey["client_id"]]
  return { caller_id, client_id }
}
