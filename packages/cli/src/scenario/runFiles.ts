import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { Clock, Console, Effect, Either, Option } from "effect"
import { CommandRefused } from "../CommandRefused.js"
import { paintFor, widthFor } from "../terminal/Output.js"
import { problemLines, reportLines, type ScenarioResult, summary } from "./Report.js"
import type { RunFlags } from "./RunOptions.js"
import { readScenario } from "./readScenario.js"
import { type RunOptions, run } from "./runScenario.js"
import type { Scenario } from "./Scenario.js"
import type { Problem } from "./Source.js"

const SCENARIO = /\.ya?ml$/

const below = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => !/(^|[\\/])node_modules[\\/]/.test(name))
    .map((name) => join(folder, name))
    .toSorted()

const isGlob = (asked: string): boolean => /[*?]/.test(asked)

/** `*` and `?` stay within a folder, `**` does not. */
const globPattern = (glob: string): RegExp => {
  const source = glob
    .replaceAll(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("**/", "\u0000")
    .replaceAll("**", "\u0001")
    .replaceAll("*", "[^/]*")
    .replaceAll("?", "[^/]")
    .replaceAll("\u0000", "(?:.*/)?")
    .replaceAll("\u0001", ".*")
  return new RegExp(`^${source}$`)
}

const matching = (glob: string): ReadonlyArray<string> => {
  const plain = glob.replace(/^\.\//, "")
  const fixed = plain.slice(0, plain.search(/[*?]/))
  const folder = fixed.includes("/") ? fixed.slice(0, fixed.lastIndexOf("/")) || "/" : "."
  const pattern = globPattern(plain)
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory()
    ? below(folder).filter((path) => pattern.test(path))
    : []
}

const found = (asked: string): Either.Either<ReadonlyArray<string>, string> => {
  const stat = statSync(asked, { throwIfNoEntry: false })
  if (stat?.isDirectory()) {
    const files = below(asked).filter((path) => SCENARIO.test(path))
    return files.length > 0 ? Either.right(files) : Either.left(`There is no .yaml file in ${asked}.`)
  }
  if (stat !== undefined) return Either.right([asked])
  if (!isGlob(asked)) {
    return Either.left(
      `There is no file ${asked}; workshop scenario new ${asked.replace(SCENARIO, "")} would write one.`
    )
  }
  const files = matching(asked)
  return files.length > 0 ? Either.right(files) : Either.left(`No file matches ${asked}.`)
}

/** The scenario files that are named, that are in named folders, or that match patterns such as `specs/*.yaml`, each once. */
export const findFiles = (asked: ReadonlyArray<string>): Either.Either<ReadonlyArray<string>, string> =>
  Either.map(Either.all(asked.map(found)), (lists) => [...new Set(lists.flat())])

const print = (lines: ReadonlyArray<string>) => Console.log(lines.join("\n"))

const textOf = (file: string) =>
  Effect.try({
    try: () => readFileSync(file, "utf8"),
    catch: () => new CommandRefused({ message: `${file} cannot be read: check its name and its permissions.` })
  })

/** How many scenarios passed, and each of them: the report of `--json`. */
const reportOf = (results: ReadonlyArray<ScenarioResult>, duration_ms: number, problems?: ReadonlyArray<object>) => {
  const failed = results.filter(({ passed }) => !passed).length
  return { passed: results.length - failed, failed, duration_ms, scenarios: results, ...(problems && { problems }) }
}

/** All the scenarios, or everything that is wrong with them, and then none is run. */
const readAll = Effect.fnUntraced(function* (files: ReadonlyArray<string>, asJson: boolean) {
  const scenarios: Array<Scenario> = []
  const problems: Array<Problem & { readonly file: string }> = []
  for (const file of files) {
    const read = readScenario(file, yield* textOf(file))
    if (Either.isRight(read)) scenarios.push(read.right)
    else problems.push(...read.left.map((problem) => ({ file, ...problem })))
  }
  if (problems.length === 0) return scenarios
  yield* asJson
    ? print([JSON.stringify(reportOf([], 0, problems), null, 2)])
    : Effect.forEach(problems, (problem) => Console.error(...problemLines(problem.file, [problem])))
  const what = problems.length === 1 ? "this" : `these ${problems.length}`
  return yield* new CommandRefused({ message: `Nothing was run: correct ${what}, then try again.` })
})

const optionsOf = ({ baseUrl, sandboxToken, signatureHeader }: RunFlags): RunOptions => ({
  signature_header: signatureHeader,
  ...(baseUrl === null ? {} : { base_url: baseUrl }),
  ...(sandboxToken === null ? {} : { sandbox_token: sandboxToken })
})

/** How long a scenario may run that came over HTTP. */
const MOST_RUN = "60 seconds"

/** The report of a scenario's text, which runs in a sandbox of its own in this process. */
export const runText = Effect.fnUntraced(function* (text: string) {
  const file = "scenario.yaml"
  const read = readScenario(file, text)
  if (Either.isLeft(read))
    return reportOf(
      [],
      0,
      read.left.map((problem) => ({ file, ...problem }))
    )
  const began = yield* Clock.currentTimeMillis
  const result = yield* Effect.timeoutOption(run(read.right), MOST_RUN)
  const duration_ms = (yield* Clock.currentTimeMillis) - began
  if (Option.isSome(result)) return reportOf([result.value], duration_ms)
  const message = `The scenario took longer than ${MOST_RUN}: make it shorter, or run it with workshop scenario run.`
  return reportOf([], duration_ms, [{ file, line: 1, column: 1, path: "", message }])
})

/** `workshop scenario run`: exit status 0 only where every scenario passed. */
export const runFiles = Effect.fnUntraced(function* (asked: RunFlags) {
  const files = yield* Either.mapLeft(findFiles(asked.files), (message) => new CommandRefused({ message }))
  const scenarios = yield* readAll(files, asked.json)
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
    asked.json ? [JSON.stringify(reportOf(results, duration_ms), null, 2)] : ["", summary(results, duration_ms, paint)]
  )
  if (failed === 0) return
  const left = scenarios.length - results.length
  return yield* new CommandRefused({
    message: `${failed} of ${results.length} ${results.length === 1 ? "scenario" : "scenarios"} failed${left > 0 ? `, and ${left} not run` : ""}.`
  })
})
