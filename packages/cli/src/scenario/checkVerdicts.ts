import { errorCodes, failureRows } from "@workshop/core/http/ErrorTable"
import { didYouMean } from "../terminal/nearestName.js"
import { type Complaint, complain } from "./Complaint.js"
import { fieldOf } from "./Fields.js"
import type { Path } from "./Source.js"

/** The status with which each code comes, and each reason of a conflict (Specification, Errors). */
const statusOf: ReadonlyMap<string, number> = new Map([
  ...Object.entries(errorCodes).map(([code, { status }]) => [code, status] as const),
  ...Object.values(failureRows).flatMap((row) =>
    "reason" in row ? [[row.reason, errorCodes[row.code].status] as const] : []
  )
])

const codes = Object.keys(errorCodes)
const reasons = [...statusOf.keys()].filter((word) => !codes.includes(word))

const unknownWord = (word: string, known: ReadonlyArray<string>, what: string): string | undefined =>
  known.includes(word)
    ? undefined
    : `${word} is ${what}${didYouMean(word, known) || `; there are ${known.join(", ")}.`}`

/** `409 REOPEN_WINDOW`: the word must be one, and come with that status. */
const wrongShort = (text: string): string | undefined => {
  const [, status, word] = /^(\d{3}) ([A-Z_]+)$/.exec(text) ?? []
  if (status === undefined || word === undefined) return undefined
  const comes = statusOf.get(word)
  if (comes === undefined) return unknownWord(word, [...codes, ...reasons], "no code and no reason")
  return String(comes) === status ? undefined : `${word} comes with the status ${comes}, and not ${status}.`
}

const isPlain = (value: unknown): value is string => typeof value === "string" && !/^[$/<>]/.test(value)

/** The texts that are expected as they are, also within `$one_of` and its like. */
const plainTexts = (value: unknown, path: Path): ReadonlyArray<readonly [Path, string]> => {
  if (isPlain(value)) return [[path, value]]
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([field, inner]) =>
    plainTexts(inner, [...path, Array.isArray(value) ? Number(field) : field])
  )
}

const WORDS = [
  { place: ["error", "code"], known: codes, what: "no code" },
  { place: ["error", "details", "reason"], known: reasons, what: "no reason" }
] as const

/** Codes and reasons of refusals that a service never gives, so that no answer could be as expected. */
export const checkVerdicts = (expected: unknown, path: Path): ReadonlyArray<Complaint> => {
  if (typeof expected === "string") {
    const message = wrongShort(expected)
    return message === undefined ? [] : [complain(path, message)]
  }
  return WORDS.flatMap(({ place, known, what }) =>
    plainTexts(place.reduce(fieldOf, expected), [...path, ...place]).flatMap(([at, word]) => {
      const message = unknownWord(word, known, what)
      return message === undefined ? [] : [complain(at, message)]
    })
  )
}
