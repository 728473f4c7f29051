import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { ClientId, OfferId, ShopId, TicketId } from "@workshop/core"
import { FailureBodyOf, SuccessBody, withStatus201 } from "@workshop/core/internal/http"
import { Schema } from "effect"

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
type Path = `/${string}`

/** The texts of an operation in the OpenAPI document. */
export type Description = readonly [summary: string, description: string]

/**
 * The annotations of an operation in the OpenAPI document. `identifier` is the name of its method in generated clients.
 */
export const describeOperation = (identifier: string, [summary, description]: Description) =>
  OpenApi.annotations({ identifier, summary, description })

/** A group of endpoints, which the OpenAPI document shows under a title. */
export const groupOf = <
  const Name extends string,
  const Endpoints extends ReadonlyArray<HttpApiEndpoint.HttpApiEndpoint.Any>
>(
  name: Name,
  [title, description]: readonly [title: string, description: string],
  ...endpoints: Endpoints
) => {
  let group: HttpApiGroup.HttpApiGroup.Any = HttpApiGroup.make(name).annotateContext(
    OpenApi.annotations({ title, description })
  )
  for (const endpoint of endpoints) group = (group as HttpApiGroup.HttpApiGroup<Name>).add(endpoint)
  return group as HttpApiGroup.HttpApiGroup<Name, Endpoints[number]>
}

/** An endpoint whose response is 200 with data. Its name is the operation's name. */
export const endpoint = <M extends Method, const Name extends string, A, I>(
  method: M,
  name: Name,
  path: Path,
  success: Schema.Schema<A, I>,
  description: Description
) =>
  HttpApiEndpoint.make(method)(name, path)
    .addSuccess(SuccessBody(success))
    .annotateContext(describeOperation(name, description))

/** An endpoint whose response is 201 with the created object. */
export const creationEndpoint = <const Name extends string, A, I>(
  name: Name,
  path: Path,
  success: Schema.Schema<A, I>,
  description: Description
) =>
  HttpApiEndpoint.post(name, path)
    .addSuccess(withStatus201(SuccessBody(success)))
    .annotateContext(describeOperation(name, description))

/** Makes endpoints at or below the path of an object with an id. They respond 404 if the object does not exist. */
const endpointsOf =
  <Id extends string>(all: Path, id: Schema.Schema<Id, string>) =>
  <M extends Method, const Name extends string, A, I>(
    method: M,
    name: Name,
    path: Path | "",
    success: Schema.Schema<A, I>,
    description: Description
  ) =>
    endpoint(method, name, `${all}/:id${path}`, success, description)
      .setPath(Schema.Struct({ id }))
      .addError(FailureBodyOf("NOT_FOUND"))

/** The path parameter of a shop. */
export const OfShop = Schema.Struct({ id: ShopId })

/** An endpoint of a shop. */
export const shopEndpoint = endpointsOf("/shops", ShopId)

/** An endpoint of a ticket. */
export const ticketEndpoint = endpointsOf("/tickets", TicketId)

/** An endpoint of a client's account. */
export const clientEndpoint = endpointsOf("/clients", ClientId)

/** An endpoint of an offer to a client. */
export const offerEndpoint = endpointsOf("/offers", OfferId)

/** The result of a handler that has only data. */
export const dataOnly = <A>(data: A): { readonly data: A } => ({ data })
