import { type OpenApi, OpenApiJsonSchema } from "@effect/platform"
import type { Schema } from "effect"
import type { Json, Node } from "./Json.js"
import { referring } from "./References.js"
import { tidy, tidyNamed } from "./Schemas.js"

/** A value as JSON holds it. */
export const plain = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json

const NOISE = new Set(["HttpApiDecodeError", "Issue", "PropertyKey", "Int"])

/** The generator adds an error of its own to every 400; the service answers only the envelope. */
const withoutDecodeError = (schema: Node): Node => {
  const { anyOf } = schema
  if (!Array.isArray(anyOf)) return schema
  const ours = anyOf.filter((one: Json) => (one as Node).$ref !== "#/components/schemas/HttpApiDecodeError")
  return ours.length === 1 ? (ours[0] as Node) : { ...schema, anyOf: ours }
}

/** The schema of an answer in the document's own style. */
export const answerSchema = (schema: unknown): Json => tidy(withoutDecodeError(plain(schema) as Node))

const byName = ([a]: readonly [string, Json], [b]: readonly [string, Json]) => (a < b ? -1 : 1)

/** The named schemas of a contract and of what else is to be named; `more` are added as they are. */
export const namedSchemas = (
  spec: OpenApi.OpenAPISpec,
  others: ReadonlyArray<Schema.Schema.AnyNoContext> = [],
  more: Node = {}
): Node => {
  const found: Record<string, OpenApiJsonSchema.JsonSchema> = { ...spec.components.schemas }
  for (const schema of others) OpenApiJsonSchema.makeWithDefs(schema, { defs: found })
  const named = Object.entries(found)
    .filter(([name]) => !NOISE.has(name))
    .map(([name, schema]) => [name, tidyNamed(name, plain(schema))] as const)
  return Object.fromEntries([...named, ...Object.entries(more)].sort(byName))
}

/** The parts of a document with a reference wherever a copy of one of its named schemas stands. */
export const withReferences = <Parts extends { readonly [part: string]: Node }>(
  schemas: Node,
  parts: Parts
): { readonly schemas: Node } & { readonly [Part in keyof Parts]: Node } => {
  const refer = referring(schemas)
  const referred = Object.entries(parts).map(([part, node]) => [part, refer(node)] as const)
  const own = Object.entries(schemas).map(([name, schema]) => [name, refer(schema, name)] as const)
  return { ...Object.fromEntries(referred), schemas: Object.fromEntries(own) } as never
}
