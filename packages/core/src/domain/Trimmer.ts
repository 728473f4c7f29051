import { SchemaAST as AST, Option } from "effect"
import { Limits } from "./Limits.js"

type Trim = (value: unknown) => unknown

/** Of an object of a class nobody knows what its names are worth; JSON makes none. */
const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value))

/** Unknown fields are refused by name, and an answer names so many. */
const ofFields = (ast: AST.TypeLiteral): Trim => {
  const known = new Map(ast.propertySignatures.map(({ name, type }) => [String(name), trimmer(type)]))
  return (value) => {
    if (!isPlain(value)) return value
    const kept: Record<string, unknown> = Object.create(null)
    let unknown = 0
    for (const name of Object.keys(value)) {
      if (known.has(name)) kept[name] = known.get(name)?.(value[name]) ?? value[name]
      else if (unknown++ <= Limits.issues_max) kept[name] = value[name]
    }
    return kept
  }
}

const maxItemsOf = (ast: AST.Annotated): number | undefined => {
  const { maxItems } = (Option.getOrUndefined(AST.getJSONSchemaAnnotation(ast)) ?? {}) as { readonly maxItems?: number }
  return maxItems
}

const ofList = (ast: AST.TupleType, most: number): Trim => {
  const entry = trimmer(ast.rest[0]?.type ?? ast)
  return (value) => {
    if (!Array.isArray(value)) return value
    const kept = value.slice(0, most + 1)
    return entry === undefined || ast.rest.length === 0 ? kept : kept.map(entry)
  }
}

/**
 * Cuts a value, before it is read, to what its schema could take and a little more: the first entry too many and the
 * first unknown fields are what it is refused for, and the rest would be work without an end. Undefined where nothing
 * is to be cut.
 */
export const trimmer = (ast: AST.AST, most = Number.POSITIVE_INFINITY): Trim | undefined => {
  switch (ast._tag) {
    case "Refinement":
      return trimmer(ast.from, Math.min(most, maxItemsOf(ast) ?? most))
    case "Transformation":
      return trimmer(ast.from, most)
    case "Union":
      return ast.types.map((type) => trimmer(type, most)).find((trim) => trim !== undefined)
    case "TypeLiteral":
      return ofFields(ast)
    case "TupleType":
      return ofList(ast, most)
    default:
      return undefined
  }
}
