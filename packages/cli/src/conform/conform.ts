import { type ConformTarget, runCases, suite } from "@workshop/testers/conform"
import { type Paint, pluralize } from "@workshop/testers/internal"
import {
  type Case,
  type CaseResult,
  closingLines,
  findTarget,
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

const chosen = Effect.fnUntraced(function* ({ section, only }: ConformFlags) {
  const unknown = only.find((id) => suite.every((one) => one.id !== id))
  if (unknown !== undefined)
    return yield* refuse(`There is no case with the id "${unknown}". List the ids with --list.`)
  return suite.filter(
    (one) => (section.length === 0 || section.includes(one.section)) && (only.length === 0 || only.includes(one.id))
  )
})

/** `workshop conform --list`: the id and the rule of each case. */
export const listCases = Effect.fnUntraced(function* (flags: ConformFlags) {
  const cases = yield* chosen(flags)
  const distinct = [...new Set(cases.map(({ section }) => section))]
  const alone = cases.filter(({ needs }) => needs === "key").length
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
        ...distinct.flatMap((section) => [
          paint("strong", `${section} ${sections[section]}`),
          ...cases.filter((one) => one.section === section).map((one) => listed(one, paint))
        ]),
        `${pluralize(cases.length, "case")}, of which ${alone}, marked (key), ${alone === 1 ? "needs" : "need"} no sandbox.`
      ]
    },
    flags.json
  )
})

const listed = ({ id, rule, needs }: Case, paint: Paint): string =>
  `  ${paint("name", id)}  ${rule}${needs === "key" ? paint("faint", "  (key)") : ""}`

/** Prints each section after its last case has ended. */
const printer = (total: ReadonlyArray<Case>, print: (lines: ReadonlyArray<string>) => Effect.Effect<void>) => {
  const left = new Map<Section, number>()
  for (const { section } of total) left.set(section, (left.get(section) ?? 0) + 1)
  const done = new Map<Section, Array<CaseResult>>()
  return (result: CaseResult): Effect.Effect<void> => {
    const { section } = result.case
    const results = [...(done.get(section) ?? []), result]
    done.set(section, results)
    if (results.length < (left.get(section) ?? 0)) return Effect.void
    const [row] = reportOf({ base_url: "", with: "sandbox", duration_ms: 0 }, results, {}).sections
    return row === undefined ? Effect.void : print(sectionLines(row, paintFor()))
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

const write = Effect.fnUntraced(function* ({ junit, html }: ConformFlags, report: Report) {
  if (junit !== null) yield* writeReport("--junit", junit, junitReport(report))
  if (html !== null) yield* writeReport("--html", html, htmlReport(report))
})

/** The work of `workshop conform` (Specification, Commands). It succeeds only if no case fails. */
export const conform = (flags: ConformFlags, base_url: string) =>
  Effect.gen(function* () {
    const cases = yield* chosen(flags)
    const target = yield* Effect.mapError(findTarget({ ...flags, base_url }, fetch), toCommandRefused)
    const print = (lines: ReadonlyArray<string>) => (flags.json ? Effect.void : Console.log(lines.join("\n")))
    yield* print([openingLine(target, cases.length, flags.key !== null)])
    const ran = runCases(target, cases, printer(cases, print))
    const [took, results] = yield* Effect.timed(Effect.mapError(ran, toCommandRefused))
    const run = { base_url: target.api.origin, duration_ms: Math.round(Duration.toMillis(took)) } as const
    const means = target.sandbox === null ? "key" : "sandbox"
    const report = reportOf({ ...run, with: means }, results, secretsOf(flags))
    yield* printOutput({ data: report, lines: ({ paint }) => closingLines(report, paint) }, flags.json)
    yield* write(flags, report)
    const { failed } = report.counts
    if (failed > 0) {
      yield* refuse(`The server breaks ${pluralize(failed, "rule")} of the specification.`)
    }
  }).pipe(Effect.scoped)
