import { escapeHtml, toIso } from "@workshop/core/internal"
import { paintPlain } from "@workshop/core/internal/terminal"
import { type JUnitCase, junitXml } from "../page/junit.js"
import { detailRow, entryItem, markOutcome, pageText } from "../page/page.js"
import { exchangeLines, failureLines, type ScenarioResult, sectionHeadings, summaryLine } from "./Report.js"

const STYLE = `
ol.steps { margin: .4rem 0 .4rem 1.7rem; padding: 0; list-style: none; } .steps li { position: relative; padding-left: 1.2rem; }
.steps summary { cursor: pointer; list-style: none; } .steps summary::before { content: "▸"; position: absolute; left: 0; } .steps [open] > summary::before { content: "▾"; }
.steps pre { margin: .3rem 0 .6rem; } .steps .ms { float: right; }
`

type Step = ScenarioResult["steps"][number]

const stepItem = ({ title, outcome, duration_ms, exchange }: Step): string => {
  const line = `${markOutcome(outcome === "not_run" ? "skipped" : outcome)} ${escapeHtml(title)}`
  if (outcome === "not_run") return `<li class="faint">${line} (not run)</li>`
  const took = `<span class="ms faint">${duration_ms} ms</span>`
  return exchange === null
    ? `<li>${took}${line}</li>`
    : `<li><details><summary>${took}${line}</summary><pre>${escapeHtml(exchangeLines(exchange).join("\n"))}</pre></details></li>`
}

const durationOf = ({ steps }: ScenarioResult): number => steps.reduce((sum, { duration_ms }) => sum + duration_ms, 0)

const failureText = ({ file, failure }: ScenarioResult): string =>
  failure === null ? "" : failureLines(file, failure, { paint: paintPlain, shownTitle: undefined }).join("\n")

/** The facts of a run in its report: the server, which is null if each scenario had its own, and the time. */
interface RunFacts {
  readonly baseUrl: string | null
  readonly started_at: number
  readonly duration_ms: number
}

const scenarioItem = (result: ScenarioResult, baseUrl: string | null): string => {
  const { file, name, section, passed, steps, failure } = result
  const rows = [
    detailRow("file", file),
    ...(section === null ? [] : [detailRow("section", `Specification, ${sectionHeadings[section] ?? section}`)]),
    ...(failure === null ? [] : [detailRow("failed", failureText(result), "code")])
  ]
  return entryItem({
    ...{ id: file, outcome: passed ? "passed" : "failed", title: escapeHtml(name), duration_ms: durationOf(result) },
    command: `npx workshop scenario run ${file}${baseUrl === null ? "" : ` --base-url ${baseUrl}`}`,
    body: `<dl>${rows.join("")}</dl><ol class="steps">${steps.map(stepItem).join("\n")}</ol>`
  })
}

/** The report of a run of scenarios as one HTML page, which loads no other file. */
export const htmlReport = (
  results: ReadonlyArray<ScenarioResult>,
  { baseUrl, started_at: began, duration_ms }: RunFacts
): string => {
  const failed = results.filter(({ passed }) => !passed).length
  return pageText({
    title: failed === 0 ? "All scenarios pass" : `${failed} of ${results.length} scenarios failed`,
    isGood: failed === 0,
    style: STYLE,
    body: `<p class="lead">${escapeHtml(summaryLine(results, duration_ms))}. ${baseUrl === null ? "Run in the command's own process" : escapeHtml(`Run against ${baseUrl}`)}, ${toIso(began)}.</p>
<section><ul class="entries">${results.map((result) => scenarioItem(result, baseUrl)).join("\n")}</ul></section>`
  })
}

const junitCase = (result: ScenarioResult): JUnitCase => {
  const { file, name, failure } = result
  const reason = failure?.message ?? failure?.mismatches.map(({ path }) => path).join(", ")
  return {
    classname: file,
    name,
    duration_ms: durationOf(result),
    failure:
      failure === null ? undefined : { message: `${failure.title ?? name}: ${reason}`, text: failureText(result) }
  }
}

/** The report of a run of scenarios as JUnit XML, which build servers read. */
export const junitReport = (results: ReadonlyArray<ScenarioResult>, duration_ms: number): string =>
  junitXml("workshop scenario", duration_ms, [{ name: "scenarios", duration_ms, cases: results.map(junitCase) }])
