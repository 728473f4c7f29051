import type { Json, Node } from "./Json.js"

const isNode = (json: Json): json is Node => typeof json === "object" && json !== null && !Array.isArray(json)

const sorted = (json: Json): Json => {
  if (Array.isArray(json)) return json.map(sorted)
  if (!isNode(json)) return json
  return Object.fromEntries(
    Object.entries(json)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => [key, sorted(value)])
  )
}

/** The values that a schema allows, without its words and the order of its keywords; undefined where a name would say no more than it. */
const shapeOf = ({ description: _, ...schema }: Node): string | undefined =>
  (Array.isArray(schema.enum) && schema.enum.length > 1) || isNode(schema.properties ?? null)
    ? JSON.stringify(sorted(schema))
    : undefined

/**
 * Puts a reference in the place of each copy of a named schema: a generator would make a type of its own of every copy.
 * A copy arises where a schema is annotated in the place where it is used. `own` is the name of the schema itself.
 */
export const referring = (schemas: Node): ((json: Json, own?: string) => Json) => {
  const names = new Map<string, string>()
  for (const [name, schema] of Object.entries(schemas)) {
    const shape = isNode(schema) ? shapeOf(schema) : undefined
    if (shape !== undefined && !names.has(shape)) names.set(shape, name)
  }
  const replaced = (json: Json, own?: string): Json => {
    if (Array.isArray(json)) return json.map((one: Json) => replaced(one))
    if (!isNode(json)) return json
    const shape = shapeOf(json)
    const name = shape === undefined ? undefined : names.get(shape)
    if (name === undefined || name === own) {
      return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, replaced(value)]))
    }
    const words = json.description === undefined ? {} : { description: json.description }
    return { $ref: `#/components/schemas/${name}`, ...words }
  }
  return replaced
}
