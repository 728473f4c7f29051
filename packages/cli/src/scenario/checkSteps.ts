import { errorCodes, failureRows } from "@workshop/core/http"
import { SchemaAST as AST } from "effect"
import { didYouMean } from "../terminal/nearestName.js"
import { type Observation, Reference } from "./Action.js"
import { actions, stepNames } from "./actions.js"
import { checkExpected } from "./checkExpected.js"
import { type Capture, capturesOf, checkGiven, checkTexts, givenNames, type Known, TAKEN } from "./checkReferences.js"
import { type Fields, fieldOf, isObject } from "./Mismatch.js"
import { observations } from "./observations.js"
import { type PathProblem, problemAt, problemWithName } from "./problems.js"
import { STEP_OPTIONS } from "./Scenario.js"
import { dataOf, refusalShape, successOf } from "./Shape.js"
import type { Path } from "./Source.js"

/** A field that only some steps may have. */
interface Rule {
  readonly field: string
  readonly isRefused: (does: string, step: Readonly<Record<string, unknown>>) => boolean
  readonly because: (does: string) => string
}

const isAct = (does: string): boolean => does !== "together"

const repeatable = [...actions.values()].filter(({ isRepeatable }) => isRepeatable === true).map(({ name }) => name)

const rules: ReadonlyArray<Rule> = [
  {
    field: "key",
    isRefused: (does) => isAct(does) && actions.get(does)?.actor !== "system",
    because: (does) => `says nothing to ${does}: only calls of the API have a key.`
  },
  {
    field: "idempotency_key",
    isRefused: (does) => isAct(does) && !repeatable.includes(does),
    because: (does) => `says nothing to ${does}: only ${repeatable.join(", ")} have one.`
  },
  {
    field: "expect",
    isRefused: (does) => observations.has(does),
    because: (does) => `is ${does} already: what you expect stands behind that.`
  },
  ...["as", "expect", "repeat", "shop", "key", "idempotency_key"].map((field) => ({
    field,
    isRefused: (does: string) => !isAct(does),
    because: () => "belongs to the steps within together."
  })),
  {
    field: "statuses",
    isRefused: (does, step) => isAct(does) && !("repeat" in step),
    because: () => "counts the answers of repeated steps: add repeat, or use expect."
  }
]

/** What a step says that means nothing to it. */
const misplaced = (
  step: Readonly<Record<string, unknown>>,
  does: string | undefined,
  path: Path
): ReadonlyArray<PathProblem> =>
  does === undefined
    ? []
    : rules.flatMap(({ field, isRefused, because }) =>
        field in step && isRefused(does, step) ? [problemWithName([...path, field], because(does))] : []
      )

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
const checkVerdicts = (expected: unknown, path: Path): ReadonlyArray<PathProblem> => {
  if (typeof expected === "string") {
    const message = wrongShort(expected)
    return message === undefined ? [] : [problemAt(path, message)]
  }
  return WORDS.flatMap(({ place, known, what }) =>
    plainTexts(place.reduce(fieldOf, expected), [...path, ...place]).flatMap(([at, word]) => {
      const message = unknownWord(word, known, what)
      return message === undefined ? [] : [problemAt(at, message)]
    })
  )
}

type Written = readonly [path: Path, word: unknown]

const wordOf = (entry: unknown, field: string, path: Path): Written =>
  typeof entry === "string" ? [path, entry] : [[...path, field], fieldOf(entry, field)]

/** The names of what is expected in a list, short or in full, also within `$contains` and its like. */
const namesIn = (expected: unknown, field: string, path: Path): ReadonlyArray<Written> => {
  if (Array.isArray(expected)) return expected.map((entry, i) => wordOf(entry, field, [...path, i]))
  if (!isObject(expected)) return []
  return Object.entries(expected).flatMap(([operator, operand]) => {
    const at = [...path, operator]
    return Array.isArray(operand) ? namesIn(operand, field, at) : [wordOf(operand, field, at)]
  })
}

/** Names of events or notices that there are not, so that none could be as expected. */
const checkListed = ({ named }: Observation, expected: unknown, path: Path): ReadonlyArray<PathProblem> => {
  if (named === undefined) return []
  const { what, field, words } = named
  return namesIn(expected, field, path).flatMap(([at, word]) =>
    typeof word !== "string" || /^[$/<>]/.test(word) || words.includes(word)
      ? []
      : [problemAt(at, `${word} is no ${what}${didYouMean(word, words) || `; there are ${words.join(", ")}.`}`)]
  )
}

/** Where a step refers to something, besides the actions that take nothing else. */
const REFERRING = ["ticket", "client"] as const

/** A name without its dollar would go out as a text, and come back as something that is not found. */
const withoutDollar = (
  step: Fields,
  done: string | undefined,
  known: Known,
  path: Path
): ReadonlyArray<PathProblem> => {
  const argument = done === undefined ? undefined : step[done]
  const places: ReadonlyArray<readonly [Path, unknown]> = [
    [["shop"], step.shop],
    [["key"], step.key],
    ...(done !== undefined && actions.get(done)?.takes === Reference ? [[[done], argument] as const] : []),
    ...(done !== undefined && isObject(argument)
      ? REFERRING.map((field) => [[done, field] as Path, argument[field]] as const)
      : [])
  ]
  return places.flatMap(([place, value]) =>
    typeof value === "string" && known.has(value)
      ? [problemAt([...path, ...place], `${value} needs a dollar before it: write $${value}.`)]
      : []
  )
}

/** Fields that no response of the step's act has, nor any entry of what it observes. */
const checkShapes = (step: Fields, done: string | undefined, path: Path): ReadonlyArray<PathProblem> => {
  const [action, observation] = [actions.get(done ?? ""), observations.get(done ?? "")]
  if (action?.endpoint !== undefined && isObject(step.expect)) {
    // Of `body` the envelope too is told only by a run: it may be that of a refusal.
    const { body: _, error, ...places } = step.expect
    return [
      ...checkExpected(places, successOf(action.endpoint), [...path, "expect"]),
      ...checkExpected(error, refusalShape, [...path, "expect", "error"])
    ]
  }
  return observation?.endpoint === undefined || done === undefined
    ? []
    : checkExpected(step[done], dataOf(observation.endpoint), [...path, done])
}

const RECEIVING = ["receiver", "expect received", "expect new received"]

/** A receiver that nothing leads to: only `webhook` under `given` points a shop's webhook at its receiver. */
const withoutWebhook = (
  step: Fields,
  done: string | undefined,
  given: unknown,
  path: Path
): ReadonlyArray<PathProblem> => {
  if (done === undefined || !RECEIVING.includes(done) || (Array.isArray(step[done]) && step[done].length === 0))
    return []
  const shops = fieldOf(given, "shops")
  const name = typeof step.shop === "string" ? step.shop.replace("$", "") : (Object.keys(shops ?? {})[0] ?? "shop")
  const isGiven = isObject(shops) ? Object.hasOwn(shops, name) : name === "shop"
  if (!isGiven || fieldOf(fieldOf(shops, name), "webhook") !== undefined) return []
  const message = `needs a webhook, which ${name} does not have: write webhook: true under given.shops.${name}.`
  return [problemWithName([...path, done], message)]
}

const KNOWN: ReadonlyArray<string> = [...stepNames, "together"]

const checkCount = (step: Fields, done: ReadonlyArray<string>, path: Path): ReadonlyArray<PathProblem> => {
  const others = Object.keys(step).filter((field) => !KNOWN.includes(field) && !STEP_OPTIONS.includes(field))
  if (done.length === 1 || (done.length === 0 && others.length > 0)) return []
  return [
    problemAt(
      path,
      done.length === 0
        ? "does nothing: a step has one act, such as create ticket."
        : `does ${done.join(" and ")} at once: make a step of each, or put them under together.`
    )
  ]
}

const checkStep = (step: unknown, before: Known, given: unknown, path: Path): ReadonlyArray<PathProblem> => {
  if (!isObject(step)) return []
  const known = "repeat" in step ? new Map(before).set("n", AST.numberKeyword) : before
  const done = Object.keys(step).filter((field) => KNOWN.includes(field))
  const values = Object.entries(step).flatMap(([field, value]) => {
    if (field === "title" || field === "as") return []
    if (field === "together" && Array.isArray(value)) {
      return value.flatMap((inner, i) => checkStep(inner, known, given, [...path, field, i]))
    }
    return checkTexts(value, known, [...path, field], field === "expect" || observations.has(field))
  })
  return [
    ...checkCount(step, done, path),
    ...misplaced(step, done[0], path),
    ...withoutDollar(step, done[0], known, path),
    ...checkShapes(step, done[0], path),
    ...withoutWebhook(step, done[0], given, path),
    ...checkVerdicts(step.expect, [...path, "expect"]),
    ...[...observations.values()].flatMap((look) => checkListed(look, step[look.name], [...path, look.name])),
    ...values
  ]
}

const checkCapture = ({ name, problems }: Capture, given: Known, path: Path): ReadonlyArray<PathProblem> => {
  if (TAKEN.includes(name)) return [problemAt(path, `${name} has a meaning of its own: take another name.`)]
  return given.has(name) ? [problemAt(path, `${name} is given already: take another name.`)] : problems
}

/** A step and those within it, each with its place. */
const withInner = (step: Fields, path: Path): ReadonlyArray<readonly [Fields, Path]> => [
  [step, path],
  ...(Array.isArray(step.together) ? step.together : []).flatMap((one: unknown, i) =>
    isObject(one) ? [[one, [...path, "together", i]] as const] : []
  )
]

/** What no schema sees: names that stand for nothing, steps that do nothing or too much, words out of place. */
export const checkSteps = (scenario: unknown): ReadonlyArray<PathProblem> => {
  if (!isObject(scenario)) return []
  const names = givenNames(scenario.given)
  const given = new Map(names.map(({ name, shape }) => [name, shape])).set("now", AST.stringKeyword)
  const known = new Map(given)
  const steps = (Array.isArray(scenario.steps) ? scenario.steps : []).flatMap((step: unknown, i) => {
    const path: Path = ["steps", i]
    const found = checkStep(step, new Map(known), scenario.given, path)
    if (!isObject(step)) return found
    const captured = withInner(step, path).flatMap(([one, at]) =>
      capturesOf(one, at).map((capture) => ({ capture, at: [...at, "as"] }))
    )
    for (const { capture } of captured) known.set(capture.name, capture.shape)
    return [...found, ...captured.flatMap(({ capture, at }) => checkCapture(capture, given, at))]
  })
  const clients = isObject(scenario.given) ? scenario.given.clients : undefined
  return [...checkGiven(names), ...checkTexts(clients, given, ["given", "clients"]), ...steps]
}
