import { Schema } from "effect"

/**
 * A field of a body that may be left out; `null` means the same (Specification, Errors). Whoever reads the field treats both
 * alike: to turn one into the other while decoding would make the whole body a transformation, at several times the cost.
 */
export const optional = <A, I>(schema: Schema.Schema<A, I>) =>
  Schema.optionalWith(Schema.NullOr(schema), { exact: true })
