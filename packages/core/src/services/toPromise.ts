import { Effect, Either, Option, ParseResult, type Schema, SchemaAST } from "effect"
import { InvalidInput } from "../domain/InvalidInput.js"
import { Limits } from "../domain/Limits.js"
import { inputIssues } from "../domain/SchemaIssue.js"
import { trimmer } from "../domain/Trimmer.js"

/** What a service answered, or why it refused. Only defects reject the promise. */
export type Result<A, E> = { readonly ok: true; readonly value: A } | { readonly ok: false; readonly refusal: E }

type Schemas = ReadonlyArray<Schema.Schema.AnyNoContext>
type Checked<S extends Schemas> = { readonly [K in keyof S]: Schema.Schema.Type<S[K]> }
/** The arguments before they are checked. Mapped from those of the method, whose names it keeps so. */
type Plain<S extends Schemas, Args extends ReadonlyArray<unknown>> = {
  [K in keyof Args]: K extends keyof S
    ? S[K] extends Schema.Schema.AnyNoContext
      ? Schema.Schema.Encoded<S[K]>
      : never
    : never
}

/** A last argument that may be undefined may be left out. */
type Called<Args extends ReadonlyArray<unknown>> = Args extends readonly [...infer Head, infer Last]
  ? undefined extends Last
    ? Args extends readonly [...Head, ...infer Tail]
      ? [...Head, ...Partial<Tail>]
      : Args
    : Args
  : Args

/** As deep as inputs go; what lies deeper is refused as it is. */
const MOST_DEEP = 4

const isPlain = (value: object): boolean => [Object.prototype, null].includes(Object.getPrototypeOf(value))

/** Without what is undefined: plain JavaScript, and TypeScript unless told otherwise, leave a field out so (Specification, Errors). */
const stated = (value: unknown, depth = 0): unknown => {
  if (typeof value !== "object" || value === null || depth > MOST_DEEP) return value
  if (Array.isArray(value)) return value.map((entry) => stated(entry, depth + 1))
  if (!isPlain(value)) return value
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined)
  return Object.fromEntries(entries.map(([name, entry]) => [name, stated(entry, depth + 1)]))
}

const fieldOf = (type: string): string => type.replaceAll(/(?<=[a-z])[A-Z]/g, "_$&").toLowerCase()

/** What an argument that is wrong as a whole is called: as fields are, such as `ticket_id`. */
const nameOf = ({ ast }: Schema.Schema.AnyNoContext, i: number): string =>
  Option.match(
    Option.orElse(SchemaAST.getIdentifierAnnotation(ast), () =>
      Option.map(SchemaAST.getBrandAnnotation(ast), ([brand]) => String(brand))
    ),
    { onNone: () => `argument ${i + 1}`, onSome: fieldOf }
  )

const check = <S extends Schemas>(schemas: S) => {
  const readers = schemas.map((schema) => {
    const read = ParseResult.decodeUnknownEither(schema, { errors: "all", onExcessProperty: "error" })
    const trim = trimmer(schema.ast)
    // What is handed in may be a body as somebody sent it, with more entries and names than anybody wants to hear of.
    return (value: unknown) => read(trim === undefined ? value : trim(value))
  })
  return (args: ReadonlyArray<unknown>): Either.Either<Checked<S>, InvalidInput> => {
    const read = readers.map((reader, i) => reader(stated(args[i])))
    const issues = read.flatMap((result, i) =>
      Either.isLeft(result)
        ? inputIssues(result.left).map(({ field, message }) => ({
            field: field || nameOf(schemas[i]!, i),
            message: args[i] === undefined ? "is required" : message
          }))
        : []
    )
    return issues.length > 0
      ? Either.left(new InvalidInput({ issues: issues.slice(0, Limits.issues_max) }))
      : Either.right(Either.getOrThrow(Either.all(read)) as Checked<S>)
  }
}

/** Runs an effect over the services, and answers a failure as a value. */
export type Run<Services> = <A, E>(effect: Effect.Effect<A, E, Services>) => Promise<Result<A, E>>

/**
 * A method for teams without Effect: plain arguments, checked by their schemas, and the answer as a promise. Its
 * parameters bear the names of those of `method`.
 */
export const toPromise =
  <Services>(run: Run<Services>) =>
  <const S extends Schemas, Args extends Checked<S>, A, E>(
    schemas: S,
    method: (...args: Args) => Effect.Effect<A, E, Services>
  ) => {
    const read = check(schemas)
    return (...args: Called<Plain<S, [...Args]>>): Promise<Result<A, E | InvalidInput>> =>
      run(
        Effect.flatMap(
          read(args),
          (checked): Effect.Effect<A, E | InvalidInput, Services> => method(...(checked as Checked<S> as Args))
        )
      )
  }
