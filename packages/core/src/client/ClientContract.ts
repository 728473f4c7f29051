import type * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import type { WorkshopApi } from "../http/WorkshopApi.js"

// The types that callers need, derived from the contract, so that callers stop compiling when an endpoint changes.

type Parts<Api> =
  Api extends HttpApi.HttpApi<infer _Id, infer Group, infer E, infer _R> ? { readonly group: Group; error: E } : never
type Groups = Parts<typeof WorkshopApi>["group"]
type CommonError = Parts<typeof WorkshopApi>["error"]
type Endpoints<G extends GroupName> = HttpApiGroup.HttpApiGroup.Endpoints<HttpApiGroup.HttpApiGroup.WithName<Groups, G>>

/** A group of endpoints: `shop`, `tickets` or `clients`. */
export type GroupName = HttpApiGroup.HttpApiGroup.Name<Groups>
/** An endpoint of a group, such as `create`. */
export type EndpointName<G extends GroupName> = HttpApiEndpoint.HttpApiEndpoint.Name<Endpoints<G>>
/** One endpoint's type. */
export type EndpointOf<G extends GroupName, N extends EndpointName<G>> = HttpApiEndpoint.HttpApiEndpoint.WithName<
  Endpoints<G>,
  N
>

/** The result of an endpoint, without `success` of the envelope: `data`, and `meta` if there is one. */
export type ResponseOf<G extends GroupName, N extends EndpointName<G>> =
  HttpApiEndpoint.HttpApiEndpoint.Success<EndpointOf<G, N>> extends infer Success
    ? Success extends unknown
      ? Omit<Success, "success">
      : never
    : never

/** The envelopes of an endpoint's own failures and of the failures that any endpoint may have. */
export type FailureOf<G extends GroupName, N extends EndpointName<G>> =
  | HttpApiEndpoint.HttpApiEndpoint.Error<EndpointOf<G, N>>
  | CommonError

/** The codes of an endpoint's failures (Specification, Errors). */
export type CodeOf<G extends GroupName, N extends EndpointName<G>> =
  FailureOf<G, N> extends infer F ? (F extends { readonly error: { readonly code: infer C } } ? C : never) : never
