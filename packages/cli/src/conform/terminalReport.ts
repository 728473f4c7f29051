import type { Paint } from "../terminal/Style.js"
import type { Report, ReportedCase, ReportedSection } from "./Report.js"
import type { Counts } from "./Result.js"

const TITLE = 46

const marks = ({ passed, failed, skipped }: Counts, paint: Paint): string =>
  [
    passed > 0 ? paint("good", `✓ ${passed}`) : "",
    failed > 0 ? paint("bad", `✗ ${failed}`) : "",
    skipped > 0 ? paint("faint", `- ${skipped}`) : ""
  ]
    .filter((mark) => mark !== "")
    .join("  ")

/** A section in one line, and one more for each case that failed. */
export const sectionLines = (
  { section, title, counts, cases }: ReportedSection,
  paint: Paint
): ReadonlyArray<string> => [
  `${paint("strong", section.padEnd(8))}${title.padEnd(TITLE)}${marks(counts, paint)}`,
  ...cases
    .filter(({ outcome }) => outcome === "failed")
    .map(({ id, rule }) => `  ${paint("bad", "✗")} ${paint("name", id)}  ${rule}`)
]

const indented = (text: string): string => text.replaceAll(/^(?=.)/gm, "    ")

const failureLines = (section: string, { id, rule, rule_at, failure }: ReportedCase, paint: Paint) => {
  if (failure === undefined) return []
  const { expected, found, curl, answer } = failure
  return [
    "",
    `${paint("bad", "✗")} ${section} ${paint("name", id)}`,
    `  ${rule}`,
    `  ${paint("faint", "breaks   ")} ${rule_at}`,
    `  ${paint("faint", "expected ")} ${paint("good", expected)}`,
    `  ${paint("faint", "found    ")} ${paint("bad", found)}`,
    ...(curl === undefined ? [] : [`  ${paint("faint", "request")}`, indented(curl)]),
    ...(answer === undefined ? [] : [`  ${paint("faint", "answer")}`, indented(answer)])
  ]
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** Of each cause the first failure in full, and the other cases that failed in the same way. */
const causeLines = ({ causes, sections }: Report, paint: Paint): ReadonlyArray<string> =>
  causes.flatMap(({ cases: [first, ...others] }) => {
    const lines = sections.flatMap(({ section, cases }) =>
      cases.filter(({ id }) => id === first).flatMap((one) => failureLines(section, one, paint))
    )
    const ids = others.map((id) => paint("name", id)).join(", ")
    return others.length === 0 ? lines : [...lines, `  ${paint("faint", `${others.length} more failed so`)} ${ids}`]
  })

const causesInWords = ({ causes, counts: { failed } }: Report): ReadonlyArray<string> =>
  causes.length === failed
    ? []
    : ["", `${failed} failures, of ${causes.length} ${causes.length === 1 ? "cause" : "causes"}:`]

/** What failed by its causes, why cases were skipped, and the count of all. */
export const closingLines = (report: Report, paint: Paint): ReadonlyArray<string> => {
  const { sections, counts, duration_ms } = report
  const cases = sections.flatMap(({ cases }) => cases)
  const reasons = new Map<string, number>()
  for (const { because } of cases) if (because !== undefined) reasons.set(because, (reasons.get(because) ?? 0) + 1)
  return [
    ...causesInWords(report),
    ...causeLines(report, paint),
    "",
    ...[...reasons].map(([because, n]) => paint("faint", `${n} skipped: ${because}.`)),
    `${cases.length} cases in ${seconds(duration_ms)}: ${marks(counts, paint)}`
  ]
}
