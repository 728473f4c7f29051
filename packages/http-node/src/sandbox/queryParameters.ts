import { Schema } from "effect"

/** An optional parameter of a query, with its description. */
export const optionalParameter = <A, I>(schema: Schema.Schema<A, I>, description: string) =>
  Schema.optionalWith(schema, { exact: true }).annotations({ description })

const digits = Schema.String.pipe(Schema.pattern(/^\d{1,15}$/, { message: () => "must be a whole number" }))

/** An optional whole number from 0 to `max` in a query. */
export const countParameter = (max: number, description: string) =>
  optionalParameter(
    Schema.transform(
      digits,
      Schema.Int.pipe(Schema.between(0, max, { message: () => `must be a whole number from 0 to ${max}` })),
      { strict: true, decode: Number, encode: String }
    ),
    description
  )
