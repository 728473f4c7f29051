import * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import { WorkshopApi } from "@workshop/core/http"
import { SandboxApi } from "@workshop/http-node/sandbox"
import { SchemaAST as AST, Option, Schema } from "effect"
import { didYouMean } from "./Source.js"

/** The schema of a value that does not exist yet. */
export type Shape = AST.AST

/** The shape of a value that may have any fields. */
export const anyShape: Shape = AST.unknownKeyword

const membersOf = (shape: Shape): ReadonlyArray<AST.AST> => {
  if (AST.isUnion(shape)) return shape.types.flatMap(membersOf)
  if (AST.isSuspend(shape)) return membersOf(shape.f())
  if (AST.isRefinement(shape)) return membersOf(shape.from)
  return [shape]
}

const isOpen = (member: AST.AST): boolean =>
  AST.isTypeLiteral(member)
    ? member.indexSignatures.length > 0
    : AST.isUnknownKeyword(member) || AST.isTransformation(member) || AST.isDeclaration(member)

const fieldIn = (member: AST.AST, field: string): ReadonlyArray<Shape> => {
  if (isOpen(member)) return [anyShape]
  if (AST.isTypeLiteral(member))
    return member.propertySignatures.filter(({ name }) => name === field).map(({ type }) => type)
  if (!AST.isTupleType(member)) return []
  if (field === "length") return [AST.numberKeyword]
  return /^\d+$/.test(field) ? [...member.elements, ...member.rest].map(({ type }) => type) : []
}

const namesIn = (member: AST.AST): ReadonlyArray<string> =>
  AST.isTypeLiteral(member) ? member.propertySignatures.map(({ name }) => String(name)) : []

const MAX_LISTED_FIELDS = 12

const missingFieldAdvice = (field: string, members: ReadonlyArray<AST.AST>): string => {
  const names = [...new Set(members.flatMap(namesIn))]
  const suggestion = didYouMean(field, names)
  if (suggestion !== "") return suggestion
  if (members.some(AST.isTupleType)) return ", because it is a list. Give the position of an entry, from 0."
  if (names.length === 0) return ", because it has no fields."
  return names.length > MAX_LISTED_FIELDS ? ". Correct the field's name." : `. Its fields are ${names.join(", ")}.`
}

/** Advice on a field that a shape does not have, such as `; did you mean "state"?`; null if the shape has the field. */
export const unknownFieldAdvice = (shape: Shape, field: string): string | null => {
  const members = membersOf(shape)
  return members.some((member) => fieldIn(member, field).length > 0) ? null : missingFieldAdvice(field, members)
}

/**
 * The shape at the end of a path, or a sentence that says why there is none; `start` is the name of the value at which
 * the path begins.
 */
export const shapeAt = (
  shape: Shape,
  path: ReadonlyArray<string>,
  start: string
): { readonly shape: Shape } | { readonly error: string } => {
  let current = shape
  let walked = start
  for (const field of path) {
    const members = membersOf(current)
    const shapes = members.flatMap((member) => fieldIn(member, field))
    if (shapes.length === 0) return { error: `${walked} has no ${field}${missingFieldAdvice(field, members)}` }
    current = AST.Union.make(shapes)
    walked = `${walked}.${field}`
  }
  return { shape: current }
}

const envelopes = new Map<string, AST.AST>()
const inputs = new Map<string, ReadonlyArray<string>>()
const endpointCollector = {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint }: { readonly endpoint: HttpApiEndpoint.HttpApiEndpoint.AnyWithProps }) => {
    const { method, path, payloadSchema, urlParamsSchema, successSchema } = endpoint
    envelopes.set(`${method} ${path}`, AST.typeAST(successSchema.ast))
    const input = Option.getOrUndefined(method === "GET" ? urlParamsSchema : payloadSchema)
    if (input !== undefined) inputs.set(`${method} ${path}`, membersOf(AST.encodedAST(input.ast)).flatMap(namesIn))
  }
}
HttpApi.reflect(WorkshopApi, endpointCollector as never)
HttpApi.reflect(SandboxApi, endpointCollector as never)

/** The fields of a request to an endpoint: the query's fields for a `GET`, otherwise the body's. */
export const requestFieldsOf = (endpoint: string): ReadonlyArray<string> => inputs.get(endpoint) ?? []

const innerShape = (envelope: Shape, part: string): Shape | undefined => {
  const lookup = shapeAt(envelope, [part], "")
  return "shape" in lookup ? lookup.shape : undefined
}

/** The shape of the `data` of an endpoint's successful response. */
export const dataShapeOf = (endpoint: string): Shape =>
  innerShape(envelopes.get(endpoint) ?? anyShape, "data") ?? anyShape

/** The shape of `error` in every refusal (Specification, Errors). */
export const refusalShape = Schema.Struct({ code: Schema.String, message: Schema.String, details: Schema.Unknown }).ast

/**
 * The parts of a successful response of an endpoint, such as `GET /v1/tickets/:id`, as a scenario names them
 * (Specification, States; Sandbox).
 */
export const successShape = (endpoint: string): Shape => {
  const envelope = envelopes.get(endpoint)
  if (envelope === undefined) throw new Error(`The API has no endpoint ${endpoint}`)
  const meta = innerShape(envelope, "meta")
  return Schema.Struct({
    status: Schema.Int,
    data: Schema.make(dataShapeOf(endpoint)),
    ...(meta === undefined ? {} : { meta: Schema.make(meta) }),
    headers: Schema.Unknown,
    body: Schema.make(envelope)
  }).ast
}

const openedShop = shapeAt(dataShapeOf("POST /sandbox/shops"), ["shop"], "")

const shopFields =
  "shape" in openedShop && AST.isTypeLiteral(openedShop.shape) ? openedShop.shape.propertySignatures : []

const Secret = Schema.Struct({ key_id: Schema.String, key: Schema.String })

/** The shapes of the shops, keys and clients under `given`. */
export const givenShapes = {
  shop: new AST.TypeLiteral([...shopFields, ...(Secret.ast as AST.TypeLiteral).propertySignatures], []),
  key: dataShapeOf("POST /sandbox/shops/:id/keys"),
  client: Schema.Struct({
    id: Schema.String,
    given_name: Schema.String,
    family_name: Schema.String,
    phone: Schema.String,
    hide_name: Schema.Boolean
  }).ast
} as const satisfies Record<string, Shape>
