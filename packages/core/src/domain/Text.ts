import { SchemaAST as AST, Either, Option, ParseResult, Schema } from "effect"
import { Limits } from "./Limits.js"

// The class Cc is C0, DEL and C1. In a `u` expression, the class Cs matches only lone surrogates.
const UNCLEAN = /[^\P{Cc}\n\t]|\p{Cs}/u

const REFUSED_TYPE = Either.left("must be a string")

/** Whether a text is well-formed Unicode without control characters, except newline and tab (Specification, Tickets). */
export const isCleanText = (text: string): boolean => !UNCLEAN.test(text)

/** The result of reading a text: a value, or a sentence that says what to change, without the text itself. */
export type ReadResult<A> = Either.Either<A, string>

/**
 * A schema of strings that are normalised when they are decoded: `read` returns the string to store. It is a
 * declaration and not a transformation, because a declaration takes a third of the time, and because later annotations
 * still reach OpenAPI (effect ignores them on a transformation that has its own JSON Schema).
 */
export const makeTextSchema = (read: (text: string) => ReadResult<string>, jsonSchema: object): Schema.Schema<string> =>
  Schema.declare(
    [],
    {
      decode: () => (input, _, ast) => {
        const result = typeof input === "string" ? read(input) : REFUSED_TYPE
        return Either.isRight(result)
          ? Either.right(result.right)
          : Either.left(new ParseResult.Type(ast, input, result.left))
      },
      encode: () => (text) => Either.right(text as string)
    },
    { jsonSchema }
  )

const REFUSED_CONTROL = Either.left("must not contain control characters other than newline and tab")
const REFUSED_SURROGATE = Either.left("must be well-formed Unicode, without lone surrogates")

/**
 * A text of an input with at most `max` Unicode code points (Specification, Tickets). Surrounding white space is
 * removed first, and at least one character must remain. Control characters other than newline and tab, and lone
 * surrogates, are refused.
 */
export const Text = (max: number): Schema.Schema<string> => {
  const refusedLength = Either.left(`must be 1 to ${max} characters`)
  const read = (text: string): ReadResult<string> => {
    const trimmed = text.trim()
    if (trimmed.length === 0 || isLonger(trimmed, max)) return refusedLength
    if (isCleanText(trimmed)) return Either.right(trimmed)
    return trimmed.isWellFormed() ? REFUSED_CONTROL : REFUSED_SURROGATE
  }
  return makeTextSchema(read, {
    type: "string",
    minLength: 1,
    maxLength: max,
    description: `Up to ${max} characters, not counting white space at both ends`
  })
}

/** Code points are counted only if the number of UTF-16 units is not conclusive. */
const isLonger = (text: string, max: number): boolean => text.length > max && [...text].length > max

/**
 * An optional field of a body; `null` means the same as an absent field (Specification, Errors). The code that reads a
 * field handles both, because a conversion while decoding would make the whole body a transformation, which costs
 * several times as much.
 */
export const optional = <A, I>(schema: Schema.Schema<A, I>) =>
  Schema.optionalWith(Schema.NullOr(schema), { exact: true })

/**
 * Annotations of an input whose decoding refuses unknown fields with any options of the caller, so that no misspelt
 * field is ignored.
 */
export const refuseUnknownFields = { parseOptions: { onExcessProperty: "error" } } as const

type Trim = (value: unknown) => unknown

/**
 * Whether a value is a plain object. Objects of a class, which JSON does not have, are not trimmed, because their
 * fields may be internal.
 */
const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value))

/** Trims an object. It retains only as many unknown fields as an error lists. */
const makeFieldsTrim = (ast: AST.TypeLiteral): Trim => {
  const trims = new Map(ast.propertySignatures.map(({ name, type }) => [String(name), makeTrim(type)]))
  return (value) => {
    if (!isPlainObject(value)) return value
    const selected: Record<string, unknown> = Object.create(null)
    let unknown = 0
    for (const name of Object.keys(value)) {
      if (trims.has(name)) selected[name] = trims.get(name)?.(value[name]) ?? value[name]
      else if (unknown++ <= Limits.issues_max) selected[name] = value[name]
    }
    return selected
  }
}

const maxItemsOf = (ast: AST.Annotated): number | undefined => {
  const { maxItems } = (Option.getOrUndefined(AST.getJSONSchemaAnnotation(ast)) ?? {}) as { readonly maxItems?: number }
  return maxItems
}

const makeListTrim = (ast: AST.TupleType, max: number): Trim => {
  const [rest] = ast.rest
  const entry = rest && makeTrim(rest.type)
  return (value) => {
    if (!Array.isArray(value)) return value
    const prefix = value.slice(0, max + 1)
    return entry === undefined ? prefix : prefix.map(entry)
  }
}

/**
 * Cuts a value, before it is decoded, to slightly more than its schema could accept: the first entry too many and the
 * first unknown fields are enough to refuse it, and decoding the rest would be unbounded work. Undefined if no value of
 * the schema needs to be cut.
 */
export const makeTrim = (ast: AST.AST, max = Number.POSITIVE_INFINITY): Trim | undefined => {
  switch (ast._tag) {
    case "Refinement":
      return makeTrim(ast.from, Math.min(max, maxItemsOf(ast) ?? max))
    case "Transformation":
      return makeTrim(ast.from, max)
    case "Union":
      return ast.types.map((type) => makeTrim(type, max)).find((trim) => trim !== undefined)
    case "TypeLiteral":
      return makeFieldsTrim(ast)
    case "TupleType":
      return makeListTrim(ast, max)
    default:
      return undefined
  }
}
