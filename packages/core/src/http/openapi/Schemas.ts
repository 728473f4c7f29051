import type * as OpenApi from "@effect/platform/OpenApi"
import * as OpenApiJsonSchema from "@effect/platform/OpenApiJsonSchema"
import type { Schema } from "effect"
import { fieldBounds, fieldDescriptions } from "./Fields.js"
import type { Json, JsonObject } from "./Json.js"

const isNode = (json: Json | undefined): json is JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json)

/** Descriptions that the generator adds to schemas without one. They say less than the schema's keywords. */
const GENERATED = /^(an? (integer|number|string|array|non[ -])|an object to)/
const DROPPED_KEYWORDS = new Set(["$id", "title"])

/** Descriptions of named schemas that declare none. */
const schemaDescriptions: Readonly<Record<string, string>> = {
  TicketState: "The state of a ticket",
  TicketStatus: "A state to which a request can move a ticket",
  TicketType: "`repair` for work on an item that was brought in, `prepare` for an order to prepare",
  AbandonReason:
    "`uncollected` if the item was ready and never collected, `no_news` if the shop changed nothing while it was in the workshop",
  ShopChannel: "How the shop itself notified its client",
  TicketOutcome: "For a collected ticket, whether the work was done",
  CreatedVia: "Whether a ticket was created in the app or through the API",
  QuoteStatus: "`proposed` until the client answers, then the client's answer",
  PartStatus: "`ordered` while the part is on its way, then `received`",
  TicketData: "The ticket at the time of the event",
  QuoteData: "The ticket at the time of the event, and the quote",
  Scope: "A permission of an API key"
}

/** Descriptions of the envelope's fields, the same in every schema. */
const envelopeDescriptions: Readonly<Record<string, string>> = {
  success: "Whether the request succeeded",
  data: "The result",
  meta: "Further information about the result",
  error: "Why the request failed",
  code: "The cause, in a form for programs",
  message: "The cause, in a sentence for people. The text may change",
  details: "More about the cause"
}

const mapNode = (node: JsonObject, change: (json: Json, key: string) => Json): JsonObject =>
  Object.fromEntries(Object.entries(node).map(([key, json]) => [key, change(json, key)]))

const formatOf = (name: string): string | undefined => {
  if (name.endsWith("_at") || name === "synced_until") return "date-time"
  if (name === "id" || name.endsWith("_id")) return "uuid"
  return name.endsWith("_url") ? "uri" : undefined
}

const isStringNode = ({ type }: JsonObject): boolean =>
  type === "string" || (Array.isArray(type) && type.includes("string"))

/**
 * Makes a schema nullable with a list of types, or with `anyOf` for references and enumerations, which have no list of
 * types.
 */
const simplifyNullable = (node: JsonObject): JsonObject => {
  const { anyOf, ...rest } = node
  if (!Array.isArray(anyOf) || anyOf.length !== 2 || !anyOf.some((one) => isNode(one) && one.type === "null"))
    return node
  const schema = anyOf.find((one) => isNode(one) && one.type !== "null")
  if (!isNode(schema) || typeof schema.type !== "string" || schema.enum !== undefined) return node
  return { ...schema, ...rest, type: [schema.type, "null"] }
}

/**
 * Unwraps a reference with a description, because OpenAPI 3.1 allows both in one object, and the generator wraps the
 * reference.
 */
const unwrapSchema = (node: JsonObject): JsonObject => {
  const { allOf, ...rest } = node
  return Array.isArray(allOf) && allOf.length === 1 && isNode(allOf[0]) ? { ...allOf[0], ...rest } : node
}

/** Replaces the generator's named schema of integers with an inline one, which is easier to read. */
const inlineInteger = (node: JsonObject): JsonObject =>
  node.$ref === "#/components/schemas/Int" ? { type: "integer", ...removeRef(node) } : node

const removeRef = ({ $ref: _, ...rest }: JsonObject): JsonObject => rest

const simplifyEnum = (node: JsonObject): JsonObject => {
  if (!Array.isArray(node.enum) || node.enum.length !== 1) return node
  const { enum: values, ...rest } = node
  return { ...rest, const: (values as ReadonlyArray<Json>)[0]! }
}

const removeGeneratedNames = (node: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(node).filter(
      ([key, json]) =>
        !DROPPED_KEYWORDS.has(key) &&
        !(key === "description" && typeof json === "string" && GENERATED.test(json)) &&
        !(key === "required" && Array.isArray(json) && json.length === 0) &&
        !(key === "properties" && isNode(json) && Object.keys(json).length === 0)
    )
  )

interface FieldDescriptions {
  readonly words: Readonly<Record<string, string>>
  readonly bounds: Readonly<Record<string, JsonObject>>
}

const NO_DESCRIPTIONS: FieldDescriptions = { words: {}, bounds: {} }

/** The descriptions of the fields of a field, which the table calls `field.descriptionsBelow`. */
const descriptionsBelow = ({ words }: FieldDescriptions, name: string): FieldDescriptions => ({
  words: Object.fromEntries(
    Object.entries(words).flatMap(([path, text]) =>
      path.startsWith(`${name}.`) ? [[path.slice(name.length + 1), text]] : []
    )
  ),
  bounds: {}
})

const describeProperty = (json: Json, name: string, descriptions: FieldDescriptions): Json => {
  if (!isNode(json)) return json
  const own = descriptions.words[name]
  const words =
    own ?? (json.description === undefined && json.$ref === undefined ? envelopeDescriptions[name] : undefined)
  const format = isStringNode(json) && json.format === undefined ? formatOf(name) : undefined
  return {
    ...json,
    ...(format === undefined ? {} : { format }),
    ...descriptions.bounds[name],
    ...(words === undefined ? {} : { description: words })
  }
}

/**
 * Puts a generated schema in the document's own style. Responses allow additional fields, for later versions, and
 * requests do not.
 */
const normalizeNode = (json: Json, descriptions: FieldDescriptions, isRequest: boolean): Json => {
  if (Array.isArray(json)) return json.map((one: Json) => normalizeNode(one, NO_DESCRIPTIONS, isRequest))
  if (!isNode(json)) return json
  const { properties, additionalProperties, ...rest } = removeGeneratedNames(json)
  const normalized = mapNode(rest, (one) => normalizeNode(one, NO_DESCRIPTIONS, isRequest))
  const fields = isNode(properties)
    ? {
        properties: mapNode(properties, (one, name) =>
          describeProperty(normalizeNode(one, descriptionsBelow(descriptions, name), isRequest), name, descriptions)
        )
      }
    : {}
  const others =
    additionalProperties === false
      ? isRequest
        ? { additionalProperties }
        : {}
      : additionalProperties === undefined
        ? {}
        : { additionalProperties: true }
  return simplifyEnum(simplifyNullable(inlineInteger(unwrapSchema({ ...normalized, ...fields, ...others }))))
}

/** Normalizes a schema without a name. */
export const normalizeSchema = (json: Json): Json => normalizeNode(json, NO_DESCRIPTIONS, false)

/**
 * Normalizes a named schema, with descriptions and bounds of its fields. Names that end in `Input` are of requests, all
 * others of responses.
 */
export const normalizeNamedSchema = (name: string, json: Json): Json => {
  const descriptions = { words: fieldDescriptions[name] ?? {}, bounds: fieldBounds[name] ?? {} }
  const schema = normalizeNode(json, descriptions, name.endsWith("Input"))
  const words = schemaDescriptions[name]
  return words === undefined || !isNode(schema) ? schema : { ...schema, description: words }
}

const sortKeys = (json: Json): Json => {
  if (Array.isArray(json)) return json.map(sortKeys)
  if (!isNode(json)) return json
  return Object.fromEntries(
    Object.entries(json)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => [key, sortKeys(value)])
  )
}

/**
 * A schema as text without its description and in a fixed order of keywords; undefined if it is too simple to need a
 * name.
 */
const shapeOf = ({ description: _, ...schema }: JsonObject): string | undefined =>
  (Array.isArray(schema.enum) && schema.enum.length > 1) || isNode(schema.properties ?? null)
    ? JSON.stringify(sortKeys(schema))
    : undefined

/**
 * Replaces each copy of a named schema with a reference, because a client generator would make a separate type of every
 * copy. The generator makes a copy where an annotated schema is used. `own` is the name of the schema itself.
 */
export const makeReferencer = (schemas: JsonObject): ((json: Json, own?: string) => Json) => {
  const names = new Map<string, string>()
  for (const [name, schema] of Object.entries(schemas)) {
    const shape = isNode(schema) ? shapeOf(schema) : undefined
    if (shape !== undefined && !names.has(shape)) names.set(shape, name)
  }
  const replaceWithReferences = (json: Json, own?: string): Json => {
    if (Array.isArray(json)) return json.map((one: Json) => replaceWithReferences(one))
    if (!isNode(json)) return json
    const shape = shapeOf(json)
    const name = shape === undefined ? undefined : names.get(shape)
    if (name === undefined || name === own) {
      return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, replaceWithReferences(value)]))
    }
    const words = json.description === undefined ? {} : { description: json.description }
    return { $ref: `#/components/schemas/${name}`, ...words }
  }
  return replaceWithReferences
}

/** Converts a value to JSON and back. */
export const toJson = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json

const GENERATED_NAMES = new Set(["HttpApiDecodeError", "Issue", "PropertyKey", "Int"])

/** Removes the error that the generator adds to every 400, because the service sends only the envelope. */
const removeDecodeError = (schema: JsonObject): JsonObject => {
  const { anyOf } = schema
  if (!Array.isArray(anyOf)) return schema
  const ownMembers = anyOf.filter((one: Json) => (one as JsonObject).$ref !== "#/components/schemas/HttpApiDecodeError")
  return ownMembers.length === 1 ? (ownMembers[0] as JsonObject) : { ...schema, anyOf: ownMembers }
}

/** The schema of a response in the document's own style. */
export const toResponseSchema = (schema: unknown): Json =>
  normalizeSchema(removeDecodeError(toJson(schema) as JsonObject))

const compareByName = ([a]: readonly [string, Json], [b]: readonly [string, Json]) => (a < b ? -1 : 1)

/** The named schemas of a contract and of `others`; the schemas of `extension` are added unchanged. */
export const collectSchemas = (
  spec: OpenApi.OpenAPISpec,
  others: ReadonlyArray<Schema.Schema.AnyNoContext> = [],
  extension: JsonObject = {}
): JsonObject => {
  const definitions: Record<string, OpenApiJsonSchema.JsonSchema> = { ...spec.components.schemas }
  for (const schema of others) OpenApiJsonSchema.makeWithDefs(schema, { defs: definitions })
  const namedSchemas = Object.entries(definitions)
    .filter(([name]) => !GENERATED_NAMES.has(name))
    .map(([name, schema]) => [name, normalizeNamedSchema(name, toJson(schema))] as const)
  return Object.fromEntries([...namedSchemas, ...Object.entries(extension)].sort(compareByName))
}

/** Replaces each inline copy of a named schema with a reference. */
export const withReferences = <Parts extends { readonly [part: string]: JsonObject }>(
  schemas: JsonObject,
  parts: Parts
): { readonly schemas: JsonObject } & { readonly [Part in keyof Parts]: JsonObject } => {
  const refer = makeReferencer(schemas)
  const referencedParts = Object.entries(parts).map(([part, node]) => [part, refer(node)] as const)
  const own = Object.entries(schemas).map(([name, schema]) => [name, refer(schema, name)] as const)
  return { ...Object.fromEntries(referencedParts), schemas: Object.fromEntries(own) } as never
}
