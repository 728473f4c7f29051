import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { answerOffer } from "../../src/decisions/clientLink.js"
import { giveStamps, redeemReward, StampCount } from "../../src/decisions/giveStamps.js"
import { changeShop } from "../../src/decisions/shopSettings.js"
import type { TimeZone } from "../../src/domain/CalendarDay.js"
import type { ClientId } from "../../src/domain/Identifier.js"
import { AMIRA, HOUR, KARIM, KEY, NOBODY, OTHER_KEY, PROGRAM, SHOP, START, TestShop } from "./fixtures.js"

const give = (count: number, { client_id = AMIRA.id, caller_id = KEY } = {}) =>
  giveStamps(SHOP, { client_id, caller_id, count: count as StampCount })
const redeem = (client_id: ClientId = AMIRA.id) => redeemReward(SHOP, { client_id, caller_id: KEY })

const shopWithAmira = (program = {}, time_zone = "Africa/Tunis") => {
  const shop = new TestShop({ program: { ...PROGRAM, ...program }, time_zone: time_zone as TimeZone })
  shop.meets(AMIRA)
  return shop
}

describe("Specification, Endpoints: POST /v1/clients/{id}/loyalty/stamps", () => {
  it("adding stamps returns the card, the number of stamps added and the rewards that they unlocked (Specification, Clients and loyalty)", () => {
    const shop = shopWithAmira()
    const updated_at = "2026-03-02T09:00:00.000Z"
    expect(shop.does(give(4))).toEqual({
      card: { balance: 4, lifetime: 4, rewards_available: 0, rewards_redeemed: 0, updated_at },
      added: 4,
      rewards_unlocked: 0
    })
    expect(shop.does(give(7))).toEqual({
      card: { balance: 11, lifetime: 11, rewards_available: 2, rewards_redeemed: 0, updated_at },
      added: 7,
      rewards_unlocked: 2
    })
    expect(shop.does(give(1)).rewards_unlocked).toBe(0)
  })

  it("adding stamps writes one line of the ledger with the caller, and raises no event (Specification, Clients and loyalty; Webhooks)", () => {
    const shop = shopWithAmira()
    shop.wait(HOUR).does(give(3))
    expect(shop.rows("LedgerAppended")).toMatchObject([
      { kind: "stamps", stamps: 3, client_id: AMIRA.id, caller_id: KEY, ticket_id: null, created_at: START + HOUR }
    ])
    expect(shop.events).toEqual([])
    expect(shop.last.limitStatuses).toEqual([])
  })

  it("one call adds 1 to 10 stamps (Specification, Limits)", () => {
    const accepts = (count: unknown) => Either.isRight(Schema.decodeUnknownEither(StampCount)(count))
    expect([0, 1, 10, 11, 1.5, "3", -1].map(accepts)).toEqual([false, true, true, false, false, false, false])
  })

  it("a client who is unknown, never met the shop or blocks it is not found, before any other refusal (Specification, Endpoints; Errors)", () => {
    const shop = shopWithAmira({ active: false })
    shop.create({ client_phone: KARIM.phone })
    shop.does(answerOffer(SHOP, shop.offer.id, "blocked"))
    for (const client_id of [NOBODY as ClientId, KARIM.id]) {
      expect(shop.refuses(give(1, { client_id }))._tag).toBe("ClientNotFound")
      expect(shop.refuses(redeem(client_id))._tag).toBe("ClientNotFound")
    }
  })

  it("adding and redeeming are refused while the programme is off, for every card (Specification, Endpoints)", () => {
    const shop = shopWithAmira()
    shop.does(give(10))
    shop.does(changeShop(SHOP, { program: { active: false } } as never))
    expect(shop.refuses(give(1))._tag).toBe("LoyaltyOff")
    expect(shop.refuses(redeem())._tag).toBe("LoyaltyOff")
    expect(shop.slice.cards.get(AMIRA.id)?.balance).toBe(10)
  })
})

describe("Specification, Limits: 20 stamps per client, day and key", () => {
  it("the twentieth stamp is added, and the twenty-first is refused (Specification, Limits)", () => {
    const shop = shopWithAmira()
    shop.does(give(10))
    shop.does(give(10))
    expect(shop.refuses(give(1))).toMatchObject({
      _tag: "LimitReached",
      limitStatuses: [
        { policy: "stamps_per_day", limit: 20, remaining: 0, resets_at: Date.parse("2026-03-02T23:00:00Z") }
      ]
    })
  })

  it("a request for more stamps than remain adds none, and a smaller number that fits is accepted afterwards (Specification, Clients and loyalty)", () => {
    const shop = shopWithAmira()
    shop.does(give(9))
    shop.does(give(9))
    expect(shop.refuses(give(3))._tag).toBe("LimitReached")
    expect(shop.slice.cards.get(AMIRA.id)?.balance).toBe(18)
    expect(shop.does(give(2)).card.balance).toBe(20)
  })

  it("another key has its own twenty stamps, and so has another client (Specification, Clients and loyalty)", () => {
    const shop = shopWithAmira()
    shop.meets(KARIM)
    for (let n = 0; n < 2; n++) {
      shop.does(give(10))
      shop.does(give(10, { caller_id: OTHER_KEY }))
      shop.does(give(10, { client_id: KARIM.id }))
    }
    expect(shop.slice.cards.get(AMIRA.id)?.balance).toBe(40)
    expect(shop.slice.cards.get(KARIM.id)?.balance).toBe(20)
    expect(shop.refuses(give(1, { caller_id: OTHER_KEY }))._tag).toBe("LimitReached")
  })

  it("the count of stamps begins again at the shop's own midnight (Specification, Clients and loyalty)", () => {
    for (const [zone, midnight] of [
      ["Africa/Tunis", "2026-03-02T23:00:00Z"],
      ["Pacific/Kiritimati", "2026-03-02T10:00:00Z"]
    ] as const) {
      const shop = shopWithAmira({}, zone)
      shop.does(give(10))
      shop.does(give(10))
      shop.now = Date.parse(midnight) - 1
      expect(shop.refuses(give(1))._tag).toBe("LimitReached")
      expect(shop.wait(1).does(give(10)).card.balance).toBe(30)
    }
  })

  it("stamps that tickets earn do not count towards the twenty (Specification, Clients and loyalty)", () => {
    const shop = shopWithAmira({ stamps_per_ticket: 15 })
    shop.moves(shop.create({ client_id: AMIRA.id }), "ready")
    shop.does(give(10))
    expect(shop.does(give(10)).card).toMatchObject({ balance: 35, lifetime: 35, rewards_available: 7 })
  })

  it("redeeming a reward does not give back stamps of the day (Specification, Clients and loyalty)", () => {
    const shop = shopWithAmira()
    shop.does(give(10))
    shop.does(give(10))
    shop.does(redeem())
    expect(shop.refuses(give(1))._tag).toBe("LimitReached")
  })
})

describe("Specification, Endpoints: POST /v1/clients/{id}/loyalty/redeem", () => {
  it("redeeming spends the cost of a reward and returns the card and the reward (Specification, Clients and loyalty)", () => {
    const shop = shopWithAmira()
    shop.does(give(7))
    expect(shop.wait(HOUR).does(redeem())).toEqual({
      card: {
        balance: 2,
        lifetime: 7,
        rewards_available: 0,
        rewards_redeemed: 1,
        updated_at: "2026-03-02T10:00:00.000Z"
      },
      reward: { label: "A free hem", redeemed_at: "2026-03-02T10:00:00.000Z" }
    })
    expect(shop.rows("LedgerAppended")).toMatchObject([{ kind: "redeem", stamps: -5, caller_id: KEY, ticket_id: null }])
  })

  it("rewards are redeemed one at a time, until none is left (Specification, Clients and loyalty)", () => {
    const shop = shopWithAmira()
    shop.does(give(10))
    expect(shop.does(redeem()).card).toMatchObject({ balance: 5, rewards_available: 1, rewards_redeemed: 1 })
    expect(shop.does(redeem()).card).toMatchObject({ balance: 0, rewards_available: 0, rewards_redeemed: 2 })
    expect(shop.refuses(redeem())).toMatchObject({ _tag: "NoReward", balance: 0, stamps_required: 5 })
  })

  it("a card that was never used, or lacks one stamp, has no reward (Specification, Clients and loyalty)", () => {
    const shop = shopWithAmira()
    expect(shop.refuses(redeem())).toMatchObject({ _tag: "NoReward", balance: 0 })
    shop.does(give(4))
    expect(shop.refuses(redeem())).toMatchObject({ _tag: "NoReward", balance: 4 })
    expect(shop.does(give(1))).toMatchObject({ rewards_unlocked: 1 })
    shop.does(redeem())
  })

  it("a reward costs the stamps that the programme currently requires, not those that it required when the stamps were given (Specification, Clients and loyalty)", () => {
    const shop = shopWithAmira()
    shop.does(give(10))
    shop.does(changeShop(SHOP, { program: { stamps_required: 8, reward_label: null } } as never))
    expect(shop.does(redeem())).toMatchObject({
      card: { balance: 2, lifetime: 10, rewards_available: 0 },
      reward: { label: null }
    })
  })
})
