import { didYouMean } from "../terminal/nearestName.js"
import type { Look } from "./Act.js"
import { type Complaint, complain } from "./Complaint.js"
import { fieldOf, isObject } from "./Fields.js"
import type { Path } from "./Source.js"

type Written = readonly [path: Path, word: unknown]

const nameOf = (entry: unknown, field: string, path: Path): Written =>
  typeof entry === "string" ? [path, entry] : [[...path, field], fieldOf(entry, field)]

/** The names of what is expected in a list, short or in full, also within `$contains` and its like. */
const namesIn = (expected: unknown, field: string, path: Path): ReadonlyArray<Written> => {
  if (Array.isArray(expected)) return expected.map((entry, i) => nameOf(entry, field, [...path, i]))
  if (!isObject(expected)) return []
  return Object.entries(expected).flatMap(([operator, operand]) => {
    const at = [...path, operator]
    return Array.isArray(operand) ? namesIn(operand, field, at) : [nameOf(operand, field, at)]
  })
}

/** Names of events or notices that there are not, so that none could be as expected. */
export const checkListed = ({ named }: Look, expected: unknown, path: Path): ReadonlyArray<Complaint> => {
  if (named === undefined) return []
  const { what, field, words } = named
  return namesIn(expected, field, path).flatMap(([at, word]) =>
    typeof word !== "string" || /^[$/<>]/.test(word) || words.includes(word)
      ? []
      : [complain(at, `${word} is no ${what}${didYouMean(word, words) || `; there are ${words.join(", ")}.`}`)]
  )
}
