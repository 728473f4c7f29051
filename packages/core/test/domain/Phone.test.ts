import { Either, JSONSchema, ParseResult, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { internationalPhone, numberParts, Phone, PhoneInQuery } from "../../src/domain/Phone.js"

const read = Schema.decodeUnknownEither(Phone)
const readQuery = Schema.decodeUnknownEither(PhoneInQuery)

describe("a number in the national spelling of a country", () => {
  it.each([
    ["06 12 34 56 78", "FR", "+33612345678"],
    ["0612345678", "fr", "+33612345678"],
    ["20 123 456", "TN", "+21620123456"],
    ["(415) 555-2671", "US", "+14155552671"],
    ["06 1234 5678", "IT", "+390612345678"],
    ["+216 20 123 456", "FR", "+21620123456"],
    ["00216 20 123 456", "FR", "+21620123456"]
  ])("%j in %s is read as %s", (text, country, phone) => {
    expect(internationalPhone(text, country)).toBe(phone)
    expect(read(phone)).toEqual(Either.right(phone))
  })

  it.each(["", "0612", "06 12 34 56 78 ext. 5", "call me", "06 12 34 56 78;ext=5", "1".repeat(70_000), "+33"])(
    "case %# is not a number",
    (text) => {
      expect(internationalPhone(text, "FR")).toBeNull()
    }
  )

  it.each(["+3300000000000", "call 06 12 34 56 78", "06 12 34 56 78;isub=12345"])(
    "%s is not a number, although a part of it could be one",
    (text) => expect(internationalPhone(text, "FR")).toBeNull()
  )

  it("a number has at most 64 characters, without the spaces around it", () => {
    const spelled = (spaces: number) => `06${" ".repeat(spaces)}12345678`
    expect(internationalPhone(`  ${spelled(54)}  `, "FR")).toBe("+33612345678")
    expect(internationalPhone(spelled(55), "FR")).toBeNull()
  })

  it("a country that does not exist is refused by its name", () => {
    expect(() => internationalPhone("06 12 34 56 78", "France")).toThrow(
      new RangeError("There is no country France. Give the country's two-letter code, such as FR")
    )
  })
})

describe("phones (Specification, Tickets)", () => {
  it.each([
    ["+21620123456", "+21620123456"],
    ["  +216 20 123 456 ", "+21620123456"],
    ["+216-20-123-456", "+21620123456"],
    ["+216.20.123.456", "+21620123456"],
    ["+1 (415) 555-2671", "+14155552671"],
    ["+33 (0)1 42 68 53 00", "+33142685300"],
    ["+39 06 1234 5678", "+390612345678"],
    ["+80012345678", "+80012345678"]
  ])("%j in international format is stored as %s", (input, stored) => {
    expect(read(input)).toEqual(Either.right(stored))
  })

  it("a number of the right length is accepted, even outside the ranges that operators use now", () => {
    expect(read("+21610123456")).toEqual(Either.right("+21610123456"))
  })

  it.each([
    "",
    "+",
    "20123456",
    "0021620123456",
    "21620123456",
    " 21620123456",
    "++21620123456",
    "+216",
    "+2162012",
    "+2162012345678901",
    "+999123456789",
    "+15552671",
    "+21620123456 abc",
    "call +21620123456",
    "+1-800-FLOWERS",
    "+14155552671 ext. 5",
    "+14155552671x5",
    "+14155552671#5",
    "+21620123456;ext=3",
    "+20123456;phone-context=+216",
    "+21620123456;isub=12345",
    `+216${" ".repeat(53)}20123456`,
    "tel:+21620123456",
    "+21620123456\u0000",
    `+${"2".repeat(70_000)}`
  ])("a text that is not a number is refused with an example (case %#)", (input) => {
    const result = ParseResult.decodeUnknownEither(Phone)(input)
    expect(Either.isLeft(result) && ParseResult.ArrayFormatter.formatIssueSync(result.left)).toMatchObject([
      { message: "must be a phone number in international format, such as +21620123456" }
    ])
  })

  it("no stored number is longer than E.164's fifteen digits", () => {
    expect(Either.isLeft(read("+491234567890123456"))).toBe(true)
    expect(Either.isLeft(read("+4912345678901234"))).toBe(true)
    expect(read("+491234567890123")).toEqual(Either.right("+491234567890123"))
  })

  it("a number is accepted in at most 64 characters", () => {
    expect(read(`+216${" ".repeat(52)}20123456`)).toEqual(Either.right("+21620123456"))
  })

  it("a number has a calling code and the digits that are dialled within the country", () => {
    expect(numberParts("+21620123456" as Phone)).toEqual({ calling_code: "216", national: "20123456" })
    expect(numberParts("+14155552671" as Phone)).toEqual({ calling_code: "1", national: "4155552671" })
    expect(numberParts("+999123456789" as Phone)).toEqual({ calling_code: "", national: "999123456789" })
  })

  it("a stored number is read back unchanged", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\+[1-9][0-9 ().-]{5,18}$/), (input) => {
        const first = read(input)
        if (Either.isLeft(first)) return
        expect(first.right).toMatch(/^\+[1-9]\d{1,14}$/)
        expect(read(first.right)).toEqual(first)
      })
    )
  })

  it("the OpenAPI schema of a number is a string with an example", () => {
    expect(JSONSchema.make(Phone)).toMatchObject({ type: "string", examples: ["+21620123456"] })
  })
})

describe("phones in a query (Specification, Tickets)", () => {
  it.each(["+21620123456", " 21620123456", " 216 20 123 456", " +21620123456"])(
    "%j is read as +21620123456",
    (input) => {
      expect(readQuery(input)).toEqual(Either.right("+21620123456"))
    }
  )

  it.each(["21620123456", " ", " 20123456", "\t21620123456"])(
    "%j is refused, because only a leading space is read as a +",
    (input) => {
      expect(Either.isLeft(readQuery(input))).toBe(true)
    }
  )
})
