import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { createKey, KeyInput, revokeKey } from "../../src/decisions/shopSettings.js"
import { isActive } from "../../src/domain/ApiKey.js"
import { HOUR, NOBODY, SHOP, START, TestShop } from "./fixtures.js"

const TEXT = `wk_live_${"a".repeat(39)}WXYZ`
const create = (name = "Till", scopes: ReadonlyArray<string> = ["tickets:read"], text = TEXT) =>
  createKey(SHOP, { name, scopes } as unknown as KeyInput, text)

describe("Specification, Keys and scopes: API keys", () => {
  it("only a hash and the last four characters of a key are stored (Specification, Keys and scopes)", () => {
    const shop = new TestShop()
    const record = shop.does(create("Till", ["tickets:read", "clients:read"]))
    expect(record).toMatchObject({
      shop_id: SHOP,
      name: "Till",
      scopes: ["tickets:read", "clients:read"],
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      last_four: "WXYZ",
      created_at: START,
      revoked_at: null
    })
    expect(JSON.stringify(shop.last)).not.toContain(TEXT)
    expect(shop.slice.keys.get(record.id)).toEqual(record)
  })

  it("at most five keys are active: the sixth is refused (Specification, Limits)", () => {
    const shop = new TestShop()
    for (let n = 0; n < 5; n++) shop.does(create(`Till ${n}`))
    expect(shop.refuses(create())._tag).toBe("TooManyKeys")
    expect(shop.slice.keys.size).toBe(5)
  })

  it("revoked keys do not count towards the five (Specification, Keys and scopes)", () => {
    const shop = new TestShop()
    for (let n = 0; n < 12; n++) {
      const { id } = shop.does(create(`Till ${n}`))
      if (n < 7) shop.does(revokeKey(SHOP, id))
    }
    expect(shop.slice.keys.size).toBe(12)
    expect(shop.refuses(create())._tag).toBe("TooManyKeys")
  })

  it("a revoked key has the time of its revocation, which a second revocation does not change (Specification, Keys and scopes)", () => {
    const shop = new TestShop()
    const { id } = shop.does(create())
    expect(shop.wait(HOUR).does(revokeKey(SHOP, id)).revoked_at).toBe(START + HOUR)
    expect(shop.wait(HOUR).does(revokeKey(SHOP, id)).revoked_at).toBe(START + HOUR)
  })

  it("a key is active until the instant at which it expires, and then no longer counts towards the five", () => {
    const shop = new TestShop()
    const create = (expires_at: number | null) =>
      createKey(SHOP, { name: "Fair", scopes: ["tickets:read"], expires_at } as unknown as KeyInput, TEXT)
    const record = shop.does(create(START + HOUR))
    expect(record).toMatchObject({ expires_at: START + HOUR, last_used_at: null })
    expect([isActive(record, START + HOUR - 1), isActive(record, START + HOUR)]).toEqual([true, false])
    for (let n = 0; n < 4; n++) shop.does(create(null))
    expect(shop.refuses(create(null))._tag).toBe("TooManyKeys")
    expect(shop.wait(HOUR).does(create(null))).toMatchObject({ expires_at: null })
  })

  it("a key that would expire at once is refused with the name of the field", () => {
    const shop = new TestShop()
    const input = { name: "Fair", scopes: ["tickets:read"], expires_at: START } as unknown as KeyInput
    expect(shop.refuses(createKey(SHOP, input, TEXT))).toMatchObject({
      _tag: "InvalidInput",
      issues: [{ field: "expires_at", message: "must be in the future" }]
    })
  })

  it("an unknown key is not found (Specification, Keys and scopes)", () => {
    expect(new TestShop().refuses(revokeKey(SHOP, NOBODY as never))._tag).toBe("KeyNotFound")
  })

  it("a scope that is named twice is stored once (Specification, Keys and scopes)", () => {
    expect(new TestShop().does(create("Till", ["tickets:read", "loyalty:write", "tickets:read"])).scopes).toEqual([
      "tickets:read",
      "loyalty:write"
    ])
  })

  it("a key has a name and at least one of the four scopes (Specification, Keys and scopes)", () => {
    const accepts = (input: object) => Either.isRight(Schema.decodeUnknownEither(KeyInput)(input))
    expect(accepts({ name: "Till", scopes: ["tickets:write"] })).toBe(true)
    expect(accepts({ name: "Till", scopes: [] })).toBe(false)
    expect(accepts({ name: "Till", scopes: ["tickets:delete"] })).toBe(false)
    expect(accepts({ name: " ", scopes: ["tickets:write"] })).toBe(false)
  })

  it("creating and revoking keys raises no events (Specification, Webhooks)", () => {
    const shop = new TestShop()
    const { id } = shop.does(create())
    expect(shop.events).toEqual([])
    shop.does(revokeKey(SHOP, id))
    expect(shop.events).toEqual([])
  })
})
