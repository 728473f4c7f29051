import { Data } from "effect"
import { findNearestName } from "./NearestName.js"

/** The complaint about the value of an option, such as `must be a function`; undefined if the value is valid. */
export type Complaint = string | undefined

/** The check of each option. An option without a check is refused as unknown. */
export type OptionChecks = Readonly<Record<string, (value: unknown) => Complaint>>

/** Accepts every value, because the code that uses the value checks it. */
export const acceptAny = (): Complaint => undefined

/** Accepts functions. */
export const mustBeFunction = (value: unknown): Complaint =>
  typeof value === "function" ? undefined : "must be a function"

/** Accepts whole numbers from 1. */
export const mustBePositive = (value: unknown): Complaint =>
  Number.isInteger(value) && (value as number) >= 1 ? undefined : "must be a whole number of at least 1"

/** Accepts texts. */
export const mustBeText = (value: unknown): Complaint => (typeof value === "string" ? undefined : "must be a string")

/** Accepts true and false. */
export const mustBeBoolean = (value: unknown): Complaint =>
  typeof value === "boolean" ? undefined : "must be true or false"

/** Whether a value is an object with named fields. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** An option is wrong; the message says which one, and what to pass. */
export class OptionRefused extends Data.TaggedError("OptionRefused")<{
  /** The option's name. */
  readonly option: string
  readonly message: string
}> {}

const OPTIONS = { one: "option", many: "options" }

const unknownFieldMessage = (options: object, names: ReadonlyArray<string>, { one, many } = OPTIONS) => {
  const name = Object.keys(options).find((option) => !names.includes(option))
  if (name === undefined) return undefined
  const nearestName = findNearestName(name, names)
  const remedy = nearestName === undefined ? `. The ${many} are ${names.join(", ")}.` : `. Did you mean ${nearestName}?`
  return { name, complaint: `has no ${one} ${name}${remedy}` }
}

/** The complaint about the first unknown name, with the nearest known one; undefined if all names are known. */
export const unknownOptionMessage = (options: object, names: ReadonlyArray<string>, words = OPTIONS): Complaint =>
  unknownFieldMessage(options, names, words)?.complaint

const wrongOptionMessage = (options: object, checks: OptionChecks) =>
  Object.entries(options)
    .map(([name, value]) => ({ name, complaint: value === undefined ? undefined : checks[name]?.(value) }))
    .find(({ complaint }) => complaint !== undefined)

/** Accepts an object with these fields. */
export const mustHaveFields =
  (checks: OptionChecks) =>
  (value: unknown): Complaint => {
    if (!isObject(value)) return `must be an object with ${Object.keys(checks).join(", ")}`
    const wrong = wrongOptionMessage(value, checks)
    return unknownOptionMessage(value, Object.keys(checks)) ?? (wrong && `has a ${wrong.name} that ${wrong.complaint}`)
  }

/**
 * The refusal of the first option that is unknown or wrong; null if all are right. `whose` is the function or part with
 * the options, such as `start` or `the store`.
 */
export const findOptionRefusal = (whose: string, options: unknown, checks: OptionChecks): OptionRefused | null => {
  const refuse = (option: string, message: string) => new OptionRefused({ option, message })
  const owner = whose.replace(/^the /, "The ")
  if (!isObject(options)) return refuse("", `${owner} requires an object of options`)
  const unknown = unknownFieldMessage(options, Object.keys(checks))
  if (unknown !== undefined) return refuse(unknown.name, `${owner} ${unknown.complaint}`)
  const wrong = wrongOptionMessage(options, checks)
  return wrong === undefined ? null : refuse(wrong.name, `The option ${wrong.name} of ${whose} ${wrong.complaint}`)
}

/** Returns the options if all are right; throws a sentence about the first that is not. */
export const requireOptions = <A extends object>(owner: string, options: A, checks: OptionChecks): A => {
  const refused = findOptionRefusal(owner, options, checks)
  if (refused !== null) throw refused
  return options
}
