import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as OpenApi from "@effect/platform/OpenApi"
import { ClientId, OfferId, ShopId, TicketId } from "@workshop/core"
import { FailureBodyOf, SuccessBody } from "@workshop/core/adapter"
import { Schema } from "effect"

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
type Path = `/${string}`

/** An operation in the document: its name for generated clients, what it does, and what its caller must know. */
export type Description = readonly [identifier: string, summary: string, description: string]

/** The annotations of an operation in the document. */
export const described = (...[identifier, summary, description]: Description) =>
  OpenApi.annotations({ identifier, summary, description })

/** The name and the description of a group of operations. */
export const titled = (title: string, description: string) => OpenApi.annotations({ title, description })

/** An endpoint whose response is 200 with data. */
export const endpoint = <M extends Method, const Name extends string, A, I>(
  method: M,
  name: Name,
  path: Path,
  answer: Schema.Schema<A, I>,
  description: Description
) =>
  HttpApiEndpoint.make(method)(name, path)
    .addSuccess(SuccessBody(answer))
    .annotateContext(described(...description))

/** Endpoints at and below the path of what an id names; their response is 404 where it does not exist. */
const endpointsOf =
  <Id extends string>(all: Path, id: Schema.Schema<Id, string>) =>
  <M extends Method, const Name extends string, A, I>(
    method: M,
    name: Name,
    path: Path | "",
    answer: Schema.Schema<A, I>,
    description: Description
  ) =>
    endpoint(method, name, `${all}/:id${path}`, answer, description)
      .setPath(Schema.Struct({ id }))
      .addError(FailureBodyOf("NOT_FOUND"))

/** The path of a shop. */
export const OfShop = Schema.Struct({ id: ShopId })

/** An endpoint of a shop. */
export const shopEndpoint = endpointsOf("/shops", ShopId)

/** An endpoint of a ticket. */
export const ticketEndpoint = endpointsOf("/tickets", TicketId)

/** An endpoint of a client's account. */
export const clientEndpoint = endpointsOf("/clients", ClientId)

/** An endpoint of an offer to a client. */
export const offerEndpoint = endpointsOf("/offers", OfferId)

/** The result of a handler that is nothing but its data. */
export const data = <A>(data: A): { readonly data: A } => ({ data })
