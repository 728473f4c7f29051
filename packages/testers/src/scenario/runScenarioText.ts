import { Clock, Effect, Either, Option } from "effect"
import { reportOf } from "./jsonReport.js"
import { readScenario } from "./readScenario.js"
import { runParsedScenario } from "./runScenario.js"

/** The longest time that a scenario from an HTTP request may run. */
const MAX_RUN_TIME = "60 seconds"

/** Runs the text of a scenario in its own sandbox in this process. Returns the report. */
export const runScenarioText = Effect.fnUntraced(function* (text: string) {
  const file = "scenario.yaml"
  const read = readScenario(file, text)
  if (Either.isLeft(read)) return reportOf([], 0, { problems: read.left.map((problem) => ({ file, ...problem })) })
  const started_at = yield* Clock.currentTimeMillis
  const result = yield* Effect.timeoutOption(runParsedScenario(read.right), MAX_RUN_TIME)
  const duration_ms = (yield* Clock.currentTimeMillis) - started_at
  if (Option.isSome(result)) return reportOf([result.value], duration_ms)
  const message = `The scenario took longer than ${MAX_RUN_TIME}. Make the scenario shorter, or run it with workshop scenario run, which has no time limit.`
  return reportOf([], duration_ms, { problems: [{ file, line: 1, column: 1, path: "", message }] })
})
