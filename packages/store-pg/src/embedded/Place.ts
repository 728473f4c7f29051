import { join } from "node:path"
import type { Account } from "./Account.js"

/** The folders and files of an embedded Postgres. */
export interface Place {
  /** As it was asked for, for messages. */
  readonly dataDir: string
  /** Ours within it, made where it is missing. */
  readonly folder: string
  /** Postgres's own: what `PGDATA` would name. */
  readonly cluster: string
  /** The password of the role `workshop`, for this user alone. */
  readonly password: string
  readonly log: string
}

/** The places within an absolute data directory. */
export const placeIn = (dataDir: string): Place => {
  const folder = join(dataDir, "postgres")
  return {
    dataDir,
    folder,
    cluster: join(folder, "cluster"),
    password: join(folder, "password"),
    log: join(folder, "postgres.log")
  }
}

/** How a program of Postgres is started on a folder: as whom, from where, and what it is told of where it is. */
export interface Entry {
  readonly cwd: string
  readonly path: string
  readonly ids: { readonly uid: number; readonly gid: number } | undefined
}

/**
 * On Linux a child enters its folder while it is still root, and names it by where it stands. So the data stay in the
 * data directory also where its parents admit only root.
 */
export const entryTo = (folder: string, account: Account | undefined): Entry => ({
  cwd: folder,
  path: account !== undefined && process.platform === "linux" ? "/proc/self/cwd" : folder,
  ids: account === undefined ? undefined : { uid: account.uid, gid: account.gid }
})
