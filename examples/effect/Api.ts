import {
  HttpApi,
  HttpApiEndpoint,
  HttpApiGroup,
  HttpApiMiddleware,
  HttpApiSchema,
  HttpApiSecurity
} from "@effect/platform"
import { IdempotencyKey, TicketInput } from "@workshop/core"
import { apiBehind, CurrentCaller } from "@workshop/core/http/joined"
import { Effect, Schema } from "effect"
import { Health } from "./HealthApi.js"
import { Hooks } from "./Hook.js"

/** A refusal in the format of the workshop's API, with its status. */
const Refusal = <const Code extends string>(status: number, code: Code) =>
  Schema.Struct({
    success: Schema.Literal(false),
    error: Schema.Struct({
      code: Schema.Literal(code),
      message: Schema.String,
      details: Schema.optional(Schema.Unknown)
    })
  }).annotations(HttpApiSchema.annotations({ status }))

export const NotSignedIn = Refusal(401, "UNAUTHENTICATED")
export const NotFound = Refusal(404, "NOT_FOUND")
export const Conflict = Refusal(409, "CONFLICT")

/** Fails with a refusal of this program. */
export const refuse = <Code extends string>(code: Code, message: string, details?: object) =>
  Effect.fail({ success: false as const, error: { code, message, ...(details && { details }) } })

/** The program's sessions, for its own endpoints and the workshop's. */
export class SignedIn extends HttpApiMiddleware.Tag<SignedIn>()("SignedIn", {
  provides: CurrentCaller,
  failure: NotSignedIn,
  security: { session: HttpApiSecurity.apiKey({ in: "cookie", key: "session" }) }
}) {}

/** The id of an order, which the ordering program chooses and sends again if it repeats the order. */
export const OrderId = Schema.String.pipe(
  Schema.pattern(/^[\w-]{1,64}$/, { message: () => "must be 1 to 64 letters without accents, digits, - or _" })
)

/**
 * The idempotency key of an order's ticket, so that a repeated order gets the first ticket. The prefix distinguishes
 * the key from those that callers send to the API.
 */
export const keyOf = (id: typeof OrderId.Type) => IdempotencyKey.make(`order/${id}`)

export const Order = Schema.Struct({
  id: OrderId,
  // Postgres refuses U+0000, and half a surrogate pair would be stored as U+FFFD.
  customer: Schema.NonEmptyTrimmedString.pipe(
    Schema.maxLength(120),
    Schema.pattern(/^[^\p{Cc}\p{Cs}]*$/u, { message: () => "must have no control characters and no lone surrogates" })
  ),
  ticket: TicketInput
}).annotations({
  // Unknown fields are refused.
  parseOptions: { onExcessProperty: "error" }
})

export class Orders extends HttpApiGroup.make("orders")
  .add(
    HttpApiEndpoint.post("place", "/orders")
      .setPayload(Order)
      .addSuccess(Schema.Struct({ id: Schema.String, number: Schema.NullOr(Schema.String) }), { status: 201 })
      .addError(Conflict)
      .addError(Refusal(422, "PROFANITY"))
      .addError(Refusal(429, "TOO_MANY_ATTEMPTS"))
  )
  .add(
    HttpApiEndpoint.get("read", "/orders/:id")
      .setPath(Schema.Struct({ id: OrderId }))
      .addSuccess(Schema.Struct({ id: Schema.String, state: Schema.String }))
      .addError(NotFound)
  )
  .add(
    HttpApiEndpoint.post("upload", "/orders/import")
      .setPayload(HttpApiSchema.Uint8Array({ contentType: "application/x-ndjson" }))
      .addSuccess(Schema.Object)
      .addError(Refusal(415, "VALIDATION_ERROR"))
  )
  .addError(Refusal(400, "VALIDATION_ERROR"))
  .addError(Refusal(503, "UNAVAILABLE"))
  .middleware(SignedIn) {}

export class MyApi extends HttpApi.make("mine")
  .add(Orders)
  .add(Hooks)
  .add(Health)
  .addHttpApi(apiBehind(SignedIn).prefix("/workshop")) {}
