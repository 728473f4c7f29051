import { Effect, Either, ParseResult, type Schema, SchemaAST } from "effect"
import { InvalidInput, type Issue, inputIssues, nameOfValue } from "../../domain/InvalidInput.js"
import { Limits } from "../../domain/Limits.js"
import { isObject } from "../../domain/OptionChecks.js"
import { makeTrim } from "../../domain/Text.js"
import type { WorkshopStopped } from "../WorkshopStopped.js"

/** The result of a service, or its refusal. The promise rejects only because of a defect. */
export type Result<A, E> = { readonly ok: true; readonly value: A } | { readonly ok: false; readonly refusal: E }

type Schemas = ReadonlyArray<Schema.Schema.AnyNoContext>
type DecodedArgs<S extends Schemas> = { readonly [K in keyof S]: Schema.Schema.Type<S[K]> }
/** The unchecked arguments, mapped from those of the method, so that editors show their names. */
type EncodedArgs<S extends Schemas, Args extends ReadonlyArray<unknown>> = {
  [K in keyof Args]: K extends keyof S
    ? S[K] extends Schema.Schema.AnyNoContext
      ? Schema.Schema.Encoded<S[K]>
      : never
    : never
}

/** Makes a last argument optional if it may be undefined. */
type OptionalTail<Args extends ReadonlyArray<unknown>> = Args extends readonly [...infer Head, infer Last]
  ? undefined extends Last
    ? Args extends readonly [...Head, ...infer Tail]
      ? [...Head, ...Partial<Tail>]
      : Args
    : Args
  : Args

/** The depth of the deepest input. Deeper values are passed on unchanged, and are refused. */
const MAX_DEPTH = 4

const isPlainObject = (value: object): boolean => [Object.prototype, null].includes(Object.getPrototypeOf(value))

/** The value without undefined fields: plain JavaScript, and TypeScript by default, omit fields in this way (Specification, Errors). */
export const withoutUndefined = (value: unknown, depth = 0): unknown => {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return value
  if (Array.isArray(value)) return value.map((entry) => withoutUndefined(entry, depth + 1))
  if (!isPlainObject(value)) return value
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined)
  return Object.fromEntries(entries.map(([name, entry]) => [name, withoutUndefined(entry, depth + 1)]))
}

/** Arguments that the HTTP API has outside of its body, or under another name. */
const IN_API: Readonly<Record<string, Issue["api"]>> = {
  ticket_id: { in: "path", field: "id" },
  client_id: { in: "path", field: "id" },
  ticket_number: { in: "path", field: "n" },
  idempotency_key: { in: "header", field: "Idempotency-Key" },
  phone: { in: "query", field: "phone" },
  ticket_status: { in: "body", field: "status" },
  shop_channel: { in: "body", field: "channel" },
  stamp_count: { in: "body", field: "count" }
}

/** The API's name for the whole body. */
const BODY = { in: "body", field: "body" } as const

const mayBeUndefined = ({ ast }: Schema.Schema.AnyNoContext): boolean =>
  SchemaAST.isUnion(ast) && ast.types.some(SchemaAST.isUndefinedKeyword)

/** An argument in a list of them: its name, or its fields if it is an object without a name. */
const argumentOf = (schema: Schema.Schema.AnyNoContext): string => {
  const name = nameOfValue(schema.ast)
  if (name !== undefined) return name.replace(/_input$/, "")
  const fields = SchemaAST.getPropertySignatures(schema.ast).map((field) => String(field.name))
  return `{ ${fields.join(", ")} }`
}

/**
 * The arguments of a method, for the error of a call with too few arguments, with an object in place of a value, or
 * with a value in place of an object; undefined if only the values are wrong.
 */
const usageOf = (
  schemas: Schemas,
  args: ReadonlyArray<unknown>,
  checkedArgs: ReadonlyArray<{ readonly value: unknown; readonly message: string }>
): string | undefined => {
  // The arguments of a method that calls another method may differ from the caller's, so its usage would mislead.
  if (schemas.some(({ ast }) => SchemaAST.isAnyKeyword(ast))) return undefined
  const requiredCount = schemas.findLastIndex((schema) => !mayBeUndefined(schema)) + 1
  const isOtherShape = checkedArgs.some(({ value, message }) => isObject(value) || message === "must be an object")
  if (args.length >= requiredCount && !isOtherShape) return undefined
  const list = schemas.map(argumentOf).join(", ")
  return schemas.length === 1 ? `the only argument is ${list}` : `the arguments are (${list}), in this order`
}

const makeArgsCheck = <S extends Schemas>(schemas: S) => {
  const compile = () =>
    schemas.map((schema) => {
      const read = ParseResult.decodeUnknownEither(schema, { errors: "all", onExcessProperty: "error" })
      const trim = makeTrim(schema.ast)
      // The value may come from outside, with more wrong entries than an error should list.
      return (value: unknown) => read(trim === undefined ? value : trim(value))
    })
  // The readers are compiled at the first call, because `start` and each `within` make all methods, and most programs call few.
  let readers: ReturnType<typeof compile> | undefined
  return (args: ReadonlyArray<unknown>): Either.Either<DecodedArgs<S>, InvalidInput> => {
    readers ??= compile()
    const read = readers.map((reader, i) => reader(withoutUndefined(args[i])))
    const checkedArgs: Array<{ readonly value: unknown; readonly message: string }> = []
    const issues = read.flatMap((result, i) =>
      Either.isLeft(result)
        ? inputIssues(result.left).map((issue): Issue => {
            const message = args[i] === undefined ? "is required" : issue.message
            if (issue.field !== "") return { field: issue.field, message }
            checkedArgs.push({ value: args[i], message })
            const name = nameOfValue(schemas[i]!.ast) ?? `argument ${i + 1}`
            const field = name.replace(/_input$/, "")
            const api = field === name ? IN_API[name] : BODY
            return { field, message, ...(api && { api }) }
          })
        : []
    )
    if (issues.length > 0) {
      const usage = usageOf(schemas, args, checkedArgs)
      return Either.left(
        new InvalidInput({ issues: issues.slice(0, Limits.issues_max), ...(usage !== undefined && { usage }) })
      )
    }
    return Either.right(Either.getOrThrow(Either.all(read)) as DecodedArgs<S>)
  }
}

/** Runs an effect over the services, and returns a failure as a value. */
export type RunEffect<Services> = <A, E>(
  effect: Effect.Effect<A, E, Services>
) => Promise<Result<A, E | WorkshopStopped>>

/**
 * A method for teams without Effect: it takes plain arguments, checks them by their schemas, and returns a promise of the result. Its
 * parameters have the names of those of `method`.
 */
export const toPromise =
  <Services>(run: RunEffect<Services>) =>
  <const S extends Schemas, Args extends DecodedArgs<S>, A, E>(
    schemas: S,
    method: (...args: Args) => Effect.Effect<A, E, Services>
  ) => {
    const read = makeArgsCheck(schemas)
    return (...args: OptionalTail<EncodedArgs<S, [...Args]>>): Promise<Result<A, E | InvalidInput | WorkshopStopped>> =>
      run(
        Effect.flatMap(
          read(args),
          (checked): Effect.Effect<A, E | InvalidInput, Services> => method(...(checked as DecodedArgs<S> as Args))
        )
      )
  }
