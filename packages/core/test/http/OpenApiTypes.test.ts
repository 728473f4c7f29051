import type { Json, JsonObject } from "@workshop/core/openapi"
import { describe, expect, it } from "vitest"
import { document } from "../../src/http/openapi/OpenApi.js"

// Rules with which public generators make correct types of the document. Without each rule, one of them made a wrong
// type.

const isNode = (json: Json | undefined): json is JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json)

/** Every object of the document with its path, except for the examples. */
const nodes = (json: Json, way = ""): ReadonlyArray<readonly [way: string, node: JsonObject]> => {
  if (Array.isArray(json)) return json.flatMap((one: Json, i) => nodes(one, `${way}/${i}`))
  if (!isNode(json)) return []
  const inside = Object.entries(json).filter(([key]) => key !== "examples" && key !== "example")
  return [[way, json], ...inside.flatMap(([key, one]) => nodes(one, `${way}/${key}`))]
}

const all = nodes(document)
const components = document.components as { readonly schemas: Readonly<Record<string, JsonObject>> }
const field = (schema: string, name: string): JsonObject =>
  (components.schemas[schema]!.properties as Readonly<Record<string, JsonObject>>)[name]!

describe("the OpenAPI document as generators of clients read it", () => {
  it("each branch of a choice has a type", () => {
    const choices = all.flatMap(([way, { anyOf, oneOf }]) =>
      [anyOf, oneOf].filter(Array.isArray).map((branches) => [way, branches as ReadonlyArray<JsonObject>] as const)
    )
    expect(choices.length).toBeGreaterThan(5)
    const untyped = choices.filter(([, branches]) => branches.some(({ type, $ref }) => (type ?? $ref) === undefined))
    expect(untyped.map(([way]) => way)).toEqual([])
    const query = all.find(([, node]) => node.name === "updated_since")?.[1].schema
    expect(query).toEqual({
      anyOf: [
        { type: "string", format: "date-time" },
        { type: "string", format: "date" }
      ]
    })
  })

  it("an enumeration that may be null is a choice of a reference and null", () => {
    const holdNull = all.filter(([, node]) => Array.isArray(node.enum) && node.enum.includes(null))
    expect(holdNull.map(([way]) => way)).toEqual([])
    expect(field("Ticket", "outcome")).toMatchObject({
      anyOf: [{ $ref: "#/components/schemas/TicketOutcome" }, { type: "null" }]
    })
    expect(field("Ticket", "abandon_reason").anyOf).toEqual([
      { $ref: "#/components/schemas/AbandonReason" },
      { type: "null" }
    ])
  })

  it("details are required if a failure always has them, and absent if it never has them", () => {
    const details = Object.entries(components.schemas)
      .filter(([name]) => name.endsWith("Response"))
      .flatMap(([name, { properties }]) => {
        const error = (properties as Readonly<Record<string, JsonObject>>).error
        if (error === undefined) return []
        const isRequired = (error.required as ReadonlyArray<string>).includes("details")
        const isKnown = "details" in (error.properties as JsonObject)
        return [[name, isRequired ? "always" : isKnown ? "sometimes" : "never"]]
      })
    expect(Object.fromEntries(details)).toEqual({
      ConflictResponse: "always",
      ForbiddenResponse: "sometimes",
      InternalResponse: "never",
      NotFoundResponse: "never",
      ProfanityResponse: "always",
      TooManyAttemptsResponse: "always",
      UnauthenticatedResponse: "never",
      UnavailableResponse: "never",
      ValidationErrorResponse: "always"
    })
  })

  it("each amount of money is an int64 with its bounds", () => {
    const amounts = all.filter(([way]) => way.endsWith("_minor"))
    expect(amounts.length).toBe(9)
    for (const [way, node] of amounts) {
      expect([way, node]).toMatchObject([way, { format: "int64", minimum: 0, maximum: 1_000_000_000_000 }])
    }
  })

  it.each<readonly [schema: string, name: string, keywords: JsonObject]>([
    ["Ticket", "number", { minimum: 1, maximum: 9999 }],
    ["Ticket", "number_label", { pattern: "^[0-9]{4}$" }],
    ["Ticket", "service", { minLength: 1, maxLength: 120 }],
    ["Ticket", "items", { maxItems: 20 }],
    ["Ticket", "client_phone", { pattern: "^\\+[1-9][0-9]{1,14}$" }],
    ["Ticket", "tracking_code", { pattern: "^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$" }],
    ["Ticket", "external_ref", { maxLength: 64 }],
    ["TicketSummary", "number", { minimum: 1, maximum: 9999 }],
    ["TicketSummary", "number_label", { pattern: "^[0-9]{4}$" }],
    ["TicketInput", "type", { default: "repair" }],
    ["TicketInput", "items", { minItems: 2, maxItems: 20 }],
    ["TicketInput", "client_phone", { pattern: "^\\s*\\+.*[0-9]" }],
    ["Money", "decimals", { minimum: 0, maximum: 4 }],
    ["Money", "currency", { pattern: "^[A-Z]{3}$" }],
    ["Shop", "decimals", { minimum: 0, maximum: 4 }],
    ["Client", "tickets_open", { minimum: 0 }],
    ["Client", "tickets_total", { minimum: 0 }],
    ["LoyaltyCard", "balance", { minimum: 0 }],
    ["LoyaltyCard", "lifetime", { minimum: 0 }],
    ["StampsGiven", "added", { minimum: 1, maximum: 10 }],
    ["StampsInput", "count", { minimum: 1, maximum: 10 }],
    ["TicketListResponse", "data", { maxItems: 100 }],
    ["NumberMeta", "others", { maxItems: 100 }],
    ["Quote", "note", { maxLength: 500 }]
  ])("the document has the type of %s.%s", (schema, name, keywords) => {
    expect(field(schema, name)).toMatchObject(keywords)
  })

  it("the document refers to its named schemas and repeats none of them", () => {
    const shape = ({ description: _, ...schema }: JsonObject) =>
      JSON.stringify(schema, (_, value: Json) =>
        isNode(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value
      )
    const named = new Map(Object.entries(components.schemas).map(([name, schema]) => [shape(schema), name]))
    const copies = all.filter(
      ([way, node]) =>
        !/^\/components\/schemas\/\w+$/.test(way) &&
        (isNode(node.properties) || (Array.isArray(node.enum) && node.enum.length > 1)) &&
        named.has(shape(node))
    )
    expect(copies.map(([way, node]) => `${way} is ${named.get(shape(node))}`)).toEqual([])
    const created = all.find(([way]) => way === "/paths//v1/tickets/post/responses/201/content/application/json/schema")
    expect(created?.[1]).toEqual({ $ref: "#/components/schemas/RepeatableTicketResponse" })
  })
})
