import { Reference } from "./Act.js"
import { acts, doings, views } from "./acts.js"
import { misplaced } from "./checkSayings.js"
import { kinds, operators, patternOf } from "./Expectation.js"
import { inBraces, type Reference as NameReference, wholeReference } from "./Names.js"
import { didYouMean } from "./nearestName.js"
import { SAYINGS } from "./Scenario.js"
import type { Path } from "./Source.js"
import type { Complaint } from "./schemaProblems.js"

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const fieldsOf = (value: unknown): ReadonlyArray<readonly [string, unknown]> =>
  isObject(value) ? Object.entries(value) : []

/** Where a step refers to something, besides the acts that take nothing else. */
const REFERRING = ["ticket", "client"] as const

/** A name without its dollar would go out as a text, and come back as something that is not found. */
const withoutDollar = (
  step: Fields,
  done: string | undefined,
  known: ReadonlySet<string>,
  path: Path
): ReadonlyArray<Complaint> => {
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

/** Names that mean something of themselves. */
const TAKEN = ["now", "n", ...Object.keys(kinds)]

const complain = (path: Path, message: string, isOfName = false): Complaint => ({ path, message, isOfName })

const unknownName = (reference: NameReference, known: ReadonlySet<string>, path: Path): Complaint => {
  const names = [...known, ...TAKEN]
  const meant = didYouMean(reference.name, names)
  return complain(
    path,
    `$${reference.name} stands for nothing yet${meant === "" ? ": name it before with as, or under given." : meant}`
  )
}

/** What is wrong with a text and its references. In expectations there are kinds and patterns too. */
const checkText = (
  text: string,
  known: ReadonlySet<string>,
  path: Path,
  isExpected: boolean
): ReadonlyArray<Complaint> => {
  if (text.startsWith("$$")) return []
  if (isExpected && patternOf(text) === null) return [complain(path, `${text} is no regular expression.`)]
  const bare = isExpected ? text.replace(/^(<=|>=|<|>)\s*/, "") : text
  const whole = wholeReference(bare)
  if (whole === undefined) {
    if (bare.startsWith("$") && !bare.startsWith("${")) {
      return [
        complain(
          path,
          `${bare} is no reference: write $ticket.number or $now + 60d; a text that starts with a dollar starts with two.`
        )
      ]
    }
    return inBraces(bare).flatMap(({ text: braced, reference }) => {
      if (reference === undefined) return [complain(path, `${braced} is no reference: write it as \${ticket.id}.`)]
      return known.has(reference.name) || reference.name === "now" ? [] : [unknownName(reference, known, path)]
    })
  }
  if (known.has(whole.name) || whole.name === "now") return []
  if (whole.name in kinds) {
    return isExpected
      ? []
      : [complain(path, `${text} stands for any such value, so it has its place only where something is expected.`)]
  }
  return [unknownName(whole, known, path)]
}

const checkValue = (
  value: unknown,
  known: ReadonlySet<string>,
  path: Path,
  isExpected: boolean
): ReadonlyArray<Complaint> => {
  if (typeof value === "string") return checkText(value, known, path, isExpected)
  if (Array.isArray(value)) return value.flatMap((inner, i) => checkValue(inner, known, [...path, i], isExpected))
  return fieldsOf(value).flatMap(([field, inner]) => [
    ...(isExpected && field.startsWith("$") && !(field in operators)
      ? [
          complain(
            [...path, field],
            `is no way to expect something${didYouMean(field, Object.keys(operators)) || `; there are ${Object.keys(operators).join(", ")}.`}`,
            true
          )
        ]
      : []),
    ...checkValue(inner, known, [...path, field], isExpected)
  ])
}

const capturesOf = ({ as }: Fields): ReadonlyArray<string> =>
  typeof as === "string" ? [as] : fieldsOf(as).map(([name]) => name)

const KNOWN: ReadonlyArray<string> = [...doings, "together"]

const checkStep = (step: unknown, before: ReadonlySet<string>, path: Path): ReadonlyArray<Complaint> => {
  if (!isObject(step)) return []
  const known = "repeat" in step ? new Set([...before, "n"]) : before
  const done = Object.keys(step).filter((field) => KNOWN.includes(field))
  const others = Object.keys(step).filter((field) => !KNOWN.includes(field) && !SAYINGS.includes(field))
  const count =
    done.length === 1 || (done.length === 0 && others.length > 0)
      ? []
      : [
          complain(
            path,
            done.length === 0
              ? "does nothing: a step has one act, such as create ticket."
              : `does ${done.join(" and ")} at once: make a step of each, or put them under together.`
          )
        ]
  const values = Object.entries(step).flatMap(([field, value]) => {
    if (field === "title" || field === "as") return []
    if (field === "together" && Array.isArray(value)) {
      return value.flatMap((inner, i) => checkStep(inner, known, [...path, field, i]))
    }
    return checkValue(value, known, [...path, field], field === "expect" || views.has(field))
  })
  return [...count, ...misplaced(step, done[0], path), ...withoutDollar(step, done[0], known, path), ...values]
}

const checkCaptures = (step: Fields, given: ReadonlySet<string>, path: Path): ReadonlyArray<Complaint> =>
  capturesOf(step).flatMap((name) => {
    if (TAKEN.includes(name)) return [complain([...path, "as"], `${name} has a meaning of its own: take another name.`)]
    return given.has(name) ? [complain([...path, "as"], `${name} is given already: take another name.`)] : []
  })

const givenNames = (given: unknown): ReadonlyArray<readonly [Path, string]> => {
  const { shops, clients } = isObject(given) ? given : {}
  const ofShops = fieldsOf(shops).flatMap(([name, shop]) => [
    [["given", "shops", name], name] as const,
    ...fieldsOf(isObject(shop) ? shop.keys : undefined).map(
      ([key]) => [["given", "shops", name, "keys", key], key] as const
    )
  ])
  const none = isObject(shops) && Object.keys(shops).length > 0 ? [] : [[["given"], "shop"] as const]
  return [...none, ...ofShops, ...fieldsOf(clients).map(([name]) => [["given", "clients", name], name] as const)]
}

/** What no schema sees: names that stand for nothing, steps that do nothing or too much, words out of place. */
export const checkNames = (scenario: unknown): ReadonlyArray<Complaint> => {
  if (!isObject(scenario)) return []
  const names = givenNames(scenario.given)
  const twice = names.flatMap(([path, name], i) => {
    if (TAKEN.includes(name)) return [complain(path, `${name} has a meaning of its own: take another name.`, true)]
    return names.findIndex(([, other]) => other === name) < i
      ? [complain(path, `${name} is the name of something else already: take another.`, true)]
      : []
  })
  const given = new Set(names.map(([, name]) => name))
  const known = new Set(given)
  const steps = (Array.isArray(scenario.steps) ? scenario.steps : []).flatMap((step: unknown, i) => {
    const path: Path = ["steps", i]
    const found = checkStep(step, new Set(known), path)
    if (!isObject(step)) return found
    const inner = (Array.isArray(step.together) ? step.together : []).map((one: unknown, j) => ({
      one: isObject(one) ? one : {},
      at: [...path, "together", j]
    }))
    const naming = [{ one: step, at: path }, ...inner]
    for (const name of naming.flatMap(({ one }) => capturesOf(one))) known.add(name)
    return [...found, ...naming.flatMap(({ one, at }) => checkCaptures(one, given, at))]
  })
  const knows = checkValue(
    isObject(scenario.given) ? scenario.given.clients : undefined,
    given,
    ["given", "clients"],
    false
  )
  return [...twice, ...knows, ...steps]
}
