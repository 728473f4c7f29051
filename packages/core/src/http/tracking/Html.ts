const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

// XML 1.0 does not allow other control characters, not even escaped.
const UNWRITABLE = /[^\P{Cc}\n\t]/gu

/** Escapes text for XML and HTML, also between quotes. */
export const escapeHtml = (text: string): string =>
  text.replaceAll(UNWRITABLE, "?").replaceAll(/[&<>"']/g, (character) => entities[character] ?? "")

/** A piece of HTML. Only `html` makes one, and it escapes all other texts. */
export class Html {
  /** Use `html`, because this constructor does not escape `text`. */
  constructor(
    /** The text of this piece of HTML, in which other texts are escaped. */
    readonly text: string
  ) {}
}

/** A part of HTML: a text, which is escaped, a piece of HTML, or nothing. */
export type HtmlPart = string | number | Html | ReadonlyArray<Html> | null

const htmlOf = (part: HtmlPart): string => {
  if (part === null) return ""
  if (part instanceof Html) return part.text
  return typeof part === "object" ? part.map(({ text }) => text).join("") : escapeHtml(String(part))
}

/** HTML from a template literal: inserted values are escaped, unless they are HTML already. */
export const html = (literal: TemplateStringsArray, ...parts: ReadonlyArray<HtmlPart>): Html =>
  new Html(literal.reduce((text, next, i) => text + htmlOf(parts[i - 1]!) + next))
