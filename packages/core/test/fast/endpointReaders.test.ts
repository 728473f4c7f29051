import * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import { SchemaAST as AST, Either, Option, ParseResult, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { inputIssues } from "../../src/domain/InvalidInput.js"
import { makeTrim } from "../../src/domain/Text.js"
import { quickReader, UNSURE } from "../../src/fast/QuickReader.js"
import { compileRoutes, EmptyBody, fieldNameOf, type RawRequest } from "../../src/http/Endpoint.js"
import { WorkshopApi } from "../../src/http/WorkshopApi.js"

type Endpoint = HttpApiEndpoint.HttpApiEndpoint.AnyWithProps

/** Values for the fields. For every field, some of these values are valid and some are not. */
const POOL: ReadonlyArray<unknown> = [
  null,
  true,
  false,
  0,
  1,
  5,
  45_000,
  -1,
  1.5,
  1e13,
  [],
  {},
  "",
  " ",
  "0",
  "1",
  "50",
  "101",
  "true",
  "Zip",
  " Zip ",
  "a\u0000b",
  "\ud800",
  "x".repeat(121),
  "x".repeat(2001),
  "0197D1A0-0000-7000-8000-000000000001",
  "0197d1a0-0000-7000-8000-000000000001",
  "nobody",
  "+216 20 123 456",
  "+21620123456",
  "2031-11-24T17:00:00Z",
  "2031-02-30T17:00:00Z",
  "2031-11-24",
  "ready",
  "ready,workshop",
  "ready,lost",
  "repair",
  "prepare",
  "order-1",
  "CCCCCC",
  "K7M4QX",
  "https://example.com/hook",
  "en",
  "sms"
]

/** Generates valid and nearly valid inputs of a schema. */
const inputOf = (ast: AST.AST): fc.Arbitrary<unknown> => {
  switch (ast._tag) {
    case "Literal":
      return fc.oneof({ weight: 9, arbitrary: fc.constant(ast.literal) }, anyValue)
    case "Union":
      return fc.oneof(...ast.types.map(inputOf))
    case "TypeLiteral":
      return fieldsOf(ast)
    case "TupleType":
      return fc.array(inputOf((ast.rest[0] ?? ast.elements[0])!.type), { maxLength: 4 })
    case "Refinement":
    case "Transformation":
      return isComposed(ast.from) ? inputOf(ast.from) : leafOf(ast)
    default:
      return leafOf(ast)
  }
}

const anyValue = { weight: 1, arbitrary: fc.constantFrom(...POOL) }

const isComposed = (ast: AST.AST): boolean => {
  const encoded = AST.encodedAST(ast)
  return encoded._tag === "TypeLiteral" || encoded._tag === "TupleType" || encoded._tag === "Union"
}

const leafOf = (ast: AST.AST): fc.Arbitrary<unknown> => {
  const isValid = ParseResult.decodeUnknownEither(Schema.make(ast))
  const valid = POOL.filter((value) => Either.isRight(isValid(value)))
  return valid.length === 0
    ? anyValue.arbitrary
    : fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...valid) }, anyValue)
}

const fieldsOf = ({ propertySignatures }: AST.TypeLiteral): fc.Arbitrary<unknown> => {
  const fields = Object.fromEntries(propertySignatures.map(({ name, type }) => [String(name), inputOf(type)]))
  const required = propertySignatures.filter(({ isOptional }) => !isOptional).map(({ name }) => String(name))
  const complete = fc.record(fields, { requiredKeys: required })
  const withUnknown = fc
    .tuple(complete, fc.constantFrom("colour", "__proto__", ""))
    .map(([value, name]) => Object.defineProperty({ ...value }, name, { value: "red", enumerable: true }))
  return fc.oneof(
    { weight: 12, arbitrary: complete },
    { weight: 1, arbitrary: withUnknown },
    { weight: 1, arbitrary: fc.record(fields, { requiredKeys: [] }) },
    anyValue
  )
}

/** The parts of a request as the decoder of a route reads them, with their names in issues. */
const PARTS = [
  { name: "path", part: "path", schema: "pathSchema", isExact: false },
  { name: "urlParams", part: "query", schema: "urlParamsSchema", isExact: true },
  { name: "headers", part: "header", schema: "headersSchema", isExact: false },
  { name: "payload", part: "body", schema: "payloadSchema", isExact: true }
] as const

const partsOf = (endpoint: Endpoint) =>
  PARTS.flatMap(({ name, part, schema: key, isExact }) => {
    const isRefused = name === "urlParams" || (name === "payload" && endpoint.method !== "GET")
    const declared = Option.getOrUndefined(endpoint[key] as Option.Option<Schema.Schema<unknown>>)
    const schema = declared ?? (isRefused ? (EmptyBody as unknown as Schema.Schema<unknown>) : undefined)
    return schema === undefined ? [] : [{ name, part, schema, isExact }]
  })

/** Decodes a request by the schemas of its endpoint alone. */
const decodePlainly = (endpoint: Endpoint, raw: RawRequest) => {
  const request: Record<string, unknown> = {}
  const issues = partsOf(endpoint).flatMap(({ name, part, schema, isExact }) => {
    const decode = ParseResult.decodeUnknownEither(schema, {
      errors: "all",
      ...(isExact && { onExcessProperty: "error" })
    })
    const trim = makeTrim(schema.ast)
    const result = decode(trim === undefined ? raw[name] : trim(raw[name]))
    if (Either.isLeft(result))
      return inputIssues(result.left).map(({ field, message }) => ({
        in: part,
        field: fieldNameOf(part, field),
        message
      }))
    request[name] = result.right
    return []
  })
  return issues.length === 0 ? { right: request } : { left: issues }
}

const handlers = new Proxy({}, { get: () => new Proxy({}, { get: () => () => undefined }) }) as never
const routes = [...compileRoutes()(WorkshopApi, handlers).keys()]
const endpoints: Array<readonly [string, Endpoint]> = []
HttpApi.reflect(WorkshopApi, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint }) =>
    void endpoints.push([`${endpoint.method} ${endpoint.path}`, endpoint as unknown as Endpoint])
})

const RUNS = 300

describe("a route decodes a request as the schemas of its endpoint do (Specification, Errors)", () => {
  it.each(endpoints)("%s: same value or same issues", (_, endpoint) => {
    const route = routes.find(({ method, path }) => method === endpoint.method && path === endpoint.path)!
    const parts = partsOf(endpoint)
    const request = fc.record(Object.fromEntries(parts.map(({ name, schema }) => [name, inputOf(schema.ast)])))
    const outcomes = { valid: 0, invalid: 0 }
    fc.assert(
      fc.property(request, (raw) => {
        const decoded = route.decode(raw as unknown as RawRequest)
        const plainly = decodePlainly(endpoint, raw as unknown as RawRequest)
        outcomes["right" in plainly ? "valid" : "invalid"]++
        expect(Either.isRight(decoded) ? { right: decoded.right } : { left: decoded.left }).toStrictEqual(plainly)
      }),
      { seed: 1127, numRuns: RUNS }
    )
    expect(Math.min(outcomes.valid, outcomes.invalid)).toBeGreaterThan(RUNS / 20)
  })

  it.each(endpoints)(
    "%s: the quick reader of each part accepts what its schema accepts, and nothing else",
    (_, endpoint) => {
      for (const { name, schema, isExact } of partsOf(endpoint)) {
        const read = quickReader(schema, isExact)
        expect([name, read === undefined]).toEqual([name, false])
        const decode = ParseResult.decodeUnknownEither(schema, isExact ? { onExcessProperty: "error" } : {})
        let valid = 0
        fc.assert(
          fc.property(inputOf(schema.ast), (value) => {
            const plainly = decode(value)
            if (Either.isRight(plainly)) valid++
            expect(read?.(value)).toStrictEqual(Either.isRight(plainly) ? plainly.right : UNSURE)
          }),
          { seed: 1127, numRuns: RUNS }
        )
        expect([name, valid > RUNS / 20]).toEqual([name, true])
      }
    }
  )
})
