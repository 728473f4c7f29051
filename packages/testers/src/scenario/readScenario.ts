import { Either, ParseResult } from "effect"
import { actions } from "./actions.js"
import { checkSteps } from "./checkSteps.js"
import { observations } from "./observations.js"
import { type Scenario, ScenarioText, type Step } from "./Scenario.js"
import { type Problem, placeProblems, Source, schemaProblems } from "./Source.js"

/** Writes a value on one line in YAML. */
const formatYaml = (value: unknown): string => {
  if (typeof value === "string") return value
  if (Array.isArray(value)) return `[${value.map(formatYaml).join(", ")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  return Object.entries(value)
    .map(
      ([field, inner]) =>
        `${field}: ${typeof inner === "object" && inner !== null && !Array.isArray(inner) ? `{${formatYaml(inner)}}` : formatYaml(inner)}`
    )
    .join(", ")
}

const titleOf = (name: string, argument: unknown): string => {
  const argumentText =
    Array.isArray(argument) && argument.length > 0 ? argument.map(formatYaml).join(", ") : formatYaml(argument)
  return argumentText === "" || argumentText === "null" ? name : `${name} ${argumentText}`
}

type StepText = ScenarioText["steps"][number]

const capturesOf = (captureText: StepText["as"]): Step["captures"] => {
  if (captureText === undefined) return []
  return typeof captureText === "string"
    ? [{ name: captureText, path: "data" }]
    : Object.entries(captureText).map(([name, path]) => ({ name, path }))
}

const OPTIONS = ["expect", "statuses", "repeat", "shop", "key", "idempotency_key"] as const

const optionsOf = (text: StepText): Partial<Pick<Step, (typeof OPTIONS)[number]>> =>
  Object.fromEntries(OPTIONS.flatMap((field) => (field in text ? [[field, text[field]]] : [])))

const stepOf = (text: StepText, path: ReadonlyArray<string | number>, source: Source): Step => {
  const name = Object.keys(text).find((field) => actions.has(field) || observations.has(field))
  const argument = name === undefined ? undefined : (text as Readonly<Record<string, unknown>>)[name]
  const together = (text.together ?? []).map((innerStep, i) =>
    stepOf(innerStep as StepText, [...path, "together", i], source)
  )
  const titles = together.map(({ title, repeat }) => (repeat === undefined ? title : `${title} (${repeat} times)`))
  return {
    ...source.positionOfName([...path, name ?? "together"]),
    title: text.title ?? titleOf(name ?? "together:", name === undefined ? titles.join("; ") : argument),
    action: (name === undefined ? undefined : (actions.get(name) ?? observations.get(name))) ?? "together",
    argument,
    together,
    captures: capturesOf(text.as),
    ...optionsOf(text)
  }
}

const entriesOf = <A extends object>(definitions: Readonly<Record<string, A | null>> | undefined) =>
  Object.entries(definitions ?? {}).map(([name, value]) => [name, value ?? ({} as A)] as const)

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

/** Reads a scenario, or returns all its problems. */
export const readScenario = (file: string, text: string): Either.Either<Scenario, ReadonlyArray<Problem>> => {
  const source = new Source(text)
  if (source.faults.length > 0) return Either.left(source.faults)
  const { value } = source
  const decoded = ParseResult.decodeUnknownEither(ScenarioText, { errors: "all", onExcessProperty: "error" })(value)
  const problems = [...(Either.isLeft(decoded) ? schemaProblems(decoded.left) : []), ...checkSteps(value)]
  return Either.isRight(decoded) && problems.length === 0
    ? Either.right(scenarioOf(file, decoded.right, source))
    : Either.left(placeProblems(problems, source))
}
