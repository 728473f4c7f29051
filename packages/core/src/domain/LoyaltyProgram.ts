import { Data, Schema } from "effect"
import { Limits } from "./Limits.js"
import { Text } from "./Text.js"

const stamps = (least: number) =>
  Schema.Int.pipe(
    Schema.between(least, Limits.program_stamps_max, {
      message: () => `must be a whole number from ${least} to ${Limits.program_stamps_max}`
    })
  )

/** A shop's loyalty programme: how many stamps a ticket gives, and how many a reward costs (Specification, Clients and loyalty). */
export const LoyaltyProgram = Schema.Struct({
  active: Schema.Boolean,
  name: Schema.NullOr(Text(Limits.name_characters)),
  stamps_required: stamps(1),
  stamps_per_ticket: stamps(0),
  reward_label: Schema.NullOr(Text(Limits.name_characters))
}).annotations({ identifier: "LoyaltyProgram" })
export type LoyaltyProgram = typeof LoyaltyProgram.Type

/** The programme of a shop that has not set one up. */
export const noProgram: LoyaltyProgram = {
  active: false,
  name: null,
  stamps_required: 10,
  stamps_per_ticket: 1,
  reward_label: null
}

/** The shop's loyalty programme is off; reading still works (Specification, Clients and loyalty). */
export class LoyaltyOff extends Data.TaggedError("LoyaltyOff")<{}> {
  override get message() {
    return "The shop's loyalty programme is off"
  }
}
