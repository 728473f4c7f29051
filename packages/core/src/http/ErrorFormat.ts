import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import { HttpApiDecodeError } from "@effect/platform/HttpApiError"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpMethod from "@effect/platform/HttpMethod"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerError from "@effect/platform/HttpServerError"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as UrlParams from "@effect/platform/UrlParams"
import { SchemaAST as AST, Cause, Effect, FiberRef, Layer, Option, ParseResult, Record, type Schema } from "effect"
import * as FindMyWay from "find-my-way-ts"
import { inputIssues } from "../domain/InvalidInput.js"
import { Limits } from "../domain/Limits.js"
import { makeRereadable, type RereadableRequest } from "./EffectBody.js"
import { failureResponse, isSentAsJson, NOT_JSON, respondWithFailure } from "./EffectMount.js"
import { fieldNameOf } from "./Endpoint.js"
import type { RequestIssue } from "./ErrorTable.js"

type Endpoint = HttpApiEndpoint.HttpApiEndpoint.AnyWithProps
type FoundEndpoint = FindMyWay.FindResult<Endpoint>
type AnySchema = Schema.Schema<unknown>

/** The issues of one part of a request; null if they cannot be recomputed. */
interface PartIssues {
  readonly part: RequestIssue["in"]
  readonly issues: ReadonlyArray<RequestIssue> | null
}

/** Recomputes the issues of one part of a request. Null if its schema needs services, which only its endpoint has. */
const issuesOf = (part: RequestIssue["in"], schema: AnySchema, value: unknown): Effect.Effect<PartIssues> =>
  ParseResult.decodeUnknown(schema, { errors: "all" })(value).pipe(
    Effect.match({
      onSuccess: () => [],
      onFailure: (issue) =>
        inputIssues(issue).map(({ field, message }) => ({ in: part, field: fieldNameOf(part, field), message }))
    }),
    Effect.catchAllDefect(() => Effect.succeed(null)),
    Effect.map((issues) => ({ part, issues }))
  )

/** Whether a schema accepts a text. */
const acceptsText = (ast: AST.AST): boolean => {
  if (AST.isUnion(ast)) return ast.types.some(acceptsText)
  if (AST.isRefinement(ast)) return acceptsText(ast.from)
  return AST.isStringKeyword(ast) || AST.isLiteral(ast) || AST.isTemplateLiteral(ast) || AST.isEnums(ast)
}

/** The parameters of the query in the form of `HttpApi`, where a list parameter that is given once is a list too. */
const withLists = ({ ast }: AnySchema, params: FoundEndpoint["searchParams"]) => {
  const lists = AST.getPropertySignatures(AST.encodedAST(ast)).filter(({ type }) => !acceptsText(type))
  const isList = (name: string) => lists.some((list) => list.name === name)
  return Record.map(params, (value, name) => (typeof value === "string" && isList(name) ? [value] : value))
}

/** Whether an endpoint accepts its body only as JSON. */
const isJsonOnly = ({ ast }: AnySchema) =>
  (AST.isUnion(ast) ? ast.types : [ast]).every(
    (member) =>
      HttpApiSchema.getEncoding(member).kind === "Json" &&
      HttpApiSchema.getMultipart(member) === undefined &&
      HttpApiSchema.getMultipartStream(member) === undefined
  )

/** Reads the body in the same way as `HttpApi`. */
const bodyOf = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<unknown, HttpServerError.RequestError> => {
  if (isSentAsJson(request)) return request.json
  const type = request.headers["content-type"]?.toLowerCase().trim() ?? ""
  if (type.includes("x-www-form-urlencoded")) return Effect.map(request.urlParamsBody, UrlParams.toRecord)
  return type.startsWith("text/") ? request.text : Effect.map(request.arrayBuffer, (buffer) => new Uint8Array(buffer))
}

/**
 * The issues of a payload. There are none for `handleRaw`, whose body `HttpApi` does not read, nor for multipart forms,
 * which can be read only once.
 */
const payloadIssuesOf = (
  schema: AnySchema,
  { searchParams }: FoundEndpoint,
  { request, progress }: RereadableRequest
): Effect.Effect<PartIssues, HttpServerError.RequestError> => {
  if (!HttpMethod.hasBody(request.method)) return issuesOf("query", schema, searchParams)
  const isMultipart = request.headers["content-type"]?.includes("multipart/form-data") === true
  if (!isSentAsJson(request) && isJsonOnly(schema) && (progress.isBegun || isMultipart))
    return Effect.succeed({ part: "header", issues: [NOT_JSON] })
  if (!progress.isBegun) return Effect.succeed({ part: "body", issues: isMultipart ? null : [] })
  return Effect.flatMap(bodyOf(request), (body) => issuesOf("body", schema, body))
}

/** The issues of each part of a request for which its endpoint has a schema. */
const requestIssuesOf = (foundEndpoint: FoundEndpoint, rereadable: RereadableRequest) => {
  const { pathSchema, urlParamsSchema, headersSchema, payloadSchema } = foundEndpoint.handler
  const { headers } = rereadable.request
  return Effect.all([
    ...Option.toArray(pathSchema).map((schema) => issuesOf("path", schema as AnySchema, foundEndpoint.params)),
    ...Option.toArray(urlParamsSchema).map((schema) =>
      issuesOf("query", schema as AnySchema, withLists(schema as AnySchema, foundEndpoint.searchParams))
    ),
    ...Option.toArray(headersSchema).map((schema) => issuesOf("header", schema as AnySchema, headers)),
    ...Option.toArray(payloadSchema).map((schema) => payloadIssuesOf(schema as AnySchema, foundEndpoint, rereadable))
  ])
}

/** The issues with the messages of `HttpApi`, one for each field, for a part whose issues cannot be recomputed. */
const platformIssues = (part: RequestIssue["in"], { issues }: HttpApiDecodeError): ReadonlyArray<RequestIssue> => {
  const messages = new Map<string, string>()
  for (const { path, message } of issues) {
    const field = fieldNameOf(part, path.map(String).join("."))
    // Several messages for one field are the alternatives of a union.
    messages.set(field, messages.has(field) ? "is not valid" : message)
  }
  return Array.from(messages, ([field, message]) => ({ in: part, field, message }))
}

/** The response to a request that does not match the schemas of its endpoint. */
const respondToDecodeError = (
  failure: HttpApiDecodeError,
  foundEndpoint: FoundEndpoint | undefined,
  rereadable: RereadableRequest
) =>
  Effect.gen(function* () {
    const parts = foundEndpoint === undefined ? [] : yield* requestIssuesOf(foundEndpoint, rereadable)
    const knownIssues = parts.flatMap(({ issues }) => issues ?? [])
    const unknown = parts.find(({ issues }) => issues === null)
    const issues = knownIssues.length > 0 || unknown === undefined ? knownIssues : platformIssues(unknown.part, failure)
    if (issues.length > 0) return yield* failureResponse({ _tag: "InvalidRequest", issues }, "body")
    const { method, url } = rereadable.request
    return yield* Effect.dieMessage(`The response to ${method} ${url} does not match its schema: ${failure.message}`)
  }).pipe(Effect.catchTag("RequestError", respondWithFailure))

/** Finds the endpoints of an API by method and path, with a router like the server's. */
const endpointsOf = (api: HttpApi.HttpApi.AnyWithProps) =>
  Effect.map(FiberRef.get(HttpRouter.currentRouterConfig), (config) => {
    const tree = FindMyWay.make<Endpoint>({ ...config, maxParamLength: Limits.url_characters })
    HttpApi.reflect(api, {
      onGroup: () => undefined,
      onEndpoint: ({ endpoint }) => tree.on(endpoint.method, endpoint.path, endpoint as unknown as Endpoint)
    })
    return ({ method, url }: HttpServerRequest.HttpServerRequest) =>
      tree.find(method, url) ?? (method === "HEAD" ? tree.find("GET", url) : undefined)
  })

/**
 * Raises the maximum length of path parameters to the API's own, because by default the router of `HttpApi` finds no
 * route beyond 100 characters.
 */
export const longParameters = Layer.scopedDiscard(
  Effect.locallyScopedWith(HttpRouter.currentRouterConfig, (config) => ({
    maxParamLength: Limits.url_characters,
    ...config
  }))
)

/** The progress of a request that has no body. */
const NO_BODY = { isBegun: true, isWhole: true }

/**
 * Gives the refusals of `HttpApi` itself the format of the API, in all groups. A request that does not match the
 * schemas of its endpoint is a 400 with every wrong value and its location, a body that cannot be read or is larger
 * than `withMaxBodySize` allows is a 400, and an unknown path or method is a 404. A response that does not match its
 * schema becomes a defect, because that is a bug of the handler.
 */
export const errorFormat = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>
): Layer.Layer<never> => {
  const middleware = Effect.map(
    endpointsOf(api as never),
    (find) => (app: HttpApp.Default) =>
      Effect.gen(function* () {
        const original = yield* HttpServerRequest.HttpServerRequest
        const read = HttpMethod.hasBody(original.method)
          ? yield* makeRereadable(original)
          : { request: original, progress: NO_BODY }
        const handled = Effect.catchAllCause(app, (cause) => {
          const failure: unknown = Cause.squash(cause)
          if (failure instanceof HttpApiDecodeError) return respondToDecodeError(failure, find(original), read)
          if (!HttpServerError.isServerError(failure)) return Effect.failCause(cause)
          if (failure._tag === "RouteNotFound") return failureResponse({ _tag: "RouteNotFound" }, "body")
          return failure._tag === "RequestError" ? respondWithFailure(failure) : Effect.failCause(cause)
        })
        return yield* Effect.provideService(handled, HttpServerRequest.HttpServerRequest, read.request)
      })
  )
  return Layer.merge(longParameters, HttpApiBuilder.middleware(middleware))
}
