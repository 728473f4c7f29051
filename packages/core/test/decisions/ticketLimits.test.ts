import { describe, expect, it } from "vitest"
import { createTicket } from "../../src/decisions/createTicket.js"
import type { TimeZone } from "../../src/domain/CalendarDay.js"
import { HOUR, MINUTE, SHOP, START, TestShop, ticketInput } from "./fixtures.js"

const create = createTicket(SHOP, ticketInput(), { via: "api", foundWords: [] })
const at = (iso: string) => Date.parse(iso)

/** A shop in a time zone at an instant, with this many tickets created. */
const shopAt = (time_zone: string, iso: string, tickets = 0) => {
  const shop = new TestShop({ time_zone: time_zone as TimeZone })
  shop.now = at(iso)
  for (let n = 0; n < tickets; n++) shop.create()
  return shop
}

/** Creates tickets, each hour as many as its limit allows, until the day has this many. */
const fillDay = (shop: TestShop, tickets: number) => {
  for (let n = 0; n < tickets; n++) {
    if (n > 0 && n % 150 === 0) shop.wait(HOUR)
    shop.create()
  }
}

const refusal = (shop: TestShop) => {
  const found = shop.refuses(create)
  if (found._tag !== "LimitReached") throw new Error(found._tag)
  return found
}

describe("Specification, Limits: 150 tickets per hour and shop", () => {
  it("the 150th ticket of an hour is created, and the 151st refused (Specification, Limits)", () => {
    const shop = shopAt("Africa/Tunis", "2026-03-02T09:00:00Z", 149)
    shop.does(create)
    expect(refusal(shop).limitStatuses).toEqual([
      { policy: "tickets_per_hour", limit: 150, remaining: 0, resets_at: START + HOUR }
    ])
  })

  it("tickets of the app and of the API count together (Specification, Limits)", () => {
    const shop = shopAt("Africa/Tunis", "2026-03-02T09:00:00Z", 100)
    for (let n = 0; n < 50; n++) shop.create({}, "app")
    expect(refusal(shop).decisive.policy).toBe("tickets_per_hour")
    expect(shop.refuses(createTicket(SHOP, ticketInput(), { via: "app", foundWords: [] }))._tag).toBe("LimitReached")
  })

  it("the hour is a fixed window from the first use, and neither a clock hour nor a sliding window (Specification, Limits)", () => {
    const shop = shopAt("Africa/Tunis", "2026-03-02T09:25:00Z", 1)
    shop.wait(50 * MINUTE)
    for (let n = 0; n < 149; n++) shop.create()
    shop.now = at("2026-03-02T10:24:59.999Z")
    expect(refusal(shop).decisive.resets_at).toBe(at("2026-03-02T10:25:00Z"))
    shop.wait(1).does(create)
    expect(shop.slice.head.tickets_per_hour).toEqual({ used: 1, resets_at: at("2026-03-02T11:25:00Z") })
  })

  it("refused creates do not count towards the limits (Specification, Limits)", () => {
    const shop = shopAt("Africa/Tunis", "2026-03-02T09:00:00Z", 150)
    for (let n = 0; n < 5; n++) refusal(shop)
    expect(shop.slice.head.tickets_per_hour.used).toBe(150)
    expect(shop.slice.head.tickets_per_day.used).toBe(150)
  })

  it("a created ticket returns the remaining uses of both limits (Specification, Limits)", () => {
    const shop = shopAt("Africa/Tunis", "2026-03-02T09:00:00Z")
    shop.does(create)
    expect(shop.last.limitStatuses).toEqual([
      { policy: "tickets_per_hour", limit: 150, remaining: 149, resets_at: at("2026-03-02T10:00:00Z") },
      { policy: "tickets_per_day", limit: 600, remaining: 599, resets_at: at("2026-03-02T23:00:00Z") }
    ])
  })
})

describe("Specification, Limits: 600 tickets per day and shop", () => {
  it("the 600th ticket of a day is created, and the 601st is refused until the shop's midnight (Specification, Limits)", () => {
    const shop = shopAt("Africa/Tunis", "2026-03-02T09:00:00Z")
    fillDay(shop, 600)
    shop.wait(HOUR)
    expect(refusal(shop).limitStatuses).toEqual([
      { policy: "tickets_per_day", limit: 600, remaining: 0, resets_at: at("2026-03-02T23:00:00Z") }
    ])
    shop.now = at("2026-03-02T22:59:59.999Z")
    refusal(shop)
    shop.wait(1).does(create)
    expect(shop.slice.head.tickets_per_day).toEqual({ used: 1, resets_at: at("2026-03-03T23:00:00Z") })
  })

  it("if both limits are used up, the refusal names both and has the longer reset (Specification, Limits)", () => {
    const shop = shopAt("Africa/Tunis", "2026-03-02T09:00:00Z")
    fillDay(shop, 600)
    expect(refusal(shop).limitStatuses.map(({ policy }) => policy)).toEqual(["tickets_per_hour", "tickets_per_day"])
    expect(refusal(shop).decisive).toMatchObject({ policy: "tickets_per_day", resets_at: at("2026-03-02T23:00:00Z") })
  })

  it("the hour has the longer reset near midnight (Specification, Limits)", () => {
    const shop = shopAt("Africa/Tunis", "2026-03-02T19:40:00Z")
    fillDay(shop, 600)
    expect(shop.now).toBe(at("2026-03-02T22:40:00Z"))
    expect(refusal(shop).decisive).toMatchObject({ policy: "tickets_per_hour", resets_at: at("2026-03-02T23:40:00Z") })
  })

  const DAYS = [
    ["Africa/Tunis", "2026-03-02T22:59:00Z", "2026-03-02T23:00:00Z", "an hour ahead of UTC"],
    ["Pacific/Kiritimati", "2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z", "fourteen hours ahead of UTC"],
    ["Pacific/Pago_Pago", "2026-03-02T09:00:00Z", "2026-03-02T11:00:00Z", "eleven hours behind UTC"],
    ["Asia/Kathmandu", "2026-03-02T09:00:00Z", "2026-03-02T18:15:00Z", "five hours and three quarters ahead"],
    ["Europe/Paris", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", "on its day of 23 hours"],
    ["Europe/Paris", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z", "on its day of 25 hours"]
  ] as const
  for (const [zone, now, midnight, why] of DAYS) {
    it(`the limit of a day counts by the shop's own calendar day: ${zone}, ${why} (Specification, Limits)`, () => {
      const shop = shopAt(zone, now, 1)
      expect(shop.slice.head.tickets_per_day).toEqual({ used: 1, resets_at: at(midnight) })
      shop.now = at(midnight) - 1
      shop.create()
      expect(shop.slice.head.tickets_per_day.used).toBe(2)
      shop.wait(1).create()
      expect(shop.slice.head.tickets_per_day.used).toBe(1)
    })
  }
})
