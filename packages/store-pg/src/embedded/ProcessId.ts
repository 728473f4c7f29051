import { execFileSync } from "node:child_process"
import { readFileSync, readlinkSync, realpathSync } from "node:fs"

const isLinux = process.platform === "linux"

const readProcessColumn = (pid: number, column: string): string | undefined => {
  try {
    return execFileSync("ps", ["-o", `${column}=`, "-p", String(pid)], { encoding: "utf8", stdio: "pipe" }).trim()
  } catch {
    return undefined
  }
}

/** The start time of a process in the system's format; undefined if it has ended. */
const startTimeOf = (pid: number): string | undefined => {
  if (!isLinux) return readProcessColumn(pid, "lstart")?.replaceAll(/\W+/g, "_")
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return state === "Z" ? undefined : fields[18]
  } catch {
    return undefined
  }
}

/** Whether Postgres would consider a process with this id to be running. This includes zombies. */
export const isAlive = (pid: number): boolean => {
  try {
    return pid > 0 && process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

/**
 * A text that identifies a process until the machine restarts. It includes the start time, because the system reuses
 * process ids.
 */
export const processMark = (pid: number): string => `${pid}@${startTimeOf(pid) ?? ""}`

/** The process id in a text of {@link processMark}, if that process still runs. */
export const livingPid = (mark: string): number | undefined => {
  const pid = Number(mark.split("@")[0])
  return startTimeOf(pid) !== undefined && processMark(pid) === mark ? pid : undefined
}

/** Whether the process with this id is a Postgres on `cluster`, and not another process that reuses its id. */
export const isServerOf = (pid: number, cluster: string): boolean => {
  if (!isLinux) return readProcessColumn(pid, "command")?.includes(cluster) === true
  try {
    return startTimeOf(pid) !== undefined && readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster)
  } catch {
    return false
  }
}
