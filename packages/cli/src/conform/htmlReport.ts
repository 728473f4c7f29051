import { escaped } from "./junitReport.js"
import type { Report, ReportedCase, ReportedSection } from "./Report.js"
import type { Counts } from "./Result.js"

const STYLE = `
:root { color-scheme: light dark; --good: light-dark(#1a7f37, #3fb950); --bad: light-dark(#cf222e, #ff7b72);
  --faint: light-dark(#59636e, #9198a1); --line: light-dark(#d1d9e0, #3d444d); --box: light-dark(#f6f8fa, #151b23); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; display: flex; gap: .75rem; }
h2 .counts { margin-left: auto; font-weight: 400; }
.lead, .sentence, .ms { color: var(--faint); } .passed { color: var(--good); } .failed { color: var(--bad); }
.skipped { color: var(--faint); }
ul { list-style: none; margin: 0; padding: 0; border-top: 1px solid var(--line); }
li { border-bottom: 1px solid var(--line); padding: .4rem 0; }
summary { cursor: pointer; display: grid; grid-template-columns: 1.2rem 1fr auto; gap: .5rem; list-style: none; }
code, pre { font: .85rem/1.45 ui-monospace, monospace; }
pre { background: var(--box); border: 1px solid var(--line); border-radius: 6px; padding: .6rem; overflow-x: auto; }
dl { display: grid; grid-template-columns: 6rem 1fr; margin: .5rem 0 .5rem 1.7rem; gap: .2rem .5rem; }
dt { color: var(--faint); } dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
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

const listed = ({ id, rule, sentence, outcome, duration_ms, because, failure }: ReportedCase): string => {
  const rows = [row("written in", sentence)]
  if (because !== undefined) rows.push(row("skipped", because))
  if (failure !== undefined) {
    rows.push(row("expected", failure.expected), row("found", failure.found))
    if (failure.curl !== undefined) rows.push(row("request", failure.curl, true))
    if (failure.answer !== undefined) rows.push(row("answer", failure.answer, true))
  }
  return `<li><details${outcome === "failed" ? " open" : ""}><summary><span class="${outcome}">${marks[outcome]}</span><span>${escaped(rule)} <code class="ms">${escaped(id)}</code></span><span class="ms">${duration_ms} ms</span></summary><dl>${rows.join("")}</dl></details></li>`
}

const part = ({ section, title, counts, cases }: ReportedSection): string =>
  `<section><h2><span>${escaped(section)}</span><span>${escaped(title)}</span><span class="counts">${counted(counts)}</span></h2><ul>${cases.map(listed).join("\n")}</ul></section>`

/** A report as one page that needs nothing else. */
export const htmlReport = ({ base_url, with: means, duration_ms, counts, sections }: Report): string => {
  const { passed, failed } = counts
  const verdict = failed === 0 ? "conforms" : `breaks ${failed} ${failed === 1 ? "rule" : "rules"}`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(base_url)} ${verdict}</title><style>${STYLE}</style></head><body>
<h1><span class="${failed === 0 ? "passed" : "failed"}">${failed === 0 ? "✓" : "✗"}</span> ${escaped(base_url)} ${verdict}</h1>
<p class="lead">${counted(counts)} in ${(duration_ms / 1000).toFixed(1)} s, with ${means === "sandbox" ? "the server's sandbox" : "a key alone"}</p>
<div class="bar"><span class="passed" style="flex:${passed}"></span><span class="failed" style="flex:${failed}"></span><span style="flex:${counts.skipped}"></span></div>
${sections.map(part).join("\n")}
</body></html>
`
}
