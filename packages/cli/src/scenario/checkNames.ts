import { SchemaAST as AST } from "effect"
import { Reference } from "./Act.js"
import { acts, doings, views } from "./acts.js"
import { type Complaint, complain } from "./Complaint.js"
import { type Capture, capturesOf } from "./captures.js"
import { checkListed } from "./checkListed.js"
import { misplaced } from "./checkSayings.js"
import { checkTexts, type Known, TAKEN } from "./checkTexts.js"
import { checkVerdicts } from "./checkVerdicts.js"
import { type Fields, isObject } from "./Fields.js"
import { checkGiven, givenNames } from "./givenNames.js"
import { SAYINGS } from "./Scenario.js"
import type { Path } from "./Source.js"

/** Where a step refers to something, besides the acts that take nothing else. */
const REFERRING = ["ticket", "client"] as const

/** A name without its dollar would go out as a text, and come back as something that is not found. */
const withoutDollar = (step: Fields, done: string | undefined, known: Known, path: Path): ReadonlyArray<Complaint> => {
  const argument = done === undefined ? undefined : step[done]
  const places: ReadonlyArray<readonly [Path, unknown]> = [
    [["shop"], step.shop],
    [["key"], step.key],
    ...(done !== undefined && acts.get(done)?.takes === Reference ? [[[done], argument] as const] : []),
    ...(done !== undefined && isObject(argument)
      ? REFERRING.map((field) => [[done, field] as Path, argument[field]] as const)
      : [])
  ]
  return places.flatMap(([place, value]) =>
    typeof value === "string" && known.has(value)
      ? [complain([...path, ...place], `${value} needs a dollar before it: write $${value}.`)]
      : []
  )
}

const KNOWN: ReadonlyArray<string> = [...doings, "together"]

const checkCount = (step: Fields, done: ReadonlyArray<string>, path: Path): ReadonlyArray<Complaint> => {
  const others = Object.keys(step).filter((field) => !KNOWN.includes(field) && !SAYINGS.includes(field))
  if (done.length === 1 || (done.length === 0 && others.length > 0)) return []
  return [
    complain(
      path,
      done.length === 0
        ? "does nothing: a step has one act, such as create ticket."
        : `does ${done.join(" and ")} at once: make a step of each, or put them under together.`
    )
  ]
}

const checkStep = (step: unknown, before: Known, path: Path): ReadonlyArray<Complaint> => {
  if (!isObject(step)) return []
  const known = "repeat" in step ? new Map(before).set("n", AST.numberKeyword) : before
  const done = Object.keys(step).filter((field) => KNOWN.includes(field))
  const values = Object.entries(step).flatMap(([field, value]) => {
    if (field === "title" || field === "as") return []
    if (field === "together" && Array.isArray(value)) {
      return value.flatMap((inner, i) => checkStep(inner, known, [...path, field, i]))
    }
    return checkTexts(value, known, [...path, field], field === "expect" || views.has(field))
  })
  return [
    ...checkCount(step, done, path),
    ...misplaced(step, done[0], path),
    ...withoutDollar(step, done[0], known, path),
    ...checkVerdicts(step.expect, [...path, "expect"]),
    ...[...views.values()].flatMap((look) => checkListed(look, step[look.name], [...path, look.name])),
    ...values
  ]
}

const checkCapture = ({ name, complaints }: Capture, given: Known, path: Path): ReadonlyArray<Complaint> => {
  if (TAKEN.includes(name)) return [complain(path, `${name} has a meaning of its own: take another name.`)]
  return given.has(name) ? [complain(path, `${name} is given already: take another name.`)] : complaints
}

/** A step and those within it, each with its place. */
const withInner = (step: Fields, path: Path): ReadonlyArray<readonly [Fields, Path]> => [
  [step, path],
  ...(Array.isArray(step.together) ? step.together : []).flatMap((one: unknown, i) =>
    isObject(one) ? [[one, [...path, "together", i]] as const] : []
  )
]

/** What no schema sees: names that stand for nothing, steps that do nothing or too much, words out of place. */
export const checkNames = (scenario: unknown): ReadonlyArray<Complaint> => {
  if (!isObject(scenario)) return []
  const names = givenNames(scenario.given)
  const given = new Map(names.map(({ name, shape }) => [name, shape])).set("now", AST.stringKeyword)
  const known = new Map(given)
  const steps = (Array.isArray(scenario.steps) ? scenario.steps : []).flatMap((step: unknown, i) => {
    const path: Path = ["steps", i]
    const found = checkStep(step, new Map(known), path)
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
