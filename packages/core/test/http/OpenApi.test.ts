import { HttpApi, type HttpApiEndpoint, OpenApi } from "@effect/platform"
import { eventTypes } from "@workshop/core"
import { type RequestIssue, WorkshopApi } from "@workshop/core/http"
import { failureRows } from "@workshop/core/internal"
import { compileRoutes } from "@workshop/core/internal/http"
import { documentOf } from "@workshop/core/openapi"
import { Context, Effect, Either, Option, ParseResult, Schema } from "effect"
import { describe, expect, it } from "vitest"
import type { EventType } from "../../src/domain/EventType.js"
import type { RawRequest } from "../../src/http/Endpoint.js"
import { examples } from "../../src/http/openapi/Examples.js"
import { document } from "../../src/http/openapi/OpenApi.js"
import { refusalSamples } from "../../src/http/openapi/Refusals.js"
import { eventExample, eventSchema } from "../../src/http/openapi/Webhooks.js"

interface Shown {
  readonly summary: string
  readonly value: { readonly success: boolean; readonly error?: { readonly code: string; readonly details?: Details } }
}
interface Details {
  readonly reason?: string
  readonly limit?: string
  readonly scope?: string
}
interface Content {
  readonly content: { readonly "application/json": { readonly examples: Record<string, { $ref?: string } & Shown> } }
}
interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly security: ReadonlyArray<Record<string, ReadonlyArray<string>>>
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly in: string; readonly description: string }>
  readonly requestBody?: Content & { readonly required: boolean }
  readonly responses: Record<string, Content & { readonly headers: Record<string, unknown> }>
}
interface Document {
  readonly paths: Record<string, Record<string, Operation>>
  readonly webhooks: Record<
    string,
    { readonly post: { readonly parameters: ReadonlyArray<{ readonly name: string }> } }
  >
  readonly components: {
    readonly schemas: Record<string, { readonly properties?: Record<string, { $ref?: string; description?: string }> }>
    readonly examples: Record<string, Shown>
  }
}

const openApi = document as unknown as Document
const operations = Object.entries(openApi.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation }))
)
const named = (id: string) => {
  const operation = operations.find(({ operationId }) => operationId === id)
  if (operation === undefined) throw new Error(`no operation ${id}`)
  return operation
}
const shownIn = (content: Content | undefined): ReadonlyArray<readonly [string, Shown]> =>
  Object.entries(content?.content["application/json"].examples ?? {}).map(([name, example]) => [
    name,
    example.$ref === undefined ? example : openApi.components.examples[name]!
  ])

const failures = (id: string, status: number) =>
  shownIn(named(id).responses[status])
    .map(([, { value }]) => value.error?.details?.reason ?? value.error?.details?.limit ?? value.error?.code)
    .sort()

const problems = (schema: Schema.Schema.All, value: unknown): string | undefined => {
  const read = ParseResult.decodeUnknownEither(schema as Schema.Schema<unknown>)
  const result = read(value, { onExcessProperty: "error", errors: "all" })
  return Either.isLeft(result) ? ParseResult.TreeFormatter.formatIssueSync(result.left) : undefined
}

const endpoints: Array<{ readonly id: string; readonly endpoint: HttpApiEndpoint.HttpApiEndpoint.AnyWithProps }> = []
HttpApi.reflect(WorkshopApi, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint, mergedAnnotations }) => {
    const id = Option.getOrThrow(Context.getOption(mergedAnnotations, OpenApi.Identifier))
    endpoints.push({ id, endpoint: endpoint as unknown as HttpApiEndpoint.HttpApiEndpoint.AnyWithProps })
  }
})

describe("the OpenAPI document", () => {
  it("the document has the twelve operations of the specification", () => {
    expect(operations.map(({ method, path, operationId }) => `${method} ${path} ${operationId}`)).toEqual([
      "get /v1/shop getShop",
      "post /v1/tickets createTicket",
      "get /v1/tickets listTickets",
      "get /v1/tickets/{id} getTicket",
      "get /v1/tickets/by-number/{n} getTicketByNumber",
      "post /v1/tickets/{id}/status changeTicketStatus",
      "post /v1/tickets/{id}/notified recordNotified",
      "get /v1/clients findClient",
      "get /v1/clients/{id} getClient",
      "get /v1/clients/{id}/loyalty getLoyalty",
      "post /v1/clients/{id}/loyalty/stamps addStamps",
      "post /v1/clients/{id}/loyalty/redeem redeemReward"
    ])
  })

  it("the document names the scope of each operation", () => {
    expect(Object.fromEntries(operations.map(({ operationId, security }) => [operationId, security]))).toEqual({
      getShop: [{ apiKey: [] }],
      createTicket: [{ apiKey: ["tickets:write"] }],
      listTickets: [{ apiKey: ["tickets:read"] }],
      getTicket: [{ apiKey: ["tickets:read"] }],
      getTicketByNumber: [{ apiKey: ["tickets:read"] }],
      changeTicketStatus: [{ apiKey: ["tickets:write"] }],
      recordNotified: [{ apiKey: ["tickets:write"] }],
      findClient: [{ apiKey: ["clients:read"] }],
      getClient: [{ apiKey: ["clients:read"] }],
      getLoyalty: [{ apiKey: ["clients:read"] }],
      addStamps: [{ apiKey: ["loyalty:write"] }],
      redeemReward: [{ apiKey: ["loyalty:write"] }]
    })
  })

  it("the document lists every reason of a 409, for each operation", () => {
    expect(failures("createTicket", 409)).toEqual(["IDEMPOTENCY_KEY_REUSED"])
    expect(failures("changeTicketStatus", 409)).toEqual([
      "ABANDONED",
      "IDEMPOTENCY_KEY_REUSED",
      "INVALID_TRANSITION",
      "REOPEN_WINDOW",
      "SAME_STATE"
    ])
    expect(failures("recordNotified", 409)).toEqual(["ABANDONED", "IDEMPOTENCY_KEY_REUSED"])
    expect(failures("addStamps", 409)).toEqual(["IDEMPOTENCY_KEY_REUSED", "LOYALTY_OFF"])
    expect(failures("redeemReward", 409)).toEqual(["IDEMPOTENCY_KEY_REUSED", "LOYALTY_OFF", "NO_REWARD"])
  })

  it("the document lists every limit of an operation", () => {
    const always = ["requests_per_minute", "unauthenticated_per_minute"]
    expect(failures("getShop", 429)).toEqual(always)
    expect(failures("findClient", 429)).toEqual(["lookups_per_day", "lookups_per_hour", ...always])
    expect(failures("createTicket", 429)).toEqual([
      "requests_per_minute",
      "tickets_per_day",
      "tickets_per_hour",
      "unauthenticated_per_minute",
      "writes_per_minute"
    ])
    expect(failures("addStamps", 429)).toEqual([
      "requests_per_minute",
      "stamps_per_day",
      "unauthenticated_per_minute",
      "writes_per_minute"
    ])
  })

  it("the document has a 403 for a missing scope and for each flag of the shop, and only for the flags if no scope is needed", () => {
    const shop = ["ACCOUNT_DEACTIVATED", "API_DISABLED", "SHOP_NOT_APPROVED"]
    expect(failures("getShop", 403)).toEqual(shop)
    expect(failures("getTicket", 403)).toEqual([
      "ACCOUNT_DEACTIVATED",
      "API_DISABLED",
      "FORBIDDEN",
      "SHOP_NOT_APPROVED"
    ])
  })

  it("each response has an example, and those of errors are failures", () => {
    for (const { operationId, responses } of operations) {
      for (const [status, response] of Object.entries(responses)) {
        const values = shownIn(response).map(([, { value }]) => value)
        expect(values.length, `${operationId} ${status}`).toBeGreaterThan(0)
        expect(values.every(({ success }) => success === Number(status) < 400)).toBe(true)
      }
    }
  })

  it("each response has the rate-limit headers and the request's id, and a 429 and a 503 have Retry-After", () => {
    const always = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Request-Id"]
    for (const { responses } of operations) {
      for (const [status, { headers }] of Object.entries(responses)) {
        const retryHeaders = ["429", "503"].includes(status) ? ["Retry-After"] : []
        expect(Object.keys(headers)).toEqual(expect.arrayContaining([...always, ...retryHeaders]))
        expect("Retry-After" in headers).toBe(retryHeaders.length > 0)
      }
    }
    const repeatable = operations.filter(({ responses }) => "Idempotent-Replayed" in responses["200"]!.headers)
    expect(repeatable.map(({ operationId }) => operationId)).toEqual([
      "createTicket",
      "changeTicketStatus",
      "recordNotified",
      "addStamps",
      "redeemReward"
    ])
  })

  it("the operations that the specification names have an Idempotency-Key", () => {
    const asking = operations.filter(({ parameters = [] }) => parameters.some(({ name }) => name === "Idempotency-Key"))
    expect(asking.map(({ operationId }) => operationId)).toEqual([
      "createTicket",
      "changeTicketStatus",
      "recordNotified",
      "addStamps",
      "redeemReward"
    ])
    expect(named("redeemReward").requestBody?.required).toBe(false)
    expect(named("createTicket").requestBody?.required).toBe(true)
  })

  it("the document has a signed webhook for every type of event", () => {
    expect(Object.keys(openApi.webhooks).sort()).toEqual([
      "client.linked",
      "client.notified",
      "ping",
      "quote.accepted",
      "quote.proposed",
      "quote.refused",
      "ticket.abandoned",
      "ticket.collected",
      "ticket.created",
      "ticket.impossible",
      "ticket.ready",
      "ticket.reopened",
      "ticket.updated"
    ])
    for (const { post } of Object.values(openApi.webhooks)) {
      expect(post.parameters.map(({ name }) => name)).toEqual(["Service-Signature"])
    }
  })

  it("the document names the configured signature header, and changes nothing else (Specification, Webhooks)", () => {
    const named = documentOf({ signatureHeader: "X-Lac-Signature" })
    expect(JSON.stringify(named)).not.toContain("Service-Signature")
    expect(JSON.stringify(named).replaceAll("X-Lac-Signature", "Service-Signature")).toBe(JSON.stringify(document))
    expect(documentOf({})).toEqual(document)
  })

  it("every field has a description", () => {
    const mute = Object.entries(openApi.components.schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries(properties)
        .filter(([, { $ref, description }]) => $ref === undefined && description === undefined)
        .map(([field]) => `${name}.${field}`)
    )
    expect(mute).toEqual([])
  })

  it("the document has no errors of the generator, and refuses unknown fields only in requests", () => {
    const text = JSON.stringify(document)
    expect(text).not.toContain("HttpApiDecodeError")
    expect(text).not.toContain("/schemas/unknown")
    const closed = Object.entries(openApi.components.schemas).filter(
      ([, schema]) => "additionalProperties" in schema && schema.additionalProperties === false
    )
    expect(closed.map(([name]) => name)).toEqual([
      "NotifiedInput",
      "RedeemInput",
      "StampsInput",
      "StatusInput",
      "TicketInput",
      "TicketItemInput"
    ])
  })
})

describe("every example matches its schema", () => {
  it.each(endpoints)("the example of $id matches its schema", ({ id, endpoint }) => {
    const { requestBody, responses } = named(id)
    for (const [name, { value }] of shownIn(requestBody)) {
      expect(problems(Option.getOrThrow(endpoint.payloadSchema) as Schema.Schema.All, value), name).toBeUndefined()
    }
    for (const [status, response] of Object.entries(responses)) {
      // The API declares the errors that all endpoints share, and the endpoint's own schema the others.
      const schema =
        Number(status) < 400 ? endpoint.successSchema : Schema.Union(endpoint.errorSchema, WorkshopApi.errorSchema)
      for (const [name, { value }] of shownIn(response)) expect(problems(schema, value), name).toBeUndefined()
    }
  })

  it.each(Object.keys(eventTypes) as Array<EventType>)("the example of the event %s matches its schema", (type) => {
    expect(problems(eventSchema(type), eventExample(type))).toBeUndefined()
  })
})

const ID = "0198c5f2-8a10-7000-b3c1-5d2f9a7e4b60"
const none = { path: {}, urlParams: {}, headers: {}, payload: undefined }
const badId = { ...none, path: { id: "42" } }

/** For each operation, an invalid request that should get the example of its 400. */
const badRequests: Readonly<Record<string, RawRequest>> = {
  getShop: { ...none, urlParams: { verbose: "1" } },
  createTicket: { ...none, payload: { price_minor: 1000, deposit_minor: 2000 } },
  listTickets: { ...none, urlParams: { limit: "500", verbose: "1" } },
  getTicket: badId,
  getTicketByNumber: { ...none, path: { n: "10000" } },
  changeTicketStatus: { ...none, path: { id: ID }, payload: { status: "done" } },
  recordNotified: { ...none, path: { id: ID }, payload: { channel: "fax" } },
  findClient: { ...none, urlParams: { phone: "20123456" } },
  getClient: badId,
  getLoyalty: badId,
  addStamps: { ...none, path: { id: ID }, payload: { count: 11 } },
  redeemReward: { ...none, path: { id: ID }, payload: {} }
}

describe("every example of a 400 is the service's response to such a request", () => {
  const anyHandler = new Proxy({}, { get: () => new Proxy({}, { get: () => () => Effect.never }) })
  const served = [...compileRoutes<never>()(WorkshopApi, anyHandler as never).keys()]
  const place = ({ in: part, field }: RequestIssue) => `${part} ${field}`
  const sorted = (issues: ReadonlyArray<RequestIssue>) => [...issues].sort((a, b) => (place(a) < place(b) ? -1 : 1))

  it.each(endpoints)("the example of a 400 of $id is the service's response", ({ id, endpoint }) => {
    const route = served.find(({ method, path }) => method === endpoint.method && path === endpoint.path)
    const read = route?.decode(badRequests[id] ?? none)
    const issues = read !== undefined && Either.isLeft(read) ? read.left : []
    expect(issues.length).toBeGreaterThan(0)
    expect(sorted(examples[id]?.issues ?? [])).toEqual(sorted(issues))
  })
})

describe("the samples of refusals", () => {
  it("the samples contain every refusal that the service has", () => {
    const sampledTags = new Set(Object.values(refusalSamples).map(({ refusal }) => refusal._tag))
    const others = [
      "NotSignedIn",
      "ScopeMissing",
      "InvalidRequest",
      "LimitReached",
      "SandboxTokenWrong",
      "TestKeyElsewhere",
      "SandboxHostForeign",
      "SandboxSenderForeign",
      "SandboxDataReal",
      "NotReady",
      "Overloaded",
      "InternalError"
    ]
    expect(Object.keys(failureRows).filter((tag) => !sampledTags.has(tag as never) && !others.includes(tag))).toEqual(
      []
    )
  })
})
