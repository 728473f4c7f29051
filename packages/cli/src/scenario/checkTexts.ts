import { didYouMean } from "../terminal/nearestName.js"
import { type Complaint, complain, complainOfName } from "./Complaint.js"
import { operators } from "./Expectation.js"
import { kinds, patternOf } from "./ExpectedText.js"
import { inBraces, type Reference, wholeReference } from "./Names.js"
import { follow, type Shape } from "./Shape.js"
import type { Path } from "./Source.js"

/** What names stand for at a step. */
export type Known = ReadonlyMap<string, Shape>

/** Names that mean something of themselves. */
export const TAKEN: ReadonlyArray<string> = ["now", "n", ...Object.keys(kinds)]

const NO_REFERENCE =
  "is no reference: write $ticket.number or $now + 60d; a text that starts with a dollar starts with two."

const unknownName = ({ name }: Reference, known: Known, path: Path): Complaint => {
  const meant = didYouMean(name, [...known.keys(), ...TAKEN])
  const message = `$${name} stands for nothing yet${meant === "" ? ": name it before with as, or under given." : meant}`
  return complain(path, message, `$${name}`)
}

const checkReference = (reference: Reference, known: Known, path: Path): ReadonlyArray<Complaint> => {
  const { name, path: fields } = reference
  const shape = known.get(name)
  if (shape === undefined) return [unknownName(reference, known, path)]
  const found = follow(shape, fields, `$${name}`)
  return "astray" in found ? [complain(path, found.astray, `$${[name, ...fields].join(".")}`)] : []
}

const checkWhole = (whole: Reference, known: Known, path: Path, isExpected: boolean): ReadonlyArray<Complaint> => {
  if (known.has(whole.name) || !Object.hasOwn(kinds, whole.name)) return checkReference(whole, known, path)
  return isExpected
    ? []
    : [complain(path, `${whole.text} stands for any such value, so it has its place only where something is expected.`)]
}

/** What is wrong with a text and its references. In expectations there are kinds and patterns too. */
const checkText = (text: string, known: Known, path: Path, isExpected: boolean): ReadonlyArray<Complaint> => {
  if (text.startsWith("$$")) return []
  if (isExpected && patternOf(text) === null) return [complain(path, `${text} is no regular expression.`)]
  const bare = isExpected ? text.replace(/^(<=|>=|<|>)\s*/, "") : text
  const whole = wholeReference(bare)
  if (whole !== undefined) return checkWhole(whole, known, path, isExpected)
  if (bare.startsWith("$") && !bare.startsWith("${")) return [complain(path, `${bare} ${NO_REFERENCE}`)]
  return inBraces(bare).flatMap(({ text: braced, reference }) =>
    reference === undefined
      ? [complain(path, `${braced} is no reference: write it as \${ticket.id}.`)]
      : checkReference(reference, known, path)
  )
}

const checkOperator = (field: string, path: Path): ReadonlyArray<Complaint> => {
  if (!field.startsWith("$") || Object.hasOwn(operators, field)) return []
  const names = Object.keys(operators)
  return [
    complainOfName(
      [...path, field],
      `is no way to expect something${didYouMean(field, names) || `; there are ${names.join(", ")}.`}`
    )
  ]
}

/** What is wrong with the texts within a value: names that stand for nothing, or have no such field. */
export const checkTexts = (value: unknown, known: Known, path: Path, isExpected = false): ReadonlyArray<Complaint> => {
  if (typeof value === "string") return checkText(value, known, path, isExpected)
  if (Array.isArray(value)) return value.flatMap((inner, i) => checkTexts(inner, known, [...path, i], isExpected))
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([field, inner]) => [
    ...(isExpected ? checkOperator(field, path) : []),
    ...checkTexts(inner, known, [...path, field], isExpected)
  ])
}
