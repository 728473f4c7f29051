import { readFileSync } from "node:fs"
import { Clock, Console, Effect, Either } from "effect"
import { CommandRefused } from "../OneSentence.js"
import { paintFor } from "../terminal/Style.js"
import { widthFor } from "../terminal/Table.js"
import { findFiles } from "./findFiles.js"
import { problemLines, reportLines, summary } from "./Report.js"
import type { ScenarioResult } from "./Result.js"
import type { RunFlags } from "./RunOptions.js"
import { readScenario, type Scenario } from "./readScenario.js"
import { type RunOptions, run } from "./runScenario.js"

const print = (lines: ReadonlyArray<string>) => Console.log(lines.join("\n"))

const textOf = (file: string) =>
  Effect.try({
    try: () => readFileSync(file, "utf8"),
    catch: () => new CommandRefused({ message: `${file} cannot be read: check its name and its permissions.` })
  })

/** All the scenarios, or everything that is wrong with them, and then none is run. */
const readAll = Effect.fnUntraced(function* (files: ReadonlyArray<string>) {
  const scenarios: Array<Scenario> = []
  const problems: Array<string> = []
  for (const file of files) {
    const read = readScenario(file, yield* textOf(file))
    if (Either.isRight(read)) scenarios.push(read.right)
    else problems.push(...problemLines(file, read.left))
  }
  if (problems.length === 0) return scenarios
  yield* Effect.forEach(problems, (problem) => Console.error(problem))
  const what = problems.length === 1 ? "this" : `these ${problems.length}`
  return yield* new CommandRefused({ message: `Nothing was run: correct ${what}, then try again.` })
})

const optionsOf = ({ baseUrl, sandboxToken, signatureHeader }: RunFlags): RunOptions => ({
  signature_header: signatureHeader,
  ...(baseUrl === null ? {} : { base_url: baseUrl }),
  ...(sandboxToken === null ? {} : { sandbox_token: sandboxToken })
})

/** `workshop scenario run`: exit status 0 only where every scenario passed. */
export const runFiles = Effect.fnUntraced(function* (asked: RunFlags) {
  const files = yield* Either.mapLeft(findFiles(asked.files), (message) => new CommandRefused({ message }))
  const scenarios = yield* readAll(files)
  const paint = paintFor()
  const began = yield* Clock.currentTimeMillis
  const results: Array<ScenarioResult> = []
  for (const scenario of scenarios) {
    const result = yield* run(scenario, optionsOf(asked))
    results.push(result)
    if (!asked.json) yield* print([...(results.length === 1 ? [] : [""]), ...reportLines(result, paint, widthFor())])
    if (asked.bail && !result.passed) break
  }
  const duration_ms = (yield* Clock.currentTimeMillis) - began
  const failed = results.filter(({ passed }) => !passed).length
  yield* print(
    asked.json
      ? [JSON.stringify({ passed: results.length - failed, failed, duration_ms, scenarios: results }, null, 2)]
      : ["", summary(results, duration_ms, paint)]
  )
  if (failed === 0) return
  const left = scenarios.length - results.length
  return yield* new CommandRefused({
    message: `${failed} of ${results.length} ${results.length === 1 ? "scenario" : "scenarios"} failed${left > 0 ? `, and ${left} not run` : ""}.`
  })
})
