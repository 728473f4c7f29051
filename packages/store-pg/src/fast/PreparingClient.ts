/*
 * Replaces the client of `@effect/sql-pg`, which gives statements no names, so that the server would parse and plan every read again. Without
 * it, a read took 0.50 ms of the server's processor time in place of 0.15 ms (docs/how-it-is-built.md).
 */

import { hasWaitingCommits, standbyWaitRefusal } from "../connection/CommitWaits.js"
import { failureOf } from "../connection/PgFailure.js"
import { DEFAULT_SCHEMA, inSchema } from "../connection/Schema.js"
import { SessionClient } from "../connection/SessionClient.js"

/** The most statements that a connection prepares. The store has fewer. */
const MAX_PREPARED_STATEMENTS = 500

/** Matches a statement that writes, whose commit therefore waits for a synchronous standby. */
const WRITES = /\b(?:insert|update|delete)\b/i

/**
 * Matches the statements whose best plan depends on their values. They are not prepared, so that Postgres plans them
 * for their values each time. All other statements are prepared, because planning takes longer than reading a row.
 */
export const DEPENDS_ON_VALUES = /\/\* workshop (?:search tickets|shops of person) \*\//

type Callback = (error: unknown, result: unknown) => void

/** The message of the error for a result that did not arrive in time. */
export const TIMED_OUT = "late"

/**
 * The text of a statement for the schema, and its prepared name, which is undefined for a statement that is planned
 * each time.
 */
interface SentText {
  readonly name: string | undefined
  readonly text: string
}

/** The prepared statements of a schema, by their text. */
class PreparedTexts {
  static #names = 0
  readonly #prepared = new Map<string, SentText>()

  constructor(readonly schema: string) {}

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

const failQuery = (callback: unknown): unknown =>
  typeof callback === "function"
    ? setImmediate(() => (callback as Callback)(standbyWaitRefusal(), undefined))
    : Promise.reject(standbyWaitRefusal())

/** A client that prepares the statements of reads. */
export class PreparingClient extends SessionClient {
  static readonly #ofSchemas = new Map<string, PreparedTexts>()
  #statements = new PreparedTexts(DEFAULT_SCHEMA)

  /** Sets the schema of later statements, until the client is returned to its pool. */
  useSchema(schema: string): void {
    this.#statements = PreparingClient.#ofSchemas.get(schema) ?? new PreparedTexts(schema)
    PreparingClient.#ofSchemas.set(schema, this.#statements)
  }

  // The overloads of `query` cannot be distinguished by type here.
  override query(...args: ReadonlyArray<unknown>): never {
    const [query] = args
    // Fails at once, because a write that waits for a standby would only occupy a connection of the reads.
    if (hasWaitingCommits(this.url) && typeof query === "string" && WRITES.test(query))
      return failQuery(args.at(-1)) as never
    const [text, values, ...rest] = args.map((arg) =>
      typeof arg === "function" ? this.#closeIfLate(arg as Callback) : arg
    )
    const named =
      typeof text === "string" && Array.isArray(values) && values.length > 0
        ? [{ values, ...this.#statements.of(text) }, ...rest]
        : [typeof text === "string" ? inSchema(text, this.#statements.schema) : text, values, ...rest]
    return (super.query as (...args: ReadonlyArray<unknown>) => never).apply(this, named)
  }

  /** Closes the client before a late result is reported, because the pool would otherwise reuse it. */
  #closeIfLate(callback: Callback): Callback {
    return (error, result) => {
      if (error !== null && error !== undefined && failureOf(error).kind === "late") {
        void this.end()
        this.emit(TIMED_OUT)
      }
      callback(error, result)
    }
  }
}
