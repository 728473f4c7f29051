import { Either, ParseResult } from "effect"
import type { Act, Look } from "./Act.js"
import { acts, views } from "./acts.js"
import { checkNames } from "./checkNames.js"
import { problemsOf } from "./problems.js"
import { type ExpectedAnswer, type GivenClient, type GivenShop, ScenarioText } from "./Scenario.js"
import { type Position, type Problem, Source } from "./Source.js"
import { complaintsOf } from "./schemaProblems.js"

/** A step, ready to be made. */
export interface Step extends Position {
  /** As it is shown. */
  readonly title: string
  readonly does: Act | Look | "together"
  readonly argument: unknown
  readonly together: ReadonlyArray<Step>
  /** Names to keep of the answer: where in it each is found; empty for its data. */
  readonly captures: ReadonlyArray<{ readonly name: string; readonly path: string }>
  readonly expect?: ExpectedAnswer
  readonly statuses?: Readonly<Record<string, number>>
  readonly repeat?: number
  readonly shop?: string
  readonly key?: string | null
  readonly idempotency_key?: string | null
}

/** A scenario, ready to run. */
export interface Scenario {
  /** As it was named on the command line. */
  readonly file: string
  readonly name: string
  readonly section: string | null
  readonly shops: ReadonlyArray<readonly [string, GivenShop]>
  readonly clients: ReadonlyArray<readonly [string, GivenClient]>
  readonly steps: ReadonlyArray<Step>
}

/** A value on one line, as YAML would have it. */
const brief = (value: unknown): string => {
  if (typeof value === "string") return value
  if (Array.isArray(value)) return `[${value.map(brief).join(", ")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  return Object.entries(value)
    .map(
      ([field, inner]) =>
        `${field}: ${typeof inner === "object" && inner !== null && !Array.isArray(inner) ? `{${brief(inner)}}` : brief(inner)}`
    )
    .join(", ")
}

const titleOf = (name: string, argument: unknown): string => {
  const said = Array.isArray(argument) && argument.length > 0 ? argument.map(brief).join(", ") : brief(argument)
  return said === "" || said === "null" ? name : `${name} ${said}`
}

type StepText = ScenarioText["steps"][number]

const capturesOf = (as: StepText["as"]): Step["captures"] => {
  if (as === undefined) return []
  return typeof as === "string"
    ? [{ name: as, path: "data" }]
    : Object.entries(as).map(([name, path]) => ({ name, path }))
}

const MANNERS = ["expect", "statuses", "repeat", "shop", "key", "idempotency_key"] as const

const mannerOf = (text: StepText): Partial<Pick<Step, (typeof MANNERS)[number]>> =>
  Object.fromEntries(MANNERS.flatMap((field) => (field in text ? [[field, text[field]]] : [])))

const stepOf = (text: StepText, path: ReadonlyArray<string | number>, source: Source): Step => {
  const name = Object.keys(text).find((field) => acts.has(field) || views.has(field))
  const argument = name === undefined ? undefined : (text as Readonly<Record<string, unknown>>)[name]
  const together = (text.together ?? []).map((one, i) => stepOf(one as StepText, [...path, "together", i], source))
  const titles = together.map(({ title, repeat }) => (repeat === undefined ? title : `${title} (${repeat} times)`))
  return {
    ...source.placeOfName([...path, name ?? "together"]),
    title: text.title ?? titleOf(name ?? "together:", name === undefined ? titles.join("; ") : argument),
    does: (name === undefined ? undefined : (acts.get(name) ?? views.get(name))) ?? "together",
    argument,
    together,
    captures: capturesOf(text.as),
    ...mannerOf(text)
  }
}

const entriesOf = <A extends object>(given: Readonly<Record<string, A | null>> | undefined) =>
  Object.entries(given ?? {}).map(([name, value]) => [name, value ?? ({} as A)] as const)

const scenarioOf = (file: string, text: ScenarioText, source: Source): Scenario => {
  const shops = entriesOf(text.given?.shops)
  return {
    file,
    name: text.name,
    section: text.section === undefined ? null : String(text.section),
    shops: shops.length === 0 ? [["shop", {}]] : shops,
    clients: entriesOf(text.given?.clients),
    steps: text.steps.map((step, i) => stepOf(step, ["steps", i], source))
  }
}

const decode = ParseResult.decodeUnknownEither(ScenarioText, { errors: "all", onExcessProperty: "error" })

/** Reads a scenario, or tells everything that is wrong with it. */
export const readScenario = (file: string, text: string): Either.Either<Scenario, ReadonlyArray<Problem>> => {
  const source = new Source(text)
  if (source.faults.length > 0) return Either.left(source.faults)
  const { value } = source
  const decoded = decode(value)
  const complaints = [...(Either.isLeft(decoded) ? complaintsOf(decoded.left) : []), ...checkNames(value)]
  return Either.isRight(decoded) && complaints.length === 0
    ? Either.right(scenarioOf(file, decoded.right, source))
    : Either.left(problemsOf(complaints, source))
}
