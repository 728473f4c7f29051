import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import {
  chmodSync,
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
  statSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import type { Account } from "./Account.js"
import type { Binaries } from "./Binaries.js"
import { livingPid, markOf } from "./ChildProcess.js"
import { EmbeddedRefused, failed } from "./EmbeddedRefused.js"
import { entryTo, type Place } from "./Place.js"

/** The role and the database of an embedded Postgres. */
export const NAME = "workshop"

const PRIVATE = 0o600
const STAGED = /^cluster\.([\w@]+)\.\w+\.new$/

const attempt = <A>(place: Place, act: () => A) =>
  Effect.try({ try: act, catch: (error) => failed(place.dataDir, error) })

/** Written whole under another name first: two processes at once agree on one password, and neither reads half of it. */
const keepPassword = ({ password }: Place): string => {
  if (!existsSync(password)) {
    const fresh = `${password}.${process.pid}.new`
    writeFileSync(fresh, randomBytes(24).toString("hex"), { mode: PRIVATE, flush: true })
    try {
      linkSync(fresh, password)
    } catch (error) {
      if (!existsSync(password)) throw error
    } finally {
      rmSync(fresh)
    }
  }
  return readFileSync(password, "utf8").trim()
}

const dropAbandoned = ({ folder }: Place): void => {
  for (const name of readdirSync(folder)) {
    const mark = STAGED.exec(name)?.[1]
    if (mark !== undefined && livingPid(mark) === undefined)
      rmSync(join(folder, name), { recursive: true, force: true })
  }
}

/** An empty folder and the password's text, both the account's own. */
const stage = (place: Place, account: Account | undefined) => {
  dropAbandoned(place)
  const folder = join(place.folder, `cluster.${markOf(process.pid)}.${randomBytes(4).toString("hex")}.new`)
  mkdirSync(join(folder, "data"), { recursive: true })
  const password = join(folder, "password")
  writeFileSync(password, keepPassword(place), { mode: PRIVATE })
  for (const path of [folder, join(folder, "data"), password]) {
    if (account !== undefined) chownSync(path, account.uid, account.gid)
  }
  return folder
}

const initdb = (binaries: Binaries, staged: string, account: Account | undefined) => {
  const { cwd, path, ids } = entryTo(join(staged, "data"), account)
  const flags = [
    `--pgdata=${path}`,
    `--pwfile=${path}/../password`,
    `--username=${NAME}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8"
  ]
  return Effect.async<void, Error>((resume) => {
    const options = { cwd, env: {}, ...ids }
    const child = execFile(join(binaries.folder, "bin", "initdb"), flags, options, (error, _, stderr) => {
      const said = stderr.split("\n").find((line) => /(error|FATAL):/.test(line))
      resume(error === null ? Effect.void : Effect.fail(new Error(said ?? `initdb: ${error.message}`)))
    })
    return Effect.sync(() => child.kill("SIGKILL"))
  })
}

const syncFolder = (path: string): void => {
  const descriptor = openSync(path, "r")
  fsyncSync(descriptor)
  closeSync(descriptor)
}

/** A cluster gets its name once it is complete: a start that was killed leaves nothing that looks like one. */
const adopt = ({ folder, cluster }: Place, staged: string): void => {
  try {
    renameSync(join(staged, "data"), cluster)
  } catch (error) {
    // Another process may have been quicker.
    if (!existsSync(cluster)) throw error
  }
  syncFolder(folder)
}

const create = (place: Place, binaries: Binaries, account: Account | undefined) =>
  Effect.acquireUseRelease(
    attempt(place, () => stage(place, account)),
    (staged) =>
      Effect.zipRight(
        Effect.mapError(initdb(binaries, staged, account), (error) => failed(place.dataDir, error)),
        attempt(place, () => adopt(place, staged))
      ),
    (staged) => Effect.sync(() => rmSync(staged, { recursive: true, force: true }))
  )

const major = (version: string): string => version.split(".")[0] ?? version

const checkVersion = ({ dataDir, cluster }: Place, { version }: Binaries) => {
  const theirs = readFileSync(join(cluster, "PG_VERSION"), "utf8").trim()
  if (theirs === major(version)) return undefined
  const what = `The data in ${dataDir} were written by Postgres ${theirs}, and this program brings ${major(version)}`
  return new EmbeddedRefused({ reason: "other_version", what })
}

/** Folder by folder: where the file system takes no new ones, such as /proc, a recursive `mkdirSync` never ends. */
const makeFolder = (path: string): void => {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  try {
    mkdirSync(path)
  } catch (error) {
    if (!existsSync(path)) throw error
  }
}

const room = ({ dataDir, folder }: Place, account: Account | undefined) => {
  makeFolder(folder)
  const me = process.getuid?.()
  if (statSync(folder).uid === me) return chmodSync(folder, account === undefined ? 0o700 : 0o711)
  if (me === 0) return undefined
  return new EmbeddedRefused({ reason: "not_ours", what: `The Postgres in ${dataDir} belongs to another user` })
}

/** Makes our folder in the data directory, closed to all but those who must pass through it, unless another user did. */
export const makeRoom = (place: Place, account: Account | undefined) =>
  Effect.flatMap(
    attempt(place, () => room(place, account)),
    (refused) => refused ?? Effect.void
  )

/** Sees that there is a cluster of this version, made on the first start, and answers its password. */
export const clusterIn = Effect.fnUntraced(function* (place: Place, binaries: Binaries, account: Account | undefined) {
  if (!existsSync(place.cluster)) yield* create(place, binaries, account)
  const refused = yield* attempt(place, () => checkVersion(place, binaries))
  if (refused !== undefined) return yield* refused
  return yield* attempt(place, () => readFileSync(place.password, "utf8").trim())
})
