import { HttpApp, HttpRouter, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect, Either, Logger, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { TicketInput } from "../../src/decisions/createTicket.js"
import { IdempotencyKey } from "../../src/decisions/Idempotency.js"
import { ForbiddenWord } from "../../src/domain/ForbiddenWord.js"
import { TicketId } from "../../src/domain/Identifier.js"
import { inputIssues } from "../../src/domain/InvalidInput.js"
import { LimitReached } from "../../src/domain/LimitWindow.js"
import { Phone } from "../../src/domain/Phone.js"
import { TicketStatus } from "../../src/domain/TicketLifecycle.js"
import { type HandlerFailure, respondWithFailure } from "../../src/http/EffectMount.js"
import { StoreUnavailable } from "../../src/ports/StorePorts.js"
import { SettableClock } from "../../src/testing/SettableClock.js"

const Body = Schema.Struct({ ticket: TicketInput, order: Schema.String })

const clock = new SettableClock()

/** The response of an embedder's handler to a body, or to a failure of the handler. */
const asked = async (body: string, failure?: HandlerFailure, type = "application/json") => {
  const log: Array<string> = []
  const handler = HttpServerRequest.schemaBodyJson(Body, { errors: "all", onExcessProperty: "error" }).pipe(
    Effect.zipRight(failure === undefined ? Effect.void : Effect.fail(failure)),
    Effect.zipRight(HttpServerResponse.json({ made: true })),
    Effect.catchAll(respondWithFailure),
    Effect.withClock(clock),
    Effect.provide(
      Logger.replace(
        Logger.defaultLogger,
        Logger.make(({ message }) => void log.push(String(message)))
      )
    )
  )
  const answer = HttpApp.toWebHandler(HttpRouter.empty.pipe(HttpRouter.post("/drop-off", handler)))
  const headers = { "content-type": type }
  const response = await answer(new Request("http://shop.example/drop-off", { method: "POST", headers, body }))
  return { status: response.status, headers: response.headers, text: await response.text(), log }
}

const good = JSON.stringify({ ticket: { service: "Hem" }, order: "1" })

describe("respondWithFailure gives failures of an embedder's own handler the format of the API", () => {
  it("a body that does not match its schema is a 400, with each field and what to change (Specification, Errors)", async () => {
    const { status, text } = await asked(JSON.stringify({ ticket: { servce: "Hem", price_minor: 1.5 } }))
    const { error } = JSON.parse(text)
    expect([status, error.code]).toEqual([400, "VALIDATION_ERROR"])
    expect(error.details.issues).toEqual(
      expect.arrayContaining([
        { in: "body", field: "ticket.service", message: "is required" },
        { in: "body", field: "ticket.servce", message: "is unknown; correct its name or remove it" },
        { in: "body", field: "ticket.price_minor", message: "must be a whole number" },
        { in: "body", field: "order", message: "is required" }
      ])
    )
    expect(text).not.toMatch(/└|readonly|TicketInput|Encoded/)
  })

  it("a 400 names the parameter of the path or of the query that the handler decoded (Specification, Errors)", async () => {
    const byId = Effect.gen(function* () {
      yield* Schema.decodeUnknown(TicketId)((yield* HttpRouter.params).id)
      const { shown } = yield* HttpServerRequest.ParsedSearchParams
      yield* Schema.decodeUnknown(Schema.NumberFromString)(shown)
    })
    const router = HttpRouter.empty.pipe(
      HttpRouter.get("/orders/:id", Effect.catchAll(Effect.as(byId, HttpServerResponse.empty()), respondWithFailure)),
      HttpRouter.post(
        "/moves/:id",
        HttpRouter.schemaPathParams(Schema.Struct({ id: TicketId })).pipe(
          Effect.as(HttpServerResponse.empty()),
          Effect.catchAll(respondWithFailure)
        )
      )
    )
    const answer = HttpApp.toWebHandler(router)
    const issueOf = async (path: string, method = "GET") => {
      const response = await answer(new Request(`http://shop.example${path}`, { method }))
      const { in: place, field } = (await response.json()).error.details.issues[0]
      return [response.status, place, field]
    }
    expect(await issueOf("/orders/17")).toEqual([400, "path", "id"])
    expect(await issueOf("/moves/17", "POST")).toEqual([400, "path", "id"])
    const id = "01980000-0000-7000-8000-00000000abcd"
    expect(await issueOf(`/orders/${id}?shown=many`)).toEqual([400, "query", "shown"])
  })

  it("a 400 names the argument or the header that the handler decoded, not the body (Specification, Errors)", async () => {
    const OrderId = Schema.String.pipe(Schema.maxLength(8), Schema.brand("OrderId"))
    const Headers = Schema.Struct({ "idempotency-key": IdempotencyKey })
    const issueOf = async (decoded: Effect.Effect<unknown, HandlerFailure, HttpServerRequest.HttpServerRequest>) => {
      const route = decoded.pipe(Effect.as(HttpServerResponse.empty()), Effect.catchAll(respondWithFailure))
      const response = HttpApp.toWebHandler(HttpRouter.empty.pipe(HttpRouter.post("/orders", route)))
      const init = { method: "POST", headers: { "idempotency-key": "y".repeat(81) }, body: '"text"' }
      const { error } = await (await response(new Request("http://shop.example/orders", init))).json()
      return error.details.issues[0]
    }
    const long = "x".repeat(81)
    const message = "must be 1 to 80 characters"
    for (const [schema, value, field] of [
      [IdempotencyKey, long, "idempotency_key"],
      [TicketId, "17", "ticket_id"],
      [Phone, "17", "phone"],
      [TicketStatus, "gone", "ticket_status"],
      [OrderId, long, "order_id"]
    ] as const)
      expect(await issueOf(Schema.decodeUnknown(schema as Schema.Schema<unknown>)(value))).toMatchObject({
        in: "body",
        field
      })
    const header = { in: "header", field: "Idempotency-Key", message }
    const decodedHeader = Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
      Schema.decodeUnknown(IdempotencyKey)(headers["idempotency-key"])
    )
    expect(await issueOf(decodedHeader)).toEqual(header)
    expect(await issueOf(HttpServerRequest.schemaHeaders(Headers))).toEqual(header)
    expect(await issueOf(HttpServerRequest.schemaBodyJson(TicketInput))).toMatchObject({ in: "body", field: "body" })
  })

  it("a filter of the embedder's schema without a message has the rule as its message", () => {
    const Order = Schema.Struct({
      reference: Schema.NonEmptyString,
      count: Schema.Int.pipe(Schema.between(1, 9)),
      note: Schema.String.pipe(Schema.filter(() => "must be polite"))
    })
    const read = Schema.decodeUnknownEither(Order, { errors: "all" })
    const issues = Either.flip(read({ reference: "", count: -5, note: "x" })).pipe(Either.getOrThrow)
    expect(inputIssues(issues.issue).map(({ field, message }) => `${field} ${message}`)).toEqual([
      "reference must be a non empty string",
      "count must be a number between 1 and 9",
      "note must be polite"
    ])
  })

  it("a body that is not sent as JSON is a 400, which names its Content-Type (Specification, Errors)", async () => {
    const { text } = await asked("service=Hem", undefined, "application/x-www-form-urlencoded")
    expect(JSON.parse(text).error.details.issues).toEqual([
      { in: "header", field: "Content-Type", message: "must be application/json" }
    ])
  })

  it("a body that is not JSON, or not an object, is a 400 (Specification, Errors)", async () => {
    for (const [body, message] of [
      ["{", "must be valid JSON in UTF-8"],
      ["[]", "must be an object"]
    ] as const) {
      const { status, text } = await asked(body)
      expect([status, JSON.parse(text).error.details.issues]).toEqual([400, [{ in: "body", field: "body", message }]])
    }
  })

  it("a refusal has the status and code of the table of errors (Specification, Errors)", async () => {
    const { status, text } = await asked(good, new ForbiddenWord({ field: "service" }))
    expect([status, JSON.parse(text).error]).toMatchObject([422, { code: "PROFANITY", details: { field: "service" } }])
  })

  it("a refusal by a limit has the seconds until it resets (Specification, Limits)", async () => {
    const refused_at = clock.unsafeCurrentTimeMillis()
    const resets_at = refused_at + 3_600_000
    const limitStatus = { policy: "tickets_per_hour", limit: 150, remaining: 0, resets_at } as const
    const { status, headers } = await asked(good, new LimitReached({ limitStatuses: [limitStatus], refused_at }))
    expect([status, headers.get("retry-after")]).toEqual([429, "3600"])
  })

  it("an unavailable store is a 503 without the reason, which is logged (Specification, Errors)", async () => {
    const remedy = "The database has no schema: run workshop migrate"
    const { status, headers, text, log } = await asked(good, new StoreUnavailable({ remedy }))
    expect([status, headers.get("retry-after"), JSON.parse(text).error.code]).toEqual([503, "1", "UNAVAILABLE"])
    expect(text).not.toMatch(/schema|migrate/)
    expect(log).toEqual([`The response to a request is 503: ${remedy}`])
  })
})
