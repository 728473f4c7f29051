import { reportViewer } from "@workshop/console"
import { escapeHtml } from "@workshop/core/internal"

const STYLE = `
:root { color-scheme: light dark; --good: light-dark(#1a7f37, #3fb950); --bad: light-dark(#cf222e, #ff7b72);
  --faint: light-dark(#59636e, #9198a1); --line: light-dark(#d1d9e0, #3d444d); --box: light-dark(#f6f8fa, #151b23); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 66rem; margin: 2rem auto; padding: 0 1rem;
  background: var(--panel); color: var(--ink); }
a { color: var(--accent); }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; }
.lead, .faint { color: var(--faint); } .passed { color: var(--good); } .failed { color: var(--bad); }
.skipped { color: var(--faint); }
code, pre { font: .85rem/1.45 ui-monospace, monospace; }
pre { background: var(--box); border: 1px solid var(--line); border-radius: 6px; padding: .6rem; margin: 0;
  white-space: pre-wrap; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; display: flex; gap: .75rem; }
h2 .counts { margin-left: auto; font-weight: 400; } h2 .counts, .ms { white-space: nowrap; }
ul.entries { list-style: none; margin: 0; padding: 0; border-top: 1px solid var(--line); }
.entries > li { border-bottom: 1px solid var(--line); padding: .4rem 0; }
.entries > li > details > summary { cursor: pointer; display: grid; grid-template-columns: 1.2rem 1fr auto; gap: .5rem; list-style: none; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: 6rem minmax(0, 1fr); margin: .5rem 0 .5rem 1.7rem; gap: .4rem .5rem; }
dt { color: var(--faint); } dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
@media (max-width: 36rem) { dl { display: block; margin-left: 0; } dd { margin-bottom: .4rem; } .repeat { margin-left: 0; } }
`

/** A report as one HTML page, which loads no other file. */
interface Page {
  readonly title: string
  /** True if the run succeeded; the page shows this at its top. */
  readonly isGood: boolean
  /** The style that this page adds to the common one. */
  readonly style: string
  readonly body: string
}

/** The outcome of a case, a scenario or a check of a report. */
type EntryOutcome = "passed" | "failed" | "skipped"

const MARKS: Readonly<Record<EntryOutcome, string>> = { passed: "✓", failed: "✗", skipped: "–" }

/** The mark of an outcome, followed by a text. */
export const markOutcome = (outcome: EntryOutcome, text: string | number = ""): string =>
  `<span class="${outcome}">${`${MARKS[outcome]} ${text}`.trimEnd()}</span>`

/** An entry of a report, which can be unfolded, searched and linked to. */
interface Entry {
  /** The id of the entry, which is unique within the page. */
  readonly id: string
  readonly outcome: EntryOutcome
  /** The title, as escaped HTML. */
  readonly title: string
  readonly duration_ms?: number
  /** The command that runs only this case again. */
  readonly command?: string
  /** The body, as escaped HTML. */
  readonly body: string
}

/** An entry as an item of a list. A failed entry is unfolded. */
export const entryItem = ({ id, outcome, title, duration_ms, command, body }: Entry): string => {
  const took = duration_ms === undefined ? "" : `<span class="ms faint">${duration_ms} ms</span>`
  const repeat = command === undefined ? "" : `<p class="repeat"><code>${escapeHtml(command)}</code></p>`
  const anchor = `<a class="anchor" href="#${escapeHtml(encodeURIComponent(id))}" aria-label="Address of this entry">#</a>`
  return `<li class="entry" id="${escapeHtml(id)}" data-outcome="${outcome}"><details${outcome === "failed" ? " open" : ""}><summary>${markOutcome(outcome)}<span>${title} ${anchor}</span>${took}</summary>${repeat}${body}</details></li>`
}

/** A row of an entry's details: a term, and text or HTML. */
export const detailRow = (term: string, text: string, kind: "text" | "code" | "html" = "text"): string =>
  `<dt>${term}</dt><dd>${kind === "html" ? text : kind === "code" ? `<pre>${escapeHtml(text)}</pre>` : escapeHtml(text)}</dd>`

/** A link to a rule on GitHub, because the page may be opened on a machine without the repository. */
export const ruleLink = (rule_at: string): string =>
  `<a href="https://github.com/workshop-tickets/workshop/blob/main/${escapeHtml(rule_at)}">${escapeHtml(rule_at)}</a>`

/** The text of a page, for light and dark screens of any width. */
export const pageText = ({ title, isGood, style, body }: Page): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escapeHtml(title)}</title><style>${reportViewer().style}${STYLE}${style}</style></head><body><main>
<h1><span class="${isGood ? "passed" : "failed"}">${isGood ? "✓" : "✗"}</span> ${escapeHtml(title)}</h1>
<div class="tools"></div>
${body}
</main><script type="module">${reportViewer().script}</script>
</body></html>
`
