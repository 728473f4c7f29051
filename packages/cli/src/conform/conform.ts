import { type Paint, pluralize } from "@workshop/core/internal/terminal"
import { type ConformTarget, findTarget, runCases, suite } from "@workshop/testers/conform"
import {
  type Case,
  type CaseResult,
  closingLines,
  htmlReport,
  junitReport,
  type Report,
  reportOf,
  ruleAt,
  type Section,
  sectionLines,
  sections
} from "@workshop/testers/internal/conform"
import { Console, Duration, Effect } from "effect"
import { refuse, toCommandRefused } from "../CommandRefused.js"
import { paintFor, printOutput, writeReport } from "../terminal/Output.js"
import type { ConformFlags } from "./ConformOptions.js"

const selectCases = Effect.fnUntraced(function* ({ section, only }: ConformFlags) {
  const unknownId = only.find((id) => suite.every((testCase) => testCase.id !== id))
  if (unknownId !== undefined)
    return yield* refuse(`There is no case with the id "${unknownId}". List the ids with --list.`)
  return suite.filter(
    (testCase) =>
      (section.length === 0 || section.includes(testCase.section)) && (only.length === 0 || only.includes(testCase.id))
  )
})

/** `workshop conform --list`: the id and the rule of each case. */
export const listCases = Effect.fnUntraced(function* (flags: ConformFlags) {
  const cases = yield* selectCases(flags)
  const caseSections = [...new Set(cases.map(({ section }) => section))]
  const keyOnlyCount = cases.filter(({ needs }) => needs === "key").length
  return yield* printOutput(
    {
      data: cases.map(({ id, section, rule, anchor, needs }) => ({
        id,
        section,
        rule,
        rule_at: ruleAt(anchor),
        needs
      })),
      lines: ({ paint }) => [
        ...caseSections.flatMap((section) => [
          paint("strong", `${section} ${sections[section]}`),
          ...cases.filter((one) => one.section === section).map((one) => caseLine(one, paint))
        ]),
        `${pluralize(cases.length, "case")}, of which ${keyOnlyCount}, marked (key), ${keyOnlyCount === 1 ? "needs" : "need"} no sandbox.`
      ]
    },
    flags.json
  )
})

const caseLine = ({ id, rule, needs }: Case, paint: Paint): string =>
  `  ${paint("name", id)}  ${rule}${needs === "key" ? paint("faint", "  (key)") : ""}`

/** Prints each section after its last case has ended. */
const makeSectionPrinter = (
  total: ReadonlyArray<Case>,
  print: (lines: ReadonlyArray<string>) => Effect.Effect<void>
) => {
  const caseCounts = new Map<Section, number>()
  for (const { section } of total) caseCounts.set(section, (caseCounts.get(section) ?? 0) + 1)
  const resultsBySection = new Map<Section, Array<CaseResult>>()
  return (result: CaseResult): Effect.Effect<void> => {
    const { section } = result.case
    const results = [...(resultsBySection.get(section) ?? []), result]
    resultsBySection.set(section, results)
    if (results.length < (caseCounts.get(section) ?? 0)) return Effect.void
    const [reportedSection] = reportOf({ base_url: "", with: "sandbox", duration_ms: 0 }, results, {}).sections
    return reportedSection === undefined ? Effect.void : print(sectionLines(reportedSection, paintFor()))
  }
}

const secretsOf = ({ key, sandboxToken }: ConformFlags) => ({
  ...(key === null ? {} : { WORKSHOP_KEY: key }),
  ...(sandboxToken === null ? {} : { WORKSHOP_SANDBOX_TOKEN: sandboxToken })
})

const openingLine = ({ sandbox, api: { origin } }: ConformTarget, cases: number, hasKey: boolean): string => {
  const all = pluralize(cases, "case")
  return sandbox === null
    ? `${all} against ${origin} with only a key. The cases create tickets in the key's shop and wait until the shop's limits reset, so they take about five minutes.`
    : `${all} against ${origin} with its sandbox. The cases move the sandbox's clock forward by years.${hasKey ? " The key is not needed." : ""}`
}

const writeReports = Effect.fnUntraced(function* ({ junit, html }: ConformFlags, report: Report) {
  if (junit !== null) yield* writeReport("--junit", junit, junitReport(report))
  if (html !== null) yield* writeReport("--html", html, htmlReport(report))
})

/** The work of `workshop conform` (Specification, Commands). It succeeds only if no case fails. */
export const conform = (flags: ConformFlags, baseUrl: string) =>
  Effect.gen(function* () {
    const cases = yield* selectCases(flags)
    const target = yield* Effect.mapError(findTarget({ ...flags, baseUrl }, fetch), toCommandRefused)
    const print = (lines: ReadonlyArray<string>) => (flags.json ? Effect.void : Console.log(lines.join("\n")))
    yield* print([openingLine(target, cases.length, flags.key !== null)])
    const execution = runCases(target, cases, makeSectionPrinter(cases, print))
    const [duration, results] = yield* Effect.timed(Effect.mapError(execution, toCommandRefused))
    const run = { base_url: target.api.origin, duration_ms: Math.round(Duration.toMillis(duration)) } as const
    const access = target.sandbox === null ? "key" : "sandbox"
    const report = reportOf({ ...run, with: access }, results, secretsOf(flags))
    yield* printOutput({ data: report, lines: ({ paint }) => closingLines(report, paint) }, flags.json)
    yield* writeReports(flags, report)
    const { failed } = report.counts
    if (failed > 0) {
      yield* refuse(`The server breaks ${pluralize(failed, "rule")} of the specification.`)
    }
  }).pipe(Effect.scoped)
