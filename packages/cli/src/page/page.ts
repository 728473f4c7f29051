const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }

// XML 1.0 has no place for other control characters, not even escaped.
const UNWRITABLE = /[^\P{Cc}\n\t]/gu

/** Text as XML and HTML take it. */
export const escaped = (text: string): string =>
  text.replaceAll(UNWRITABLE, "?").replaceAll(/[&<>"]/g, (character) => entities[character] ?? "")

const STYLE = `
:root { color-scheme: light dark; --good: light-dark(#1a7f37, #3fb950); --bad: light-dark(#cf222e, #ff7b72);
  --faint: light-dark(#59636e, #9198a1); --line: light-dark(#d1d9e0, #3d444d); --box: light-dark(#f6f8fa, #151b23); }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; }
.lead, .faint { color: var(--faint); } .passed { color: var(--good); } .failed { color: var(--bad); }
.skipped { color: var(--faint); }
code, pre { font: .85rem/1.45 ui-monospace, monospace; }
pre { background: var(--box); border: 1px solid var(--line); border-radius: 6px; padding: .6rem; margin: 0;
  white-space: pre-wrap; overflow-wrap: anywhere; }
`

/** A report as one page that needs nothing else. */
interface Page {
  readonly title: string
  /** It opens with a mark for this. */
  readonly isGood: boolean
  /** Style that it adds to that of all pages. */
  readonly style: string
  readonly body: string
}

/** The text of a page, for light and dark screens of any width. */
export const pageText = ({ title, isGood, style, body }: Page): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escaped(title)}</title><style>${STYLE}${style}</style></head><body>
<h1><span class="${isGood ? "passed" : "failed"}">${isGood ? "✓" : "✗"}</span> ${escaped(title)}</h1>
${body}
</body></html>
`
