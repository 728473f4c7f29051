import { Either, JSONSchema, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { CallerId, ClientId, EventId, isUuid, KeyId, OfferId, ShopId, TicketId } from "../../src/domain/Identifier.js"

const ID = "019a0b1c-2d3e-7f40-8a9b-c0d1e2f3a4b5"

describe("Specification, Tickets: ids are UUIDs", () => {
  it.each(Object.entries({ ShopId, TicketId, ClientId, KeyId, OfferId, EventId }))(
    "%s is read in either case and with spaces around it, and stored in lower case",
    (_, schema) => {
      const decode = Schema.decodeUnknownSync(schema as unknown as Schema.Schema<string, string>)
      for (const text of [ID, ID.toUpperCase(), ` ${ID}\n`]) expect(decode(text)).toBe(ID)
      expect(Schema.encodeSync(schema as unknown as Schema.Schema<string, string>)(ID)).toBe(ID)
      expect(() => decode("ticket 7")).toThrow("must be a UUID")
    }
  )

  it("the OpenAPI schema of an id has the format uuid", () => {
    expect(JSON.stringify(JSONSchema.make(Schema.typeSchema(TicketId)))).toContain('"format":"uuid"')
  })

  it.each([
    ["", false],
    [ID, true],
    [ID.toUpperCase(), false],
    [` ${ID}`, false],
    [`${ID} `, false],
    [`a${ID}`, false],
    [`${ID}a`, false],
    [ID.replaceAll("-", ""), false],
    [ID.replace("c", "g"), false],
    ["019a0b1-2d3e-7f40-8a9b-c0d1e2f3a4b5", false],
    ["019a0b1c-2d3-7f40-8a9b-c0d1e2f3a4b5", false],
    ["019a0b1c-2d3e-7f4-8a9b-c0d1e2f3a4b5", false],
    ["019a0b1c-2d3e-7f40-8a9-c0d1e2f3a4b5", false],
    ["019a0b1c-2d3e-7f40-8a9b-c0d1e2f3a4b", false]
  ])("the check whether %j is a stored id returns %s", (text, expected) => expect(isUuid(text)).toBe(expected))
})

describe("docs/embed.md: the id of a caller", () => {
  it("a caller's id is any text of 1 to 80 characters", () => {
    const accepts = (text: string) => Either.isRight(Schema.decodeUnknownEither(CallerId)(text))
    expect(["", "user-42", "x".repeat(80), "x".repeat(81)].map(accepts)).toEqual([false, true, true, false])
  })
})
