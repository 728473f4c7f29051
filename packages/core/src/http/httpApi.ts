import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as HttpApiSecurity from "@effect/platform/HttpApiSecurity"
import { Context, Effect, Layer, Option } from "effect"
import { mustBeFunction, requireOptions } from "../domain/OptionChecks.js"
import type { Caller } from "../services/Caller.js"
import { ClientsApi } from "./ClientsApi.js"
import { httpApp } from "./EffectMount.js"
import { longParameters } from "./ErrorFormat.js"
import type { RequestObserver } from "./Pipeline.js"
import { TicketsApi } from "./TicketsApi.js"
import { COMMON_FAILURES, ShopApi } from "./WorkshopApi.js"

/**
 * The services that the groups need. `Workshop.layer` over a store, as in the guide, provides all of them. A
 * `Dispatcher` is not needed.
 */
export type ServicesOfGroups = Effect.Effect.Context<ReturnType<typeof httpApp<never>>>

/** The caller of a request. Your own `HttpApiMiddleware` provides it, with a `security` scheme that your OpenAPI document then names. */
export class CurrentCaller extends Context.Tag("@workshop/core/http/CurrentCaller")<CurrentCaller, Caller>() {}

/** The service's own API keys, as a middleware that puts their `securityScheme` into your OpenAPI document. */
export class ApiKeys extends HttpApiMiddleware.Tag<ApiKeys>()("@workshop/core/http/ApiKeys", {
  security: { apiKey: HttpApiSecurity.bearer }
}) {
  /** Accepts every request, because the groups themselves check the key, with the responses of the API. */
  static readonly layer = Layer.succeed(ApiKeys, { apiKey: () => Effect.void })
}

const withFailures = <Id extends string, Endpoint extends HttpApiEndpoint.HttpApiEndpoint.Any>(
  group: HttpApiGroup.HttpApiGroup<Id, Endpoint, never>
) =>
  group
    .prefix("/v1")
    .addError(COMMON_FAILURES.invalid)
    .addError(COMMON_FAILURES.unauthenticated)
    .addError(COMMON_FAILURES.forbidden)
    .addError(COMMON_FAILURES.tooMany)
    .addError(COMMON_FAILURES.internal)
    .addError(COMMON_FAILURES.unavailable)

/** A middleware that can protect the API: one that provides {@link CurrentCaller}, or {@link ApiKeys}. */
export type CallerMiddleware<I, S> = Context.Tag<I, S> &
  (I extends ApiKeys ? unknown : { readonly provides: typeof CurrentCaller })

/**
 * Makes the API to add to your own: `MyApi.addHttpApi(apiBehind(SignedIn).prefix("/workshop"))`. Pass a middleware that
 * provides {@link CurrentCaller}, or {@link ApiKeys}. Only the added groups get the middleware and its failures, so your
 * own groups stay the same in the OpenAPI document and in generated clients.
 */
export const apiBehind = <I extends HttpApiMiddleware.HttpApiMiddleware.AnyId, S>(
  middleware: CallerMiddleware<I, S>
) => {
  const tag: Context.Tag<I, S> = middleware
  return HttpApi.make("workshop")
    .add(withFailures(ShopApi).middleware(tag))
    .add(withFailures(TicketsApi).middleware(tag))
    .add(withFailures(ClientsApi).middleware(tag))
}

const GROUP_NAMES = ["shop", "tickets", "clients"] as const satisfies ReadonlyArray<ApiGroupName>
/** A group of the API. */
export type ApiGroupName = "shop" | "tickets" | "clients"

type AnyGroup = HttpApiGroup.HttpApiGroup.AnyWithProps

/** Whether a type is a union of several types, which here means two groups with the same name. */
type IsSeveral<A, Each = A> = Each extends unknown ? ([A] extends [Each] ? false : true) : never

type Wrong<Groups extends HttpApiGroup.HttpApiGroup.Any, N extends ApiGroupName> = [
  HttpApiGroup.HttpApiGroup.WithName<Groups, N>
] extends [never]
  ? `Your HttpApi has no group called ${N}: add apiBehind(middleware) with addHttpApi`
  : true extends IsSeveral<HttpApiGroup.HttpApiGroup.WithName<Groups, N>>
    ? `Your HttpApi has another group called ${N}: rename it`
    : never

/**
 * An empty type if an API has each group of {@link apiBehind} once, else an error message, with which the call does not
 * compile.
 */
type WithGroupsOnce<Groups extends HttpApiGroup.HttpApiGroup.Any> = [
  Wrong<Groups, "shop"> | Wrong<Groups, "tickets"> | Wrong<Groups, "clients">
] extends [never]
  ? unknown
  : Wrong<Groups, "shop"> | Wrong<Groups, "tickets"> | Wrong<Groups, "clients">

const GROUP_APIS = { shop: ShopApi, tickets: TicketsApi, clients: ClientsApi } as const

/** The groups of an API; throws if one is missing or another has its name. */
const groupsOf = (api: { readonly groups: unknown }): Readonly<Record<ApiGroupName, AnyGroup>> => {
  const groups = api.groups as Readonly<Record<string, AnyGroup | undefined>>
  for (const name of GROUP_NAMES) {
    const group = groups[name]
    if (group === undefined)
      throw new Error(`Your HttpApi has no group called ${name}. Add apiBehind(middleware) with addHttpApi.`)
    if (Object.keys(GROUP_APIS[name].endpoints).some((endpoint) => !(endpoint in group.endpoints)))
      throw new Error(`Your HttpApi has another group called ${name}. Rename your group.`)
  }
  return groups as Readonly<Record<ApiGroupName, AnyGroup>>
}

/** The options of the served groups. */
export interface GroupsOptions {
  /**
   * Observes each request that your middleware accepted, such as `makeHttpMetrics()` of `@workshop/http-node`, which
   * counts them.
   */
  readonly observe?: RequestObserver
}

/** The path before `/v1` in your API. */
const prefixOf = (shop: AnyGroup): `/${string}` | undefined =>
  shop.endpoints.read?.path.replace(/\/v1\/shop$/, "") as `/${string}` | undefined

/** Whether a middleware of the group finds the caller. */
const hasCallerMiddleware = ({ middlewares }: AnyGroup): boolean =>
  [...middlewares].some(({ provides }: HttpApiMiddleware.TagClassAny) => provides?.key === CurrentCaller.key)

/**
 * A group whose handlers get undecoded requests, because the API decodes them itself, so that its errors have one
 * format.
 */
const withoutDecoding = (group: AnyGroup): AnyGroup => {
  const none = Option.none()
  const endpoints = Object.entries(group.endpoints).map(([name, endpoint]) => [
    name,
    Object.assign(Object.create(Object.getPrototypeOf(endpoint)), endpoint, {
      pathSchema: none,
      headersSchema: none,
      urlParamsSchema: none,
      payloadSchema: none
    }) as HttpApiEndpoint.HttpApiEndpoint.AnyWithProps
  ])
  return Object.assign(Object.create(Object.getPrototypeOf(group)), group, { endpoints: Object.fromEntries(endpoints) })
}

/** A prefix that no request has, so that every request gets the response to an unknown path. */
const NOWHERE = "/ "

/** All methods but HEAD, which the router handles as GET. */
const METHODS = ["get", "post", "put", "patch", "del", "options"] as const

/**
 * Serves the groups of {@link apiBehind} in your `HttpApi`, which must have no other group called shop, tickets or
 * clients. It can therefore have the API under one prefix only.
 */
export const groups = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R> & WithGroupsOnce<Groups>,
  options: GroupsOptions = {}
): Layer.Layer<
  HttpApiGroup.ApiGroup<Id, ApiGroupName>,
  never,
  | ServicesOfGroups
  | HttpApiGroup.HttpApiGroup.MiddlewareWithName<Groups, ApiGroupName & HttpApiGroup.HttpApiGroup.Name<Groups>>
> => {
  const { observe } = requireOptions("groups", options, { observe: mustBeFunction })
  const groups = groupsOf(api)
  const undecodedApi = {
    ...(api as object),
    groups: Object.fromEntries(GROUP_NAMES.map((name) => [name, withoutDecoding(groups[name])]))
  }
  const prefix = prefixOf(groups.shop)
  const hasCaller = hasCallerMiddleware(groups.shop)
  const makeApp = httpApp({
    prefix: prefix || "/",
    ...(observe && { observe }),
    ...(hasCaller && {
      authenticate: () => Effect.map(Effect.serviceOption(CurrentCaller), Option.getOrNull)
    })
  })
  // The embedder's middleware runs for endpoints only, so an unknown path has no caller.
  const unknownPaths = HttpApiBuilder.Router.use((router) =>
    Effect.flatMap(hasCaller ? httpApp({ prefix: NOWHERE, ...(observe && { observe }) }) : makeApp, (app) =>
      Effect.forEach(METHODS, (method) => router[method](`${prefix ?? ""}/v1/*`, app), { discard: true })
    )
  )
  const layers = GROUP_NAMES.map((name) =>
    HttpApiBuilder.group(
      undecodedApi as never,
      name as never,
      (handlers: HttpApiBuilder.Handlers<never, never, never>) =>
        Effect.map(makeApp, (app) =>
          Object.keys(groups[name].endpoints).reduce(
            (added, endpoint) => added.handleRaw(endpoint as never, (() => app) as never) as never,
            handlers
          )
        ) as never
    )
  )
  return Layer.mergeAll(longParameters, unknownPaths, ...(layers as [never, never, never])) as never
}
