import { execFileSync, spawnSync } from "node:child_process"
import { statSync } from "node:fs"

/** A user of this machine. */
export interface SystemUser {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

const findUser = (name: string): SystemUser | undefined => {
  const id = (flag: string) => Number(execFileSync("id", [flag, name], { encoding: "utf8", stdio: "pipe" }))
  try {
    return { name, uid: id("-u"), gid: id("-g") }
  } catch {
    return undefined
  }
}

/**
 * The user for Postgres if this process runs as root, because Postgres refuses to run as root: the owner of the
 * cluster, otherwise `postgres`, otherwise `nobody`, which other daemons may use too. Undefined if this process does
 * not run as root.
 */
export const postgresUserFor = (cluster: string): SystemUser | undefined => {
  if (process.getuid?.() !== 0) return undefined
  const owner = statSync(cluster, { throwIfNoEntry: false })
  if (owner !== undefined && owner.uid !== 0) return { name: `the user ${owner.uid}`, uid: owner.uid, gid: owner.gid }
  return findUser("postgres") ?? findUser("nobody") ?? { name: "nobody", uid: 65_534, gid: 65_534 }
}

/** Whether a user can read (`-r`) or execute or enter (`-x`) all paths. */
export const hasAccess = ({ uid, gid }: SystemUser, right: "-r" | "-x", paths: ReadonlyArray<string>): boolean => {
  const script = `for path; do test ${right} "$path" || exit 1; done`
  return spawnSync("/bin/sh", ["-c", script, "sh", ...paths], { uid, gid, cwd: "/", stdio: "ignore" }).status === 0
}

/** Whether a user may enter a folder, which needs the right to enter every folder above it. */
export const canEnter = (folder: string, account: SystemUser): boolean => hasAccess(account, "-x", [folder])

/**
 * The spawn options of a Postgres program that uses a folder, and the path to pass to the program. On Linux the child
 * enters the folder while it is still root and uses it as its working directory, so that the data can be below folders
 * that only root may enter.
 */
export const spawnOptionsFor = (folder: string, account: SystemUser | undefined) => ({
  path: account !== undefined && process.platform === "linux" ? "/proc/self/cwd" : folder,
  options: { cwd: folder, env: {}, ...(account === undefined ? {} : { uid: account.uid, gid: account.gid }) }
})
