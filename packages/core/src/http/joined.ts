/** Entry `@workshop/core/http/joined`: the API's groups as a part of your own `HttpApi` of `@effect/platform`. */

import type * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as HttpApiSecurity from "@effect/platform/HttpApiSecurity"
import { Context, Effect, Layer, Option } from "effect"
import type { Caller } from "../services/Caller.js"
import { httpApp } from "./EffectMount.js"

/** The services that the groups use. `Workshop.layer` over a store, as in the guide, has all of them; a `Dispatcher` is not among them. */
export type ServicesOfGroups = Effect.Effect.Context<ReturnType<typeof httpApp<never>>>

/** The caller of a request. Your own `HttpApiMiddleware` provides it, with a `security` scheme that your OpenAPI document then names. */
export class CurrentCaller extends Context.Tag("@workshop/core/http/CurrentCaller")<CurrentCaller, Caller>() {}

/** The service's own API keys, as a middleware that puts their `securityScheme` into your OpenAPI document. */
export class ApiKeys extends HttpApiMiddleware.Tag<ApiKeys>()("@workshop/core/http/ApiKeys", {
  security: { apiKey: HttpApiSecurity.bearer }
}) {
  /** Passes every request on, because the groups themselves check the key, with the responses of the API. */
  static readonly layer = Layer.succeed(ApiKeys, { apiKey: () => Effect.void })
}

const GROUPS = ["shop", "tickets", "clients"] as const
type Name = (typeof GROUPS)[number]

type AnyGroup = HttpApiGroup.HttpApiGroup.AnyWithProps

/** The path before `/v1`, as your own API has it. */
const prefixOf = (shop: AnyGroup): `/${string}` | undefined =>
  shop.endpoints.read?.path.replace(/\/v1\/shop$/, "") as `/${string}` | undefined

/** Whether a middleware of the group finds the caller. */
const bringsCaller = ({ middlewares }: AnyGroup): boolean =>
  [...middlewares].some(({ provides }: HttpApiMiddleware.TagClassAny) => provides?.key === CurrentCaller.key)

/** A group whose requests reach the handler as they are: the API reads them itself, so that all its responses have one form. */
const unread = (group: AnyGroup): AnyGroup => {
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

/**
 * Serves the groups of `WorkshopApi` in an `HttpApi` that contains them: `MyApi.addHttpApi(WorkshopApi.middleware(SignedIn))`. `SignedIn` is
 * your middleware that provides `CurrentCaller`, or {@link ApiKeys}. Your API must have no other group called shop, tickets or clients.
 */
export const groups = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>
): Layer.Layer<
  HttpApiGroup.ApiGroup<Id, Name>,
  never,
  ServicesOfGroups | HttpApiGroup.HttpApiGroup.MiddlewareWithName<Groups, Name & HttpApiGroup.HttpApiGroup.Name<Groups>>
> => {
  const all = api.groups as unknown as Readonly<Record<Name, AnyGroup>>
  const raw = { ...api, groups: Object.fromEntries(GROUPS.map((name) => [name, unread(all[name])])) }
  const serving = httpApp({
    prefix: prefixOf(all.shop) || "/",
    ...(bringsCaller(all.shop) && {
      authenticate: () => Effect.map(Effect.serviceOption(CurrentCaller), Option.getOrNull)
    })
  })
  const layers = GROUPS.map((name) =>
    HttpApiBuilder.group(
      raw as never,
      name as never,
      (handlers: HttpApiBuilder.Handlers<never, never, never>) =>
        Effect.map(serving, (app) =>
          Object.keys(all[name].endpoints).reduce(
            (added, endpoint) => added.handleRaw(endpoint as never, (() => app) as never) as never,
            handlers
          )
        ) as never
    )
  )
  return Layer.mergeAll(...(layers as [never, never, never])) as never
}
