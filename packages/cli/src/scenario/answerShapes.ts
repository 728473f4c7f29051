import { HttpApi, type HttpApiEndpoint } from "@effect/platform"
import { WorkshopApi } from "@workshop/core/http/WorkshopApi"
import { SandboxApi } from "@workshop/http-node/sandbox/SandboxApi"
import { SchemaAST as AST, Schema } from "effect"
import { anything, follow, type Shape } from "./Shape.js"

const envelopes = new Map<string, AST.AST>()
const noted = {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint }: { readonly endpoint: HttpApiEndpoint.HttpApiEndpoint.AnyWithProps }) => {
    envelopes.set(`${endpoint.method} ${endpoint.path}`, AST.typeAST(endpoint.successSchema.ast))
  }
}
HttpApi.reflect(WorkshopApi, noted as never)
HttpApi.reflect(SandboxApi, noted as never)

const partOf = (envelope: Shape, part: string): Shape | undefined => {
  const found = follow(envelope, [part], "")
  return "shape" in found ? found.shape : undefined
}

const dataOf = (endpoint: string): Shape => partOf(envelopes.get(endpoint) ?? anything, "data") ?? anything

/** The places of a success of an endpoint, such as `GET /v1/tickets/:id`, as a scenario names them (Specification, States; Sandbox). */
export const successOf = (endpoint: string): Shape => {
  const envelope = envelopes.get(endpoint)
  if (envelope === undefined) throw new Error(`There is no endpoint ${endpoint}`)
  const meta = partOf(envelope, "meta")
  return Schema.Struct({
    status: Schema.Int,
    data: Schema.make(dataOf(endpoint)),
    ...(meta === undefined ? {} : { meta: Schema.make(meta) }),
    headers: Schema.Unknown,
    body: Schema.make(envelope)
  }).ast
}

const opened = follow(dataOf("POST /sandbox/shops"), ["shop"], "")

const shopFields = "shape" in opened && AST.isTypeLiteral(opened.shape) ? opened.shape.propertySignatures : []

const Secret = Schema.Struct({ key_id: Schema.String, key: Schema.String })

/** What a scenario is given, by what it is. */
export const givenShapes = {
  shop: new AST.TypeLiteral([...shopFields, ...(Secret.ast as AST.TypeLiteral).propertySignatures], []),
  key: dataOf("POST /sandbox/shops/:id/keys"),
  client: Schema.Struct({
    id: Schema.String,
    given_name: Schema.String,
    family_name: Schema.String,
    phone: Schema.String,
    hide_name: Schema.Boolean
  }).ast
} as const satisfies Record<string, Shape>
