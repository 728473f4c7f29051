import { readdirSync, readFileSync, statSync, watch } from "node:fs"
import { dirname, join, resolve } from "node:path"
import {
  clockWarning,
  htmlReport,
  junitReport,
  type Problem,
  problemLines,
  type RunOptions,
  reportLines,
  reportOf,
  type Scenario,
  type ScenarioResult,
  summaryLine
} from "@workshop/testers/internal/scenario"
import { readScenario, runParsedScenario } from "@workshop/testers/scenario"
import { Clock, Console, Effect, Either, Fiber } from "effect"
import { refuse } from "../CommandRefused.js"
import { paintFor, widthFor, writeReport } from "../terminal/Output.js"
import type { RunFlags } from "./RunOptions.js"

const SCENARIO_FILE = /\.ya?ml$/

const filesBelow = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => !/(^|[\\/])node_modules[\\/]/.test(name))
    .map((name) => join(folder, name))
    .toSorted()

/** `*` and `?` match within one folder, and `**` matches across folders. */
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

const filesMatching = (glob: string): ReadonlyArray<string> => {
  const cleanGlob = glob.replace(/^\.\//, "")
  const literalStart = cleanGlob.slice(0, cleanGlob.search(/[*?]/))
  const folder = literalStart.includes("/") ? literalStart.slice(0, literalStart.lastIndexOf("/")) || "/" : "."
  const pattern = globPattern(cleanGlob)
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory()
    ? filesBelow(folder).filter((path) => pattern.test(path))
    : []
}

const filesAt = (path: string): Either.Either<ReadonlyArray<string>, string> => {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat?.isDirectory()) {
    const files = filesBelow(path).filter((path) => SCENARIO_FILE.test(path))
    return files.length > 0 ? Either.right(files) : Either.left(`There is no .yaml file in the folder ${path}.`)
  }
  if (stat !== undefined) return Either.right([path])
  if (!/[*?]/.test(path)) {
    return Either.left(
      `There is no file ${path}. Create it with workshop scenario new ${path.replace(SCENARIO_FILE, "")}.`
    )
  }
  const files = filesMatching(path)
  return files.length > 0 ? Either.right(files) : Either.left(`No file matches the pattern ${path}.`)
}

/** The scenario files that are named, are in named folders, or match patterns with `*`, each once. */
export const findFiles = (paths: ReadonlyArray<string>): Either.Either<ReadonlyArray<string>, string> =>
  Either.map(Either.all(paths.map(filesAt)), (lists) => [...new Set(lists.flat())])

const print = (lines: ReadonlyArray<string>) => Console.log(lines.join("\n"))

const readText = (file: string) =>
  Effect.try({
    try: () => readFileSync(file, "utf8"),
    catch: () => refuse(`The file ${file} cannot be read. Check its name and its permissions.`)
  })

/** Reads all scenarios. If there are problems, it reports all of them and no scenario is run. */
const readScenarios = Effect.fnUntraced(function* (files: ReadonlyArray<string>, asJson: boolean) {
  const scenarios: Array<Scenario> = []
  const problems: Array<Problem & { readonly file: string }> = []
  for (const file of files) {
    const read = readScenario(file, yield* readText(file))
    if (Either.isRight(read)) scenarios.push(read.right)
    else problems.push(...read.left.map((problem) => ({ file, ...problem })))
  }
  if (problems.length === 0) return scenarios
  yield* asJson
    ? print([JSON.stringify(reportOf([], 0, { problems }), null, 2)])
    : Effect.forEach(problems, (problem) => Console.error(...problemLines(problem.file, [problem])))
  const what = problems.length === 1 ? "the problem above" : `the ${problems.length} problems above`
  return yield* refuse(`No scenario was run. Correct ${what}, and run the command again.`)
})

const toRunOptions = ({ baseUrl, sandboxToken, signatureHeader }: RunFlags): RunOptions => ({
  signatureHeader,
  ...(baseUrl === null ? {} : { baseUrl }),
  ...(sandboxToken === null ? {} : { sandboxToken })
})

/** The scenarios whose name contains one of the texts; all scenarios if there is no text. */
const selectScenarios = (scenarios: ReadonlyArray<Scenario>, names: ReadonlyArray<string>) => {
  const selected =
    names.length === 0 ? scenarios : scenarios.filter(({ name }) => names.some((text) => name.includes(text)))
  return selected.length > 0
    ? Effect.succeed(selected)
    : refuse(`No scenario has a name that matches --only. The names are under "name" in the files.`)
}

const writeReports = Effect.fnUntraced(function* (
  { html, junit, baseUrl }: RunFlags,
  results: ReadonlyArray<ScenarioResult>,
  { began: started_at, duration_ms }: { readonly began: number; readonly duration_ms: number }
) {
  if (html === null && junit === null) return
  if (junit !== null) yield* writeReport("--junit", junit, junitReport(results, duration_ms))
  if (html !== null) yield* writeReport("--html", html, htmlReport(results, { started_at, duration_ms, baseUrl }))
})

/** Runs the scenarios once. It succeeds only if all pass. */
const runOnce = Effect.fnUntraced(function* (flags: RunFlags, files: ReadonlyArray<string>) {
  const scenarios = yield* selectScenarios(yield* readScenarios(files, flags.json), flags.only)
  const paint = paintFor()
  if (flags.baseUrl !== null) yield* Console.error(clockWarning("The scenarios move", flags.baseUrl))
  const started_at = yield* Clock.currentTimeMillis
  const results: Array<ScenarioResult> = []
  for (const scenario of scenarios) {
    const result = yield* runParsedScenario(scenario, toRunOptions(flags))
    results.push(result)
    const look = { paint, width: widthFor(), isVerbose: flags.verbose }
    if (!flags.json) yield* print([...(results.length === 1 ? [] : [""]), ...reportLines(result, look)])
    if (flags.bail && !result.passed) break
  }
  const duration_ms = (yield* Clock.currentTimeMillis) - started_at
  const failed = results.filter(({ passed }) => !passed).length
  yield* print(
    flags.json
      ? [JSON.stringify(reportOf(results, duration_ms, { isVerbose: flags.verbose }), null, 2)]
      : ["", summaryLine(results, duration_ms, paint)]
  )
  yield* writeReports(flags, results, { began: started_at, duration_ms })
  if (failed === 0) return
  const notRun = scenarios.length - results.length
  return yield* refuse(
    `${failed} of ${results.length} ${results.length === 1 ? "scenario" : "scenarios"} failed${notRun > 0 ? `, and ${notRun} ${notRun === 1 ? "was" : "were"} not run` : ""}.`
  )
})

/** Waits until one of the files changes. Their folders are watched, because editors replace a file with a new one. */
const waitForChange = (files: ReadonlyArray<string>) =>
  Effect.async<void>((resume) => {
    const names = new Set(files.map((file) => resolve(file)))
    const watchers = [...new Set([...names].map(dirname))].map((folder) =>
      watch(folder, (_, name) => {
        if (name !== null && names.has(join(folder, name))) resume(Effect.void)
      })
    )
    return Effect.sync(() => {
      for (const watcher of watchers) watcher.close()
    })
  })

/** The wait after a change, because an editor writes a file in several steps. */
const SETTLE_TIME = "50 millis"

/**
 * `workshop scenario run`: the exit status is 0 only if all scenarios pass. With `--watch` it runs until it is
 * interrupted.
 */
export const runFiles = Effect.fnUntraced(function* (flags: RunFlags) {
  const find = Either.mapLeft(findFiles(flags.files), refuse)
  const files = yield* find
  if (!flags.watch) return yield* runOnce(flags, files)
  const runAndPrint = Effect.catchAll(runOnce(flags, files), ({ message }) => Console.error(message))
  return yield* Effect.forever(
    Effect.gen(function* () {
      // The watch begins before the run, because a change during the run must not be missed.
      const change = yield* Effect.fork(waitForChange(files))
      yield* runAndPrint
      yield* Console.error(`Waiting for changes to ${files.length === 1 ? files[0] : `${files.length} files`}.`)
      yield* Fiber.join(change)
      yield* Effect.sleep(SETTLE_TIME)
    })
  )
})
