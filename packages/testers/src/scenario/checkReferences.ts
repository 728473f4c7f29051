import { Predicate } from "effect"
import { actions } from "./actions.js"
import { type ExpectedFields, fieldOf, operators, patternOf, valueKinds } from "./Expectation.js"
import { observations } from "./observations.js"
import { anyShape, givenShapes, type Shape, shapeAt, successShape, unknownFieldAdvice } from "./ResponseShape.js"
import { bracedReferencesIn, type Reference, wholeReference } from "./references.js"
import { didYouMean, type Path, type PathProblem, type Problems, problemAt, problemWithName } from "./Source.js"

/**
 * The operators whose operand is compared with the value itself. The operands of the others are compared with its
 * entries.
 */
const VALUE_OPERATORS = ["$not", "$exactly"]
const ENTRY_OPERATORS = ["$contains", "$unordered"]

const innerShape = (shape: Shape, field: string): Shape | undefined => {
  const lookup = shapeAt(shape, [field], "")
  return "shape" in lookup ? lookup.shape : undefined
}

function* checkEach(expected: unknown, shape: Shape | undefined, path: Path): Problems {
  if (shape === undefined) return
  if (!Array.isArray(expected)) yield* checkExpected(expected, shape, path)
  else for (const [i, one] of expected.entries()) yield* checkExpected(one, shape, [...path, i])
}

function* checkOperand(operator: string, operand: unknown, shape: Shape, path: Path): Problems {
  if (VALUE_OPERATORS.includes(operator)) yield* checkExpected(operand, shape, path)
  if (ENTRY_OPERATORS.includes(operator)) yield* checkEach(operand, innerShape(shape, "0"), path)
  if (operator === "$one_of") yield* checkEach(operand, shape, path)
}

function* checkField(field: string, expected: unknown, shape: Shape, path: Path): Problems {
  const advice = unknownFieldAdvice(shape, field)
  const inner = innerShape(shape, field)
  if (advice === null) yield* inner === undefined ? [] : checkExpected(expected, inner, path)
  // For `$absent`, an unknown field is a problem only if it looks misspelt, because the response must not have it.
  else if (expected !== "$absent" || advice.includes("did you mean"))
    yield problemWithName(path, `is not a field of the response${advice}`)
}

/**
 * Reports expected fields that a value never has, because an expectation of such a field with `$not` or `$absent` would
 * always be met.
 */
export function* checkExpected(expected: unknown, shape: Shape, path: Path): Problems {
  if (Array.isArray(expected)) yield* checkEach(expected, innerShape(shape, "0"), path)
  if (!Predicate.isRecord(expected)) return
  const fields = Object.entries(expected)
  const [[field, operand] = ["", undefined]] = fields
  if (fields.length === 1 && Object.hasOwn(operators, field))
    yield* checkOperand(field, operand, shape, [...path, field])
  else for (const [name, inner] of fields) yield* checkField(name, inner, shape, [...path, name])
}

/** The shapes of the names that are known at a step. */
export type KnownNames = ReadonlyMap<string, Shape>

/** The reserved names. */
export const RESERVED_NAMES: ReadonlyArray<string> = ["now", "n", ...Object.keys(valueKinds)]

const NO_REFERENCE =
  "is not a reference. Write a reference such as $ticket.number or $now + 60d. If the text itself starts with a dollar, write two dollars."

function* checkReference({ name, path: fields }: Reference, known: KnownNames, path: Path): Problems {
  const shape = known.get(name)
  if (shape === undefined) {
    const suggestion =
      didYouMean(name, [...known.keys(), ...RESERVED_NAMES]) ||
      ". Define it in an earlier step with as, or under given."
    return yield problemAt(path, `$${name} is not defined yet${suggestion}`, `$${name}`)
  }
  const lookup = shapeAt(shape, fields, `$${name}`)
  if ("error" in lookup) yield problemAt(path, lookup.error, `$${[name, ...fields].join(".")}`)
}

const MISPLACED_KIND = "stands for any value of its kind, so use it only in an expectation."

/** Checks a text and its references. An expected text may also be a kind or a pattern. */
function* checkText(text: string, known: KnownNames, path: Path, isExpected: boolean): Problems {
  if (text.startsWith("$$")) return
  if (isExpected && patternOf(text) === null) return yield problemAt(path, `${text} is not a valid regular expression.`)
  const operandText = isExpected ? text.replace(/^(<=|>=|<|>)\s*/, "") : text
  const whole = wholeReference(operandText)
  if (whole !== undefined) {
    const isKind = !known.has(whole.name) && Object.hasOwn(valueKinds, whole.name)
    if (!isKind) yield* checkReference(whole, known, path)
    else if (!isExpected) yield problemAt(path, `${whole.text} ${MISPLACED_KIND}`)
  } else if (operandText.startsWith("$") && !operandText.startsWith("${"))
    yield problemAt(path, `${operandText} ${NO_REFERENCE}`)
  else
    for (const { text: braced, reference } of bracedReferencesIn(operandText))
      if (reference !== undefined) yield* checkReference(reference, known, path)
      else yield problemAt(path, `${braced} is not a reference. Write it as \${ticket.id}.`)
}

function* checkOperator(field: string, path: Path): Problems {
  const names = Object.keys(operators)
  const suggestion = didYouMean(field, names) || `. The operators are ${names.join(", ")}.`
  if (field.startsWith("$") && !names.includes(field))
    yield problemWithName([...path, field], `is not an operator${suggestion}`)
}

/** Checks the texts within a value for unknown names, and for fields that a name does not have. */
export function* checkTexts(value: unknown, known: KnownNames, path: Path, isExpected = false): Problems {
  if (typeof value === "string") yield* checkText(value, known, path, isExpected)
  if (typeof value !== "object" || value === null) return
  for (const [field, inner] of Object.entries(value)) {
    if (isExpected && !Array.isArray(value)) yield* checkOperator(field, path)
    yield* checkTexts(inner, known, [...path, Array.isArray(value) ? Number(field) : field], isExpected)
  }
}

/** A name that `given` defines. */
interface GivenName {
  readonly path: Path
  readonly name: string
  readonly shape: Shape
}

const entriesOf = (value: unknown) => (Predicate.isRecord(value) ? Object.entries(value) : [])

/** The names under `given`: shops and their keys, or the default shop, and clients. */
export const givenNamesOf = (declared: unknown): ReadonlyArray<GivenName> => {
  const shops = entriesOf(fieldOf(declared, "shops"))
  const shopNames = shops.flatMap(([name, shop]): ReadonlyArray<GivenName> => {
    const path = ["given", "shops", name]
    const keys = entriesOf(fieldOf(shop, "keys"))
    return [
      { path, name, shape: givenShapes.shop },
      ...keys.map(([key]) => ({ path: [...path, "keys", key], name: key, shape: givenShapes.key }))
    ]
  })
  const defaultShop = { path: ["given"], name: "shop", shape: givenShapes.shop }
  const clients = entriesOf(fieldOf(declared, "clients"))
  return [
    ...(shops.length > 0 ? [] : [defaultShop]),
    ...shopNames,
    ...clients.map(([name]) => ({ path: ["given", "clients", name], name, shape: givenShapes.client }))
  ]
}

/** Reports names that are given twice or are reserved. */
export function* checkGivenNames(names: ReadonlyArray<GivenName>): Problems {
  for (const [i, { path, name }] of names.entries()) {
    if (RESERVED_NAMES.includes(name)) yield problemWithName(path, `${name} is a reserved name. Choose another name.`)
    else if (names.findIndex((otherName) => otherName.name === name) < i)
      yield problemWithName(path, `${name} is already used. Choose another name.`)
  }
}

/** A name that a step gives with `as`, and the shape of its value. */
export interface Capture {
  readonly name: string
  readonly shape: Shape
  readonly problem?: PathProblem
}

const PLACES = ["status", "data", "meta", "error", "headers", "body"]

const isRefusal = (status: unknown): boolean => !/^2\d\d\b/.test(String(status))

/** True if a step may be refused. The fields of its response are then unknown. */
const mayBeRefused = ({ expect, statuses }: ExpectedFields): boolean => {
  if (Predicate.isRecord(statuses) && Object.keys(statuses).some(isRefusal)) return true
  if (!Predicate.isRecord(expect)) return expect !== undefined && isRefusal(expect)
  const { status = 200 } = expect
  return "error" in expect || "body" in expect || isRefusal(status)
}

const responseShapeOf = (step: ExpectedFields): Shape => {
  const name = Object.keys(step).find((field) => actions.has(field) || observations.has(field)) ?? ""
  const endpoint = (actions.get(name) ?? observations.get(name))?.endpoint
  return endpoint === undefined || mayBeRefused(step) ? anyShape : successShape(endpoint)
}

const makeCapture = (response: Shape, name: string, place: string, path: Path): Capture => {
  const isPlace = PLACES.includes(place.split(".")[0] ?? "")
  const lookup = isPlace
    ? shapeAt(response, place.split("."), "the response")
    : { error: `${place} is not part of a response. Start with one of ${PLACES.join(", ")}.` }
  return "error" in lookup
    ? { name, shape: anyShape, problem: problemAt(path, lookup.error) }
    : { name, shape: lookup.shape }
}

/** The names that a step gives with `as`. */
export const capturesOf = (step: ExpectedFields, path: Path): ReadonlyArray<Capture> => {
  const { as } = step
  const response = responseShapeOf(step)
  if (typeof as === "string") return [{ name: as, shape: makeCapture(response, as, "data", path).shape }]
  if (typeof as !== "object" || as === null) return []
  return Object.entries(as).map(([name, place]) => makeCapture(response, name, String(place), [...path, "as", name]))
}
