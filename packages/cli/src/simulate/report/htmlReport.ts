import { escaped } from "../../page/escaped.js"
import { pageText } from "../../page/page.js"
import { grouped } from "../auditor/queries.js"
import type { Trace, Violation } from "../auditor/Trace.js"
import type { Timing } from "../Recorder.js"
import { plots } from "./plots.js"
import { countLines, endLines, latencyColumns, type RunReport, ruleLine } from "./textReport.js"

const COLOURS = ["#2f6fde", "#2f9e6e", "#d9822b", "#7b5fc7", "#8a8f98"]

const STYLE = `
body { max-width: 82rem; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(420px, 100%), 1fr)); gap: 1rem; margin: 1rem 0; }
figure { margin: 0; } figcaption { font-weight: 600; }
svg { width: 100%; height: auto; } svg text { font-size: 11px; fill: currentColor; opacity: .75; }
.grid { stroke: currentColor; opacity: .15; } polyline { fill: none; stroke-width: 1.5; }
@media (max-width: 36rem) { svg text { font-size: 15px; } svg .second { display: none; } }
.legend { margin: .25rem 0 0; } .legend span { display: inline-block; margin-right: 1rem; }
.legend i { display: inline-block; width: .8em; height: .8em; margin-right: .35em; border-radius: 2px; }
.counts p { margin: .15rem 0; } .counts { margin: .75rem 0; }
h2 { font-size: 1.1rem; margin: 1rem 0 .25rem; } summary { cursor: pointer; overflow-wrap: anywhere; }
table { border-collapse: collapse; margin-bottom: 1rem; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .6rem .15rem 0; text-align: left; border-bottom: 1px solid var(--line); }
.right { text-align: right; }
${COLOURS.map((colour, i) => `.c${i}{background:${colour}}.l${i}{stroke:${colour}}.a${i}{fill:${colour}}`).join("")}
`

/** The most violations of a rule that the page shows, because their evidence is long. */
const MOST_SHOWN = 20

const cellOf = (tag: "td" | "th", text: string, align = "left"): string =>
  `<${tag}${align === "right" ? ' class="right"' : ""}>${escaped(text)}</${tag}>`

const latencyTable = (latencies: RunReport["latencies"]): string => {
  const titles = latencyColumns.map(({ title, align }) => cellOf("th", title, align))
  const rows = latencies.map((row) => latencyColumns.map(({ cell, align }) => cellOf("td", cell(row), align)))
  return `<table>${[titles, ...rows].map((cells) => `<tr>${cells.join("")}</tr>`).join("\n")}</table>`
}

/** The violations of one rule, each with its evidence to unfold. */
const brokenRule = (rule: string, violations: ReadonlyArray<Violation>): string => {
  const shown = violations
    .slice(0, MOST_SHOWN)
    .map(
      ({ message, evidence }) =>
        `<details><summary>${escaped(message)}</summary><pre>${escaped(JSON.stringify(evidence, null, 2))}</pre></details>`
    )
  const more = violations.length - shown.length
  const left = more > 0 ? `<p class="faint">and ${more} more: --json prints them all</p>` : ""
  return `<h2 class="failed">${escaped(ruleLine(rule, violations))}</h2>${shown.join("\n")}${left}`
}

/** The report of a simulation as one page, with nothing outside of it. */
export const htmlReport = (report: RunReport, trace: Trace, timings: ReadonlyArray<Timing>): string => {
  const { seed, violations } = report.summary
  const times = violations.length === 1 ? "1 violation" : `${violations.length} violations`
  const counts = countLines(report).map((line) => `<p class="faint">${escaped(line)}</p>`)
  const found = [...grouped(violations, ({ rule }) => rule)].map(([rule, of]) => brokenRule(rule, of))
  return pageText({
    title: `Simulation of seed ${seed}${violations.length === 0 ? "" : `: ${times}`}`,
    isGood: violations.length === 0,
    style: STYLE,
    body: `<div class="counts">${counts.join("\n")}</div>
<pre>${escaped(endLines(report).join("\n"))}</pre>
${found.join("\n")}
<div class="plots">${plots(trace, timings).join("\n")}</div>
${latencyTable(report.latencies)}`
  })
}
