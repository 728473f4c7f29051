/** An object whose fields are not known. */
export type Fields = Readonly<Record<string, unknown>>

/** Whether a value is an object, and no list. */
export const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A field of a value; undefined where it has none. */
export const fieldOf = (value: unknown, field: string): unknown => (isObject(value) ? value[field] : undefined)
