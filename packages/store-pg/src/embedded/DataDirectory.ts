import { chmodSync, existsSync, mkdirSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import type { SystemUser } from "./Account.js"
import { EmbeddedRefused, embeddedFailure } from "./EmbeddedRefused.js"

/** A data directory of an embedded Postgres, and the paths of its files. */
export interface DataDirectory {
  /** The path that the user passed, for messages. */
  readonly dataDir: string
  /** The folder that this package creates in `dataDir`. */
  readonly folder: string
  /** The folder of the cluster, Postgres's `PGDATA`. */
  readonly cluster: string
  /** The file with the password of the role `workshop`, which only this user can read. */
  readonly password: string
  /** The log of the server. */
  readonly log: string
}

/** The data directory at an absolute path. */
export const dataDirectory = (dataDir: string): DataDirectory => {
  const folder = join(dataDir, "postgres")
  const [cluster, password, log] = ["cluster", "password", "postgres.log"].map((name) => join(folder, name))
  return { dataDir, folder, cluster: cluster!, password: password!, log: log! }
}

/** Runs a file operation, and turns an error that it throws into an `EmbeddedRefused`. */
export const tryFiles = <A>({ dataDir }: DataDirectory, operation: () => A) =>
  Effect.try({
    try: operation,
    catch: (error) => (error instanceof EmbeddedRefused ? error : embeddedFailure(dataDir, error))
  })

/** Creates a path folder by folder, because a recursive `mkdirSync` never ends on a file system such as /proc. */
const createPath = (path: string): void => {
  if (existsSync(path)) return
  createPath(dirname(path))
  try {
    mkdirSync(path)
  } catch (error) {
    if (!existsSync(path)) throw error
  }
}

/**
 * Creates the package's folder in the data directory. Only this user can list it. If this process runs as root,
 * Postgres's user can enter it.
 */
export const createFolder = (directory: DataDirectory, account: SystemUser | undefined) =>
  tryFiles(directory, () => {
    createPath(directory.folder)
    const uid = process.getuid?.()
    if (statSync(directory.folder).uid === uid) chmodSync(directory.folder, account === undefined ? 0o700 : 0o711)
    else if (uid !== 0)
      throw new EmbeddedRefused({
        reason: "other_owner",
        what: `The Postgres in ${directory.dataDir} belongs to another user`
      })
  })
