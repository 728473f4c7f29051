import { Data } from "effect"

/** Why no Postgres of our own runs in a data directory: one sentence that says what to do. */
export class EmbeddedRefused extends Data.TaggedError("EmbeddedRefused")<{
  readonly reason: "no_binaries" | "taken" | "not_ours" | "other_version" | "failed"
  readonly message: string
}> {}

/** What a person can do who cannot have an embedded Postgres. */
export const INSTEAD = "use --store memory, or give a Postgres with --database-url"

/** A failure of the file system or of a child process, as a sentence about the data directory. */
export const failed = (dataDir: string, error: unknown): EmbeddedRefused => {
  const what = error instanceof Error ? error.message : String(error)
  const message = `Postgres cannot run in ${dataDir} (${what.replace(/\.$/, "")}): ${INSTEAD}.`
  return new EmbeddedRefused({ reason: "failed", message })
}
