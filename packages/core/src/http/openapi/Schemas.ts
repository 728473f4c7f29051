import { fieldBounds } from "./Bounds.js"
import { fieldWords } from "./Fields.js"
import type { Json, Node } from "./Json.js"

const isNode = (json: Json | undefined): json is Node =>
  typeof json === "object" && json !== null && !Array.isArray(json)

/** Words that the generator makes up where a schema has none: they say less than the keywords beside them. */
const GENERATED = /^(an? (integer|number|string|array|non[ -])|an object to)/
const DROPPED = new Set(["$id", "title"])

/** Descriptions of named schemas that have none of their own. */
const schemaWords: Readonly<Record<string, string>> = {
  TicketState: "Where a ticket stands",
  TicketStatus: "A state to which a request can move a ticket",
  TicketType: "Work on something brought in, or an order to get ready",
  AbandonReason: "Ready and never picked up, or left lying without a word from the shop",
  ShopChannel: "The way in which the shop itself notified its client",
  TicketOutcome: "Of a collected ticket: whether the work was done",
  CreatedVia: "Where a ticket was made",
  QuoteStatus: "Waiting for the client, or how they answered",
  PartStatus: "On its way, or here",
  TicketData: "The ticket as it stood then",
  QuoteData: "The ticket as it stood then, and the quote",
  Scope: "A right of a key"
}

/** The envelope's own fields, alike wherever they stand. */
const envelopeWords: Readonly<Record<string, string>> = {
  success: "Whether there is a result",
  data: "The result",
  meta: "What there is to say beside the result",
  error: "Why there is no result",
  code: "The cause, for programs",
  message: "The cause, for people; its words may change",
  details: "More about the cause"
}

const mapNode = (node: Node, change: (json: Json, key: string) => Json): Node =>
  Object.fromEntries(Object.entries(node).map(([key, json]) => [key, change(json, key)]))

const formatOf = (name: string): string | undefined => {
  if (name.endsWith("_at") || name === "synced_until") return "date-time"
  if (name === "id" || name.endsWith("_id")) return "uuid"
  return name.endsWith("_url") ? "uri" : undefined
}

const holdsText = ({ type }: Node): boolean => type === "string" || (Array.isArray(type) && type.includes("string"))

/** OpenAPI 3.1 says that something may be null with a list of types; references and enumerations need a choice. */
const nullable = (node: Node): Node => {
  const { anyOf, ...rest } = node
  if (!Array.isArray(anyOf) || anyOf.length !== 2 || !anyOf.some((one) => isNode(one) && one.type === "null"))
    return node
  const other = anyOf.find((one) => isNode(one) && one.type !== "null")
  if (!isNode(other) || typeof other.type !== "string" || other.enum !== undefined) return node
  return { ...other, ...rest, type: [other.type, "null"] }
}

/** Integers are named by the generator; a name for each number helps nobody. */
const integer = (node: Node): Node =>
  node.$ref === "#/components/schemas/Int" ? { type: "integer", ...withoutRef(node) } : node

const withoutRef = ({ $ref: _, ...rest }: Node): Node => rest

const constant = (node: Node): Node => {
  if (!Array.isArray(node.enum) || node.enum.length !== 1) return node
  const { enum: only, ...rest } = node
  return { ...rest, const: (only as ReadonlyArray<Json>)[0]! }
}

const withoutNoise = (node: Node): Node =>
  Object.fromEntries(
    Object.entries(node).filter(
      ([key, json]) =>
        !DROPPED.has(key) &&
        !(key === "description" && typeof json === "string" && GENERATED.test(json)) &&
        !(key === "required" && Array.isArray(json) && json.length === 0) &&
        !(key === "properties" && isNode(json) && Object.keys(json).length === 0)
    )
  )

interface Said {
  readonly words: Readonly<Record<string, string>>
  readonly bounds: Readonly<Record<string, Node>>
}

const UNSAID: Said = { words: {}, bounds: {} }

const property = (json: Json, name: string, said: Said): Json => {
  if (!isNode(json)) return json
  const own = said.words[name]
  const words = own ?? (json.description === undefined && json.$ref === undefined ? envelopeWords[name] : undefined)
  const format = holdsText(json) && json.format === undefined ? formatOf(name) : undefined
  return {
    ...json,
    ...(format === undefined ? {} : { format }),
    ...said.bounds[name],
    ...(words === undefined ? {} : { description: words })
  }
}

/** Puts a generated schema in the document's own style. Answers stay open to fields to come; what is asked does not. */
const tidied = (json: Json, said: Said, isAsked: boolean): Json => {
  if (Array.isArray(json)) return json.map((one: Json) => tidied(one, UNSAID, isAsked))
  if (!isNode(json)) return json
  const { properties, additionalProperties, ...rest } = withoutNoise(json)
  const around = mapNode(rest, (one) => tidied(one, UNSAID, isAsked))
  const fields = isNode(properties)
    ? { properties: mapNode(properties, (one, name) => property(tidied(one, UNSAID, isAsked), name, said)) }
    : {}
  const others =
    additionalProperties === false
      ? isAsked
        ? { additionalProperties }
        : {}
      : additionalProperties === undefined
        ? {}
        : { additionalProperties: true }
  return constant(nullable(integer({ ...around, ...fields, ...others })))
}

/** A schema that has no name. */
export const tidy = (json: Json): Json => tidied(json, UNSAID, false)

/** The schema of a name, with its fields in words and their bounds. Names that end in `Input` are of requests, all others of responses. */
export const tidyNamed = (name: string, json: Json): Json => {
  const said = { words: fieldWords[name] ?? {}, bounds: fieldBounds[name] ?? {} }
  const schema = tidied(json, said, name.endsWith("Input"))
  const words = schemaWords[name]
  return words === undefined || !isNode(schema) ? schema : { ...schema, description: words }
}
