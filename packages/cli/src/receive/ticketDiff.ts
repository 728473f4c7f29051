/** What changed in one field of a ticket; `field` is a dotted path such as `money.price_minor`. */
export interface FieldChange {
  readonly field: string
  readonly from: unknown
  readonly to: unknown
}

type Fields = Readonly<Record<string, unknown>>

/** It moves with every other field, so it tells nothing. */
const UNTOLD = new Set(["updated_at"])

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isSame = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b)

/** What changed between two states of a ticket, in the order of the later one's fields. */
export const ticketDiff = (before: Fields, after: Fields, path = ""): ReadonlyArray<FieldChange> => {
  const names = [...new Set([...Object.keys(after), ...Object.keys(before)])].filter((name) => !UNTOLD.has(name))
  return names.flatMap((name) => {
    const [from = null, to = null] = [before[name], after[name]]
    if (isSame(from, to)) return []
    const field = path + name
    return isFields(from) && isFields(to) ? ticketDiff(from, to, `${field}.`) : [{ field, from, to }]
  })
}

const shortFields = (fields: Fields): string =>
  Object.entries(fields)
    .flatMap(([name, value]) => (value === null ? [] : [`${name} ${short(value)}`]))
    .join(" ")

const short = (value: unknown): string => {
  if (Array.isArray(value)) return `${value.length} entries`
  if (isFields(value)) return `{${shortFields(value)}}`
  return typeof value === "string" ? value.replaceAll(/\s+/g, " ") : JSON.stringify(value)
}

/** A change in a few words: `state workshop -> ready`, `ready_at 2026-01-01T…` where there was none, `ready_at cleared`. */
export const inWords = ({ field, from, to }: FieldChange): string => {
  if (to === null) return `${field} cleared`
  return from === null ? `${field} ${short(to)}` : `${field} ${short(from)} -> ${short(to)}`
}
