import { escaped } from "../page/escaped.js"
import { pageText } from "../page/page.js"
import type { Report, ReportedCase, ReportedSection } from "./Report.js"
import type { Counts } from "./Result.js"

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

const marks: Readonly<Record<ReportedCase["outcome"], string>> = { passed: "✓", failed: "✗", skipped: "–" }

const counted = (counts: Counts): string =>
  (["passed", "failed", "skipped"] as const)
    .filter((outcome) => counts[outcome] > 0)
    .map((outcome) => `<span class="${outcome}">${marks[outcome]} ${counts[outcome]}</span>`)
    .join(" ")

const row = (term: string, text: string, isCode = false): string =>
  `<dt>${term}</dt><dd>${isCode ? `<pre>${escaped(text)}</pre>` : escaped(text)}</dd>`

const listed = ({ id, rule, rule_at, outcome, duration_ms, because, failure }: ReportedCase): string => {
  const rows = [row("written in", rule_at)]
  if (because !== undefined) rows.push(row("skipped", because))
  if (failure !== undefined) {
    rows.push(row("expected", failure.expected), row("found", failure.found))
    if (failure.curl !== undefined) rows.push(row("request", failure.curl, true))
    if (failure.answer !== undefined) rows.push(row("answer", failure.answer, true))
  }
  return `<li><details${outcome === "failed" ? " open" : ""}><summary><span class="${outcome}">${marks[outcome]}</span><span>${escaped(rule)} <code class="faint">${escaped(id)}</code></span><span class="ms faint">${duration_ms} ms</span></summary><dl>${rows.join("")}</dl></details></li>`
}

const part = ({ section, title, counts, cases }: ReportedSection): string =>
  `<section><h2><span>${escaped(section)}</span><span>${escaped(title)}</span><span class="counts">${counted(counts)}</span></h2><ul>${cases.map(listed).join("\n")}</ul></section>`

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
${sections.map(part).join("\n")}`
  })
}
