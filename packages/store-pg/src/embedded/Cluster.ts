import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { Effect } from "effect"
import { type SystemUser, spawnOptionsFor } from "./Account.js"
import type { Binaries } from "./Binaries.js"
import { type DataDirectory, tryFiles } from "./DataDirectory.js"
import { EmbeddedRefused, embeddedFailure } from "./EmbeddedRefused.js"
import { livingPid, processMark } from "./ProcessId.js"

/** The role and the database of an embedded Postgres. */
export const ROLE_AND_DATABASE = "workshop"

const PRIVATE_MODE = 0o600
const DRAFT_NAME = /^cluster\.([\w@]+)\.\w+\.new$/

/**
 * Returns the password, which the first call generates. The file is created as a hard link to a complete file, so that
 * two concurrent processes use the same password and neither reads half of it.
 */
const ensurePassword = ({ password }: DataDirectory): string => {
  if (!existsSync(password)) {
    const temporary = `${password}.${process.pid}.new`
    writeFileSync(temporary, randomBytes(24).toString("hex"), { mode: PRIVATE_MODE, flush: true })
    try {
      linkSync(temporary, password)
    } catch (error) {
      if (!existsSync(password)) throw error
    } finally {
      rmSync(temporary)
    }
  }
  return readFileSync(password, "utf8").trim()
}

/**
 * Creates a draft of the cluster, an empty folder and a password file that the account owns. Removes the drafts of
 * killed processes.
 */
const prepareCluster = (directory: DataDirectory, account: SystemUser | undefined): string => {
  for (const name of readdirSync(directory.folder)) {
    const processMark = DRAFT_NAME.exec(name)?.[1]
    if (processMark !== undefined && livingPid(processMark) === undefined)
      rmSync(join(directory.folder, name), { recursive: true, force: true })
  }
  const draft = join(directory.folder, `cluster.${processMark(process.pid)}.${randomBytes(4).toString("hex")}.new`)
  const [data, password] = [join(draft, "data"), join(draft, "password")]
  mkdirSync(data, { recursive: true })
  writeFileSync(password, ensurePassword(directory), { mode: PRIVATE_MODE })
  if (account !== undefined) for (const path of [draft, data, password]) chownSync(path, account.uid, account.gid)
  return draft
}

const initdb = (directory: DataDirectory, binaries: Binaries, draft: string, account: SystemUser | undefined) => {
  const { path, options } = spawnOptionsFor(join(draft, "data"), account)
  const flags = [
    `--pgdata=${path}`,
    `--pwfile=${path}/../password`,
    `--username=${ROLE_AND_DATABASE}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8"
  ]
  const program = join(binaries.folder, "bin", "initdb")
  return Effect.tryPromise({
    try: (signal) => promisify(execFile)(program, flags, { ...options, signal, killSignal: "SIGKILL" }),
    catch: (error) => {
      const { stderr = "", message } = error as { readonly stderr?: string; readonly message: string }
      const line = stderr.split("\n").find((line) => /(error|FATAL):/.test(line))
      return embeddedFailure(directory.dataDir, line ?? `initdb: ${message}`)
    }
  })
}

/** Renames a complete draft to the cluster, so that a killed start never leaves an incomplete cluster. */
const publishCluster = ({ folder, cluster }: DataDirectory, draft: string): void => {
  try {
    renameSync(join(draft, "data"), cluster)
  } catch (error) {
    // Another process may have created the cluster meanwhile.
    if (!existsSync(cluster)) throw error
  }
  const descriptor = openSync(folder, "r")
  fsyncSync(descriptor)
  closeSync(descriptor)
}

/** Creates the cluster on the first start, checks its version, and returns the password. */
export const clusterIn = (directory: DataDirectory, binaries: Binaries, account: SystemUser | undefined) =>
  Effect.gen(function* () {
    if (!existsSync(directory.cluster))
      yield* Effect.acquireUseRelease(
        tryFiles(directory, () => prepareCluster(directory, account)),
        (draft) =>
          Effect.zipRight(
            initdb(directory, binaries, draft, account),
            tryFiles(directory, () => publishCluster(directory, draft))
          ),
        (draft) => Effect.sync(() => rmSync(draft, { recursive: true, force: true }))
      )
    return yield* tryFiles(directory, () => {
      const dataVersion = readFileSync(join(directory.cluster, "PG_VERSION"), "utf8").trim()
      const ownVersion = binaries.version.split(".")[0]
      const what = `The data in ${directory.dataDir} were written by Postgres ${dataVersion}, but this program contains Postgres ${ownVersion}`
      if (dataVersion !== ownVersion) throw new EmbeddedRefused({ reason: "other_version", what })
      return readFileSync(directory.password, "utf8").trim()
    })
  })
