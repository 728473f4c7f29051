import { readScenario, runParsedScenario } from "@workshop/testers/scenario"
import { Effect, Either } from "effect"
import { problemLines, reportLines, type ScenarioResult } from "../../src/scenario/Report.js"
import type { RunOptions } from "../../src/scenario/runScenario.js"

/** Runs the text of a scenario. Its `name` may be left out. */
export const play = (text: string, options?: RunOptions): Promise<ScenarioResult> => {
  const whole = text.startsWith("name:") ? text : `name: x\n${text.replace(/^\n/, "")}`
  const read = readScenario("a.yaml", whole)
  if (Either.isLeft(read)) throw new Error(problemLines("a.yaml", read.left).join("\n"))
  return Effect.runPromise(runParsedScenario(read.right, options))
}

/** The differences that a scenario reports, one per line, or `passed` if it reports none. */
export const differences = async (text: string): Promise<ReadonlyArray<string> | "passed"> => {
  const { failure } = await play(text)
  if (failure === null) return "passed"
  if (failure.message !== null) return [failure.message]
  return failure.mismatches.map(({ path, expected, actual }) => `${path}: ${expected} / ${actual}`)
}

/** The lines of a report, in which the random parts are replaced. */
export const steadyReport = (result: ScenarioResult): ReadonlyArray<string> =>
  reportLines(result).map((line) =>
    line
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, "<id>")
      .replaceAll(/Bearer \.\.\..{4}/g, "Bearer ...<four>")
      .replaceAll(/request-id [0-9a-f]+/g, "request-id <request>")
  )
