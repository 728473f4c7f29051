import { type HttpBody, type HttpServerError, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Clock, Effect, type ParseResult } from "effect"
import type { Refusal } from "../decisions/Refusal.js"
import { inputIssues } from "../domain/InvalidInput.js"
import { failureStatusAndBody } from "./Envelope.js"
import type { Failure, RequestIssue } from "./ErrorTable.js"
import { inputPart } from "./RequestReader.js"
import { logUnavailable, retryAfter } from "./respond.js"

/**
 * In what a handler of your own may fail: a refusal of a service, a request that its schema does not take, or an answer
 * that cannot be written.
 */
export type HandlerFailure =
  | Refusal
  | Extract<Failure, { readonly _tag: "StoreUnavailable" }>
  | ParseResult.ParseError
  | HttpServerError.RequestError
  | HttpBody.HttpBodyError

const failureOf = (failure: Exclude<HandlerFailure, HttpBody.HttpBodyError>, part: RequestIssue["in"]): Failure => {
  switch (failure._tag) {
    case "ParseError":
      return {
        _tag: "InvalidRequest",
        issues: inputIssues(failure.issue).map(({ field, message }) => ({ in: part, field: field || part, message }))
      }
    case "RequestError":
      return { _tag: "InvalidRequest", issues: [{ in: part, field: part, message: "must be valid JSON in UTF-8" }] }
    default:
      return failure
  }
}

/**
 * Answers a failure of a handler of your own as the API answers it: its status and envelope, with words for whoever asked
 * and nothing for whoever runs the service: why the store is away goes to the log (Specification, Errors). For `Effect.catchAll` at a handler's end.
 */
export const refused = (
  failure: HandlerFailure
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest> =>
  Effect.gen(function* () {
    // A bug, not a refusal: for the server's own 500.
    if (failure._tag === "HttpBodyError") return yield* Effect.die(failure)
    const { method } = yield* HttpServerRequest.HttpServerRequest
    const part = inputPart(method)
    const known = failureOf(failure, part)
    if (known._tag === "StoreUnavailable") yield* logUnavailable(known)
    const wait = retryAfter(known, yield* Clock.currentTimeMillis)
    const { status, body } = failureStatusAndBody(known, part)
    return HttpServerResponse.unsafeJson(body, { status, ...(wait && { headers: { "Retry-After": wait } }) })
  })
