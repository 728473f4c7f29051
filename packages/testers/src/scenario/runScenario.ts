import { readFileSync } from "node:fs"
import { SIGNATURE_HEADER } from "@workshop/core/internal"
import { Duration, Effect, Either, Predicate } from "effect"
import {
  type Action,
  isSuccess,
  LOST_RESPONSE,
  type ObservationKind,
  type StepContext,
  type StepFailure
} from "./Action.js"
import { type ExpectedFields, findMismatches, type Mismatch, type Mismatches } from "./Expectation.js"
import { problemLines, reportLines, type ScenarioFailure, type ScenarioResult, type StepExchange } from "./Report.js"
import { readScenario } from "./readScenario.js"
import { lookUp, type Names, resolve, wholeReference, withReferences } from "./references.js"
import type { ExpectedResponse, Scenario, Step } from "./Scenario.js"
import { inProcessEnvironment, remoteEnvironment, ScenarioRunner } from "./ScenarioRunner.js"
import type { Position } from "./Source.js"

/**
 * The parts of a response that a scenario can name. The names of headers are in lower case, and numeric values are
 * numbers.
 */
const placesOf = ({ status, headers, body }: StepExchange): ExpectedFields => {
  const { data, meta, error } = Predicate.isRecord(body) ? body : {}
  const toNumberOrText = (value: string) => (/^\d{1,15}$/.test(value) ? Number(value) : value)
  const values = Object.entries(headers).map(([name, value]) => [name, toNumberOrText(value)])
  return { status, data, meta, error, body, headers: Object.fromEntries(values) }
}

/** The status of a response and, if it is a refusal, the code and the reason. */
const formatVerdict = (exchange: StepExchange): string => {
  if (exchange.status === LOST_RESPONSE) return "lost"
  const { error } = placesOf(exchange)
  if (!Predicate.isRecord(error)) return String(exchange.status)
  const reason =
    Predicate.isRecord(error.details) && typeof error.details.reason === "string" ? ` ${error.details.reason}` : ""
  return `${exchange.status} ${String(error.code)}${reason}`
}

const statusMismatch = (expected: string, exchange: StepExchange): ReadonlyArray<Mismatch> => [
  { path: "status", expected, actual: formatVerdict(exchange) }
]

/** Compares a response with a short form: a status with a code or a reason, such as `409 REOPEN_WINDOW`, or `lost`. */
const findShortFormMismatches = (expected: string, exchange: StepExchange): ReadonlyArray<Mismatch> => {
  const [status, word] = expected.split(" ")
  const [actual, ...words] = formatVerdict(exchange).split(" ")
  return status === actual && (word === undefined || words.includes(word)) ? [] : statusMismatch(expected, exchange)
}

const withLowerCaseHeaders = (expected: ExpectedFields): ExpectedFields => {
  if (!Predicate.isRecord(expected.headers)) return expected
  const lowerCaseHeaders = Object.entries(expected.headers).map(([name, value]) => [name.toLowerCase(), value])
  return { ...expected, headers: Object.fromEntries(lowerCaseHeaders) }
}

/**
 * Compares a response with what is expected. Unless a refusal is expected, it must be a success. Throws
 * `ReferenceUnknown`.
 */
const findResponseMismatches = (
  expected: ExpectedResponse | undefined,
  exchange: StepExchange,
  names: Names
): Mismatches => {
  const success = isSuccess(exchange) ? [] : statusMismatch("a success (2xx)", exchange)
  if (expected === undefined) return success
  if (typeof expected !== "object") return findShortFormMismatches(String(expected), exchange)
  const isRefusalAllowed = "status" in expected || "error" in expected || "body" in expected
  return isRefusalAllowed || success.length === 0
    ? findMismatches(withLowerCaseHeaders(expected), placesOf(exchange), names)
    : success
}

/** The outcome of a step that was run. */
interface Outcome {
  /** The step, or the step within it, that has this outcome. */
  readonly step: Step
  readonly mismatches: ReadonlyArray<Mismatch>
  /** The request and its response; null if there was none. */
  readonly exchange: StepExchange | null
  readonly status: number | null
}

const isObservation = (action: Step["action"]): action is ObservationKind =>
  typeof action === "object" && "observe" in action

/** The value at a path in a response, such as `meta.next_cursor`. */
const valueAt = (response: unknown, path: string, names: Names): unknown => {
  const place = path.replace(/^headers\.(.*)$/, (_, name: string) => `headers.${name.toLowerCase()}`)
  const reference = wholeReference(`$response.${place}`)
  return reference && lookUp(reference, { ...names, values: new Map([["response", response]]) })
}

const captureNames = (runner: ScenarioRunner, { captures }: Step, response: unknown, names: Names): void => {
  for (const { name, path } of captures) runner.setName(name, valueAt(response, path, names))
}

const runObservation = Effect.fnUntraced(function* (
  runner: ScenarioRunner,
  step: Step,
  observation: ObservationKind,
  context: StepContext
) {
  const { names } = context
  const data = yield* observation.observe(context)
  const mismatches = yield* withReferences(() => findMismatches(observation.expand(step.argument), data, names))
  yield* withReferences(() => captureNames(runner, step, { data }, names))
  return { step, mismatches, exchange: null, status: null } satisfies Outcome
})

const runAction = Effect.fnUntraced(function* (
  runner: ScenarioRunner,
  step: Step,
  action: Action,
  context: StepContext,
  isFree: boolean
) {
  const { names } = context
  const response = yield* action.perform((yield* resolve(step.argument, names)) as never, context)
  const isAnyFine = step.expect === undefined && isFree
  const mismatches = yield* withReferences(() =>
    isAnyFine ? [] : findResponseMismatches(step.expect, response, names)
  )
  if (mismatches.length === 0) yield* withReferences(() => captureNames(runner, step, placesOf(response), names))
  return {
    step,
    mismatches,
    exchange: response.call.method === "" ? null : response,
    status: response.status
  } satisfies Outcome
})

/** Runs a step once. `isFree` is true if any status is accepted, because the statuses are counted. */
const runStepOnce = Effect.fnUntraced(function* (
  runner: ScenarioRunner,
  step: Step,
  { n, isFree }: { readonly n: number | undefined; readonly isFree: boolean }
): Effect.fn.Return<Outcome, StepFailure> {
  const context = yield* runner.makeContext(step, runner.currentNames(n))
  if (isObservation(step.action)) return yield* runObservation(runner, step, step.action, context)
  if (step.action === "together") return { step, mismatches: [], exchange: null, status: null }
  const outcome = yield* runAction(runner, step, step.action, context, isFree)
  return n === undefined
    ? outcome
    : { ...outcome, step: { ...step, title: `${step.title} (time ${n} of ${step.repeat})` } }
})

const timesOf = ({ repeat }: Step): ReadonlyArray<number | undefined> =>
  repeat === undefined ? [undefined] : Array.from({ length: repeat }, (_, i) => i + 1)

const formatCounts = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([status, n]) => `${status}: ${n}`)
    .join(", ") || "none"

const tallyStatuses = (step: Step, outcomes: ReadonlyArray<Outcome>): Outcome => {
  const counts = new Map<string, number>()
  for (const { status } of outcomes) if (status !== null) counts.set(`${status}`, (counts.get(`${status}`) ?? 0) + 1)
  const expected = formatCounts(new Map(Object.entries(step.statuses ?? {})))
  const actual = formatCounts(counts)
  const mismatches = expected === actual ? [] : [{ path: "statuses", expected, actual }]
  const unexpected = outcomes.find(({ status }) => !(String(status) in (step.statuses ?? {})))
  return { step, mismatches, exchange: unexpected?.exchange ?? null, status: null }
}

const hasMismatches = ({ mismatches }: Outcome): boolean => mismatches.length > 0

/**
 * Runs a step as often as its `repeat` says, and the steps under `together` concurrently. Returns the first failed
 * outcome, if any.
 */
const performStep = Effect.fnUntraced(function* (
  runner: ScenarioRunner,
  step: Step
): Effect.fn.Return<Outcome, StepFailure> {
  yield* runner.refresh
  const isFree = step.statuses !== undefined
  const tasks = (step.action === "together" ? step.together : [step]).flatMap((innerStep) =>
    timesOf(innerStep).map((n) =>
      runStepOnce(runner, innerStep, { n, isFree: isFree || innerStep.statuses !== undefined })
    )
  )
  const outcomes: Array<Outcome> = []
  if (step.action === "together") outcomes.push(...(yield* Effect.all(tasks, { concurrency: "unbounded" })))
  else {
    for (const task of tasks) {
      outcomes.push(yield* task)
      if (hasMismatches(outcomes.at(-1)!)) break
    }
  }
  const mismatched = outcomes.find(hasMismatches)
  if (mismatched !== undefined || step.statuses === undefined) return mismatched ?? outcomes[0]!
  return tallyStatuses(step, outcomes)
})

/** The service on which scenarios run. */
export interface RunOptions {
  /** A running service, with or without `/v1`; by default each scenario has its own service in this process. */
  readonly baseUrl?: string
  /** The token of that service's sandbox, if it requires one. */
  readonly sandboxToken?: string
  /** The header in which that service signs; `Service-Signature` by default. */
  readonly signatureHeader?: string
}

const makeFailure = (
  { line, column, title }: Position & { readonly title: string | null },
  message: string
): ScenarioFailure => ({
  line,
  column,
  title,
  mismatches: [],
  message,
  exchange: null
})

/**
 * The exchange with only the last four letters of the key, which identify it, because a report must not contain a key.
 */
const withoutKey = ({ call, ...rest }: StepExchange): StepExchange => {
  const bearer = call.headers?.authorization
  if (bearer === undefined) return { call, ...rest }
  const authorization = bearer.replace(/^Bearer .*(.{4})$/, "Bearer ...$1")
  return { call: { ...call, headers: { ...call.headers, authorization } }, ...rest }
}

/** A step that was run: its duration, its request, and its failure if there is one. */
interface StepRun {
  readonly duration_ms: number
  readonly exchange: StepExchange | null
  readonly failure: ScenarioFailure | null
}

const runTimedStep = (runner: ScenarioRunner, step: Step): Effect.Effect<StepRun> =>
  performStep(runner, step).pipe(
    Effect.map(({ step: { line, column, title }, mismatches, exchange: sent }) => {
      const exchange = sent === null ? null : withoutKey(sent)
      const failure = { line, column, title, mismatches, message: null, exchange }
      return { exchange, failure: mismatches.length === 0 ? null : failure }
    }),
    Effect.catchAll(({ message }) => Effect.succeed({ exchange: null, failure: makeFailure(step, message) })),
    Effect.timed,
    Effect.map(([took, run]) => ({ ...run, duration_ms: Math.round(Duration.toMillis(took)) }))
  )

const resultOf = (
  { file, name, section, steps }: Scenario,
  runs: ReadonlyArray<StepRun>,
  failure: ScenarioFailure | null
): ScenarioResult => ({
  file,
  name,
  section,
  passed: failure === null,
  steps: steps.map(({ line, title }, i) => ({
    line,
    title,
    outcome: runs[i] === undefined ? "not_run" : runs[i].failure === null ? "passed" : "failed",
    duration_ms: runs[i]?.duration_ms ?? 0,
    exchange: runs[i]?.exchange ?? null
  })),
  failure
})

/** Runs a scenario in its own environment. The first step that fails ends it. */
export const runParsedScenario = (scenario: Scenario, options: RunOptions = {}): Effect.Effect<ScenarioResult> =>
  Effect.gen(function* () {
    const { baseUrl, sandboxToken = null, signatureHeader = SIGNATURE_HEADER } = options
    const environment =
      baseUrl === undefined
        ? yield* inProcessEnvironment
        : remoteEnvironment({ baseUrl, sandboxToken, signatureHeader })
    const runner = new ScenarioRunner(environment, yield* Effect.scope)
    const start = yield* Effect.either(Effect.zipRight(runner.begin, runner.prepare(scenario)))
    if (Either.isLeft(start)) {
      return resultOf(scenario, [], makeFailure({ line: 1, column: 1, title: null }, start.left.message))
    }
    const steps: Array<StepRun> = []
    for (const step of scenario.steps) {
      steps.push(yield* runTimedStep(runner, step))
      const failure = steps.at(-1)?.failure ?? null
      if (failure !== null) return resultOf(scenario, steps, failure)
    }
    return resultOf(scenario, steps, null)
  }).pipe(Effect.scoped)

/** The file is not a valid scenario, or the scenario failed. The message is the whole report. */
export class ScenarioFailed extends Error {
  /** Always `ScenarioFailed`. */
  override readonly name = "ScenarioFailed"
}

/**
 * Runs a scenario's file from your own test, in Vitest or elsewhere (Specification, Commands). Without a
 * `baseUrl`, the service runs in this process, on the memory store.
 * @throws ScenarioFailed with the report that `workshop scenario run` would print.
 */
export const runScenario = async (file: string, options: RunOptions = {}): Promise<ScenarioResult> => {
  const read = readScenario(file, readFileSync(file, "utf8"))
  if (Either.isLeft(read)) throw new ScenarioFailed(problemLines(file, read.left).join("\n"))
  const result = await Effect.runPromise(runParsedScenario(read.right, options))
  if (!result.passed) throw new ScenarioFailed(reportLines(result).join("\n"))
  return result
}
