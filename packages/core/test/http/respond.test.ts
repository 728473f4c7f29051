import { Cause, Effect, Either, Exit, ParseResult, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { LimitReached } from "../../src/domain/LimitWindow.js"
import type { Route } from "../../src/http/Endpoint.js"
import { type Failure, failureRows } from "../../src/http/ErrorTable.js"
import type { HandlerResult } from "../../src/http/HttpMessage.js"
import { refusalSamples } from "../../src/http/openapi/Refusals.js"
import { checkResponse, respond } from "../../src/http/respond.js"

const NOW = Date.UTC(2026, 10, 20)
const context = { id: "0123456789abcdef01234567", now: NOW, route: null, caller: null, limitStatuses: [] }
const responseTo = (failure: Failure) => respond(failure, context)

const usedUp = new LimitReached({
  limitStatuses: [{ policy: "writes_per_minute", limit: 30, remaining: 0, resets_at: NOW + 41_001 }],
  refused_at: NOW
})

const plain = [
  "AccountDeactivated",
  "ApiDisabled",
  "Overloaded",
  "RouteNotFound",
  "SandboxDataReal",
  "SandboxHostForeign",
  "SandboxSenderForeign",
  "SandboxTokenWrong",
  "ShopNotApproved",
  "TestKeyElsewhere",
  "Unauthenticated"
] as const

const failures: ReadonlyArray<Failure> = [
  ...Object.values(refusalSamples).map(({ refusal }) => refusal),
  ...plain.map((_tag): Failure => ({ _tag })),
  { _tag: "InternalError", message: "The service failed" },
  { _tag: "InvalidRequest", issues: [] },
  { _tag: "NotReady", message: "The schema is behind" },
  { _tag: "NotSignedIn", message: "Sign in first" },
  { _tag: "ScopeMissing", scope: "tickets:read" },
  usedUp
]

/** The failures whose responses have a header, by tag, with its value. */
const headerValues = (header: string) =>
  Object.fromEntries(
    failures.flatMap((failure) => {
      const value = responseTo(failure).headers[header]
      return value === undefined ? [] : [[failure._tag, value]]
    })
  )

describe("Specification, Errors: the headers of every response", () => {
  it("a response is not cached, and no browser shows it as a page (Specification, Errors)", () => {
    const limited = { ...context, limitStatuses: usedUp.limitStatuses }
    const responses = [
      ...failures.map(responseTo),
      ...[context, limited].map((known) => respond({ data: {} }, known)),
      respond({ data: {}, limitStatuses: usedUp.limitStatuses }, context),
      respond({ _tag: "RouteNotFound" }, limited),
      respond({ body: "", headers: {} }, limited)
    ]
    for (const { headers } of responses)
      expect(headers).toMatchObject({
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "Request-Id": context.id
      })
  })
})

describe("Specification, Errors: the headers of a failure", () => {
  it("every failure of the table has the headers of the specification", () => {
    expect(new Set(failures.map(({ _tag }) => _tag))).toEqual(new Set(Object.keys(failureRows)))
  })

  it("WWW-Authenticate is sent only if a key or a token is missing or wrong (Specification, Errors)", () => {
    expect(headerValues("WWW-Authenticate")).toEqual({
      Unauthenticated: "Bearer",
      TestKeyElsewhere: "Bearer",
      SandboxTokenWrong: "Bearer"
    })
  })

  it("an embedder's own authentication names its own scheme, or none (Specification, Keys and scopes)", () => {
    const unknown = { _tag: "NotSignedIn", message: "Sign in first" } as const
    const challenge = 'Basic realm="shop"'
    expect(responseTo(unknown).headers).not.toHaveProperty("WWW-Authenticate")
    expect(responseTo({ ...unknown, challenge }).headers).toHaveProperty("WWW-Authenticate", challenge)
  })

  it("Retry-After is sent only if waiting helps, in whole seconds and never too early (Specification, Limits; Errors)", () => {
    expect(headerValues("Retry-After")).toEqual({
      LimitReached: "42",
      NotReady: "1",
      Overloaded: "1",
      StoreUnavailable: "1",
      WorkshopStopped: "1"
    })
    expect(responseTo(usedUp).headers).toMatchObject({
      "RateLimit-Limit": "30",
      "RateLimit-Remaining": "0",
      "RateLimit-Reset": "42"
    })
  })
})

describe("Specification, Lists and sync: results are checked against the contract in tests", () => {
  const route: Route = {
    method: "GET",
    path: "/v1/shop",
    scope: undefined,
    policies: [],
    takesBody: false,
    body_bytes: 65_536,
    headerNames: [],
    listParameters: [],
    decode: () => Either.right({}),
    validateEnvelope: ParseResult.validateEither(
      Schema.Struct({ success: Schema.Literal(true), data: Schema.String }),
      {
        onExcessProperty: "error"
      }
    )
  }
  const complaint = (reply: HandlerResult) =>
    Exit.match(Effect.runSyncExit(checkResponse(route, reply)), { onFailure: Cause.pretty, onSuccess: () => null })

  it("a result that matches the schema is accepted, and any other result fails the request with the path of the difference", () => {
    expect(complaint({ data: "Atelier" })).toBeNull()
    expect(complaint({ data: 7 })).toMatch(/The result of GET \/v1\/shop does not match its schema[\s\S]*\["data"\]/)
    expect(complaint({ data: "Atelier", meta: {} })).toMatch(/does not match its schema[\s\S]*\["meta"\]/)
  })
})
