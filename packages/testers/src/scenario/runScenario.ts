import { readFileSync } from "node:fs"
import { SIGNATURE_HEADER } from "@workshop/core/internal"
import { Duration, Effect, Either, Predicate } from "effect"
import {
  type Action,
  isSuccess,
  LOST_RESPONSE,
  type Observation,
  type StepContext,
  type StepFailure
} from "./Action.js"
import { type ExpectedFields, type Mismatch, type Mismatches, match } from "./Expectation.js"
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
  const read = (value: string) => (/^\d{1,15}$/.test(value) ? Number(value) : value)
  const values = Object.entries(headers).map(([name, value]) => [name, read(value)])
  return { status, data, meta, error, body, headers: Object.fromEntries(values) }
}

/** The status of a response and, if it is a refusal, the code and the reason. */
const verdict = (exchange: StepExchange): string => {
  if (exchange.status === LOST_RESPONSE) return "lost"
  const { error } = placesOf(exchange)
  if (!Predicate.isRecord(error)) return String(exchange.status)
  const reason =
    Predicate.isRecord(error.details) && typeof error.details.reason === "string" ? ` ${error.details.reason}` : ""
  return `${exchange.status} ${String(error.code)}${reason}`
}

const mismatch = (expected: string, exchange: StepExchange): ReadonlyArray<Mismatch> => [
  { path: "status", expected, actual: verdict(exchange) }
]

/** Compares a response with a short form: a status with a code or a reason, such as `409 REOPEN_WINDOW`, or `lost`. */
const matchShort = (expected: string, exchange: StepExchange): ReadonlyArray<Mismatch> => {
  const [status, word] = expected.split(" ")
  const [actual, ...words] = verdict(exchange).split(" ")
  return status === actual && (word === undefined || words.includes(word)) ? [] : mismatch(expected, exchange)
}

const withSmallHeaders = (expected: ExpectedFields): ExpectedFields => {
  if (!Predicate.isRecord(expected.headers)) return expected
  const small = Object.entries(expected.headers).map(([name, value]) => [name.toLowerCase(), value])
  return { ...expected, headers: Object.fromEntries(small) }
}

/**
 * Compares a response with what is expected. Unless a refusal is expected, it must be a success. Throws
 * `ReferenceUnknown`.
 */
const matchResponse = (expected: ExpectedResponse | undefined, exchange: StepExchange, names: Names): Mismatches => {
  const success = isSuccess(exchange) ? [] : mismatch("a success (2xx)", exchange)
  if (expected === undefined) return success
  if (typeof expected !== "object") return matchShort(String(expected), exchange)
  const isRefusalAllowed = "status" in expected || "error" in expected || "body" in expected
  return isRefusalAllowed || success.length === 0
    ? match(withSmallHeaders(expected), placesOf(exchange), names)
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

const isObservation = (does: Step["does"]): does is Observation => typeof does === "object" && "observe" in does

/** The value at a path in a response, such as `meta.next_cursor`. */
const placeIn = (found: unknown, path: string, names: Names): unknown => {
  const place = path.replace(/^headers\.(.*)$/, (_, name: string) => `headers.${name.toLowerCase()}`)
  const reference = wholeReference(`$response.${place}`)
  return reference && lookUp(reference, { ...names, values: new Map([["response", found]]) })
}

const capture = (runner: ScenarioRunner, { captures }: Step, found: unknown, names: Names): void => {
  for (const { name, path } of captures) runner.name(name, placeIn(found, path, names))
}

const observe = Effect.fnUntraced(function* (
  runner: ScenarioRunner,
  step: Step,
  does: Observation,
  context: StepContext
) {
  const { names } = context
  const data = yield* does.observe(context)
  const mismatches = yield* withReferences(() => match(does.expand(step.argument), data, names))
  yield* withReferences(() => capture(runner, step, { data }, names))
  return { step, mismatches, exchange: null, status: null } satisfies Outcome
})

const act = Effect.fnUntraced(function* (
  runner: ScenarioRunner,
  step: Step,
  does: Action,
  context: StepContext,
  isFree: boolean
) {
  const { names } = context
  const response = yield* does.perform((yield* resolve(step.argument, names)) as never, context)
  const isAnyFine = step.expect === undefined && isFree
  const mismatches = yield* withReferences(() => (isAnyFine ? [] : matchResponse(step.expect, response, names)))
  if (mismatches.length === 0) yield* withReferences(() => capture(runner, step, placesOf(response), names))
  return {
    step,
    mismatches,
    exchange: response.call.method === "" ? null : response,
    status: response.status
  } satisfies Outcome
})

/** Runs a step once. `isFree` is true if any status is accepted, because the statuses are counted. */
const once = Effect.fnUntraced(function* (
  runner: ScenarioRunner,
  step: Step,
  { n, isFree }: { readonly n: number | undefined; readonly isFree: boolean }
): Effect.fn.Return<Outcome, StepFailure> {
  const context = yield* runner.context(step, runner.names(n))
  if (isObservation(step.does)) return yield* observe(runner, step, step.does, context)
  if (step.does === "together") return { step, mismatches: [], exchange: null, status: null }
  const outcome = yield* act(runner, step, step.does, context, isFree)
  return n === undefined
    ? outcome
    : { ...outcome, step: { ...step, title: `${step.title} (time ${n} of ${step.repeat})` } }
})

const timesOf = ({ repeat }: Step): ReadonlyArray<number | undefined> =>
  repeat === undefined ? [undefined] : Array.from({ length: repeat }, (_, i) => i + 1)

const counted = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([status, n]) => `${status}: ${n}`)
    .join(", ") || "none"

const tally = (step: Step, outcomes: ReadonlyArray<Outcome>): Outcome => {
  const counts = new Map<string, number>()
  for (const { status } of outcomes) if (status !== null) counts.set(`${status}`, (counts.get(`${status}`) ?? 0) + 1)
  const expected = counted(new Map(Object.entries(step.statuses ?? {})))
  const actual = counted(counts)
  const mismatches = expected === actual ? [] : [{ path: "statuses", expected, actual }]
  const unexpected = outcomes.find(({ status }) => !(String(status) in (step.statuses ?? {})))
  return { step, mismatches, exchange: unexpected?.exchange ?? null, status: null }
}

const isBad = ({ mismatches }: Outcome): boolean => mismatches.length > 0

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
  const tasks = (step.does === "together" ? step.together : [step]).flatMap((one) =>
    timesOf(one).map((n) => once(runner, one, { n, isFree: isFree || one.statuses !== undefined }))
  )
  const outcomes: Array<Outcome> = []
  if (step.does === "together") outcomes.push(...(yield* Effect.all(tasks, { concurrency: "unbounded" })))
  else {
    for (const task of tasks) {
      outcomes.push(yield* task)
      if (isBad(outcomes.at(-1)!)) break
    }
  }
  const bad = outcomes.find(isBad)
  if (bad !== undefined || step.statuses === undefined) return bad ?? outcomes[0]!
  return tally(step, outcomes)
})

/** The service on which scenarios run. */
export interface RunOptions {
  /** A running service, with or without `/v1`; by default each scenario has its own service in this process. */
  readonly base_url?: string
  readonly sandbox_token?: string
  /** The header in which that service signs; `Service-Signature` by default. */
  readonly signature_header?: string
}

const broken = (
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
const withoutKey = ({ call, ...answered }: StepExchange): StepExchange => {
  const bearer = call.headers?.authorization
  if (bearer === undefined) return { call, ...answered }
  const authorization = bearer.replace(/^Bearer .*(.{4})$/, "Bearer ...$1")
  return { call: { ...call, headers: { ...call.headers, authorization } }, ...answered }
}

/** A step that was run: its duration, its request, and its failure if there is one. */
interface StepRun {
  readonly duration_ms: number
  readonly exchange: StepExchange | null
  readonly failure: ScenarioFailure | null
}

const madeOf = (runner: ScenarioRunner, step: Step): Effect.Effect<StepRun> =>
  performStep(runner, step).pipe(
    Effect.map(({ step: { line, column, title }, mismatches, exchange: sent }) => {
      const exchange = sent === null ? null : withoutKey(sent)
      const failure = { line, column, title, mismatches, message: null, exchange }
      return { exchange, failure: mismatches.length === 0 ? null : failure }
    }),
    Effect.catchAll(({ message }) => Effect.succeed({ exchange: null, failure: broken(step, message) })),
    Effect.timed,
    Effect.map(([took, made]) => ({ ...made, duration_ms: Math.round(Duration.toMillis(took)) }))
  )

const resultOf = (
  { file, name, section, steps }: Scenario,
  made: ReadonlyArray<StepRun>,
  failure: ScenarioFailure | null
): ScenarioResult => ({
  file,
  name,
  section,
  passed: failure === null,
  steps: steps.map(({ line, title }, i) => ({
    line,
    title,
    outcome: made[i] === undefined ? "not_run" : made[i].failure === null ? "passed" : "failed",
    duration_ms: made[i]?.duration_ms ?? 0,
    exchange: made[i]?.exchange ?? null
  })),
  failure
})

/** Runs a scenario in its own environment. The first step that fails ends it. */
export const runParsedScenario = (scenario: Scenario, options: RunOptions = {}): Effect.Effect<ScenarioResult> =>
  Effect.gen(function* () {
    const { base_url, sandbox_token = null, signature_header = SIGNATURE_HEADER } = options
    const environment =
      base_url === undefined
        ? yield* inProcessEnvironment
        : remoteEnvironment({ base_url, sandbox_token, signature_header })
    const runner = new ScenarioRunner(environment, yield* Effect.scope)
    const begun = yield* Effect.either(Effect.zipRight(runner.begin, runner.prepare(scenario)))
    if (Either.isLeft(begun)) {
      return resultOf(scenario, [], broken({ line: 1, column: 1, title: null }, begun.left.message))
    }
    const steps: Array<StepRun> = []
    for (const step of scenario.steps) {
      steps.push(yield* madeOf(runner, step))
      const failure = steps.at(-1)?.failure ?? null
      if (failure !== null) return resultOf(scenario, steps, failure)
    }
    return resultOf(scenario, steps, null)
  }).pipe(Effect.scoped)

/** The file is not a valid scenario, or the scenario failed. The message is the whole report. */
export class ScenarioFailed extends Error {
  override readonly name = "ScenarioFailed"
}

/**
 * Runs a scenario's file from a test of your own, in Vitest or elsewhere (Specification, Commands). Without a
 * `base_url`, the service runs in this process, on the memory store.
 * @throws ScenarioFailed with the report that `workshop scenario run` would print.
 */
export const runScenario = async (file: string, options: RunOptions = {}): Promise<ScenarioResult> => {
  const read = readScenario(file, readFileSync(file, "utf8"))
  if (Either.isLeft(read)) throw new ScenarioFailed(problemLines(file, read.left).join("\n"))
  const result = await Effect.runPromise(runParsedScenario(read.right, options))
  if (!result.passed) throw new ScenarioFailed(reportLines(result).join("\n"))
  return result
}
