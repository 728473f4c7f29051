import { escaped } from "../page/escaped.js"
import { pageText } from "../page/page.js"
import type { Paint } from "../terminal/Style.js"
import type { Counts, Report, ReportedCase, ReportedSection } from "./Report.js"

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

/** For each cause, the first failure in full and the other cases that failed in the same way. */
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

/** The failures by cause, the reasons of skipped cases, and the totals. */
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

const STYLE = `
body { max-width: 62rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; display: flex; gap: .75rem; }
h2 .counts { margin-left: auto; font-weight: 400; } .counts, .ms { white-space: nowrap; }
ul { list-style: none; margin: 0; padding: 0; border-top: 1px solid var(--line); }
li { border-bottom: 1px solid var(--line); padding: .4rem 0; }
summary { cursor: pointer; display: grid; grid-template-columns: 1.2rem 1fr auto; gap: .5rem; list-style: none; }
summary code { display: inline-block; }
dl { display: grid; grid-template-columns: 6rem 1fr; margin: .5rem 0 .5rem 1.7rem; gap: .4rem .5rem; }
dt { color: var(--faint); } dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
@media (max-width: 36rem) { dl { display: block; margin-left: 0; } dd { margin-bottom: .4rem; } }
.bar { display: flex; height: .5rem; border-radius: .25rem; overflow: hidden; margin: 1rem 0; background: var(--line); }
.bar .passed { background: var(--good); } .bar .failed { background: var(--bad); }
`

const MARKS: Readonly<Record<ReportedCase["outcome"], string>> = { passed: "✓", failed: "✗", skipped: "–" }

const counted = (counts: Counts): string =>
  (["passed", "failed", "skipped"] as const)
    .filter((outcome) => counts[outcome] > 0)
    .map((outcome) => `<span class="${outcome}">${MARKS[outcome]} ${counts[outcome]}</span>`)
    .join(" ")

const row = (term: string, text: string, isCode = false): string =>
  `<dt>${term}</dt><dd>${isCode ? `<pre>${escaped(text)}</pre>` : escaped(text)}</dd>`

const caseItem = ({ id, rule, rule_at, outcome, duration_ms, because, failure }: ReportedCase): string => {
  const rows = [row("written in", rule_at)]
  if (because !== undefined) rows.push(row("skipped", because))
  if (failure !== undefined) {
    rows.push(row("expected", failure.expected), row("found", failure.found))
    if (failure.curl !== undefined) rows.push(row("request", failure.curl, true))
    if (failure.answer !== undefined) rows.push(row("answer", failure.answer, true))
  }
  return `<li><details${outcome === "failed" ? " open" : ""}><summary><span class="${outcome}">${MARKS[outcome]}</span><span>${escaped(rule)} <code class="faint">${escaped(id)}</code></span><span class="ms faint">${duration_ms} ms</span></summary><dl>${rows.join("")}</dl></details></li>`
}

const sectionPart = ({ section, title, counts, cases }: ReportedSection): string =>
  `<section><h2><span>${escaped(section)}</span><span>${escaped(title)}</span><span class="counts">${counted(counts)}</span></h2><ul>${cases.map(caseItem).join("\n")}</ul></section>`

/** A report as one page that needs nothing else. */
export const htmlReport = ({ base_url, with: means, duration_ms, counts, sections }: Report): string => {
  const { passed, failed } = counts
  const verdict = failed === 0 ? "conforms" : `breaks ${failed} ${failed === 1 ? "rule" : "rules"}`
  const by = means === "sandbox" ? "the server's sandbox" : "a key alone"
  return pageText({
    title: `${base_url} ${verdict}`,
    isGood: failed === 0,
    style: STYLE,
    body: `<p class="lead">${counted(counts)} in ${(duration_ms / 1000).toFixed(1)} s, with ${by}</p>
<div class="bar"><span class="passed" style="flex:${passed}"></span><span class="failed" style="flex:${failed}"></span><span style="flex:${counts.skipped}"></span></div>
${sections.map(sectionPart).join("\n")}`
  })
}

const junitSeconds = (ms: number): string => (ms / 1000).toFixed(3)

const junitVerdict = ({ because, failure, rule_at }: ReportedCase): ReadonlyArray<string> => {
  if (because !== undefined) return [`      <skipped message="${escaped(because)}"/>`]
  if (failure === undefined) return []
  const { expected, found, curl = "", answer = "" } = failure
  const text = [`breaks ${rule_at}`, `expected ${expected}`, `found ${found}`, "", curl, "", answer].join("\n")
  return [`      <failure message="${escaped(`expected ${expected}; found ${found}`)}">${escaped(text)}</failure>`]
}

const junitSuite = ({ section, title, counts, cases }: ReportedSection): ReadonlyArray<string> => {
  const took = junitSeconds(cases.reduce((sum, { duration_ms }) => sum + duration_ms, 0))
  const { failed, skipped } = counts
  const name = escaped(`${section} ${title}`)
  return [
    `  <testsuite name="${name}" tests="${cases.length}" failures="${failed}" errors="0" skipped="${skipped}" time="${took}">`,
    ...cases.flatMap((one) => [
      `    <testcase classname="${escaped(section)}" name="${escaped(`${one.id}: ${one.rule}`)}" time="${junitSeconds(one.duration_ms)}">`,
      ...junitVerdict(one),
      "    </testcase>"
    ]),
    "  </testsuite>"
  ]
}

/** A report as JUnit XML, which build servers read. */
export const junitReport = ({ sections, counts, duration_ms }: Report): string => {
  const { passed, failed, skipped } = counts
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="workshop conform" tests="${passed + failed + skipped}" failures="${failed}" errors="0" skipped="${skipped}" time="${junitSeconds(duration_ms)}">`,
    ...sections.flatMap(junitSuite),
    "</testsuites>",
    ""
  ].join("\n")
}
