import { PreparedTexts } from "../fast/PreparedTexts.js"
import { hasWaitingCommits, standbyWaitRefusal } from "./CommitWaits.js"
import { failureOf } from "./PgFailure.js"
import { DEFAULT_SCHEMA, inSchema } from "./Schema.js"
import { SessionClient } from "./SessionClient.js"

/** Matches a statement that writes, whose commit therefore waits for a synchronous standby. */
const WRITES = /\b(?:insert|update|delete)\b/i

type Callback = (error: unknown, result: unknown) => void

/** The event that a client emits if a result did not arrive in time. */
export const TIMED_OUT = "timedOut"

const failQuery = (callback: unknown): unknown =>
  typeof callback === "function"
    ? setImmediate(() => (callback as Callback)(standbyWaitRefusal(), undefined))
    : Promise.reject(standbyWaitRefusal())

/**
 * A client for reads. It prepares their statements for the schema in use, refuses writes while a synchronous standby
 * delays commits, and closes after a result that arrived too late.
 */
export class ReadClient extends SessionClient {
  #statements = PreparedTexts.ofSchema(DEFAULT_SCHEMA)

  /** Sets the schema of later statements, until the client is returned to its pool. */
  useSchema(schema: string): void {
    this.#statements = PreparedTexts.ofSchema(schema)
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
      if (error !== null && error !== undefined && failureOf(error).kind === "responseTimeout") {
        void this.end()
        this.emit(TIMED_OUT)
      }
      callback(error, result)
    }
  }
}
