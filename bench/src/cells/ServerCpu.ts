import { readdirSync, readFileSync } from "node:fs"
import { Effect } from "effect"
import { openMigrationSession } from "../../../packages/store-pg/dist/migrate/Session.js"

/** The unit in which the kernel counts processor time. */
const TICK_MS = 10

/** Reads `/proc/PID/stat`: the parent process, and the processor time of the process and of its ended children. */
const timesOf = (pid: string) => {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ")
    const [parent, user, system, ofUser, ofSystem] = [fields[1], fields[11], fields[12], fields[13], fields[14]]
    return { parent, own: Number(user) + Number(system), ended: Number(ofUser) + Number(ofSystem) }
  } catch {
    return undefined
  }
}

/** The processor time of a server and all its connections so far, in milliseconds. */
const usedBy = (postmaster: string): number => {
  const { own = 0, ended = 0 } = timesOf(postmaster) ?? {}
  const children = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  const used = children.reduce((sum, pid) => {
    const times = timesOf(pid)
    return times?.parent === postmaster ? sum + times.own : sum
  }, own + ended)
  return used * TICK_MS
}

/** Reads the processor time that servers used; null if a server runs on another machine or not on Linux. */
export const serversCpu = (urls: ReadonlyArray<string>) =>
  Effect.map(
    Effect.forEach(urls, (url) =>
      Effect.scoped(
        Effect.flatMap(openMigrationSession(url), (session) =>
          session.run<{ file: string }>("select pg_read_file('postmaster.pid') as file")
        )
      ).pipe(Effect.map(([row]) => row!.file.split("\n")))
    ),
    (files) => {
      // If the server is on another machine, this machine has no process with that id and folder.
      const isHere = files.every(([pid = "", folder = ""]) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder)
        } catch {
          return false
        }
      })
      return isHere ? () => files.reduce((sum, [pid = ""]) => sum + usedBy(pid), 0) : null
    }
  )
