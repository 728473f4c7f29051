import { type Cause, Effect, Either } from "effect"
import { TreeFormatter } from "effect/ParseResult"
import { type Instant, SECOND_MS } from "../domain/Instant.js"
import { jsonText } from "../domain/JsonText.js"
import { type LimitStatus, scarcest } from "../domain/LimitWindow.js"
import type { HandlerResult, Route } from "./Endpoint.js"
import { failureBody, failureStatusAndBody } from "./Envelope.js"
import { errorCodes, type Failure, RETRY_AFTER_UNAVAILABLE_S, type RequestIssue } from "./ErrorTable.js"
import type { HttpResponse } from "./HttpMessage.js"

/** What every answer says of itself. */
export interface RequestContext {
  readonly request_id: string
  readonly now: Instant
  /** The part of the request in which a service's own input issues stand. */
  readonly part: RequestIssue["in"]
  /** The template of the path, such as `/v1/tickets/:id`, noted once it is known; until then where it leads; null where nowhere. */
  route?: string | null
}

const JSON_TYPE = "application/json; charset=utf-8"

/** Texts of shops and clients stand in answers: no browser may take one for a page. */
const NO_SNIFFING = "nosniff"

const secondsUntil = (instant: Instant, now: Instant): string =>
  String(Math.max(0, Math.ceil((instant - now) / SECOND_MS)))

// Written out twice: made by spreading a common part, the headers cost a tenth of a whole request.
const headers = ({ request_id, now }: RequestContext, usages: ReadonlyArray<LimitStatus>): Record<string, string> => {
  const shown = scarcest(usages)
  if (shown === undefined)
    return {
      "Content-Type": JSON_TYPE,
      "X-Content-Type-Options": NO_SNIFFING,
      "Cache-Control": "no-store",
      "Request-Id": request_id
    }
  return {
    "Content-Type": JSON_TYPE,
    "X-Content-Type-Options": NO_SNIFFING,
    "Cache-Control": "no-store",
    "Request-Id": request_id,
    "RateLimit-Limit": String(shown.limit),
    "RateLimit-Remaining": String(shown.remaining),
    "RateLimit-Reset": secondsUntil(shown.resets_at, now)
  }
}

/** A result in its envelope. The headers tell of the scarcest limit it counted against (Specification, Limits). */
export const successResponse = (
  reply: HandlerResult,
  stamp: RequestContext,
  usages: ReadonlyArray<LimitStatus>
): HttpResponse => {
  const told = reply.usages === undefined ? usages : [...usages, ...reply.usages]
  const { status = 200, data, meta } = reply
  return {
    status,
    headers: reply.headers === undefined ? headers(stamp, told) : { ...headers(stamp, told), ...reply.headers },
    body:
      meta === undefined
        ? `{"success":true,"data":${jsonText(data)}}`
        : `{"success":true,"data":${jsonText(data)},"meta":${JSON.stringify(meta)}}`
  }
}

/** In how many seconds it is worth another try; undefined where waiting is no use (Specification, Errors; Limits). */
export const retryAfter = (failure: Failure, now: Instant): string | undefined => {
  if (failure._tag === "LimitReached") return secondsUntil(failure.decisive.resets_at, now)
  return failure._tag === "StoreUnavailable" ? String(RETRY_AFTER_UNAVAILABLE_S) : undefined
}

/** By which scheme whoever is not known may make themselves known. */
const challengeOf = (failure: Failure): string | undefined => {
  if (failure._tag === "NotSignedIn") return failure.challenge
  return failure._tag === "Unauthenticated" ||
    failure._tag === "TestKeyElsewhere" ||
    failure._tag === "SandboxTokenWrong"
    ? "Bearer"
    : undefined
}

/** A failure in its envelope. A 429 tells of the limit that refused (Specification, Limits). */
export const failureResponse = (
  failure: Failure,
  stamp: RequestContext,
  usages: ReadonlyArray<LimitStatus>
): HttpResponse => {
  const { status, body } = failureStatusAndBody(failure, stamp.part)
  const refused = failure._tag === "LimitReached"
  const common = headers(stamp, refused ? [failure.decisive] : usages)
  const challenge = challengeOf(failure)
  if (challenge !== undefined) common["WWW-Authenticate"] = challenge
  const wait = retryAfter(failure, stamp.now)
  if (wait !== undefined) common["Retry-After"] = wait
  return { status, headers: common, body: JSON.stringify(body) }
}

/** JSON that is no answer of the API: it wears no envelope, counts against no limit and shows none (Specification, Commands). */
export const pageResponse = (json: string, stamp: RequestContext): HttpResponse => ({
  status: 200,
  headers: headers(stamp, []),
  body: json
})

/** A bug: the cause goes to the log with the request's id, and nothing of it into the answer (Specification, Errors). */
export const internalError = (
  cause: Cause.Cause<unknown>,
  stamp: RequestContext,
  usages: ReadonlyArray<LimitStatus>
): Effect.Effect<HttpResponse> => {
  const body = failureBody("INTERNAL", `The service failed; quote the request ${stamp.request_id}`)
  const departure = { status: errorCodes.INTERNAL.status, headers: headers(stamp, usages), body: JSON.stringify(body) }
  return Effect.as(
    Effect.annotateLogs(Effect.logError("A request failed", cause), { request_id: stamp.request_id }),
    departure
  )
}

const rootOf = (error: Error): Error => (error.cause instanceof Error ? rootOf(error.cause) : error)

/** An error and what it came from, in one line. */
const wordsOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "the store is away"
  const root = rootOf(error)
  return root === error ? error.message : `${error.message} (${root.message})`
}

/** Says in a line of the log why the store is away: the answer has nothing of it (Specification, Errors). */
export const logUnavailable = (failure: Failure): Effect.Effect<void> =>
  Effect.logWarning(`A request was answered 503: ${wordsOf(failure)}`)

/** A store that is away; the log has why, under the request's id. */
export const unavailable = (
  failure: Failure,
  stamp: RequestContext,
  usages: ReadonlyArray<LimitStatus>
): Effect.Effect<HttpResponse> =>
  Effect.as(
    Effect.annotateLogs(logUnavailable(failure), { request_id: stamp.request_id }),
    failureResponse(failure, stamp, usages)
  )

/** Holds a result to the contract's promise: for tests, as it costs as much again as the answer itself. */
export const checkResponse = (route: Route<never>, reply: HandlerResult): Effect.Effect<void> => {
  const { data, meta } = reply
  const checked = route.promises(meta === undefined ? { success: true, data } : { success: true, data, meta })
  return Either.isLeft(checked)
    ? Effect.dieMessage(
        `${route.method} ${route.path} broke its promise: ${TreeFormatter.formatIssueSync(checked.left)}`
      )
    : Effect.void
}
