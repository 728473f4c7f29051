import { Data } from "effect"

/** Why no Postgres of our own runs in a data directory. */
export type EmbeddedRefusal = "no_binaries" | "taken" | "not_ours" | "other_version" | "failed"

const ANOTHER_STORE = "use another store, such as that of @workshop/store-memory, or PgStore on a Postgres of yours"

const remedies: Readonly<Record<EmbeddedRefusal, string>> = {
  no_binaries: ANOTHER_STORE,
  taken: "stop that one, or choose another dataDir",
  not_ours: "run as the one who made it, or choose another dataDir",
  other_version: "dump them with the program that wrote them, and load them into a new dataDir",
  failed: `choose another dataDir, or ${ANOTHER_STORE}`
}

/** No Postgres of our own runs in a data directory: one sentence that says what to do. */
export class EmbeddedRefused extends Data.TaggedError("EmbeddedRefused")<{
  readonly reason: EmbeddedRefusal
  /** What is wrong, without what to do about it. */
  readonly what: string
}> {
  override get message() {
    return `${this.what}: ${remedies[this.reason]}.`
  }
}

/** A failure of the file system or of a child process, as a sentence about the data directory. */
export const failed = (dataDir: string, error: unknown): EmbeddedRefused => {
  const why = error instanceof Error ? error.message : String(error)
  return new EmbeddedRefused({
    reason: "failed",
    what: `Postgres cannot run in ${dataDir} (${why.replace(/\.$/, "")})`
  })
}
