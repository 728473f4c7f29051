import { describe, expect, it } from "vitest"
import type { ShopId } from "../../src/domain/Identifier.js"
import {
  OfferClosed,
  OfferNotFound,
  type OfferRecord,
  type OfferStatus,
  visibleOffers
} from "../../src/domain/Offer.js"

const offer = (shop_id: string, status: OfferStatus, created_at = 0) => ({ shop_id, status, created_at }) as OfferRecord

describe("Specification, Clients and loyalty: the offers that a client sees", () => {
  it("a client sees no open offer of a shop that they block, and still sees answered ones", () => {
    const offers = [offer("a", "open"), offer("b", "open"), offer("b", "accepted"), offer("b", "blocked")]
    const visible = visibleOffers(offers, (shop_id: ShopId) => shop_id === ("b" as ShopId))
    expect(visible.map(({ shop_id, status }) => `${shop_id} ${status}`)).toEqual(["a open", "b accepted", "b blocked"])
  })

  it("a client sees the latest 200 offers of each shop, oldest first", () => {
    const offers = Array.from({ length: 201 }, (_, n) => offer("a", "open", n))
    const visible = visibleOffers(offers, () => false)
    expect([visible.length, visible[0]?.created_at, visible.at(-1)?.created_at]).toEqual([200, 1, 200])
  })

  it("the messages of refusals say what is wrong (Specification, Errors)", () => {
    expect(new OfferNotFound()).toMatchObject({ _tag: "OfferNotFound", message: "There is no offer with this id" })
    expect(new OfferClosed()).toMatchObject({ _tag: "OfferClosed", message: "The offer was already answered" })
  })
})
