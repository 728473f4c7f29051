import { Either, JSONSchema, ParseResult, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { anyCharacter } from "../../../../test/anyCharacter.js"
import { Limits } from "../../src/domain/Limits.js"
import { isCleanText, makeTrim, optional, Text } from "../../src/domain/Text.js"

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
  ])("%j is read as %j, without the white space around it", (input, text) => {
    expect(read(input)).toEqual(Either.right(text))
  })

  it.each(["", " ", "\n\t ", "123456", "👗👗👗👗👗👗", "x".repeat(100_000)])(
    "a trimmed text has 1 to max code points (case %#)",
    (input) => expect(refusal(input)).toBe("must be 1 to 5 characters")
  )

  it.each(["a\u0000b", "a\u0001b", "a\rb", "a\u001fb", "a\u007fb", "a\u0080b", "a\u009fb", "\u0085a"])(
    "control characters other than newline and tab are refused: %j",
    (input) => expect(refusal(input)).toBe("must not contain control characters other than newline and tab")
  )

  it.each(["a\ud83d", "\udc57b", "\udc57\ud83d"])("lone surrogates are refused: %j", (input) => {
    expect(refusal(input)).toBe("must be well-formed Unicode, without lone surrogates")
  })

  it.each([5, true, {}, []])("a value that is not a string is refused: %j", (input) => {
    expect(refusal(input)).toBe("must be a string")
  })

  it("a stored text is read and written back unchanged", () => {
    const schema = Text(40)
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 60 }), (input) => {
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
  it("isCleanText accepts an empty text, and surrounding white space", () => {
    expect(isCleanText("")).toBe(true)
    expect(isCleanText("  a\n\tb 👗 ")).toBe(true)
  })

  it("isCleanText agrees with a written-out list of the control characters", () => {
    for (let code = 0; code < 0x100; code++) {
      const control = (code < 0x20 && code !== 0x09 && code !== 0x0a) || (code >= 0x7f && code <= 0x9f)
      expect([code, isCleanText(`a${String.fromCharCode(code)}b`)]).toEqual([code, !control])
    }
  })

  it("isCleanText agrees with the platform about well-formed Unicode", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0xd700, max: 0xe0ff }), { maxLength: 8 }), (units) => {
        const text = String.fromCharCode(...units)
        expect(isCleanText(text)).toBe(text.isWellFormed())
      })
    )
  })
})

describe("an input is truncated before it is read (Specification, Errors)", () => {
  const Entry = Schema.Struct({ label: Schema.String })
  const Few = Schema.Array(Entry).pipe(Schema.maxItems(2))
  const Input = Schema.Struct({ name: Schema.String, few: Few, any: Schema.Array(Schema.String) })
  const cut = (schema: Schema.Schema.AnyNoContext, value: unknown) => {
    const trim = makeTrim(schema.ast)
    return trim === undefined ? "nothing to cut" : trim(value)
  }
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`x${i}`, i]))

  it("a list is cut to one entry more than its maximum", () => {
    expect(cut(Few, [1, 2, 3])).toEqual([1, 2, 3])
    expect(cut(Few, [1, 2, 3, 4])).toEqual([1, 2, 3])
    expect(cut(Few.pipe(Schema.maxItems(1)), [1, 2, 3])).toEqual([1, 2])
    expect(cut(Schema.Array(Schema.String).pipe(Schema.maxItems(1), Schema.maxItems(2)), [1, 2, 3])).toEqual([1, 2])
    expect(cut(Schema.Array(Schema.String), [1, 2, 3])).toEqual([1, 2, 3])
  })

  it("an object is cut to its known fields, and one unknown field more than an error lists", () => {
    const truncated = cut(Entry, { label: "a", ...many(Limits.issues_max + 9) }) as object
    expect(Object.keys(truncated)).toHaveLength(Limits.issues_max + 2)
    expect(truncated).toMatchObject({ label: "a", x0: 0 })
    const all = { ...many(Limits.issues_max + 9), label: "a" }
    expect(Object.keys(cut(Entry, all) as object)).toHaveLength(Limits.issues_max + 2)
    expect(cut(Entry, all)).toHaveProperty("label", "a")
  })

  it("lists and objects within others are cut too, with several limits on one list", () => {
    const value = { name: "n", few: [{ label: "a", ...many(60) }, { label: "b" }, {}, {}], any: ["a"] }
    const truncated = cut(Input, value) as { few: ReadonlyArray<object> }
    expect(truncated).toMatchObject({ name: "n", any: ["a"] })
    expect(truncated.few).toHaveLength(3)
    expect(Object.keys(truncated.few[0]!)).toHaveLength(Limits.issues_max + 2)
    const nullable = Schema.Struct({ few: optional(Few) })
    expect((cut(nullable, { few: [1, 2, 3, 4] }) as typeof truncated).few).toEqual([1, 2, 3])
    expect(cut(nullable, { few: null })).toEqual({ few: null })
    const read = Schema.transform(Few, Schema.Any, { strict: true, decode: (a) => a, encode: () => [] })
    expect(cut(read, [1, 2, 3, 4])).toEqual([1, 2, 3])
    expect(cut(Schema.Union(Schema.String, Few), [1, 2, 3, 4])).toEqual([1, 2, 3])
    expect(cut(Schema.Array(Few), [[1, 2, 3, 4]])).toEqual([[1, 2, 3]])
    expect(cut(Schema.Tuple(Few), [[1, 2, 3, 4]])).toEqual([[1, 2, 3, 4]])
  })

  it("a value of another type stays unchanged", () => {
    const date = new Date(0)
    for (const value of [null, undefined, 5, "text", date, () => 0, [1]]) expect(cut(Entry, value)).toBe(value)
    const bare = Object.assign(Object.create(null), { label: "a", ...many(60) })
    expect(Object.keys(cut(Entry, bare) as object)).toHaveLength(Limits.issues_max + 2)
    for (const value of [null, 5, "text", { length: 9 }]) expect(cut(Few, value)).toBe(value)
    expect(cut(Schema.String, "text")).toBe("nothing to cut")
    expect(cut(Schema.Union(Schema.String, Schema.Number), "text")).toBe("nothing to cut")
  })

  it("a field called __proto__ is retained as a field, and does not replace the prototype", () => {
    const truncated = cut(Entry, JSON.parse('{"__proto__":{"label":"b"},"label":"a"}')) as object
    expect(Object.keys(truncated)).toEqual(["__proto__", "label"])
  })
})
