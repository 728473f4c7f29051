import * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import { SchemaAST as AST, Context, type Effect, Either, Option, ParseResult, Schema } from "effect"
import * as FindMyWay from "find-my-way-ts"
import type { Scope } from "../domain/ApiKey.js"
import { inputIssues } from "../domain/InvalidInput.js"
import { Limits, type PolicyName } from "../domain/Limits.js"
import { makeTrim } from "../domain/Text.js"
import { quickReader, UNSURE } from "../fast/QuickReader.js"
import type { Failure, RequestIssue } from "./ErrorTable.js"
import type { HandlerOutcome, HandlerResult } from "./HttpMessage.js"

/** The scope that a key must have for an endpoint; by default any key may call it (Specification, Keys and scopes). */
export class RequiredScope extends Context.Tag("@workshop/core/http/RequiredScope")<RequiredScope, Scope>() {}

/** The rate limit policies of the shop that a valid request to an endpoint counts against, once each (Specification, Limits). */
export class CountedPolicies extends Context.Tag("@workshop/core/http/CountedPolicies")<
  CountedPolicies,
  ReadonlyArray<PolicyName>
>() {}

/** The maximum length of an endpoint's body, in bytes; `Limits.body_bytes` by default. */
export class BodyLimit extends Context.Tag("@workshop/core/http/BodyLimit")<BodyLimit, number>() {}

type Groups<Api> = Api extends HttpApi.HttpApi<infer _Id, infer Group, infer _E, infer _R> ? Group : never
type Endpoints<Group> = Group extends HttpApiGroup.HttpApiGroup.Any ? HttpApiGroup.HttpApiGroup.Endpoints<Group> : never
type GroupName<Group> = Group extends { readonly identifier: infer Name extends string } ? Name : never
type HandlerResultOf<Success> = Success extends unknown
  ? Omit<Success, "success"> & Omit<HandlerResult, "data" | "meta">
  : never
type Handler<E extends HttpApiEndpoint.HttpApiEndpoint.Any, C> = (
  request: Omit<HttpApiEndpoint.HttpApiEndpoint.Request<E>, "request">,
  context: C
) => Effect.Effect<HandlerResultOf<HttpApiEndpoint.HttpApiEndpoint.Success<E>>, Failure>

/**
 * The handlers of one group of endpoints, whose inputs and results have the types of the contract. `C` is the type of a
 * handler's caller.
 */
export type GroupHandlers<G, C> = {
  readonly [Name in HttpApiEndpoint.HttpApiEndpoint.Name<Endpoints<G>>]: Handler<
    HttpApiEndpoint.HttpApiEndpoint.WithName<Endpoints<G>, Name>,
    C
  >
}

/** The handlers of one API, by the names of its groups. */
export type Handlers<Api, C> = {
  readonly [G in Groups<Api> as GroupName<G>]: GroupHandlers<G, C>
}

/** The parts of a request, as texts and JSON. */
export interface RawRequest {
  readonly path: unknown
  readonly urlParams: unknown
  readonly headers: unknown
  readonly payload: unknown
}

/** An endpoint, compiled from the contract: its decoder, its scope and its limits. */
export interface Route {
  readonly method: string
  /** The path with `:name` for its parameters. */
  readonly path: `/${string}`
  readonly scope: Scope | undefined
  readonly policies: ReadonlyArray<PolicyName>
  /** Whether the endpoint has a JSON body. */
  readonly takesBody: boolean
  /** The maximum length of the body, in bytes. */
  readonly body_bytes: number
  readonly headerNames: ReadonlyArray<string>
  /** The query parameters that are lists: `state=a&state=b` means the same as `state=a,b` (Specification, Lists and sync). */
  readonly listParameters: ReadonlyArray<string>
  /** Decodes a request by its schemas, or returns all its issues. */
  readonly decode: (raw: RawRequest) => Either.Either<unknown, ReadonlyArray<RequestIssue>>
  /** Validates an envelope against the contract's schema of success; tests check every response with it. */
  readonly validateEnvelope: (envelope: unknown) => Either.Either<unknown, ParseResult.ParseIssue>
}

/** The handler of a route. `input` is the result of the route's `decode`, and `C` the type of the handler's caller. */
export type RouteHandler<C> = (input: unknown, caller: C) => Effect.Effect<HandlerOutcome, Failure>

/** The parts of a request, with their names in Effect and in issues. */
const parts = [
  { name: "path", part: "path", schema: "pathSchema", options: {} },
  { name: "urlParams", part: "query", schema: "urlParamsSchema", options: { onExcessProperty: "error" } },
  { name: "headers", part: "header", schema: "headersSchema", options: {} },
  { name: "payload", part: "body", schema: "payloadSchema", options: { onExcessProperty: "error" } }
] as const

/** The schema of a body that must be empty: an object without fields, or no body at all. Effect's empty struct accepts any fields. */
export const EmptyBody = Schema.Record({
  key: Schema.String,
  value: Schema.Never.annotations({ message: () => "is unknown; correct its name or remove it" })
}).annotations({ jsonSchema: { type: "object", additionalProperties: false } })

/** The schema of a part that the contract does not declare: it refuses all fields and parameters as unknown (Specification, Errors). */
const schemaOfUndeclared = (name: (typeof parts)[number]["name"], method: string) =>
  name === "urlParams" || (name === "payload" && method !== "GET") ? EmptyBody : undefined

/** The decoder of a part: a quick reader for most valid values, and the schema itself for all others. */
const makePartReader = (schema: Schema.Schema<unknown>, options: AST.ParseOptions) => {
  const decode = ParseResult.decodeUnknownEither(schema, { errors: "all", ...options })
  const trim = makeTrim(schema.ast)
  const readTrimmed = (value: unknown) => decode(trim === undefined ? value : trim(value))
  const quickRead = quickReader(schema, options.onExcessProperty === "error")
  if (quickRead === undefined) return readTrimmed
  return (value: unknown) => {
    const decoded = quickRead(value)
    return decoded === UNSURE ? readTrimmed(value) : Either.right(decoded)
  }
}

/** A header's name in its usual spelling, such as `Idempotency-Key`. */
export const toHeaderCase = (name: string) => name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())

/** The name of a field in an issue: the part's own name if the whole part is wrong, and a query parameter's name without the index in its list. */
export const fieldNameOf = (part: RequestIssue["in"], field: string): string => {
  if (field === "") return part
  if (part === "header") return toHeaderCase(field)
  return part === "query" ? field.split(".")[0]! : field
}

const makeDecoder = (endpoint: HttpApiEndpoint.HttpApiEndpoint.AnyWithProps): Route["decode"] => {
  const readers = parts.flatMap(({ name, part, schema, options }) => {
    const declared = Option.getOrUndefined(endpoint[schema] as Option.Option<Schema.Schema<unknown>>)
    const partSchema = declared ?? (schemaOfUndeclared(name, endpoint.method) as Schema.Schema<unknown> | undefined)
    return partSchema === undefined ? [] : [{ name, part, read: makePartReader(partSchema, options) }]
  })
  return (raw) => {
    const request: Record<string, unknown> = {}
    let issues: Array<RequestIssue> | undefined
    for (const { name, part, read } of readers) {
      const result = read(raw[name])
      if (Either.isRight(result)) request[name] = result.right
      else {
        const newIssues = inputIssues(result.left).map(
          ({ field, message }): RequestIssue => ({ in: part, field: fieldNameOf(part, field), message })
        )
        issues = [...(issues ?? []), ...newIssues]
      }
    }
    return issues === undefined ? Either.right(request) : Either.left(issues)
  }
}

/** The fields that the contract declares for a part. */
const fieldsOf = (part: Option.Option<unknown>): ReadonlyArray<AST.PropertySignature> =>
  Option.match(part as Option.Option<Schema.Schema<unknown>>, {
    onNone: () => [],
    onSome: ({ ast }) => AST.getPropertySignatures(AST.typeAST(ast))
  })

const nameOf = ({ name }: AST.PropertySignature): string => String(name)

/** All endpoints of an API with their handlers, ready to serve, in the order of the contract. */
export const compileRoutes =
  <C>() =>
  <Id extends string, G extends HttpApiGroup.HttpApiGroup.Any, E, R>(
    api: HttpApi.HttpApi<Id, G, E, R>,
    handlers: Handlers<HttpApi.HttpApi<Id, G, E, R>, C>
  ): ReadonlyMap<Route, RouteHandler<C>> => {
    const compiled = new Map<Route, RouteHandler<C>>()
    // Each handler's input has the type of its endpoint in the contract, and the route decodes it by the same contract.
    const table = handlers as unknown as Record<string, Record<string, RouteHandler<C>>>
    HttpApi.reflect(api, {
      onGroup: () => undefined,
      onEndpoint: ({ group, endpoint: reflected, mergedAnnotations }) => {
        const endpoint = reflected as unknown as HttpApiEndpoint.HttpApiEndpoint.AnyWithProps
        const handle = table[group.identifier]?.[endpoint.name]
        if (handle === undefined) throw new Error(`No handler for ${group.identifier}.${endpoint.name}`)
        const route: Route = {
          method: endpoint.method,
          path: endpoint.path,
          scope: Option.getOrUndefined(Context.getOption(mergedAnnotations, RequiredScope)),
          policies: Option.getOrElse(Context.getOption(mergedAnnotations, CountedPolicies), () => []),
          takesBody: Option.isSome(endpoint.payloadSchema),
          body_bytes: Option.getOrElse(Context.getOption(mergedAnnotations, BodyLimit), () => Limits.body_bytes),
          headerNames: fieldsOf(endpoint.headersSchema).map(nameOf),
          listParameters: fieldsOf(endpoint.urlParamsSchema)
            .filter(({ type }) => AST.isTupleType(type))
            .map(nameOf),
          decode: makeDecoder(endpoint),
          validateEnvelope: ParseResult.validateEither(endpoint.successSchema as Schema.Schema<unknown>, {
            onExcessProperty: "error"
          })
        }
        compiled.set(route, handle)
      }
    })
    return compiled
  }

/** The route of a method and a path, with the path's parameters. */
export interface RouteMatch {
  /** The endpoint's compiled route, for the handler of its group. */
  readonly route: Route
  /** The decoded parameters of the path, in the shape of the endpoint's schema. */
  readonly path: unknown
}

/**
 * Accepts one spelling of each path, so that a client that forgot an id gets a 404 and not the list (Specification,
 * Errors).
 */
const EXACT_MATCH = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  maxParamLength: Limits.url_characters
} as const

/** Whether the fixed segments of a path are spelled as in the route, because the tree decodes `%63lients` to `clients`. */
const isSpelledAsDeclared = (route: string, path: string): boolean => {
  if (!path.includes("%")) return true
  const sent = path.split("/")
  return route.split("/").every((segment, i) => segment.startsWith(":") || segment === sent[i])
}

/** Returns a function that finds the route of a method and path, or undefined if there is none. */
export const makeRouter = (routes: Iterable<Route>): ((method: string, path: string) => RouteMatch | undefined) => {
  const tree = FindMyWay.make<Route>(EXACT_MATCH)
  // The tree stores methods in a plain object, so a look-up there would also find `constructor` and `toString`.
  const methods = new Set<string>()
  for (const route of routes) {
    tree.on(route.method, route.path, route)
    methods.add(route.method)
  }
  return (method, path) => {
    if (!methods.has(method)) return undefined
    // The tree ignores the text after `;` and `#`, and accepts an empty segment as a parameter.
    if (path.includes(";") || path.includes("#") || path.endsWith("/") || path.includes("//")) return undefined
    const leaf = tree.find(method, path)
    return leaf === undefined || !isSpelledAsDeclared(leaf.handler.path, path)
      ? undefined
      : { route: leaf.handler, path: leaf.params }
  }
}
