import { describe, expect, it } from "vitest"
import type { ClientId, ShopId } from "../../src/domain/Identifier.js"
import { applyEntry, blankCard, cardView, noProgram, rewardsAvailable } from "../../src/domain/LoyaltyCard.js"

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
const costing = (stamps_required: number) => ({ ...noProgram, stamps_required })

describe("Specification, Clients and loyalty: the loyalty card", () => {
  it("a card never used is zeros with updated_at null (Specification, Clients and loyalty)", () => {
    expect(cardView(blank, noProgram)).toEqual({
      balance: 0,
      lifetime: 0,
      rewards_available: 0,
      rewards_redeemed: 0,
      updated_at: null
    })
  })

  it("stamps given raise balance and lifetime; a redeem lowers the balance alone (Specification, Clients and loyalty)", () => {
    const given = applyEntry(applyEntry(blank, line("stamps", 7, 1000)), line("ticket", 2, 2000))
    expect(given).toMatchObject({ balance: 9, lifetime: 9, rewards_redeemed: 0, updated_at: 2000 })
    expect(applyEntry(given, line("redeem", -5, 3000))).toMatchObject({
      balance: 4,
      lifetime: 9,
      rewards_redeemed: 1,
      updated_at: 3000
    })
  })

  it("rewards available are the balance divided by what a reward costs, rounded down (Specification, Clients and loyalty)", () => {
    const card = { ...blank, balance: 14 }
    expect([1, 5, 7, 14, 15].map((cost) => rewardsAvailable(card, costing(cost)))).toEqual([14, 2, 2, 1, 0])
  })

  it("its instant is answered in ISO 8601 (Specification, Tickets)", () => {
    expect(cardView({ ...blank, updated_at: 1_772_442_000_000 }, noProgram).updated_at).toBe("2026-03-02T09:00:00.000Z")
  })
})
