import { existsSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { Effect, Schedule } from "effect"
import { isServerOf, livingPid, seemsAlive } from "./ChildProcess.js"
import { EmbeddedRefused, failed } from "./EmbeddedRefused.js"
import type { Place } from "./Place.js"

/** The setting in which a server's command line names the process that it belongs to. */
export const OWNER = "workshop.owner"

const pidFile = ({ cluster }: Place): string => join(cluster, "postmaster.pid")

/** The server's own file of its process id and state, by lines, or nothing while no server runs. */
export const pidLines = (place: Place): ReadonlyArray<string> => {
  const path = pidFile(place)
  return existsSync(path) ? readFileSync(path, "utf8").split("\n") : []
}

const serverOf = (place: Place): number | undefined => {
  const pid = Number(pidLines(place)[0])
  return Number.isInteger(pid) && pid > 0 && isServerOf(pid, place.cluster) ? pid : undefined
}

const ownerOf = ({ cluster }: Place): number | undefined => {
  const path = join(cluster, "postmaster.opts")
  const mark = existsSync(path) ? new RegExp(`${OWNER}=([\\w@]+)`).exec(readFileSync(path, "utf8"))?.[1] : undefined
  return mark === undefined ? undefined : livingPid(mark)
}

/** The refusal of a data directory in which another process keeps its Postgres. */
export const taken = ({ dataDir }: Place, pid?: number): EmbeddedRefused => {
  const who = pid === undefined ? "another process" : `the process ${pid}`
  return new EmbeddedRefused({ reason: "taken", what: `The data directory ${dataDir} is used by ${who}` })
}

const PATIENCE = Schedule.intersect(Schedule.spaced("50 millis"), Schedule.recurs(20))
const LONG_PATIENCE = Schedule.intersect(Schedule.spaced("50 millis"), Schedule.recurs(400))

const gone = (place: Place, patience: typeof PATIENCE) =>
  Effect.sync(() => serverOf(place)).pipe(
    Effect.filterOrFail((pid) => pid === undefined),
    Effect.retry(patience),
    Effect.isSuccess
  )

const interrupt = (pid: number, place: Place) =>
  Effect.try({ try: () => process.kill(pid, "SIGINT"), catch: (error) => failed(place.dataDir, error) })

/**
 * Makes way in a data directory. A server whose owner lives is left alone, and we are refused; one that outlived its
 * owner, which was killed, is stopped in good order; the file of one that died with the machine is removed.
 */
export const stopStaleServer = Effect.fnUntraced(function* (place: Place) {
  if (serverOf(place) !== undefined) {
    const owner = ownerOf(place)
    if (owner !== undefined) return yield* taken(place, owner)
    // It stops by itself once its owner is gone, unless what sees to that was killed as well.
    if (!(yield* gone(place, PATIENCE))) {
      const [pid, heir] = [serverOf(place), ownerOf(place)]
      if (heir !== undefined) return yield* taken(place, heir)
      if (pid !== undefined) yield* interrupt(pid, place)
      if (!(yield* gone(place, LONG_PATIENCE))) return yield* taken(place, pid)
    }
  }
  const stranger = Number(pidLines(place)[0])
  // Postgres would take a stranger who has the dead server's process id for that server.
  if (seemsAlive(stranger) && !isServerOf(stranger, place.cluster)) rmSync(pidFile(place), { force: true })
})
