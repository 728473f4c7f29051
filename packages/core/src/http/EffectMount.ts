import type * as HttpApp from "@effect/platform/HttpApp"
import type * as HttpBody from "@effect/platform/HttpBody"
import * as HttpRouter from "@effect/platform/HttpRouter"
import type * as HttpServerError from "@effect/platform/HttpServerError"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { SchemaAST as AST, Clock, Effect, Option, type ParseResult } from "effect"
import type { Refusal } from "../decisions/Refusal.js"
import { inputIssues, nameOfValue } from "../domain/InvalidInput.js"
import { Limits } from "../domain/Limits.js"
import { isObject, requireOptions } from "../domain/OptionChecks.js"
import { type BodyProgress, contentLengthOf, discardBody, NOT_UTF8, readAll } from "./EffectBody.js"
import { toHeaderCase } from "./Endpoint.js"
import { failureStatusAndBody } from "./Envelope.js"
import type { Failure, RequestIssue } from "./ErrorTable.js"
import { BodyIncomplete, BodyTooLarge, bodyText, type HttpRequest, isHeaderRepeated } from "./HttpMessage.js"
import { type MountEffectOptions, mountEffect, mountOptions } from "./Mount.js"
import { COMPRESSED, inputPartOf } from "./RequestReader.js"
import { logUnavailable, retryAfterOf } from "./respond.js"

/** The raw headers on Node's server; empty on other servers, so repeated headers are not found there. */
const rawHeadersOf = ({ source }: HttpServerRequest.HttpServerRequest): ReadonlyArray<string> =>
  (source as { readonly rawHeaders?: ReadonlyArray<string> }).rawHeaders ?? []

/**
 * The part of a request of Node's server that has its response. The response gets a socket once it is the next one on
 * the connection.
 */
interface OnNode {
  readonly response?: {
    readonly socket?: unknown
    readonly once: (event: "socket", listener: () => void) => unknown
  }
}

/**
 * Waits until a request's response is the next one on its connection, so that a client that pipelines requests runs one
 * at a time. This works on Node's server only. If the client disconnects, its request is interrupted.
 */
const waitForTurn = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<void> =>
  Effect.async((resume) => {
    const { response } = request as OnNode
    if (response?.socket === null) response.once("socket", () => resume(Effect.void))
    else resume(Effect.void)
  })

const requestFromEffect = (request: HttpServerRequest.HttpServerRequest, address: string, progress: BodyProgress) => {
  // Below a router's mount, `url` no longer begins with the path of the mount.
  const queryStart = request.url.indexOf("?")
  return {
    method: request.method,
    path: queryStart < 0 ? request.url : request.url.slice(0, queryStart),
    query: queryStart < 0 ? "" : request.url.slice(queryStart + 1),
    header: (name) => request.headers[name],
    repeats: (name) => isHeaderRepeated(rawHeadersOf(request), name),
    address,
    body: (max_bytes) => {
      if ((contentLengthOf(request) ?? 0) > max_bytes) return Effect.fail(new BodyTooLarge())
      progress.isBegun = true
      return readAll(request, max_bytes, progress)
    },
    source: request
  } satisfies HttpRequest
}

/**
 * The API as an `HttpApp` of `@effect/platform`, to be mounted next to your own routes: with `HttpRouter.mountApp`,
 * which removes its path, or under the `prefix` of the options if the path is not removed.
 */
export const httpApp = <R = never>(options: MountEffectOptions<HttpServerRequest.HttpServerRequest, R> = {}) =>
  Effect.map(
    Effect.suspend(() => mountEffect(requireOptions("httpApp", options, mountOptions))),
    ({ handle }): HttpApp.Default =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        yield* waitForTurn(request)
        const address = Option.getOrElse(request.remoteAddress, () => "unknown")
        const length = contentLengthOf(request)
        const progress: BodyProgress = { isBegun: false, isWhole: length === 0 }
        const response = yield* handle(requestFromEffect(request, address, progress))
        if (!progress.isBegun && !progress.isWhole) yield* discardBody(request)
        // The connection must close after a body that may not be read to its end.
        const isLast = !progress.isWhole && (length === undefined || length > Limits.unwanted_body_bytes)
        const { status, headers } = response
        // The body sets the media type, and in the headers it would be sent twice.
        const { "Content-Type": contentType = "application/json", ...rest } = headers
        return HttpServerResponse.text(bodyText(response), {
          status,
          headers: isLast ? { ...rest, Connection: "close" } : rest,
          contentType
        })
      })
  )

/**
 * The failures of a handler of your own: a refusal of a service, a request that cannot be read or does not match its schema, or a response
 * that cannot be written.
 */
export type HandlerFailure =
  | Refusal
  | Extract<Failure, { readonly _tag: "StoreUnavailable" }>
  | ParseResult.ParseError
  | HttpServerError.RequestError
  | HttpBody.HttpBodyError

/** The named values of a request: those in its path, its query and its headers. */
const namedValues = Effect.gen(function* () {
  const { url, headers } = yield* HttpServerRequest.HttpServerRequest
  const route = yield* Effect.serviceOption(HttpRouter.RouteContext)
  const path = Option.match(route, { onNone: () => ({}), onSome: ({ params }) => params })
  const query = url.includes("?") ? new URLSearchParams(url.slice(url.indexOf("?"))) : []
  return { path: Object.entries(path), query: [...query], headers }
})

type NamedValues = Effect.Effect.Success<typeof namedValues>

/**
 * The name of a single value of the service, such as `idempotency_key`, or of a schema with a brand; undefined for an
 * object, which counts as the body.
 */
const nameOfScalar = (issue: ParseResult.ParseIssue): string | undefined => {
  if (!("ast" in issue) || issue._tag === "Missing") return undefined
  let inner = issue.ast
  while (AST.isRefinement(inner) || AST.isTransformation(inner)) inner = inner.from
  return AST.isTypeLiteral(inner) || AST.isTupleType(inner) ? undefined : nameOfValue(issue.ast)
}

/**
 * The location in the request of a value that a handler decoded, which a parse error does not contain: the parameter of
 * the path or of the query, or the header, that has this value. Any other single value has the name of its schema.
 */
const placeOf = (field: string, issue: ParseResult.ParseIssue, part: RequestIssue["in"], values: NamedValues) => {
  const { actual } = issue
  for (const place of ["path", "query"] as const) {
    const isSameValue = ([name, value]: readonly [string, unknown]) =>
      field === "" ? value === actual : name === field && isObject(actual) && actual[name] === value
    const entry = values[place].find(isSameValue)
    if (entry !== undefined) return { in: place, field: entry[0] }
  }
  const name = field || nameOfScalar(issue)
  const header = name?.replaceAll("_", "-") ?? ""
  if (actual === values.headers || (field === "" && header !== "" && actual === values.headers[header]))
    return { in: "header" as const, field: toHeaderCase(header) }
  return { in: part, field: name ?? part }
}

/** Whether a request's Content-Type is JSON or missing, which Effect reads as JSON. */
export const isSentAsJson = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  (headers["content-type"] ?? "application/json").toLowerCase().includes("application/json")

/** The issue with a body whose Content-Type is not JSON, although its endpoint needs JSON. */
export const NOT_JSON: RequestIssue = { in: "header", field: "Content-Type", message: "must be application/json" }

/** The issue with a body that could not be read or parsed. Effect has one error for both. */
const unreadBodyIssue = ({ request, cause, description }: HttpServerError.RequestError): RequestIssue => {
  if (cause instanceof BodyTooLarge || cause instanceof BodyIncomplete)
    return { in: "body", field: "body", message: description ?? cause.message }
  if ((request.headers["content-encoding"] ?? "identity") !== "identity") return COMPRESSED
  if (isSentAsJson(request)) return { in: "body", field: "body", message: "must be valid JSON in UTF-8" }
  return description === NOT_UTF8 ? { in: "body", field: "body", message: NOT_UTF8 } : NOT_JSON
}

const failureOf = (
  failure: Exclude<HandlerFailure, HttpBody.HttpBodyError>,
  part: RequestIssue["in"],
  values: NamedValues
): Failure => {
  switch (failure._tag) {
    case "ParseError":
      return {
        _tag: "InvalidRequest",
        issues: inputIssues(failure.issue).map(({ field, message }) => ({
          ...placeOf(field, failure.issue, part, values),
          message
        }))
      }
    case "RequestError":
      return { _tag: "InvalidRequest", issues: [unreadBodyIssue(failure)] }
    default:
      return failure
  }
}

/** The response of the API to a failure of its table of errors. */
export const failureResponse = (
  failure: Failure,
  part: RequestIssue["in"],
  otherFields: Readonly<Record<string, unknown>> = {}
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.gen(function* () {
    if (failure._tag === "StoreUnavailable") yield* logUnavailable(failure)
    const wait = retryAfterOf(failure, yield* Clock.currentTimeMillis)
    const { status, body } = failureStatusAndBody(failure, part)
    return HttpServerResponse.unsafeJson(
      { ...body, ...otherFields },
      { status, ...(wait && { headers: { "Retry-After": wait } }) }
    )
  })

/**
 * The response of the API to a failure of a handler of your own, with its status and envelope, for `Effect.catchAll` at
 * the handler's end. The reason why the store is unavailable is logged, and is not in the response (Specification,
 * Errors). The fields of `otherFields`, such as the progress of an upload, are added to the body.
 */
export const respondWithFailure = (
  failure: HandlerFailure,
  otherFields: Readonly<Record<string, unknown>> = {}
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest> =>
  Effect.gen(function* () {
    // The failure is a bug and not a refusal, so the server responds with its own 500.
    if (failure._tag === "HttpBodyError") return yield* Effect.die(failure)
    const { method } = yield* HttpServerRequest.HttpServerRequest
    const part = inputPartOf(method)
    const response = yield* failureResponse(failureOf(failure, part, yield* namedValues), part, otherFields)
    // The connection must close after a body that is not read to its end.
    const isLast = failure._tag === "RequestError" && failure.cause instanceof BodyTooLarge
    return isLast ? HttpServerResponse.setHeader(response, "Connection", "close") : response
  })
