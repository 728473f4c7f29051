import { errorCodes, failureRows } from "@workshop/core/internal"
import { SchemaAST as AST, Predicate } from "effect"
import { type ObservationKind, ReferenceText } from "./Action.js"
import { actions, stepNames } from "./actions.js"
import {
  type Capture,
  capturesOf,
  checkExpected,
  checkGivenNames,
  checkTexts,
  givenNamesOf,
  type KnownNames,
  RESERVED_NAMES
} from "./checkReferences.js"
import { type ExpectedFields, fieldOf } from "./Expectation.js"
import { observations } from "./observations.js"
import { dataShapeOf, refusalShape, successShape } from "./ResponseShape.js"
import { STEP_OPTIONS } from "./Scenario.js"
import { didYouMean, type Path, type Problems, problemAt, problemWithName } from "./Source.js"

/** A field that only some steps may have. */
interface FieldRule {
  readonly field: string
  readonly isRefused: (actionName: string, step: ExpectedFields) => boolean
  readonly explain: (actionName: string) => string
}

const isAct = (actionName: string): boolean => actionName !== "together"

const repeatableNames = [...actions.values()]
  .filter(({ isRepeatable }) => isRepeatable === true)
  .map(({ name }) => name)

const fieldRules: ReadonlyArray<FieldRule> = [
  {
    field: "key",
    isRefused: (actionName) => isAct(actionName) && actions.get(actionName)?.actor !== "system",
    explain: (actionName) =>
      `has no effect on ${actionName}, because only actions that call the API send a key. Remove the field.`
  },
  {
    field: "idempotency_key",
    isRefused: (actionName) => isAct(actionName) && !repeatableNames.includes(actionName),
    explain: (actionName) =>
      `has no effect on ${actionName}, because only ${repeatableNames.join(", ")} send an Idempotency-Key. Remove the field.`
  },
  {
    field: "expect",
    isRefused: (actionName) => observations.has(actionName),
    explain: (actionName) =>
      `is not allowed beside ${actionName}, which is already an expectation. Write the expected value after the colon of ${actionName}.`
  },
  ...["as", "expect", "repeat", "shop", "key", "idempotency_key"].map((field) => ({
    field,
    isRefused: (actionName: string) => !isAct(actionName),
    explain: () => "is not allowed beside together. Write it in the steps under together."
  })),
  {
    field: "statuses",
    isRefused: (actionName, step) => isAct(actionName) && !("repeat" in step),
    explain: () => "counts the responses of repeated steps. Add repeat, or use expect."
  }
]

/** Reports fields of a step that its action does not accept. */
function* checkFieldRules(step: ExpectedFields, actionName: string | undefined, path: Path): Problems {
  for (const { field, isRefused, explain: because } of fieldRules)
    if (actionName !== undefined && field in step && isRefused(actionName, step))
      yield problemWithName([...path, field], because(actionName))
}

/** The status of each error code and of each reason of a conflict (Specification, Errors). */
const statusByWord: ReadonlyMap<string, number> = new Map([
  ...Object.entries(errorCodes).map(([code, { status }]) => [code, status] as const),
  ...Object.values(failureRows).flatMap((row) =>
    "reason" in row ? [[row.reason, errorCodes[row.code].status] as const] : []
  )
])

const codes = Object.keys(errorCodes)
const reasons = [...statusByWord.keys()].filter((word) => !codes.includes(word))

const unknownWordError = (word: string, known: ReadonlyArray<string>, what: string): string | undefined =>
  known.includes(word)
    ? undefined
    : `${word} is ${what}${didYouMean(word, known) || `. Write one of ${known.join(", ")}.`}`

/** The error of a short form such as `409 REOPEN_WINDOW`: the word must be a code or a reason, and have that status. */
const shortFormError = (text: string): string | undefined => {
  const [, status, word] = /^(\d{3}) ([A-Z_]+)$/.exec(text) ?? []
  if (status === undefined || word === undefined) return undefined
  const actualStatus = statusByWord.get(word)
  if (actualStatus === undefined) return unknownWordError(word, [...codes, ...reasons], "neither a code nor a reason")
  return String(actualStatus) === status
    ? undefined
    : `${word} belongs to the status ${actualStatus}, and not to ${status}. Correct one of the two.`
}

const isLiteral = (value: unknown): value is string => typeof value === "string" && !/^[$/<>]/.test(value)

/** The expected literal texts, including texts within operators such as `$one_of`. */
const literalTexts = (value: unknown, path: Path): ReadonlyArray<readonly [Path, string]> => {
  if (isLiteral(value)) return [[path, value]]
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([field, inner]) =>
    literalTexts(inner, [...path, Array.isArray(value) ? Number(field) : field])
  )
}

const WORDS = [
  { place: ["error", "code"], known: codes, what: "not a code" },
  { place: ["error", "details", "reason"], known: reasons, what: "not a reason" }
] as const

/** Reports expected codes and reasons that do not exist, because no response could match them. */
function* checkVerdicts(expected: unknown, path: Path): Problems {
  if (typeof expected === "string") {
    const message = shortFormError(expected)
    if (message !== undefined) yield problemAt(path, message)
    return
  }
  for (const { place, known, what } of WORDS)
    for (const [at, word] of literalTexts(place.reduce(fieldOf, expected), [...path, ...place])) {
      const message = unknownWordError(word, known, what)
      if (message !== undefined) yield problemAt(at, message)
    }
}

type NameAtPath = readonly [path: Path, word: unknown]

const nameAtPath = (entry: unknown, field: string, path: Path): NameAtPath =>
  typeof entry === "string" ? [path, entry] : [[...path, field], fieldOf(entry, field)]

/**
 * The names of the entries that are expected in a list, in the short or the full form, including entries within
 * operators such as `$contains`.
 */
const namesIn = (expected: unknown, field: string, path: Path): ReadonlyArray<NameAtPath> => {
  if (Array.isArray(expected)) return expected.map((entry, i) => nameAtPath(entry, field, [...path, i]))
  if (!Predicate.isRecord(expected)) return []
  return Object.entries(expected).flatMap(([operator, operand]) => {
    const at = [...path, operator]
    return Array.isArray(operand) ? namesIn(operand, field, at) : [nameAtPath(operand, field, at)]
  })
}

/** Reports names of events or notices that do not exist, because no entry could match them. */
function* checkEntryNames({ entryKind }: ObservationKind, expected: unknown, path: Path): Problems {
  if (entryKind === undefined) return
  const { what, field, words } = entryKind
  for (const [at, word] of namesIn(expected, field, path))
    if (typeof word === "string" && !/^[$/<>]/.test(word) && !words.includes(word))
      yield problemAt(
        at,
        `${word} is not a known ${what}${didYouMean(word, words) || `. Write one of ${words.join(", ")}.`}`
      )
}

/** The fields that contain references, in actions with fields. */
const REFERENCE_FIELDS = ["ticket", "client"] as const

/** Reports a name without its dollar sign, because it would be sent as a text and nothing would be found. */
function* checkMissingDollars(
  step: ExpectedFields,
  actionName: string | undefined,
  known: KnownNames,
  path: Path
): Problems {
  const argument = actionName === undefined ? undefined : step[actionName]
  const places: ReadonlyArray<readonly [Path, unknown]> = [
    [["shop"], step.shop],
    [["key"], step.key],
    ...(actionName !== undefined && actions.get(actionName)?.takes === ReferenceText
      ? [[[actionName], argument] as const]
      : []),
    ...(actionName !== undefined && Predicate.isRecord(argument)
      ? REFERENCE_FIELDS.map((field) => [[actionName, field] as Path, argument[field]] as const)
      : [])
  ]
  for (const [place, value] of places)
    if (typeof value === "string" && known.has(value))
      yield problemAt([...path, ...place], `${value} needs a dollar before it. Write $${value}.`)
}

/** Reports expected fields that neither the response nor an observed entry has. */
function* checkShapes(step: ExpectedFields, actionName: string | undefined, path: Path): Problems {
  const [action, observation] = [actions.get(actionName ?? ""), observations.get(actionName ?? "")]
  if (action?.endpoint !== undefined && Predicate.isRecord(step.expect)) {
    // `body` is not checked, because it may have the shape of a refusal.
    const { body: _, error, ...places } = step.expect
    yield* checkExpected(places, successShape(action.endpoint), [...path, "expect"])
    yield* checkExpected(error, refusalShape, [...path, "expect", "error"])
  } else if (observation?.endpoint !== undefined && actionName !== undefined)
    yield* checkExpected(step[actionName], dataShapeOf(observation.endpoint), [...path, actionName])
}

const RECEIVER_STEPS = ["receiver", "expect received", "expect new received"]

/**
 * Reports a receiver that no webhook sends to, because only `webhook` under `given` sets a shop's webhook to its
 * receiver.
 */
function* checkMissingWebhook(
  step: ExpectedFields,
  actionName: string | undefined,
  declared: unknown,
  path: Path
): Problems {
  if (
    actionName === undefined ||
    !RECEIVER_STEPS.includes(actionName) ||
    (Array.isArray(step[actionName]) && step[actionName].length === 0)
  )
    return
  const shops = fieldOf(declared, "shops")
  const name = typeof step.shop === "string" ? step.shop.replace("$", "") : (Object.keys(shops ?? {})[0] ?? "shop")
  const isGiven = Predicate.isRecord(shops) ? Object.hasOwn(shops, name) : name === "shop"
  if (!isGiven || fieldOf(fieldOf(shops, name), "webhook") !== undefined) return
  const message = `needs a webhook, which ${name} does not have. Write webhook: true under given.shops.${name}.`
  yield problemWithName([...path, actionName], message)
}

const ALL_STEP_NAMES: ReadonlyArray<string> = [...stepNames, "together"]

function* checkCount(step: ExpectedFields, actionNames: ReadonlyArray<string>, path: Path): Problems {
  const others = Object.keys(step).filter((field) => !ALL_STEP_NAMES.includes(field) && !STEP_OPTIONS.includes(field))
  if (actionNames.length > 1)
    yield problemAt(
      path,
      `has ${actionNames.length} actions: ${actionNames.join(" and ")}. Write a step for each, or put the steps under together.`
    )
  else if (actionNames.length === 0 && others.length === 0)
    yield problemAt(path, "has no action. Add an action, such as create ticket.")
}

function* checkStep(step: unknown, knownNames: KnownNames, declared: unknown, path: Path): Problems {
  if (!Predicate.isRecord(step)) return
  const visible = "repeat" in step ? new Map(knownNames).set("n", AST.numberKeyword) : knownNames
  const actionNames = Object.keys(step).filter((field) => ALL_STEP_NAMES.includes(field))
  yield* checkCount(step, actionNames, path)
  yield* checkFieldRules(step, actionNames[0], path)
  yield* checkMissingDollars(step, actionNames[0], visible, path)
  yield* checkShapes(step, actionNames[0], path)
  yield* checkMissingWebhook(step, actionNames[0], declared, path)
  yield* checkVerdicts(step.expect, [...path, "expect"])
  for (const observation of observations.values())
    yield* checkEntryNames(observation, step[observation.name], [...path, observation.name])
  for (const [field, value] of Object.entries(step)) {
    if (field === "title" || field === "as") continue
    if (field === "together" && Array.isArray(value))
      for (const [i, inner] of value.entries()) yield* checkStep(inner, visible, declared, [...path, field, i])
    else yield* checkTexts(value, visible, [...path, field], field === "expect" || observations.has(field))
  }
}

function* checkCapture({ name, problem }: Capture, knownNames: KnownNames, path: Path): Problems {
  if (RESERVED_NAMES.includes(name)) yield problemAt(path, `${name} is a reserved name. Choose another name.`)
  else if (knownNames.has(name)) yield problemAt(path, `${name} is already used under given. Choose another name.`)
  else if (problem !== undefined) yield problem
}

/** A step and the steps within it, each with its path. */
const withInnerSteps = (step: ExpectedFields, path: Path): ReadonlyArray<readonly [ExpectedFields, Path]> => [
  [step, path],
  ...(Array.isArray(step.together) ? step.together : []).flatMap((innerStep: unknown, i) =>
    Predicate.isRecord(innerStep) ? [[innerStep, [...path, "together", i]] as const] : []
  )
]

/**
 * Finds the problems that a schema cannot find: unknown names, steps without an action or with several, and misplaced
 * fields.
 */
export function* checkSteps(scenario: unknown): Problems {
  if (!Predicate.isRecord(scenario)) return
  const names = givenNamesOf(scenario.given)
  const knownNames = new Map(names.map(({ name, shape }) => [name, shape])).set("now", AST.stringKeyword)
  const defined = new Map(knownNames)
  yield* checkGivenNames(names)
  yield* checkTexts(fieldOf(scenario.given, "clients"), knownNames, ["given", "clients"])
  for (const [i, step] of (Array.isArray(scenario.steps) ? scenario.steps : []).entries()) {
    const path: Path = ["steps", i]
    yield* checkStep(step, new Map(defined), scenario.given, path)
    if (!Predicate.isRecord(step)) continue
    for (const [one, at] of withInnerSteps(step, path))
      for (const capture of capturesOf(one, at)) {
        defined.set(capture.name, capture.shape)
        yield* checkCapture(capture, knownNames, [...at, "as"])
      }
  }
}
