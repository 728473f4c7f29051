import { type SchemaAST as AST, Either, ParseResult, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { InvalidInput, inputIssues, nameOfValue } from "../../src/domain/InvalidInput.js"

const issuesOf = <A, I>(schema: Schema.Schema<A, I>, input: unknown) =>
  Either.match(Schema.decodeUnknownEither(schema, { errors: "all", onExcessProperty: "error" })(input), {
    onLeft: ({ issue }) => inputIssues(issue).map(({ field, message }) => `${field}: ${message}`),
    onRight: () => []
  })

const State = Schema.Literal("ready", "impossible")
const Even = Schema.Number.pipe(Schema.filter((n) => n % 2 === 0, { message: () => "must be even" }))
const Small = Schema.Number.pipe(Schema.filter((n) => n < 5, { description: "small" }))
const Odd = Schema.Number.pipe(Schema.filter((n) => n % 2 === 1 || "must be odd", { description: "an odd number" }))
const Named = Schema.Number.pipe(Schema.filter((n) => n < 5, { description: "not an order" }))
const Marked = Schema.Boolean.annotations({ message: () => ({ message: "must be marked", override: true }) })
const UNCHANGED = { strict: true, decode: (n: number) => n, encode: (n: number) => n } as const
const halvingSchema = (refused: AST.AST | null) =>
  Schema.transformOrFail(Schema.Number, Schema.String, {
    strict: true,
    decode: (n, _, ast) =>
      n % 2 === 0 ? ParseResult.succeed(`${n / 2}`) : ParseResult.fail(new ParseResult.Type(refused ?? ast, n)),
    encode: (n) => ParseResult.succeed(2 * Number(n))
  })
const Doubled = halvingSchema(null)
const Halved = halvingSchema(Schema.Boolean.ast).annotations({ message: () => "must have a half" })
const Line = Schema.Struct({ label: Schema.String, price: Schema.NullOr(Schema.Int) })
const Input = Schema.Struct({
  text: Schema.String,
  count: Schema.Int,
  flag: Schema.Boolean,
  state: State,
  lines: Schema.Array(Line)
})
const valid = { text: "a", count: 1, flag: true, state: "ready", lines: [] }

describe("Specification, Errors: a 400 names each field and what to change", () => {
  it.each([
    [{ text: 1 }, "text: must be a string"],
    [{ count: "1" }, "count: must be a number"],
    [{ count: 1.5 }, "count: must be a whole number"],
    [{ flag: "true" }, "flag: must be true or false"],
    [{ state: "lost" }, "state: must be one of ready, impossible"],
    [{ state: null }, "state: must be one of ready, impossible"],
    [{ lines: "x" }, "lines: must be a list"],
    [{ lines: [1] }, "lines.0: must be an object"],
    [{ lines: [{ label: "a", price: 5.5 }] }, "lines.0.price: must be a whole number"],
    [{ lines: [{ label: "a", price: null }, { price: 1 }] }, "lines.1.label: is required"],
    [{ other: 1 }, "other: is unknown; correct its name or remove it"]
  ])("the input %j is refused with what to change", (invalid, issue) =>
    expect(issuesOf(Input, { ...valid, ...invalid })).toEqual([issue])
  )

  it("a Date in place of a text is refused with the advice to pass its toISOString()", () => {
    const issue = "text: must be a string, such as the toISOString() of the Date"
    expect(issuesOf(Input, { ...valid, text: new Date(0) })).toEqual([issue])
  })

  it("all problems are reported at once, in the order of the fields", () => {
    expect(issuesOf(Input, {})).toEqual(
      ["text", "count", "flag", "state", "lines"].map((name) => `${name}: is required`)
    )
    expect(issuesOf(Input, 5)).toEqual([": must be an object"])
    expect(issuesOf(Input, valid)).toEqual([])
  })

  it.each([
    ["the schema's own sentence", Even, 3, "must be even"],
    ["not for another type", Even, "3", "must be a number"],
    ["the rule of a filter that describes itself", Schema.NonEmptyString, "", "must be a non empty string"],
    ["a description that states no rule", Small, 7, "must be a number"],
    ["a filter that says nothing", Schema.Number.pipe(Schema.filter((n) => n < 5)), 7, "must be a number"],
    ["what a filter itself says", Odd, 2, "must be odd"],
    ["a description in the middle of a sentence", Named, 7, "must be a number"],
    ["a sentence that is no plain text", Marked, 7, "must be true or false"],
    ["one of two kinds of values", Schema.Union(Schema.Literal("a"), Schema.Boolean), 5, "must be a"],
    ["a transformation without a sentence", Doubled, 3, "must be a number"],
    ["what a transformation reads", Schema.NumberFromString, 5, "must be a string"],
    ["what a transformation makes", Schema.transform(Schema.Number, Even, UNCHANGED), 3, "must be even"],
    ["a transformation's own sentence", Halved, 3, "must have a half"],
    ["one value", Schema.Literal("a"), "b", "must be a"],
    ["one value or null", Schema.NullOr(Schema.Literal("a")), "b", "must be a"],
    ["a pattern", Schema.TemplateLiteral("a", Schema.Number), 5, "must be a string"],
    ["no value at all", Schema.Never, 5, "is not valid"],
    ["the first of several types", Schema.Union(Schema.String, Schema.Number), true, "must be a string"],
    ["the type beside null", Schema.NullOr(Schema.Boolean), 5, "must be true or false"],
    ["the type of a field of several", Schema.Struct({ a: Schema.Literal("a", 1) }), { a: 2 }, "must be one of a, 1"]
  ] as ReadonlyArray<readonly [string, Schema.Schema.AnyNoContext, unknown, string]>)(
    "the problem is reported at its field: %s",
    (_, schema, input, message) =>
      expect(issuesOf(schema, input).map((line) => line.replace(/^a?: /, ""))).toEqual([message])
  )

  it("a filter of several fields reports its problem at the field that it names", () => {
    const Both = Schema.Struct({ a: Schema.Number, b: Schema.Number }).pipe(
      Schema.filter(({ a, b }) => (a < b ? undefined : { path: ["b"], message: "must be more than a" }), {
        description: "a pair in order"
      })
    )
    expect(issuesOf(Both, { a: 2, b: 1 })).toEqual(["b: must be more than a"])
  })

  it("a value that matches none of several schemas gets the problems of the closest one", () => {
    const Tagged = Schema.Union(
      Schema.Struct({ kind: Schema.Literal("a"), n: Schema.Number }),
      Schema.Struct({ kind: Schema.Literal("b") })
    )
    expect(issuesOf(Tagged, 5)).toEqual([": must be an object"])
    expect(issuesOf(Tagged, { kind: "c" })).toEqual(["kind: must be one of a, b"])
    expect(issuesOf(Tagged, { kind: "a", n: "1" })).toEqual(["n: must be a number"])
    expect(issuesOf(Schema.NullOr(Tagged), 5)).toEqual([": must be an object"])
    expect(issuesOf(Schema.Union(Schema.Null, Schema.Boolean), 5)).toEqual([": must be true or false"])
    expect(issuesOf(Schema.Union(Schema.Null, Line), { label: "a", price: 1.5 })).toEqual([
      "price: must be a whole number"
    ])
    expect(issuesOf(Schema.Union(Schema.Number, Halved), "x")).toEqual([": must be a number"])
    const Choice = Schema.Struct({ at: Schema.NullOr(Schema.Union(Schema.String, Line)) })
    expect(issuesOf(Choice, { at: { label: "a", price: 1.5 } })).toEqual(["at.price: must be a whole number"])
    expect(issuesOf(Choice, { at: 5 })).toEqual(["at: must be a string"])
  })

  it("the message does not repeat a value that a decoder of Effect refuses", () => {
    const Params = Schema.Struct({ page: Schema.NumberFromString, count: Schema.BigInt, home: Schema.URL })
    expect(issuesOf(Params, { page: "1 into a", count: "x", home: "x" })).toEqual([
      "page: must be a number",
      "count: must be a bigint",
      "home: must be a URL"
    ])
    const Own = Schema.transformOrFail(Schema.String, Schema.String, {
      strict: true,
      decode: (text, _, ast) => ParseResult.fail(new ParseResult.Type(ast, text, "must fit into a box. Fold it")),
      encode: ParseResult.succeed
    })
    expect(issuesOf(Own, "x")).toEqual([": must fit into a box. Fold it"])
  })
})

describe("Specification, Errors: an input that breaks a rule of the shop's data", () => {
  it("an input that breaks a rule names its fields in one sentence", () => {
    const issues = [
      { field: "a", message: "is too long" },
      { field: "b.0", message: "is taken" }
    ]
    expect(new InvalidInput({ issues }).message).toBe("a is too long; b.0 is taken")
    expect(new InvalidInput({ issues })._tag).toBe("InvalidInput")
  })

  it("the name of a whole value is the identifier of its schema, or else its brand, in the style of fields", () => {
    const branded = Schema.String.pipe(Schema.brand("TicketId"))
    expect(nameOfValue(branded.ast)).toBe("ticket_id")
    expect(nameOfValue(branded.annotations({ identifier: "IdempotencyKey2Go" }).ast)).toBe("idempotency_key2go")
    expect(nameOfValue(Schema.Number.pipe(Schema.brand("ABCount")).ast)).toBe("abcount")
    expect(nameOfValue(Schema.Struct({}).ast)).toBeUndefined()
  })

  it("only a Date in place of a text gets the advice to call toISOString", () => {
    expect(issuesOf(Schema.Struct({ at: Schema.String }), { at: new Date(0) })).toEqual([
      "at: must be a string, such as the toISOString() of the Date"
    ])
    expect(issuesOf(Schema.Struct({ at: Schema.Number }), { at: new Date(0) })).toEqual(["at: must be a number"])
  })
})
