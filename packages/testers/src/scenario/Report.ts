import { type Paint, paintPlain, pluralize, shorten } from "@workshop/core/internal/terminal"
import type { Mismatch } from "./Expectation.js"
import type { Position, Problem } from "./Source.js"

/** A request of a step and its response, as reports show them. */
export interface StepExchange {
  /** The request, as it was sent. */
  readonly call: {
    readonly method: string
    /** The path with its query, such as `/v1/tickets?limit=2`. */
    readonly path: string
    readonly headers?: Readonly<Record<string, string>>
    /** The body. It is sent as JSON; a text is sent unchanged. */
    readonly body?: unknown
  }
  /** The HTTP status; 0 if the connection was cut before the response. */
  readonly status: number
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The value of the JSON; the text if the body is not JSON. */
  readonly body: unknown
}

/** The failure of a scenario. */
export interface ScenarioFailure extends Position {
  /** The step, or the step within it, that failed; null if the scenario could not begin. */
  readonly title: string | null
  /** The differences between the response and the expected one. */
  readonly mismatches: ReadonlyArray<Mismatch>
  /** The reason if the step could not be run. */
  readonly message: string | null
  /** The last request of the step; null if the step sent none. */
  readonly exchange: StepExchange | null
}

/** The result of a step. */
export interface StepResult {
  /** The line of the step in the file, from 1. */
  readonly line: number
  /** The title of the step, or its action. */
  readonly title: string
  /** Whether the step passed, failed, or was not reached. */
  readonly outcome: "passed" | "failed" | "not_run"
  /** The duration in real milliseconds; 0 if the step was not run. */
  readonly duration_ms: number
  /** The request and the response of the step; null if it made no request. */
  readonly exchange: StepExchange | null
}

/** The result of a scenario. */
export interface ScenarioResult {
  /** The path of the file. */
  readonly file: string
  /** The name in the file. */
  readonly name: string
  /** The section of the specification that the file names; null if it names none. */
  readonly section: string | null
  /** Whether all steps passed. */
  readonly passed: boolean
  /** The results of all steps, including the steps that were not run. */
  readonly steps: ReadonlyArray<StepResult>
  /** The failure that ended the scenario; null if it passed. */
  readonly failure: ScenarioFailure | null
}

const MAX_RESPONSE_LINES = 60

const marks = { passed: "\u2713", failed: "\u2717", not_run: "-" } as const

const stepLine = ({ title, outcome }: StepResult, paint: Paint): string => {
  if (outcome === "not_run") return `  ${paint("faint", `${marks.not_run} ${title} (not run)`)}`
  return `  ${paint(outcome === "passed" ? "good" : "bad", marks[outcome])} ${title}`
}

/** Options of a printed report. */
interface ReportOptions {
  readonly paint?: Paint
  readonly width?: number
  /** True if every step shows its request and its response. */
  readonly isVerbose?: boolean
}

/** The lines of a step. On a terminal, the first is shortened to one line. */
const stepLines = (
  steps: ReadonlyArray<StepResult>,
  { paint, width, isVerbose }: Required<ReportOptions>
): ReadonlyArray<string> =>
  steps.flatMap((step) => [
    shorten(stepLine(step, paint), width),
    ...(isVerbose && step.exchange !== null && step.outcome === "passed"
      ? exchangeLines(step.exchange, paint).map((line) => `      ${line}`)
      : [])
  ])

const formatBody = (body: unknown): ReadonlyArray<string> => {
  if (body === undefined || body === "") return []
  const lines = (typeof body === "string" ? body : JSON.stringify(body, null, 2)).split("\n")
  return lines.length <= MAX_RESPONSE_LINES
    ? lines
    : [...lines.slice(0, MAX_RESPONSE_LINES), `... and ${lines.length - MAX_RESPONSE_LINES} more lines`]
}

/** A request and its response, as lines. */
export const exchangeLines = (
  { call, status, headers, body }: StepExchange,
  paint: Paint = paintPlain
): ReadonlyArray<string> => [
  paint("strong", `request: ${call.method} ${call.path}`),
  ...Object.entries(call.headers ?? {}).map(([name, value]) => `  ${name}: ${value}`),
  ...formatBody(call.body).map((line) => `  ${line}`),
  paint(
    "strong",
    `response: ${status}${headers["request-id"] === undefined ? "" : ` (request-id ${headers["request-id"]})`}`
  ),
  ...formatBody(body).map((line) => `  ${line}`)
]

/** The failure of a scenario, as lines. */
export const failureLines = (
  file: string,
  { line, column, title, mismatches, message, exchange }: ScenarioFailure,
  { paint, shownTitle }: { readonly paint: Paint; readonly shownTitle: string | undefined }
): ReadonlyArray<string> => [
  paint("name", `${file}:${line}:${column}`) + (title === null || title === shownTitle ? "" : `  ${title}`),
  ...(message === null ? [] : [paint("bad", message)]),
  ...(mismatches.length === 0 ? [] : [`${paint("bad", "- expected")}  ${paint("good", "+ actual")}`]),
  ...mismatches.flatMap(({ path, expected, actual }) => [
    `${path}:`,
    `  ${paint("bad", `- ${expected}`)}`,
    `  ${paint("good", `+ ${actual}`)}`
  ]),
  ...(exchange === null ? [] : exchangeLines(exchange, paint))
]

/** The headings of `docs/specification.md` by section, as scenarios name the sections. */
export const sectionHeadings: Readonly<Record<string, string>> = {
  1: "Requests and responses",
  2: "Resources",
  3: "States",
  4: "Endpoints",
  5: "Keys and scopes",
  6: "Webhooks",
  7: "Errors",
  8: "Limits",
  9: "Versions"
}

/** The report of a scenario: a line for the scenario, a line for each step, and the differences if a step failed. */
export const reportLines = (
  result: ScenarioResult,
  { paint = paintPlain, width = Number.POSITIVE_INFINITY, isVerbose = false }: ReportOptions = {}
): ReadonlyArray<string> => {
  const look = { paint, width, isVerbose }
  const { file, name, section, steps, failure, passed } = result
  const outcomeMark = paint(passed ? "good" : "bad", passed ? marks.passed : marks.failed)
  const where = paint(
    "faint",
    `(${section === null ? "" : `Specification, ${sectionHeadings[section] ?? section}; `}${file})`
  )
  const failedIndex = steps.findIndex(({ outcome }) => outcome === "failed")
  const shownTitle = steps[failedIndex]?.title
  const detail =
    failure === null ? [] : failureLines(file, failure, { paint, shownTitle }).map((line) => `      ${line}`)
  const before = failedIndex === -1 ? 0 : failedIndex + 1
  return [
    `${outcomeMark} ${paint("strong", name)} ${where}`,
    ...stepLines(steps.slice(0, before || (failure === null ? steps.length : 0)), look),
    ...detail,
    ...(failure === null ? [] : stepLines(steps.slice(before), look))
  ]
}

/** The problems of a file, one line for each. */
export const problemLines = (file: string, problems: ReadonlyArray<Problem>): ReadonlyArray<string> =>
  problems.map(
    ({ line, column, path, message }) => `${file}:${line}:${column} ${path === "" ? "The file" : path} ${message}`
  )

/** The last line: how many scenarios there were, and how many failed. */
export const summaryLine = (
  results: ReadonlyArray<ScenarioResult>,
  duration_ms: number,
  paint: Paint = paintPlain
): string => {
  const failed = results.filter(({ passed }) => !passed).length
  const steps = results.flatMap((result) => result.steps)
  const notRunCount = steps.filter(({ outcome }) => outcome === "not_run").length
  const verdict = failed === 0 ? paint("good", "all passed") : paint("bad", `${failed} failed`)
  const notRun = notRunCount === 0 ? "" : `, ${pluralize(notRunCount, "step")} not run`
  return `${pluralize(results.length, "scenario")}, ${pluralize(steps.length, "step")}: ${verdict}${notRun} (${duration_ms} ms)`
}
