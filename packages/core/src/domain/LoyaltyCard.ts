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
/** A shop's rules for stamps and rewards, in the form of the API's JSON. */
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
  /** The shop that gives the stamps. */
  readonly shop_id: ShopId
  /** The client who has the card. A client has at most one card in a shop. */
  readonly client_id: ClientId
  /** The stamps that are not spent yet. */
  readonly balance: number
  /** All stamps ever given. A redeemed reward does not lower this number. */
  readonly lifetime: number
  /** The number of rewards that were redeemed. */
  readonly rewards_redeemed: number
  /** When the card last changed, in milliseconds since 1970; null for a card that was never used. */
  readonly updated_at: Instant | null
}

/**
 * One entry of the append-only ledger: stamps that were added, earned by a ticket, or spent on a reward (Specification, Clients and
 * loyalty).
 */
export interface LedgerEntry {
  /** The shop of the card. */
  readonly shop_id: ShopId
  /** A UUID. */
  readonly id: string
  /** The client of the card. */
  readonly client_id: ClientId
  /**
   * `stamps`: a caller or an import added them. `ticket`: a finished ticket earned them. `redeem`: a reward cost them.
   */
  readonly kind: "stamps" | "ticket" | "redeem"
  /** The number of stamps, positive if they were given, and negative if they were spent. */
  readonly stamps: number
  /** The ticket that earned the stamps; null for the other kinds. */
  readonly ticket_id: TicketId | null
  /** The caller who added the stamps or redeemed the reward; null for a ticket and for an import. */
  readonly caller_id: CallerId | null
  /** When the stamps were added or spent, in milliseconds since 1970. */
  readonly created_at: Instant
}

/** The card has no reward to redeem. */
export class NoReward extends Data.TaggedError("NoReward")<{
  readonly balance: number
  readonly stamps_required: number
}> {
  /** The problem, as a sentence for people, with the card's stamps and the reward's price. */
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
  /** The caller who adds the stamps: an API key, or a caller of the embedder. */
  readonly caller_id: CallerId
  /** The client whose card gets the stamps. */
  readonly client_id: ClientId
}

/** The key of a stamp count in a shop's state. */
export const stampLimitKey = (key: StampLimitKey): string => `${key.caller_id} ${key.client_id}`

/** The inverse of {@link stampLimitKey}. */
export const stampLimitOf = (key: string): StampLimitKey => {
  const [caller_id, client_id] = key.split(" ") as [StampLimitKey["caller_id"], StampLimitKey["client_id"]]
  return { caller_id, client_id }
}
