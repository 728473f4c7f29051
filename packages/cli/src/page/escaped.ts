const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }

// XML 1.0 has no place for other control characters, not even escaped.
const UNWRITABLE = /[^\P{Cc}\n\t]/gu

/** Text as XML and HTML take it. */
export const escaped = (text: string): string =>
  text.replaceAll(UNWRITABLE, "?").replaceAll(/[&<>"]/g, (character) => entities[character] ?? "")
