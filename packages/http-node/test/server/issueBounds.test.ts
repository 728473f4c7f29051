import { HttpApi as Api, type HttpApi } from "@effect/platform"
import { WorkshopApi } from "@workshop/core/http"
import { SandboxApi } from "@workshop/http-node/sandbox"
import { SchemaAST as AST, Option } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Running, start } from "./startServer.js"

let server: Running
beforeAll(async () => {
  server = await start()
})
afterAll(() => server.stop())

interface Issues {
  readonly issues: ReadonlyArray<{ readonly in: string; readonly field: string; readonly message: string }>
  readonly has_more?: boolean
}

/** Sends a request that must be refused with a short 400, and returns its details. */
const refused = async (line: string, body = "") => {
  const headers = [server.key, "Content-Type: application/json", "Idempotency-Key: k"]
  const { status, json, text } = await (await server.client()).request(line, headers, body).nextResponse()
  expect(status).toBe(400)
  expect(text.length).toBeLessThan(20_000)
  return json.error?.details as unknown as Issues
}

const create = (body: unknown) => refused("POST /v1/tickets", JSON.stringify(body))

const named = (n: number, prefix: string) =>
  Object.fromEntries(Array.from({ length: n }, (_, i) => [`${prefix}${i}`, null]))

describe("A 400 lists at most fifty issues, and says if there are more", { timeout: 30_000 }, () => {
  it("a 400 for 4,500 unknown fields lists fifty of them", async () => {
    const details = await create({ service: "Hem", ...named(4_500, "f") })
    expect(details.issues).toHaveLength(50)
    expect(details.issues[0]).toEqual({
      in: "body",
      field: "f0",
      message: "is unknown; correct its name or remove it"
    })
    expect(details.has_more).toBe(true)
  })

  it("a 400 lists fifty of 51 problems, and all of 50", async () => {
    expect(await create({ service: "Hem", ...named(51, "f") })).toMatchObject({ has_more: true })
    const { issues, has_more } = await create({ service: "Hem", ...named(50, "f") })
    expect([issues.length, has_more]).toEqual([50, undefined])
  })

  it("a 400 for 20,000 invalid items lists 21 problems, and one for 3,000 unknown fields of items lists fifty", async () => {
    const details = await create({ service: "Hem", items: Array.from({ length: 20_000 }, () => ({})) })
    expect([details.issues.length, details.has_more]).toEqual([21, undefined])
    const wide = await create({ service: "Hem", items: Array.from({ length: 30 }, () => named(100, "f")) })
    expect([wide.issues.length, wide.has_more]).toEqual([50, true])
  })

  it("a 400 for thousands of query parameters lists one problem, that there are more than 64", async () => {
    const many = Array.from({ length: 2_000 }, (_, i) => `q${i}`).join("&")
    for (const query of [many, Array.from({ length: 4_000 }, () => "%").join("&")]) {
      expect((await refused(`GET /v1/tickets?${query}`)).issues).toEqual([
        { in: "query", field: "query", message: "must have at most 64 parameters" }
      ])
    }
  })

  it("a 400 for 15,000 states in a query lists one problem for the states, and the problems of other parameters", async () => {
    const { issues } = await refused(`GET /v1/tickets?state=${",".repeat(15_000)}&limit=0`)
    expect(issues.map(({ field, message }) => `${field} ${message}`)).toEqual([
      "state must have at most 20 states",
      "limit must be a whole number from 1 to 100"
    ])
  })

  it("a 400 truncates a very long field name", async () => {
    const { issues } = await create({ service: "Hem", ["x".repeat(50_000)]: 1 })
    expect(issues[0]?.field).toBe(`${"x".repeat(200)}...`)
  })
})

describe("Other problems are reported together with too many items (Specification, Errors)", {
  timeout: 30_000
}, () => {
  it("a 400 for too many items also lists the other invalid fields", async () => {
    const items = Array.from({ length: 21 }, () => ({ label: "Trousers" }))
    const { issues } = await create({ items, price_minor: -1 })
    expect(issues.map(({ field }) => field)).toEqual(["service", "items", "price_minor"])
  })
})

/** The paths in a schema at which it accepts an array without `maxItems`. */
const unboundedIn = (ast: AST.AST, at: string, isBounded = false): ReadonlyArray<string> => {
  const { maxItems } = (Option.getOrUndefined(AST.getJSONSchemaAnnotation(ast)) ?? {}) as { readonly maxItems?: number }
  switch (ast._tag) {
    case "Refinement":
      return unboundedIn(ast.from, at, isBounded || maxItems !== undefined)
    case "Transformation":
      return unboundedIn(ast.from, at, isBounded)
    case "Union":
      return ast.types.flatMap((type) => unboundedIn(type, at, isBounded))
    case "TypeLiteral":
      return ast.propertySignatures.flatMap(({ name, type }) => unboundedIn(type, `${at}.${String(name)}`))
    case "TupleType":
      return [
        ...(isBounded || ast.rest.length === 0 ? [] : [at]),
        ...ast.rest.flatMap(({ type }) => unboundedIn(type, at))
      ]
    default:
      return []
  }
}

it.each([
  ["the API", WorkshopApi],
  ["the sandbox", SandboxApi]
] as const)("every list in a request of %s has a maximum length", (_, api) => {
  const paths: Array<string> = []
  Api.reflect(api as unknown as HttpApi.HttpApi.AnyWithProps, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint }) => {
      for (const schema of [endpoint.payloadSchema, endpoint.urlParamsSchema])
        if (Option.isSome(schema)) paths.push(...unboundedIn(schema.value.ast, endpoint.name))
    }
  })
  expect(paths).toEqual([])
})
