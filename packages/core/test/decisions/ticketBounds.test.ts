import { describe, expect, it } from "vitest"
import { changeStatus, recordNotified } from "../../src/decisions/changeStatus.js"
import { AMIRA, DAY, SHOP, TestShop } from "./fixtures.js"

const BOUNDS = { moves_per_day: 4, notifications_per_day: 2 }
const move = (id: string, to: "ready" | "workshop", bounds?: typeof BOUNDS) =>
  changeStatus(SHOP, id as never, to, bounds)
const notified = (id: string, bounds?: typeof BOUNDS) => recordNotified(SHOP, id as never, "sms", bounds)

/** The policies that refuse a command, with their limits. */
const refused = (shop: TestShop, command: ReturnType<typeof move> | ReturnType<typeof notified>) => {
  const refusal = shop.refuses(command)
  return refusal._tag === "LimitReached"
    ? refusal.limitStatuses.map(({ policy, limit }) => [policy, limit])
    : refusal._tag
}

describe("the daily limits of one ticket", () => {
  it("a ticket has at most 100 moves and 50 notifications a day by default", () => {
    const shop = new TestShop()
    const id = shop.create()
    for (let n = 0; n < 100; n++) shop.does(move(id, n % 2 === 0 ? "ready" : "workshop"))
    expect(refused(shop, move(id, "ready"))).toEqual([["moves_per_day", 100]])
    for (let n = 0; n < 50; n++) shop.does(notified(id))
    expect(refused(shop, notified(id))).toEqual([["notifications_per_day", 50]])
  })

  it("moves are counted for each ticket, and again from 0 after the shop's midnight", () => {
    const shop = new TestShop()
    const [id, other] = [shop.create(), shop.create()]
    for (const to of ["ready", "workshop", "ready", "workshop"] as const) shop.does(move(id, to, BOUNDS))
    expect(refused(shop, move(id, "ready", BOUNDS))).toEqual([["moves_per_day", 4]])
    shop.does(move(other, "ready", BOUNDS))
    expect(shop.wait(DAY).does(move(id, "ready", BOUNDS)).state).toBe("ready")
  })

  it("a move that would notify the client is refused after the day's last notification, and changes nothing", () => {
    const shop = new TestShop()
    const id = shop.create({ client_id: shop.meets(AMIRA) })
    shop.does(notified(id, BOUNDS))
    shop.does(move(id, "ready", BOUNDS))
    shop.does(move(id, "workshop", BOUNDS))
    const before = shop.record(id)
    expect(refused(shop, move(id, "ready", BOUNDS))).toEqual([["notifications_per_day", 2]])
    expect(refused(shop, notified(id, BOUNDS))).toEqual([["notifications_per_day", 2]])
    expect(shop.record(id)).toEqual(before)
  })

  it("a move to the current state, or one that the table refuses, is a conflict and does not count towards the limit", () => {
    const shop = new TestShop()
    const id = shop.create()
    for (const to of ["ready", "workshop", "ready", "workshop"] as const) shop.does(move(id, to, BOUNDS))
    expect(refused(shop, move(id, "workshop", BOUNDS))).toBe("SameState")
    expect(shop.record(id).moves_per_day?.used).toBe(4)
  })
})
