import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import type { CallerId, ClientId, ShopId } from "../../src/domain/Identifier.js"
import {
  applyEntry,
  blankCard,
  cardView,
  LoyaltyCard,
  LoyaltyOff,
  LoyaltyProgram,
  NoReward,
  noProgram,
  rewardsAvailable,
  stampLimitKey,
  stampLimitOf
} from "../../src/domain/LoyaltyCard.js"

const blank = blankCard("s" as ShopId, "c" as ClientId)
const line = (kind: "stamps" | "ticket" | "redeem", stamps: number, created_at: number) => ({
  shop_id: blank.shop_id,
  client_id: blank.client_id,
  id: "l",
  kind,
  stamps,
  ticket_id: null,
  caller_id: null,
  created_at
})
const programOf = (stamps_required: number) => ({ ...noProgram, stamps_required })

describe("Specification, Clients and loyalty: the loyalty card", () => {
  it("a card that was never used has zeros, and updated_at null (Specification, Clients and loyalty)", () => {
    expect(cardView(blank, noProgram)).toEqual({
      balance: 0,
      lifetime: 0,
      rewards_available: 0,
      rewards_redeemed: 0,
      updated_at: null
    })
    expect(Schema.is(LoyaltyCard)(cardView(blank, noProgram))).toBe(true)
    expect(Schema.is(LoyaltyCard)({})).toBe(false)
  })

  it("added stamps raise balance and lifetime, and a redeemed reward lowers only the balance (Specification, Clients and loyalty)", () => {
    const card = applyEntry(applyEntry(blank, line("stamps", 7, 1000)), line("ticket", 2, 2000))
    expect(card).toMatchObject({ balance: 9, lifetime: 9, rewards_redeemed: 0, updated_at: 2000 })
    expect(applyEntry(card, line("redeem", -5, 3000))).toMatchObject({
      balance: 4,
      lifetime: 9,
      rewards_redeemed: 1,
      updated_at: 3000
    })
  })

  it("the available rewards are the balance divided by the cost of a reward, rounded down (Specification, Clients and loyalty)", () => {
    const card = { ...blank, balance: 14 }
    expect([1, 5, 7, 14, 15].map((cost) => rewardsAvailable(card, programOf(cost)))).toEqual([14, 2, 2, 1, 0])
  })

  it("a programme gives 0 to 1000 stamps a ticket, and a reward costs 1 to 1000 (Specification, Clients and loyalty)", () => {
    const isProgram = Schema.is(LoyaltyProgram)
    const asking = [-1, 0, 1, 1000, 1001, 1.5].map((stamps_required) => isProgram({ ...noProgram, stamps_required }))
    expect(asking).toEqual([false, false, true, true, false, false])
    const giving = [-1, 0, 1, 1000, 1001, 0.5].map((stamps_per_ticket) =>
      isProgram({ ...noProgram, stamps_per_ticket })
    )
    expect(giving).toEqual([false, true, true, true, false, false])
  })

  it("a new shop has no programme (Specification, Clients and loyalty)", () => {
    expect(noProgram).toEqual({
      active: false,
      name: null,
      stamps_required: 10,
      stamps_per_ticket: 1,
      reward_label: null
    })
  })

  it("the messages of refusals say what is wrong (Specification, Errors)", () => {
    expect(new LoyaltyOff()).toMatchObject({ _tag: "LoyaltyOff", message: "The shop's loyalty programme is off" })
    expect(new NoReward({ balance: 4, stamps_required: 5 })._tag).toBe("NoReward")
  })

  it("the stamps of a day are counted for each caller and client (Specification, Limits)", () => {
    const key = { caller_id: "k" as CallerId, client_id: "c" as ClientId }
    expect(stampLimitKey(key)).toBe("k c")
    expect(stampLimitOf(stampLimitKey(key))).toEqual(key)
  })

  it("the card's instant is written in ISO 8601 (Specification, Tickets)", () => {
    expect(cardView({ ...blank, updated_at: 1_772_442_000_000 }, noProgram).updated_at).toBe("2026-03-02T09:00:00.000Z")
  })
})
