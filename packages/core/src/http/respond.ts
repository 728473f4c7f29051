import { Cause, Effect, Either, Option } from "effect"
import { TreeFormatter } from "effect/ParseResult"
import { toOneLine } from "../domain/ErrorLine.js"
import { type Instant, SECOND_MS } from "../domain/Instant.js"
import { ServiceLimits } from "../domain/Limits.js"
import { findScarcest, type LimitStatus } from "../domain/LimitWindow.js"
import type { Caller } from "../services/Caller.js"
import type { Route } from "./Endpoint.js"
import { failureStatusAndBody } from "./Envelope.js"
import { type Failure, failureRows } from "./ErrorTable.js"
import type { HandlerOutcome, HandlerResult, HttpResponse } from "./HttpMessage.js"

/** The facts about a request. A context is immutable: a check that finds more facts makes a new one. */
export interface RequestContext {
  /** The `Request-Id`. */
  readonly id: string
  /** The instant at which the request began. */
  readonly now: Instant
  /**
   * The template of the path, such as `/v1/tickets/:id`; null if no route has the path. A request that was refused
   * before its route was checked has only the prefix, so that the log and the metrics of an endpoint contain no
   * requests without a valid key.
   */
  readonly route: string | null
  /** The caller of the request; null before it is known, and for requests without a key. */
  readonly caller: Caller | null
  /** The statuses of the limits that were counted so far. */
  readonly limitStatuses: ReadonlyArray<LimitStatus>
}

/** A response with the facts that observers count and log. */
export interface ObservedResponse extends HttpResponse {
  /** The facts about the request, with all that was found until the response. */
  readonly context: RequestContext
  /** Why the request got no result. */
  readonly failure?: Failure
}

const secondsUntil = (instant: Instant, now: Instant): string =>
  String(Math.max(0, Math.ceil((instant - now) / SECOND_MS)))

/** Responses contain texts of shops and clients, which a browser must not show as a page. */
const NO_SNIFFING = "nosniff"

const makeCommonHeaders = (
  { id, now }: RequestContext,
  limitStatuses: ReadonlyArray<LimitStatus>
): Record<string, string> => {
  const shownStatus = findScarcest(limitStatuses)
  return {
    "Content-Type": "application/json; charset=utf-8",
    "X-Content-Type-Options": NO_SNIFFING,
    "Cache-Control": "no-store",
    "Request-Id": id,
    ...(shownStatus && {
      "RateLimit-Limit": String(shownStatus.limit),
      "RateLimit-Remaining": String(shownStatus.remaining),
      "RateLimit-Reset": secondsUntil(shownStatus.resets_at, now)
    })
  }
}

/**
 * The seconds from `now`, by default the refusal, until a retry may succeed; undefined if waiting does not help
 * (Specification, Errors; Limits).
 */
export const retryAfterOf = (failure: Failure, now?: Instant): string | undefined => {
  if (failure._tag === "LimitReached") return secondsUntil(failure.decisive.resets_at, now ?? failure.refused_at)
  if (failureRows[failure._tag].code !== "UNAVAILABLE") return undefined
  return String(ServiceLimits.unavailable_retry_after_ms / SECOND_MS)
}

/** The `WWW-Authenticate` of a failure: the embedder's, if there is one, or the challenge for API keys. */
const challengeOf = (failure: Failure): string | undefined => {
  if (failure._tag === "NotSignedIn") return failure.challenge
  return failureRows[failure._tag].code === "UNAUTHENTICATED" ? "Bearer" : undefined
}

/** A failure in its envelope. A 429 shows the limit that refused (Specification, Limits). */
const toFailureResponse = (failure: Failure, context: RequestContext): ObservedResponse => {
  const { status, body } = failureStatusAndBody(failure)
  const commonHeaders = makeCommonHeaders(
    context,
    failure._tag === "LimitReached" ? [failure.decisive] : context.limitStatuses
  )
  const challenge = challengeOf(failure)
  if (challenge !== undefined) commonHeaders["WWW-Authenticate"] = challenge
  const wait = retryAfterOf(failure, context.now)
  if (wait !== undefined) commonHeaders["Retry-After"] = wait
  return { status, headers: commonHeaders, body: JSON.stringify(body), context, failure }
}

/** A result in its envelope. The headers show the scarcest limit that it counted against (Specification, Limits). */
const toResultResponse = (result: HandlerResult, context: RequestContext): ObservedResponse => {
  const { status = 200, data, meta, limitStatuses } = result
  const commonHeaders = makeCommonHeaders(
    context,
    limitStatuses === undefined ? context.limitStatuses : [...context.limitStatuses, ...limitStatuses]
  )
  return {
    status,
    headers: result.headers === undefined ? commonHeaders : { ...commonHeaders, ...result.headers },
    body:
      meta === undefined
        ? `{"success":true,"data":${JSON.stringify(data)}}`
        : `{"success":true,"data":${JSON.stringify(data)},"meta":${JSON.stringify(meta)}}`,
    context
  }
}

/** Makes the response. No other code turns results and failures into status, headers and body. */
export const respond = (outcome: HandlerOutcome | Failure, context: RequestContext): ObservedResponse => {
  if ("_tag" in outcome) return toFailureResponse(outcome, context)
  if (!("body" in outcome)) return toResultResponse(outcome, context)
  const { status = 200, body, follow } = outcome
  const page = { status, headers: { ...makeCommonHeaders(context, []), ...outcome.headers }, body, context }
  return follow === undefined ? page : { ...page, follow }
}

/** Logs why the store is unavailable, because the response does not show it (Specification, Errors). */
export const logUnavailable = (failure: Failure): Effect.Effect<void> =>
  Effect.logWarning(`The response to a request is 503: ${toOneLine(failure)}`)

/** The failure in a cause, or undefined if it is a bug. */
export const failureIn = <E extends Failure>(cause: Cause.Cause<E>): E | undefined =>
  Option.getOrUndefined(Cause.failureOption(cause))

/**
 * The response to a cause. The reason of a 500 or a 503 is logged with the request's id, and no part of the reason is
 * in the response (Specification, Errors).
 */
export const respondToCause = (
  cause: Cause.Cause<Failure>,
  context: RequestContext
): Effect.Effect<ObservedResponse> => {
  const failure = failureIn(cause)
  if (failure !== undefined && failure._tag !== "StoreUnavailable") return Effect.succeed(respond(failure, context))
  const message = `The service failed. Report this request id: ${context.id}.`
  const log = failure === undefined ? Effect.logError("A request failed", cause) : logUnavailable(failure)
  return Effect.as(
    Effect.annotateLogs(log, { request_id: context.id }),
    respond(failure ?? { _tag: "InternalError", message }, context)
  )
}

/** Dies if a result does not match the contract. For tests, because it costs as much as the response itself. */
export const checkResponse = (route: Route, { data, meta }: HandlerResult): Effect.Effect<void> => {
  const checked = route.validateEnvelope(meta === undefined ? { success: true, data } : { success: true, data, meta })
  return Either.isLeft(checked)
    ? Effect.dieMessage(
        `The result of ${route.method} ${route.path} does not match its schema: ${TreeFormatter.formatIssueSync(checked.left)}`
      )
    : Effect.void
}
