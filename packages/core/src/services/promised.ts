import { Effect, Either, ParseResult, type Schema } from "effect"
import { InvalidInput } from "../domain/InvalidInput.js"
import { flatten } from "../domain/SchemaIssue.js"

/** What a service answered, or why it refused. Only defects reject the promise. */
export type Result<A, E> = { readonly ok: true; readonly value: A } | { readonly ok: false; readonly refusal: E }

type Schemas = ReadonlyArray<Schema.Schema.AnyNoContext>
type Plain<S extends Schemas> = { readonly [K in keyof S]: Schema.Schema.Encoded<S[K]> }
type Checked<S extends Schemas> = { readonly [K in keyof S]: Schema.Schema.Type<S[K]> }

const check = <S extends Schemas>(schemas: S) => {
  const readers = schemas.map((schema) =>
    ParseResult.decodeUnknownEither(schema, { errors: "all", onExcessProperty: "error" })
  )
  return (args: ReadonlyArray<unknown>): Either.Either<Checked<S>, InvalidInput> => {
    const read = readers.map((reader, i) => reader(args[i]))
    const issues = read.flatMap((result, i) =>
      Either.isLeft(result)
        ? flatten(result.left).map(({ field, message }) => ({
            field: field === "" ? `argument ${i + 1}` : field,
            message
          }))
        : []
    )
    return issues.length > 0
      ? Either.left(new InvalidInput({ issues }))
      : Either.right(Either.getOrThrow(Either.all(read)) as Checked<S>)
  }
}

/** Runs an effect over the services, and answers a failure as a value. */
export type Run<Services> = <A, E>(effect: Effect.Effect<A, E, Services>) => Promise<Result<A, E>>

/** A method for teams without Effect: plain arguments, checked by their schemas, and the answer as a promise. */
export const promised =
  <Services>(run: Run<Services>) =>
  <const S extends Schemas, A, E>(schemas: S, method: (...args: Checked<S>) => Effect.Effect<A, E, Services>) => {
    const read = check(schemas)
    return (...args: Plain<S>): Promise<Result<A, E | InvalidInput>> =>
      run(Effect.flatMap(read(args), (checked): Effect.Effect<A, E | InvalidInput, Services> => method(...checked)))
  }
