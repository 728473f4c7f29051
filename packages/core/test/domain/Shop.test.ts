import { describe, expect, it } from "vitest"
import type { ShopId } from "../../src/domain/Identifier.js"
import {
  identifiersAhead_ms,
  latestOfShops,
  mergeShopsAhead,
  newShopHead,
  ShopNotFound
} from "../../src/domain/Shop.js"

const SHOP = "s" as ShopId
const rows = (count: number, shop_id = "a") =>
  Array.from({ length: count }, (_, n) => ({ shop_id: shop_id as ShopId, n }))
const places = (list: ReadonlyArray<{ readonly n: number }>) => list.map(({ n }) => n)

describe("a new shop's counters", () => {
  it("the counters of a new shop begin at 1, and nothing is used up", () => {
    const ended = { used: 0, resets_at: 0 }
    expect(newShopHead(SHOP)).toEqual({
      shop_id: SHOP,
      next_number: 1,
      change_seq: 1,
      event_seq: 1,
      last_recorded_at: 0,
      id_counter: 0,
      tickets_per_hour: ended,
      tickets_per_day: ended
    })
  })

  it("the identifiers of a shop are ahead of its clock by a millisecond for each 4096 made in one millisecond", () => {
    const ahead = (id_counter: number) => identifiersAhead_ms({ ...newShopHead(SHOP), id_counter })
    expect([0, 4095, 4096, 8191, 8192].map(ahead)).toEqual([0, 0, 1, 1, 2])
  })

  it("an unknown shop is refused with its own tag", () => expect(new ShopNotFound()._tag).toBe("ShopNotFound"))
})

describe("the latest rows that a client sees of shops with many", () => {
  it("a client sees the latest 200 rows of each shop, in the given order", () => {
    expect(places(latestOfShops(rows(200)))).toEqual(places(rows(200)))
    expect(places(latestOfShops(rows(203)))).toEqual(places(rows(203)).slice(3))
    const mixed = [...rows(201, "a"), ...rows(2, "b"), ...rows(1, "a")]
    expect(latestOfShops(mixed)).toEqual(mixed.slice(2))
  })

  it("rows that are not shown do not count towards the 200", () => {
    expect(places(latestOfShops(rows(402), ({ n }) => n % 2 === 0))).toEqual(
      Array.from({ length: 200 }, (_, n) => 2 * n + 2)
    )
  })

  it("a client sees rows of the first hundred shops by their ids", () => {
    const shops = Array.from({ length: 101 }, (_, n) => ({ shop_id: String(200 - n) as ShopId, n }))
    expect(places(latestOfShops(shops))).toEqual(places(shops).slice(1))
  })
})

describe("shops of several cells that are ahead of the clock", () => {
  it("shops that are ahead are counted together, and the first five are named by their ids", () => {
    const cell = (count: number, ...first: ReadonlyArray<string>) => ({ count, first: first as ReadonlyArray<ShopId> })
    expect(mergeShopsAhead([])).toEqual({ count: 0, first: [] })
    expect(mergeShopsAhead([cell(7, "b", "d", "f", "h", "j"), cell(3, "a", "c", "k")])).toEqual({
      count: 10,
      first: ["a", "b", "c", "d", "f"]
    })
  })
})
