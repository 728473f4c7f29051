/*
 * Replaces the decoding of a valid value by its schema: the body of a create took 4.43 µs in place of 10.83 µs.
 * `npm run bench -- fast` compares the two (docs/how-it-is-built.md), and test/fast/endpointReaders.test.ts proves
 * that requests to every endpoint get the same value or the same issues.
 */

import { SchemaAST as AST, Either, Option, type Schema } from "effect"

/**
 * The result of a quick reader that cannot decide whether the value is valid. The schema itself then reads the value.
 */
export const UNSURE = Symbol.for("@workshop/core/fast/unsure")

/** Reads a value as its schema would, or returns {@link UNSURE}. */
export type QuickReader = (value: unknown) => unknown

type Fields = Readonly<Record<string, unknown>>

interface Field {
  readonly name: string
  readonly isOptional: boolean
  readonly read: QuickReader
}

const OPTIONS: AST.ParseOptions = {}

const makeTypeReader =
  (type: "string" | "number" | "boolean"): QuickReader =>
  (value) =>
    typeof value === type ? value : UNSURE

const isPlainObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The value of a synchronous success; {@link UNSURE} for an effect or a failure. */
const toSyncResult = (result: unknown): unknown =>
  Either.isEither(result) && Either.isRight(result) ? result.right : UNSURE

const makeFieldsReader =
  (fields: ReadonlyArray<Field>, isExact: boolean): QuickReader =>
  (value) => {
    if (!isPlainObject(value)) return UNSURE
    const read: Record<string, unknown> = {}
    let fieldsRead = 0
    for (const field of fields) {
      if (Object.hasOwn(value, field.name)) {
        const part = field.read(value[field.name])
        if (part === UNSURE) return UNSURE
        read[field.name] = part
        fieldsRead++
      } else if (!field.isOptional) return UNSURE
    }
    return isExact && Object.keys(value).length > fieldsRead ? UNSURE : read
  }

const makeStructReader = (ast: AST.TypeLiteral, isExact: boolean): QuickReader | undefined => {
  // A schema without fields is either a record, of which this reader accepts only the empty one, or a struct that accepts any value, which
  // this reader does not support.
  if (ast.propertySignatures.length === 0)
    return ast.indexSignatures.length > 0 ? makeFieldsReader([], true) : undefined
  if (ast.indexSignatures.length > 0) return undefined
  const fields: Array<Field> = []
  for (const { name, isOptional, type } of ast.propertySignatures) {
    const read = compileReader(type, isExact)
    if (typeof name !== "string" || read === undefined) return undefined
    fields.push({ name, isOptional, read })
  }
  return makeFieldsReader(fields, isExact)
}

const makeListReader = (ast: AST.TupleType, isExact: boolean): QuickReader | undefined => {
  const [rest, ...more] = ast.rest
  const read = rest === undefined ? undefined : compileReader(rest.type, isExact)
  // The schema of a non-empty list has its first entry in `elements` and the others in `rest`, both with the same type.
  const isUniform = ast.elements.every(({ type, isOptional }) => type === rest?.type && !isOptional)
  if (read === undefined || more.length > 0 || !isUniform) return undefined
  return (value) => {
    if (!Array.isArray(value) || value.length < ast.elements.length) return UNSURE
    const entries = value.map((entry) => read(entry))
    return entries.includes(UNSURE) ? UNSURE : entries
  }
}

/** The reader of a union of literals and at most one other type. With more types, a value could match several of them. */
const makeUnionReader = (ast: AST.Union, isExact: boolean): QuickReader | undefined => {
  const values = new Set<unknown>()
  const others: Array<AST.AST> = []
  for (const type of ast.types) {
    if (type._tag === "Literal") values.add(type.literal)
    else others.push(type)
  }
  const [other, ...more] = others
  const read = other === undefined ? () => UNSURE : compileReader(other, isExact)
  if (read === undefined || more.length > 0) return undefined
  return (value) => (values.has(value) ? value : read(value))
}

const makeRefinementReader = (ast: AST.Refinement, isExact: boolean): QuickReader | undefined => {
  const read = compileReader(ast.from, isExact)
  if (read === undefined) return undefined
  return (value) => {
    const decoded = read(value)
    return decoded === UNSURE || Option.isSome(ast.filter(decoded, OPTIONS, ast)) ? UNSURE : decoded
  }
}

const makeTransformationReader = (ast: AST.Transformation, isExact: boolean): QuickReader | undefined => {
  const { transformation } = ast
  const from = compileReader(ast.from, isExact)
  const to = compileReader(ast.to, isExact)
  if (transformation._tag !== "FinalTransformation" || from === undefined || to === undefined) return undefined
  return (value) => {
    const fields = from(value)
    const decoded = fields === UNSURE ? UNSURE : toSyncResult(transformation.decode(fields, OPTIONS, ast, value))
    return decoded === UNSURE ? UNSURE : to(decoded)
  }
}

const makeDeclarationReader = (ast: AST.Declaration): QuickReader => {
  const decode = ast.decodeUnknown(...ast.typeParameters)
  return (value) => toSyncResult(decode(value, OPTIONS, ast))
}

/** Whether the options of a schema match those of this reader. */
const hasSameExactness = (options: AST.ParseOptions, isExact: boolean): boolean =>
  isExact && Object.keys(options).length === 1 && options.onExcessProperty === "error"

/** Whether an annotation of a schema changes how it is decoded. */
const isAltered = (ast: AST.AST, isExact: boolean): boolean =>
  AST.DecodingFallbackAnnotationId in ast.annotations ||
  Option.exists(AST.getParseOptionsAnnotation(ast), (options) => !hasSameExactness(options, isExact))

const compileReader = (ast: AST.AST, isExact: boolean): QuickReader | undefined => {
  if (isAltered(ast, isExact)) return undefined
  switch (ast._tag) {
    case "StringKeyword":
      return makeTypeReader("string")
    case "NumberKeyword":
      return makeTypeReader("number")
    case "BooleanKeyword":
      return makeTypeReader("boolean")
    case "Literal":
      return (value) => (value === ast.literal ? value : UNSURE)
    case "TypeLiteral":
      return makeStructReader(ast, isExact)
    case "TupleType":
      return makeListReader(ast, isExact)
    case "Union":
      return makeUnionReader(ast, isExact)
    case "Refinement":
      return makeRefinementReader(ast, isExact)
    case "Transformation":
      return makeTransformationReader(ast, isExact)
    case "Declaration":
      return makeDeclarationReader(ast)
    default:
      return undefined
  }
}

/**
 * Compiles a schema to plain functions, which read a valid value in less than half the time, because they make no
 * effects, paths or issues. For a value that is not certainly valid they return {@link UNSURE}, and then the schema
 * itself reads the value, so that the two cannot disagree about a refusal. Undefined for a schema with an unsupported
 * part. With `isExact`, unknown fields are refused.
 */
export const quickReader = <A, I>({ ast }: Schema.Schema<A, I>, isExact: boolean): QuickReader | undefined =>
  compileReader(ast, isExact)
