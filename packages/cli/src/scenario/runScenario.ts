import { readFileSync } from "node:fs"
import { SIGNATURE_HEADER } from "@workshop/core"
import { Effect, Either } from "effect"
import { inProcessEnvironment, remoteEnvironment } from "./Environment.js"
import { performStep } from "./performStep.js"
import { problemLines, reportLines } from "./Report.js"
import type { Failure, ScenarioResult, StepExchange } from "./Result.js"
import { Runner } from "./Runner.js"
import { readScenario } from "./readScenario.js"
import type { Scenario, Step } from "./Scenario.js"
import type { Position } from "./Source.js"

/** Where scenarios run. */
export interface RunOptions {
  /** A running service, with or without `/v1`; left out, each scenario has a service of its own in this process. */
  readonly base_url?: string
  readonly sandbox_token?: string
  /** The header in which that service signs; `Service-Signature` where it is left out. */
  readonly signature_header?: string
}

const broken = ({ line, column, title }: Position & { readonly title: string | null }, message: string): Failure => ({
  line,
  column,
  title,
  mismatches: [],
  message,
  exchange: null
})

/** The exchange as it may be shown: a key is as good as money, and its last four letters identify it. */
const withoutKey = ({ call, ...answered }: StepExchange): StepExchange => {
  const bearer = call.headers?.authorization
  if (bearer === undefined) return { call, ...answered }
  const authorization = bearer.replace(/^Bearer .*(.{4})$/, "Bearer ...$1")
  return { call: { ...call, headers: { ...call.headers, authorization } }, ...answered }
}

const failureOf = (runner: Runner, step: Step): Effect.Effect<Failure | null> =>
  performStep(runner, step).pipe(
    Effect.map(({ step: { line, column, title }, mismatches, exchange }) =>
      mismatches.length === 0
        ? null
        : { line, column, title, mismatches, message: null, exchange: exchange === null ? null : withoutKey(exchange) }
    ),
    Effect.catchAll(({ message }) => Effect.succeed(broken(step, message)))
  )

const resultOf = ({ file, name, section, steps }: Scenario, done: number, failure: Failure | null): ScenarioResult => ({
  file,
  name,
  section,
  passed: failure === null,
  steps: steps.map(({ line, title }, i) => ({
    line,
    title,
    outcome: i < done ? "passed" : i === done && failure?.title !== null ? "failed" : "not_run"
  })),
  failure
})

/** Runs a scenario in an environment of its own; the first step that does not go as expected ends it. */
export const run = (scenario: Scenario, options: RunOptions = {}): Effect.Effect<ScenarioResult> =>
  Effect.gen(function* () {
    const { base_url, sandbox_token = null, signature_header = SIGNATURE_HEADER } = options
    const environment =
      base_url === undefined
        ? yield* inProcessEnvironment
        : remoteEnvironment({ base_url, sandbox_token, signature_header })
    const runner = new Runner(environment, yield* Effect.scope)
    const begun = yield* Effect.either(Effect.zipRight(runner.begin, runner.prepare(scenario)))
    if (Either.isLeft(begun)) {
      return resultOf(scenario, 0, broken({ line: 1, column: 1, title: null }, begun.left.message))
    }
    for (const [i, step] of scenario.steps.entries()) {
      const failure = yield* failureOf(runner, step)
      if (failure !== null) return resultOf(scenario, i, failure)
    }
    return resultOf(scenario, scenario.steps.length, null)
  }).pipe(Effect.scoped)

/** A scenario's file that cannot be read as one, or a scenario that failed; the message is the whole report. */
export class ScenarioFailed extends Error {
  override readonly name = "ScenarioFailed"
}

/**
 * Runs a scenario's file from a test of your own, in Vitest or elsewhere (Specification, Commands). In process and on the memory
 * store unless a `base_url` is given.
 * @throws ScenarioFailed with the report that `workshop scenario run` would print.
 */
export const runScenario = async (file: string, options: RunOptions = {}): Promise<ScenarioResult> => {
  const read = readScenario(file, readFileSync(file, "utf8"))
  if (Either.isLeft(read)) throw new ScenarioFailed(problemLines(file, read.left).join("\n"))
  const result = await Effect.runPromise(run(read.right, options))
  if (!result.passed) throw new ScenarioFailed(reportLines(result).join("\n"))
  return result
}
