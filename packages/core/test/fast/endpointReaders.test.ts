import { SchemaAST as AST, Either, Option, ParseResult, type Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { quickReader, UNSURE } from "../../src/fast/QuickReader.js"
import { ClientsApi } from "../../src/http/ClientsApi.js"
import { TicketsApi } from "../../src/http/TicketsApi.js"
import { ShopApi } from "../../src/http/WorkshopApi.js"

/** Texts of which some are valid for each kind of field, and others nearly valid. */
const TEXTS = [
  ...["0197d1a0-0000-7000-8000-000000000001", "0197D1A0-0000-7000-8000-000000000001", "nobody", "A-7", " Zip ", ""],
  ...["+216 20 123 456", "20123456", "2031-11-24T17:00:00Z", "2031-02-30T17:00:00Z", "7K3M-Q9XD", "ready, workshop"],
  ...["50", "0", "9999", "1e3", "true", "x".repeat(300), "a\u0000b", "\ud800"]
]

/** Valid texts of fields that accept only few of {@link TEXTS}. */
const VALID: Readonly<Record<string, ReadonlyArray<string>>> = {
  phone: ["+216 20 123 456", "+21620123456"],
  client_phone: ["+216 20 123 456", "20123456"],
  client_id: ["0197D1A0-0000-7000-8000-000000000001"],
  promised_at: ["2031-11-24T17:00:00Z", "2031-11-24T17:00:00+01:00"],
  created_before: ["2031-11-24T17:00:00Z"],
  created_after: ["2031-11-24T17:00:00.000Z"],
  updated_since: ["2031-11-24T17:00:00Z"],
  state: ["ready", "ready, workshop"],
  limit: ["1", "50"],
  service: ["Zip", " Zip "],
  label: ["Coat"],
  type: ["repair"],
  tracking_code: ["7K3M-Q9XD"]
}

const text = fc.constantFrom(...TEXTS)
const wrongValue = fc.constantFrom<unknown>(null, 7, true, "", [], {}, "x", [null], { colour: "red" })

/** Values for the encoded side of a schema: mostly of the right type, with fields left out, added or wrong. */
const nearlyValid = (ast: AST.AST): fc.Arbitrary<unknown> => {
  switch (ast._tag) {
    case "StringKeyword":
    case "TemplateLiteral":
      return text
    case "NumberKeyword":
      return fc.constantFrom(0, 1, 10, 45_000, -1, 1.5, 1e13)
    case "BooleanKeyword":
      return fc.boolean()
    case "Literal":
      return fc.constant(ast.literal)
    case "Union":
      return fc.oneof(...ast.types.map(nearlyValid))
    case "TupleType":
      return fc.array(fc.oneof(...ast.rest.map(({ type }) => nearlyValid(type)), text), { maxLength: 3 })
    case "TypeLiteral":
      return fc
        .tuple(
          fc.record(
            Object.fromEntries(
              ast.propertySignatures.map(({ name, type }) => [
                String(name),
                fc.oneof(
                  { weight: 20, arbitrary: fc.constantFrom(...(VALID[String(name)] ?? TEXTS)) },
                  { weight: 3, arbitrary: nearlyValid(type) },
                  { weight: 1, arbitrary: wrongValue }
                )
              ])
            ),
            { requiredKeys: [] }
          ),
          fc.oneof({ weight: 9, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: fc.constant({ colour: "red" }) })
        )
        .map(([fields, extra]) => ({ ...fields, ...extra }))
    default:
      return wrongValue
  }
}

const PARTS = [
  ["path", "pathSchema", false],
  ["query", "urlParamsSchema", true],
  ["headers", "headersSchema", false],
  ["body", "payloadSchema", true]
] as const

interface Endpoint {
  readonly name: string
  readonly pathSchema: Option.Option<Schema.Schema<unknown>>
  readonly urlParamsSchema: Option.Option<Schema.Schema<unknown>>
  readonly headersSchema: Option.Option<Schema.Schema<unknown>>
  readonly payloadSchema: Option.Option<Schema.Schema<unknown>>
}

const endpoints = [ShopApi, ClientsApi, TicketsApi].flatMap(({ identifier, endpoints }) =>
  (Object.values(endpoints) as unknown as ReadonlyArray<Endpoint>).map((endpoint) => ({ identifier, endpoint }))
)

const readers = endpoints.flatMap(({ identifier, endpoint }) =>
  PARTS.flatMap(([part, field, isExact]) =>
    Option.match(endpoint[field], {
      onNone: () => [],
      onSome: (schema) => {
        const read = quickReader(schema, isExact)
        return read === undefined ? [] : [{ name: `${identifier} ${endpoint.name} ${part}`, schema, isExact, read }]
      }
    })
  )
)

describe("quick readers read the parts of all requests as their schemas do (Specification, Errors)", () => {
  it("most parts of the API's requests have a quick reader", () => expect(readers.length).toBeGreaterThan(15))

  it.each(readers)("the quick reader of $name never differs from the schema", ({ schema, isExact, read }) => {
    const bySchema = ParseResult.decodeUnknownEither(schema, {
      errors: "all",
      ...(isExact ? { onExcessProperty: "error" as const } : {})
    })
    let accepted = 0
    fc.assert(
      fc.property(nearlyValid(AST.encodedAST(schema.ast)), (value) => {
        const quick = read(value)
        if (quick === UNSURE) return
        accepted++
        expect(Either.getOrThrow(bySchema(value))).toEqual(quick)
      }),
      { seed: 1127, numRuns: 600 }
    )
    // Without an accepted value, the comparison above would prove nothing.
    expect(accepted).toBeGreaterThan(0)
  })
})
