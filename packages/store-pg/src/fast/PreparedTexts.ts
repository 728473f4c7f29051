/*
 * Replaces the client of `@effect/sql-pg`, which names no statements, so that the server would parse and plan every read again. Without
 * it, a read took 0.50 ms of the server's processor time in place of 0.15 ms (docs/how-it-is-built.md).
 * test/fast/PreparedTexts.test.ts proves that a client without prepared statements sends the same texts.
 */

import { inSchema } from "../connection/Schema.js"

/** The most statements that a connection prepares. The store has fewer. */
const MAX_PREPARED_STATEMENTS = 500

/**
 * Matches the statements whose best plan depends on their values. They are not prepared, so that Postgres plans them
 * for their values each time. All other statements are prepared, because planning takes longer than reading a row.
 */
export const DEPENDS_ON_VALUES = /\/\* workshop (?:search tickets|shops of person) \*\//

/**
 * The text of a statement for the schema, and its prepared name, which is undefined for a statement that is planned
 * each time.
 */
interface SentText {
  readonly name: string | undefined
  readonly text: string
}

/** The prepared statements of a schema, by their text. */
export class PreparedTexts {
  static #names = 0
  static readonly #ofSchemas = new Map<string, PreparedTexts>()
  readonly #prepared = new Map<string, SentText>()

  private constructor(readonly schema: string) {}

  /** The prepared statements of a schema, which all connections of the process share. */
  static ofSchema(schema: string): PreparedTexts {
    const existing = PreparedTexts.#ofSchemas.get(schema)
    if (existing !== undefined) return existing
    const texts = new PreparedTexts(schema)
    PreparedTexts.#ofSchemas.set(schema, texts)
    return texts
  }

  /** Returns the statement for a text, and assigns it a prepared name at its first use. */
  of(text: string): SentText {
    const existing = this.#prepared.get(text)
    if (existing !== undefined) return existing
    const sent = inSchema(text, this.schema)
    // The texts of searches are not stored, because there is one for each combination of filters, and they would fill
    // the map.
    if (DEPENDS_ON_VALUES.test(text) || this.#prepared.size >= MAX_PREPARED_STATEMENTS)
      return { name: undefined, text: sent }
    const prepared = { name: `read ${++PreparedTexts.#names}`, text: sent }
    this.#prepared.set(text, prepared)
    return prepared
  }
}
