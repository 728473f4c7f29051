import { didYouMean } from "../terminal/nearestName.js"
import { actions } from "./actions.js"
import { operators } from "./Expectation.js"
import { kinds, patternOf } from "./ExpectedText.js"
import { type Fields, fieldOf, isObject } from "./Mismatch.js"
import { observations } from "./observations.js"
import { type PathProblem, problemAt, problemWithName } from "./problems.js"
import { inBraces, type Reference, wholeReference } from "./references.js"
import { anything, follow, givenShapes, type Shape, successOf } from "./Shape.js"
import type { Path } from "./Source.js"

/** What names stand for at a step. */
export type Known = ReadonlyMap<string, Shape>

/** Names that mean something of themselves. */
export const TAKEN: ReadonlyArray<string> = ["now", "n", ...Object.keys(kinds)]

const NO_REFERENCE =
  "is no reference: write $ticket.number or $now + 60d; a text that starts with a dollar starts with two."

const unknownName = ({ name }: Reference, known: Known, path: Path): PathProblem => {
  const meant = didYouMean(name, [...known.keys(), ...TAKEN])
  const message = `$${name} stands for nothing yet${meant === "" ? ": name it before with as, or under given." : meant}`
  return problemAt(path, message, `$${name}`)
}

const checkReference = (reference: Reference, known: Known, path: Path): ReadonlyArray<PathProblem> => {
  const { name, path: fields } = reference
  const shape = known.get(name)
  if (shape === undefined) return [unknownName(reference, known, path)]
  const found = follow(shape, fields, `$${name}`)
  return "error" in found ? [problemAt(path, found.error, `$${[name, ...fields].join(".")}`)] : []
}

const checkWhole = (whole: Reference, known: Known, path: Path, isExpected: boolean): ReadonlyArray<PathProblem> => {
  if (known.has(whole.name) || !Object.hasOwn(kinds, whole.name)) return checkReference(whole, known, path)
  return isExpected
    ? []
    : [
        problemAt(
          path,
          `${whole.text} stands for any such value, so it has its place only where something is expected.`
        )
      ]
}

/** What is wrong with a text and its references. In expectations there are kinds and patterns too. */
const checkText = (text: string, known: Known, path: Path, isExpected: boolean): ReadonlyArray<PathProblem> => {
  if (text.startsWith("$$")) return []
  if (isExpected && patternOf(text) === null) return [problemAt(path, `${text} is no regular expression.`)]
  const bare = isExpected ? text.replace(/^(<=|>=|<|>)\s*/, "") : text
  const whole = wholeReference(bare)
  if (whole !== undefined) return checkWhole(whole, known, path, isExpected)
  if (bare.startsWith("$") && !bare.startsWith("${")) return [problemAt(path, `${bare} ${NO_REFERENCE}`)]
  return inBraces(bare).flatMap(({ text: braced, reference }) =>
    reference === undefined
      ? [problemAt(path, `${braced} is no reference: write it as \${ticket.id}.`)]
      : checkReference(reference, known, path)
  )
}

const checkOperator = (field: string, path: Path): ReadonlyArray<PathProblem> => {
  if (!field.startsWith("$") || Object.hasOwn(operators, field)) return []
  const names = Object.keys(operators)
  return [
    problemWithName(
      [...path, field],
      `is no way to expect something${didYouMean(field, names) || `; there are ${names.join(", ")}.`}`
    )
  ]
}

/** What is wrong with the texts within a value: names that stand for nothing, or have no such field. */
export const checkTexts = (
  value: unknown,
  known: Known,
  path: Path,
  isExpected = false
): ReadonlyArray<PathProblem> => {
  if (typeof value === "string") return checkText(value, known, path, isExpected)
  if (Array.isArray(value)) return value.flatMap((inner, i) => checkTexts(inner, known, [...path, i], isExpected))
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([field, inner]) => [
    ...(isExpected ? checkOperator(field, path) : []),
    ...checkTexts(inner, known, [...path, field], isExpected)
  ])
}

/** A name that a scenario gives. */
interface Given {
  readonly path: Path
  readonly name: string
  readonly shape: Shape
}

const fieldsOf = (value: unknown) => (isObject(value) ? Object.entries(value) : [])

/** The names under `given`: shops and their keys, one shop where none is named, and clients. */
export const givenNames = (given: unknown): ReadonlyArray<Given> => {
  const shops = fieldsOf(fieldOf(given, "shops"))
  const ofShops = shops.flatMap(([name, shop]): ReadonlyArray<Given> => {
    const path = ["given", "shops", name]
    const keys = fieldsOf(fieldOf(shop, "keys"))
    return [
      { path, name, shape: givenShapes.shop },
      ...keys.map(([key]) => ({ path: [...path, "keys", key], name: key, shape: givenShapes.key }))
    ]
  })
  const none = { path: ["given"], name: "shop", shape: givenShapes.shop }
  const clients = fieldsOf(fieldOf(given, "clients"))
  return [
    ...(shops.length > 0 ? [] : [none]),
    ...ofShops,
    ...clients.map(([name]) => ({ path: ["given", "clients", name], name, shape: givenShapes.client }))
  ]
}

/** Names that are given twice, or mean something of themselves. */
export const checkGiven = (names: ReadonlyArray<Given>): ReadonlyArray<PathProblem> =>
  names.flatMap(({ path, name }, i) => {
    if (TAKEN.includes(name)) return [problemWithName(path, `${name} has a meaning of its own: take another name.`)]
    return names.findIndex((other) => other.name === name) < i
      ? [problemWithName(path, `${name} is the name of something else already: take another.`)]
      : []
  })

/** What a step names, and what is known of it. */
export interface Capture {
  readonly name: string
  readonly shape: Shape
  readonly problems: ReadonlyArray<PathProblem>
}

const PLACES = ["status", "data", "meta", "error", "headers", "body"]

const isRefusal = (status: unknown): boolean => !/^2\d\d\b/.test(String(status))

/** Whether a step may be answered with a refusal, of which nothing is known beforehand. */
const mayBeRefused = ({ expect, statuses }: Fields): boolean => {
  if (typeof statuses === "object" && statuses !== null && Object.keys(statuses).some(isRefusal)) return true
  if (expect === undefined) return false
  if (typeof expect !== "object" || expect === null) return isRefusal(expect)
  const { status = 200 } = expect as Fields
  return "error" in expect || "body" in expect || isRefusal(status)
}

const responseOf = (step: Fields): Shape => {
  const name = Object.keys(step).find((field) => actions.has(field) || observations.has(field)) ?? ""
  const endpoint = (actions.get(name) ?? observations.get(name))?.endpoint
  return endpoint === undefined || mayBeRefused(step) ? anything : successOf(endpoint)
}

const capture = (answer: Shape, name: string, place: string, path: Path): Capture => {
  const [first = "", ...rest] = place.split(".")
  if (!PLACES.includes(first)) {
    const problem = problemAt(path, `${place} is no place in an answer: begin with ${PLACES.join(", ")}.`)
    return { name, shape: anything, problems: [problem] }
  }
  const found = follow(answer, [first, ...rest], "the answer")
  return "error" in found
    ? { name, shape: anything, problems: [problemAt(path, found.error)] }
    : { name, shape: found.shape, problems: [] }
}

/** What a step names with `as`. */
export const capturesOf = (step: Fields, path: Path): ReadonlyArray<Capture> => {
  const { as } = step
  const answer = responseOf(step)
  if (typeof as === "string") return [{ ...capture(answer, as, "data", path), problems: [] }]
  if (typeof as !== "object" || as === null) return []
  return Object.entries(as).map(([name, place]) => capture(answer, name, String(place), [...path, "as", name]))
}
