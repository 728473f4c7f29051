/**
 * The code that Stryker does not mutate, because it contains no rule: descriptions of schemas, which `npm run
 * check:generated` compares in the OpenAPI document, messages of refusals and fields, which only people read, and the
 * names of types.
 */

/** @typedef {{ node: any, parentPath: Path | null }} Path */

/** @param {any} node @returns {string | undefined} */
const nameOf = (node) => node?.key?.name ?? node?.key?.value

/** @param {any} node */
const isText = (node) => node?.type === "StringLiteral" || node?.type === "TemplateLiteral"

/** @param {any} node */
const isMessage = (node) => node.type === "ObjectProperty" && nameOf(node) === "message"

/** @param {Path} path @returns {string | undefined} */
const shouldIgnore = ({ node, parentPath }) => {
  const call = parentPath?.node
  if (call?.type === "CallExpression" && call.arguments.includes(node)) {
    const called = call.callee.property?.name
    if (called === "annotations") return "describes a schema in the OpenAPI document"
    if (called === "brand") return "names a type"
    if (call.callee.name === "RefusalOf" && call.arguments[1] === node) return "people read it"
    if (call.callee.name === "normalizedText" && call.arguments[1] === node)
      return "describes a schema in the OpenAPI document"
  }
  if (node.type === "ClassMethod" && node.kind === "get" && nameOf(node) === "message") return "people read it"
  if (isMessage(node)) return "people read it"
  if (node.type === "ObjectExpression" && node.properties.length > 0 && node.properties.every(isMessage))
    return "people read it"
  const name = node.type === "ObjectProperty" ? nameOf(node) : undefined
  if (name === "examples" || (name === "description" && isText(node.value)))
    return "describes a schema in the OpenAPI document"
  return undefined
}

export const strykerPlugins = [{ kind: "Ignore", name: "texts", value: { shouldIgnore } }]
