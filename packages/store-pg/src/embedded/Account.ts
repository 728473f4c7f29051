import { readFileSync, statSync } from "node:fs"
import { dirname } from "node:path"

/** The user a process runs as. */
export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/** Postgres's own user where the machine has one: what runs as `nobody` shares its files with every other such daemon. */
const PREFERRED = ["postgres", "nobody"]
const NOBODY: Account = { name: "nobody", uid: 65_534, gid: 65_534 }

const accounts = (): ReadonlyArray<Account> => {
  try {
    return readFileSync("/etc/passwd", "utf8")
      .split("\n")
      .map((line) => line.split(":"))
      .map(([name = "", , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
  } catch {
    return []
  }
}

const ownerOf = (path: string): Account | undefined => {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return undefined
  const name = accounts().find(({ uid }) => uid === found.uid)?.name ?? `the user ${found.uid}`
  return { name, uid: found.uid, gid: found.gid }
}

/**
 * Who must run Postgres, which refuses to run as root: undefined for whoever runs this process;
 * under root the owner of the cluster there is, or else an unprivileged user of this machine.
 */
export const accountFor = (cluster: string): Account | undefined => {
  if (process.getuid?.() !== 0) return undefined
  const owner = ownerOf(cluster)
  if (owner !== undefined && owner.uid !== 0) return owner
  const known = accounts()
  return PREFERRED.flatMap((name) => known.find((account) => account.name === name) ?? [])[0] ?? NOBODY
}

const READ = 4
const ENTER = 1

const grants = (path: string, { uid, gid }: Account, wanted: number): boolean => {
  const { uid: owner, gid: group, mode } = statSync(path)
  const rights = uid === owner ? mode >> 6 : gid === group ? mode >> 3 : mode
  return (rights & wanted) === wanted
}

/** Whether a user may enter a folder and every folder above it. */
export const mayEnter = (folder: string, account: Account): boolean =>
  grants(folder, account, ENTER) && (dirname(folder) === folder || mayEnter(dirname(folder), account))

/** Whether a user may read a file, or run it where it is a program. */
export const mayRead = (path: string, account: Account): boolean =>
  grants(path, account, READ) && mayEnter(dirname(path), account)
