// Writes the API's objects as TypeScript interfaces, from the OpenAPI document.

/** @typedef {{ readonly [key: string]: any }} Schema */

/** The docstring of a field: its description, and the bounds that its type cannot express. @param {Schema} schema */
const sentence = (schema) => {
  const bounds = [
    schema.minLength !== undefined && schema.maxLength !== undefined
      ? `${schema.minLength} to ${schema.maxLength} characters`
      : undefined,
    schema.minItems !== undefined && schema.maxItems !== undefined
      ? `${schema.minItems} to ${schema.maxItems} entries`
      : undefined,
    schema.format === "date-time" ? "ISO 8601, UTC" : undefined
  ].filter((bound) => bound !== undefined)
  const text = [schema.description, ...(bounds.length === 0 ? [] : [`(${bounds.join(", ")})`])]
  return text
    .filter((part) => part !== undefined)
    .join(" ")
    .replaceAll("*/", "* /")
}

/** @param {Schema} schema @param {string} indent */
const docstring = (schema, indent) => (sentence(schema) === "" ? "" : `${indent}/** ${sentence(schema)}. */\n`)

const PRIMITIVES = { string: "string", integer: "number", number: "number", boolean: "boolean", null: "null" }

/** @param {string} ref */
const nameIn = (ref) => ref.slice("#/components/schemas/".length)

/** @param {Schema} schema @param {string} indent @returns {string} */
const typeOf = (schema, indent) => {
  if (schema.$ref !== undefined) return nameIn(schema.$ref)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined)
    return schema.enum.map((/** @type {unknown} */ value) => JSON.stringify(value)).join(" | ")
  const choice = schema.anyOf ?? schema.oneOf
  if (choice !== undefined) return choice.map((/** @type {Schema} */ one) => typeOf(one, indent)).join(" | ")
  const types = [schema.type].flat()
  return types
    .map((type) => {
      if (type === "array") return `ReadonlyArray<${typeOf(schema.items, indent)}>`
      if (type === "object") return `{\n${fieldsOf(schema, `${indent}  `)}${indent}}`
      const primitive = PRIMITIVES[/** @type {keyof typeof PRIMITIVES} */ (type)]
      if (primitive === undefined) throw new Error(`No type for ${JSON.stringify(schema)}`)
      return primitive
    })
    .join(" | ")
}

/** @param {Schema} schema @param {string} indent @returns {string} */
const fieldsOf = ({ properties = {}, required = [] }, indent) =>
  Object.entries(properties)
    .map(([name, field]) => {
      const [mark, orUndefined] = required.includes(name) ? ["", ""] : ["?", " | undefined"]
      return `${docstring(field, indent)}${indent}readonly ${name}${mark}: ${typeOf(field, indent)}${orUndefined}\n`
    })
    .join("")

/** @param {unknown} schema @returns {ReadonlyArray<string>} */
const refsIn = (schema) => {
  if (typeof schema !== "object" || schema === null) return []
  const own = "$ref" in schema && typeof schema.$ref === "string" ? [nameIn(schema.$ref)] : []
  return [...own, ...Object.entries(schema).flatMap(([key, value]) => (key === "discriminator" ? [] : refsIn(value)))]
}

/**
 * The interfaces of some of the document's schemas, and of all schemas that these refer to.
 * @param {{ readonly components: { readonly schemas: Readonly<Record<string, Schema>> } }} document
 * @param {ReadonlyArray<string>} roots
 */
export const apiTypes = (document, roots) => {
  const { schemas } = document.components
  /** @type {Set<string>} */
  const names = new Set()
  /** @param {string} name */
  const add = (name) => {
    if (names.has(name)) return
    names.add(name)
    for (const ref of refsIn(schemas[name])) add(ref)
  }
  for (const root of roots) add(root)
  return [...names]
    .sort()
    .map((name) => {
      const schema = schemas[name]
      if (schema === undefined) throw new Error(`The document has no schema ${name}`)
      const doc = docstring(schema, "")
      return schema.type === "object"
        ? `${doc}export interface ${name} {\n${fieldsOf(schema, "  ")}}\n`
        : `${doc}export type ${name} = ${typeOf(schema, "")}\n`
    })
    .join("\n")
}
