import { Schema } from "effect"

/** A parameter of a query that may be left out, with what it means. */
export const optionalParameter = <A, I>(schema: Schema.Schema<A, I>, description: string) =>
  Schema.optionalWith(schema, { exact: true }).annotations({ description })

const digits = Schema.String.pipe(Schema.pattern(/^\d{1,15}$/, { message: () => "must be a whole number" }))

/** A whole number from 0 to `most` in a query; it may be left out. */
export const countParameter = (most: number, description: string) =>
  optionalParameter(
    Schema.transform(
      digits,
      Schema.Int.pipe(Schema.between(0, most, { message: () => `must be a whole number from 0 to ${most}` })),
      { strict: true, decode: Number, encode: String }
    ),
    description
  )
