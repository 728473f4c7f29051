import { describe, expect, it } from "vitest"
import { RefusalOf } from "../../src/domain/RefusalOf.js"

describe("a refusal without fields", () => {
  it("a refusal without fields is an error with a tag for programs and a message for people", () => {
    class ShopClosed extends RefusalOf("ShopClosed", "The shop is closed") {}
    const refusal = new ShopClosed()
    expect(refusal).toBeInstanceOf(Error)
    expect([refusal._tag, refusal.name, refusal.message]).toEqual(["ShopClosed", "ShopClosed", "The shop is closed"])
  })
})
