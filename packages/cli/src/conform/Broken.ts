import { isDeepStrictEqual } from "node:util"
import { Data } from "effect"
import type { Exchange } from "./Exchange.js"

/** A server that breaks the rule of a case: what was expected, what was found. */
export class Broken extends Data.TaggedError("Broken")<{
  readonly expected: string
  readonly found: string
  /** The request that showed it; none given means the last one of the case. */
  readonly exchange?: Exchange | undefined
}> {
  override get message() {
    return `Expected ${this.expected}; found ${this.found}`
  }
}

const MOST = 600

/** A value as a report shows it. */
export const shown = (value: unknown): string => {
  if (value instanceof RegExp) return `something like ${value}`
  const text = value === undefined ? "nothing" : JSON.stringify(value)
  return text.length > MOST ? `${text.slice(0, MOST)}…` : text
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !(value instanceof RegExp)

/**
 * Where a value differs from what is expected of it, or undefined. Objects may have more fields than expected, lists not
 * more entries; an expression is tried on a text.
 */
const difference = (
  found: unknown,
  expected: unknown,
  path: string
): { readonly path: string; readonly found: unknown; readonly expected: unknown } | undefined => {
  if (expected instanceof RegExp) {
    return typeof found === "string" && expected.test(found) ? undefined : { path, found, expected }
  }
  if (!isFields(expected)) return Object.is(found, expected) ? undefined : { path, found, expected }
  if (!isFields(found) || Array.isArray(found) !== Array.isArray(expected)) return { path, found, expected }
  if (Array.isArray(expected) && (found as unknown as ReadonlyArray<unknown>).length !== expected.length) {
    return { path, found, expected }
  }
  for (const [name, value] of Object.entries(expected)) {
    const inner = difference(found[name], value, path === "" ? name : `${path}.${name}`)
    if (inner !== undefined) return inner
  }
  return undefined
}

/** Expects a value to have the given fields; see `difference` for how they are compared. */
export const expectShape = (found: unknown, expected: unknown, what: string, exchange?: Exchange): void => {
  const wrong = difference(found, expected, what)
  if (wrong === undefined) return
  throw new Broken({
    expected: `${wrong.path} to be ${shown(wrong.expected)}`,
    found: shown(wrong.found),
    exchange
  })
}

/** Expects two values to be the same to the last field. */
export const expectSame = (found: unknown, expected: unknown, what: string, exchange?: Exchange): void => {
  if (isDeepStrictEqual(found, expected)) return
  throw new Broken({ expected: `${what} to be ${shown(expected)}`, found: shown(found), exchange })
}

/** Expects something that a comparison cannot say. */
export const expectThat = (holds: boolean, expected: string, found: unknown, exchange?: Exchange): void => {
  if (!holds) throw new Broken({ expected, found: shown(found), exchange })
}
