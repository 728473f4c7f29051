import { Either, JSONSchema, ParseResult, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { isCleanText, Text } from "../../src/domain/Text.js"

const read = ParseResult.decodeUnknownEither(Text(5))

const refusal = (input: unknown): string => {
  const result = read(input)
  return Either.isLeft(result) ? ParseResult.ArrayFormatter.formatIssueSync(result.left)[0]!.message : "accepted"
}

describe("texts (Specification, Tickets)", () => {
  it.each([
    ["  Zip ", "Zip"],
    ["\r\n\t Zip\u00a0\ufeff", "Zip"],
    ["a\nb\tc", "a\nb\tc"],
    ["12345", "12345"],
    ["     12345     ", "12345"],
    ["é👗ç😀ü", "é👗ç😀ü"],
    ["👗👗👗👗👗", "👗👗👗👗👗"],
    ["صيانة", "صيانة"]
  ])("%j is read as %j: surrounding white space goes, the rest stays", (input, text) => {
    expect(read(input)).toEqual(Either.right(text))
  })

  it.each(["", " ", "\n\t ", "123456", "👗👗👗👗👗👗", "x".repeat(100_000)])(
    "a text counts 1 to max code points once trimmed (case %#)",
    (input) => expect(refusal(input)).toBe("must be 1 to 5 characters")
  )

  it.each(["a\u0000b", "a\u0001b", "a\rb", "a\u001fb", "a\u007fb", "a\u0080b", "a\u009fb", "\u0085a"])(
    "control characters other than newline and tab are refused: %j",
    (input) => expect(refusal(input)).toBe("must not hold control characters other than newline and tab")
  )

  it.each(["a\ud83d", "\udc57b", "\udc57\ud83d"])("lone surrogates are refused: %j", (input) => {
    expect(refusal(input)).toBe("must be well-formed Unicode, without lone surrogates")
  })

  it.each([5, true, {}, []])("what is no string is refused: %j", (input) => {
    expect(refusal(input)).toBe("must be a string")
  })

  it("a kept text reads and writes back as itself", () => {
    const schema = Text(40)
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), (input) => {
        const first = Schema.decodeUnknownEither(schema)(input)
        if (Either.isLeft(first)) return
        expect(isCleanText(first.right)).toBe(true)
        expect([...first.right].length).toBeLessThanOrEqual(40)
        expect(Schema.decodeUnknownEither(schema)(first.right)).toEqual(first)
        expect(Schema.encodeSync(schema)(first.right)).toBe(first.right)
      })
    )
  })

  it("the OpenAPI schema has the type and the bounds, and may get a description", () => {
    expect(JSONSchema.make(Text(120))).toMatchObject({ type: "string", minLength: 1, maxLength: 120 })
    expect(JSONSchema.make(Text(120).annotations({ description: "The service" }))).toMatchObject({
      maxLength: 120,
      description: "The service"
    })
  })
})

describe("clean text (Specification, Tickets)", () => {
  it("is neither trimmed nor bounded", () => {
    expect(isCleanText("")).toBe(true)
    expect(isCleanText("  a\n\tb 👗 ")).toBe(true)
  })

  it("agrees with the list of control characters, written out", () => {
    for (let code = 0; code < 0x100; code++) {
      const control = (code < 0x20 && code !== 0x09 && code !== 0x0a) || (code >= 0x7f && code <= 0x9f)
      expect([code, isCleanText(`a${String.fromCharCode(code)}b`)]).toEqual([code, !control])
    }
  })

  it("agrees with the platform about well-formed Unicode", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0xd700, max: 0xe0ff }), { maxLength: 8 }), (units) => {
        const text = String.fromCharCode(...units)
        expect(isCleanText(text)).toBe(text.isWellFormed())
      })
    )
  })
})
