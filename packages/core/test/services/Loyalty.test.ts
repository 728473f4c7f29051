import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { Clients } from "../../src/services/Clients.js"
import { Loyalty } from "../../src/services/Loyalty.js"
import { Shops } from "../../src/services/Shops.js"
import { Tickets } from "../../src/services/Tickets.js"
import { ticketInput } from "../../src/testing/Fixtures.js"
import {
  callerOf,
  inWorkshop,
  key,
  openShop,
  refusalOf,
  regular,
  shopPatch,
  stamps,
  ticketId
} from "./WorkshopFixture.js"

describe("Specification, Endpoints: stamps", () => {
  it(
    "adding stamps returns the card, the number added, and the rewards that they unlocked",
    inWorkshop((clock) =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const id = yield* regular(caller)
        const loyalty = yield* Loyalty
        yield* loyalty.giveStamps(caller, id, stamps(9), key("a"))
        const { data, replayed } = yield* loyalty.giveStamps(caller, id, stamps(10), key("b"))
        const updated_at = new Date(clock.unsafeCurrentTimeMillis()).toISOString()
        const card = { balance: 19, lifetime: 19, rewards_available: 1, rewards_redeemed: 0, updated_at }
        expect([replayed, data]).toEqual([false, { card, added: 10, rewards_unlocked: 1 }])
      })
    )
  )

  it(
    "at most twenty stamps are added per client, calendar day of the shop, and key",
    inWorkshop((clock) =>
      Effect.gen(function* () {
        const caller = yield* openShop({ time_zone: "Asia/Kolkata" })
        const other = yield* callerOf(caller.shop_id)
        const id = yield* regular(caller)
        const second = yield* regular(caller, "+21620123457")
        const { giveStamps } = yield* Loyalty
        let n = 0
        const give = (count: number, by = caller, to = id) =>
          refusalOf(giveStamps(by, to, stamps(count), key(`${n++}`)))
        // Midnight in Kolkata is at 18:30 UTC.
        clock.set(Date.UTC(2026, 10, 20, 18, 29, 59, 999))
        expect([yield* give(10), yield* give(10), yield* give(1)]).toEqual([null, null, "LimitReached"])
        expect([yield* give(10, other), yield* give(10, caller, second)]).toEqual([null, null])
        clock.advance(1)
        expect([yield* give(10), yield* give(9), yield* give(2), yield* give(1)]).toEqual([
          null,
          null,
          "LimitReached",
          null
        ])
      })
    )
  )

  it(
    "stamps that tickets earn do not count towards the twenty",
    inWorkshop(() =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        yield* (yield* Shops).change(caller.shop_id, shopPatch({ program: { stamps_per_ticket: 15 } }))
        const client_id = yield* regular(caller)
        const tickets = yield* Tickets
        const loyalty = yield* Loyalty
        const { data } = yield* tickets.create(caller, ticketInput({ service: "Hem", client_id }))
        yield* tickets.changeStatus(caller, ticketId(data), "ready")
        for (const k of ["a", "b"]) yield* loyalty.giveStamps(caller, client_id, stamps(10), key(k))
        expect((yield* loyalty.read(caller, client_id)).card).toMatchObject({ balance: 35, rewards_available: 3 })
      })
    )
  )

  it(
    "a replay returns the first result, even after later changes, and adds no stamps",
    inWorkshop(() =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const id = yield* regular(caller)
        const loyalty = yield* Loyalty
        const first = yield* loyalty.giveStamps(caller, id, stamps(10), key("k"))
        yield* loyalty.giveStamps(caller, id, stamps(10), key("l"))
        yield* (yield* Shops).change(caller.shop_id, shopPatch({ program: { active: false } }))
        expect(yield* loyalty.giveStamps(caller, id, stamps(10), key("k"))).toEqual({
          data: first.data,
          replayed: true
        })
        expect(yield* refusalOf(loyalty.giveStamps(caller, id, stamps(9), key("k")))).toBe("IdempotencyKeyReused")
        expect((yield* loyalty.read(caller, id)).card.balance).toBe(20)
      })
    )
  )
})

describe("Specification, Endpoints: rewards, and the programme", () => {
  it(
    "redeeming uses one reward, and the same key with another operation or caller is another request",
    inWorkshop((clock) =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const other = yield* callerOf(caller.shop_id)
        const id = yield* regular(caller)
        const loyalty = yield* Loyalty
        for (const by of [caller, other]) yield* loyalty.giveStamps(by, id, stamps(10), key("k"))
        const { data } = yield* loyalty.redeem(caller, id, key("k"))
        const redeemed_at = new Date(clock.unsafeCurrentTimeMillis()).toISOString()
        expect(data.reward).toEqual({ label: "A hem", redeemed_at })
        expect(data.card).toMatchObject({ balance: 10, lifetime: 20, rewards_available: 1, rewards_redeemed: 1 })
        expect((yield* loyalty.redeem(caller, id, key("k"))).replayed).toBe(true)
        expect((yield* loyalty.redeem(other, id, key("k"))).replayed).toBe(false)
        expect(yield* refusalOf(loyalty.redeem(caller, id, key("m")))).toBe("NoReward")
      })
    )
  )

  it(
    "while the programme is off stamps and rewards are refused, and reading returns the card unchanged",
    inWorkshop(() =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const id = yield* regular(caller)
        const loyalty = yield* Loyalty
        yield* loyalty.giveStamps(caller, id, stamps(10), key("a"))
        yield* (yield* Shops).change(caller.shop_id, shopPatch({ program: { active: false } }))
        expect(yield* refusalOf(loyalty.giveStamps(caller, id, stamps(1), key("b")))).toBe("LoyaltyOff")
        expect(yield* refusalOf(loyalty.redeem(caller, id, key("b")))).toBe("LoyaltyOff")
        expect(yield* loyalty.read(caller, id)).toMatchObject({ program: { active: false }, card: { balance: 10 } })
        expect((yield* (yield* Clients).byId(caller, id)).loyalty).toBeNull()
      })
    )
  )

  it(
    "a card that was never used has zeros, with updated_at null",
    inWorkshop(() =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const id = yield* regular(caller)
        const blank = { balance: 0, lifetime: 0, rewards_available: 0, rewards_redeemed: 0, updated_at: null }
        expect((yield* (yield* Clients).byId(caller, id)).loyalty).toEqual(blank)
        expect((yield* (yield* Loyalty).read(caller, id)).card).toEqual(blank)
      })
    )
  )

  it(
    "a ticket earns stamps only once, even if it is reopened",
    inWorkshop(() =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const client_id = yield* regular(caller)
        const tickets = yield* Tickets
        const { data } = yield* tickets.create(caller, ticketInput({ service: "Hem", client_id }))
        for (const to of ["impossible", "collected", "workshop", "ready", "workshop", "ready", "collected"] as const) {
          yield* tickets.changeStatus(caller, ticketId(data), to)
        }
        expect((yield* (yield* Loyalty).read(caller, client_id)).card).toMatchObject({ balance: 1, lifetime: 1 })
      })
    )
  )
})
