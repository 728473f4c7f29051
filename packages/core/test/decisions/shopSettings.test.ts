import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { changeShop, ShopPatch } from "../../src/decisions/shopSettings.js"
import { PROGRAM, SHOP, TestShop } from "./fixtures.js"

const patch = (fields: object) => changeShop(SHOP, fields as ShopPatch)

describe("Specification, Sandbox: PATCH /sandbox/shops/{id}", () => {
  it("a change of settings leaves all other settings unchanged (Specification, Sandbox)", () => {
    const shop = new TestShop()
    const before = shop.slice.shop
    shop.does(patch({ approved: false, forbidden_words: ["darn"] }))
    expect(shop.slice.shop).toEqual({ ...before, approved: false, forbidden_words: ["darn"] })
    shop.does(patch({ active: false, api_enabled: false, approved: true }))
    expect(shop.slice.shop).toMatchObject({ approved: true, active: false, api_enabled: false })
    expect(shop.events).toEqual([])
  })

  it("a programme is changed field by field (Specification, Sandbox)", () => {
    const shop = new TestShop({ program: PROGRAM })
    shop.does(patch({ program: { stamps_required: 8 } }))
    expect(shop.slice.shop.program).toEqual({ ...PROGRAM, stamps_required: 8 })
  })

  it("the given next number becomes the number of the next ticket (Specification, Sandbox)", () => {
    const shop = new TestShop()
    shop.does(patch({ next_number: 42 }))
    expect(shop.record(shop.create()).number).toBe(42)
    shop.does(patch({ approved: true }))
    expect(shop.record(shop.create()).number).toBe(43)
  })

  it("an empty change changes no setting (Specification, Sandbox)", () => {
    const shop = new TestShop()
    const before = shop.slice.shop
    shop.does(patch({}))
    expect(shop.slice.shop).toEqual(before)
  })

  it("null leaves a setting unchanged, except that the programme's name and label can be set to null (Specification, Errors; Sandbox)", () => {
    const shop = new TestShop({ program: PROGRAM, forbidden_words: ["darn"] })
    shop.does(patch({ next_number: 7 }))
    const before = shop.slice.shop
    const names = ["approved", "active", "api_enabled", "program", "next_number", "forbidden_words"]
    shop.does(patch(Schema.decodeUnknownSync(ShopPatch)(Object.fromEntries(names.map((name) => [name, null])))))
    expect(shop.slice.shop).toEqual(before)
    expect(shop.slice.head.next_number).toBe(7)
    const program = { active: null, name: null, stamps_required: null, stamps_per_ticket: null, reward_label: null }
    shop.does(patch(Schema.decodeUnknownSync(ShopPatch)({ program })))
    expect(shop.slice.shop.program).toEqual({ ...PROGRAM, name: null, reward_label: null })
  })

  it("the response has the shop and its head as they are after the change (Specification, Sandbox)", () => {
    const shop = new TestShop()
    const { shop: settings, head } = shop.does(patch({ next_number: 42, languages: ["de"] }))
    expect([settings.languages, head.next_number]).toEqual([["de"], 42])
    expect([settings, head.next_number]).toEqual([shop.slice.shop, shop.slice.head.next_number])
  })

  it("languages are stored once each, and no setting is stored as undefined (Specification, Errors)", () => {
    const read = Schema.decodeUnknownEither(ShopPatch)
    expect(Either.isRight(read({ languages: ["en", "fr"] }))).toBe(true)
    const refusal = read({ languages: ["en", "fr", "en"] })
    expect(Either.isLeft(refusal) && String(refusal.left)).toContain("must not contain a language twice")
    for (const name of ["name", "reward_label"])
      expect(Either.isLeft(read({ program: { [name]: undefined } }))).toBe(true)
  })

  it("ticket numbers are 1 to 9999; a reward costs at least one stamp, and a ticket may give none (Specification, Tickets; Clients and loyalty)", () => {
    const accepts = (fields: object) => Either.isRight(Schema.decodeUnknownEither(ShopPatch)(fields))
    expect([0, 1, 9999, 10_000].map((next_number) => accepts({ next_number }))).toEqual([false, true, true, false])
    expect([0, 1].map((stamps_required) => accepts({ program: { stamps_required } }))).toEqual([false, true])
    expect([-1, 0].map((stamps_per_ticket) => accepts({ program: { stamps_per_ticket } }))).toEqual([false, true])
  })
})
