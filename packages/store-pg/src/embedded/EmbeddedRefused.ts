import { Data } from "effect"

/**
 * The reason why an embedded Postgres cannot run. `no_binaries`: npm installed no Postgres for this platform. `in_use`:
 * another process uses the data directory. `other_owner`: another user owns the data directory. `other_version`: another
 * version of Postgres wrote the data. `failed`: a file operation or a program of Postgres failed.
 */
export type EmbeddedRefusal = "no_binaries" | "in_use" | "other_owner" | "other_version" | "failed"

const ANOTHER_STORE = "another store, such as @workshop/store-memory, or PgStore with your own Postgres"

const remedies: Readonly<Record<EmbeddedRefusal, string>> = {
  no_binaries: `Use ${ANOTHER_STORE}`,
  in_use: "Stop that process, or choose another dataDir",
  other_owner: "Run this program as the user who created the data, or choose another dataDir",
  other_version: "Dump the data with the release that wrote them, and load the dump into a new dataDir",
  failed: `Choose another dataDir, or use ${ANOTHER_STORE}`
}

/** An embedded Postgres cannot run in its data directory. The message says what happened, and what to do. */
export class EmbeddedRefused extends Data.TaggedError("EmbeddedRefused")<{
  readonly reason: EmbeddedRefusal
  /** The error, without its remedy. */
  readonly what: string
  /**
   * True if a retry may succeed, for example because another process took the port or children of a killed server still
   * run.
   */
  readonly isTransient?: boolean
}> {
  /** The problem and its remedy, as text for the operator. */
  override get message() {
    return `${this.what}. ${remedies[this.reason]}.`
  }
}

/** Turns an error of the file system or of a child process into one that names the data directory. */
export const embeddedFailure = (dataDir: string, error: unknown, isTransient = false): EmbeddedRefused => {
  const why = (error instanceof Error ? error.message : String(error)).replace(/\.$/, "")
  return new EmbeddedRefused({ reason: "failed", what: `Postgres cannot run in ${dataDir} (${why})`, isTransient })
}
