import { type ChildProcess, spawn } from "node:child_process"
import { closeSync, existsSync, fstatSync, openSync, readFileSync, renameSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import type { Writable } from "node:stream"
import { Deferred, Effect, Schedule } from "effect"
import { type Account, type Binaries, childOn, EmbeddedRefused, failed, onFiles, type Place } from "./Cluster.js"
import { isServerOf, livingPid, markOf, seemsAlive } from "./ProcessId.js"

/** The setting that names, in a server's command line, the process that started it. */
const OWNER = "workshop.owner"

const linesOf = (path: string): ReadonlyArray<string> =>
  existsSync(path) ? readFileSync(path, "utf8").split("\n") : []

const pidFile = ({ cluster }: Place): string => join(cluster, "postmaster.pid")

/** The port of the server that accepts connections now; undefined if there is none. */
export const readyPort = (place: Place, ofPid?: number): number | undefined => {
  const [pid, , , port, , , , state] = linesOf(pidFile(place))
  return state?.trim() === "ready" && (ofPid === undefined || Number(pid) === ofPid) ? Number(port) : undefined
}

const serverIn = (place: Place): number | undefined => {
  const pid = Number(linesOf(pidFile(place))[0])
  return Number.isInteger(pid) && pid > 0 && isServerOf(pid, place.cluster) ? pid : undefined
}

const ownerIn = ({ cluster }: Place): number | undefined => {
  const [options = ""] = linesOf(join(cluster, "postmaster.opts"))
  const mark = /workshop\.owner=([\w@]+)/.exec(options)?.[1]
  return mark === undefined ? undefined : livingPid(mark)
}

const taken = ({ dataDir }: Place, pid?: number): EmbeddedRefused => {
  const who = pid === undefined ? "another process" : `the process ${pid}`
  return new EmbeddedRefused({ reason: "taken", what: `The data directory ${dataDir} is used by ${who}` })
}

/** Whether the server ends within so many times 50 ms. */
const ends = (place: Place, times: number) =>
  Effect.sync(() => serverIn(place)).pipe(
    Effect.filterOrFail((pid) => pid === undefined),
    Effect.retry(Schedule.intersect(Schedule.spaced("50 millis"), Schedule.recurs(times))),
    Effect.isSuccess
  )

/**
 * Stops the server that a killed process left in a data directory, and removes the pid file that a power failure left. A server whose
 * owner lives is left alone, and we are refused.
 */
export const stopStaleServer = Effect.fnUntraced(function* (place: Place) {
  if (serverIn(place) !== undefined) {
    const owner = ownerIn(place)
    if (owner !== undefined) return yield* taken(place, owner)
    // It stops by itself, unless its watcher was killed too.
    if (!(yield* ends(place, 20))) {
      const [pid, heir] = [serverIn(place), ownerIn(place)]
      if (heir !== undefined) return yield* taken(place, heir)
      if (pid !== undefined) yield* onFiles(place, () => process.kill(pid, "SIGINT"))
      if (!(yield* ends(place, 400))) return yield* taken(place, pid)
    }
  }
  const other = Number(linesOf(pidFile(place))[0])
  // Postgres would take another program that got the dead server's process id for that server.
  if (seemsAlive(other) && !isServerOf(other, place.cluster)) rmSync(pidFile(place), { force: true })
})

/** How a server is started. */
export interface Launch {
  readonly place: Place
  readonly binaries: Binaries
  readonly account: Account | undefined
  /** Settings that go before those of postgresql.conf. */
  readonly settings: Readonly<Record<string, string>>
}

/**
 * Stops the server when the process at the other end of descriptor 3 dies, however it dies. A line on it says that the server has
 * ended by itself. The parentheses make init the watcher's parent, because Postgres waits for all its own children.
 */
const LIFELINE = '( (read _ <&3 || kill -INT $$) & ); exec "$@" 3<&-'

const MAX_LOG_BYTES = 10 * 1024 * 1024
const STOP_TIMEOUT = "3 seconds"

/** A child, how long the log was before it, and its end. */
interface Running {
  readonly child: ChildProcess
  readonly logged: number
  readonly exited: Deferred.Deferred<void, EmbeddedRefused>
}

const spawned = ({ place, binaries, account, settings }: Launch, port: number) => {
  const { path, options } = childOn(place.cluster, account)
  const network = { listen_addresses: "127.0.0.1", port: String(port), unix_socket_directories: "" }
  const all = { ...network, ...settings, [OWNER]: markOf(process.pid) }
  const flags = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`])
  const program = join(binaries.folder, "bin", "postgres")
  if (existsSync(place.log) && statSync(place.log).size > MAX_LOG_BYTES) renameSync(place.log, `${place.log}.1`)
  const log = openSync(place.log, "a", 0o600)
  try {
    const logged = fstatSync(log).size
    const child = spawn("/bin/sh", ["-c", LIFELINE, "sh", program, "-D", path, ...flags], {
      ...options,
      stdio: ["ignore", log, log, "pipe"],
      detached: true
    })
    return { child, logged }
  } finally {
    closeSync(log)
  }
}

const begin = (launch: Launch, port: number) =>
  Effect.gen(function* () {
    const exited = yield* Deferred.make<void, EmbeddedRefused>()
    const { child, logged } = yield* onFiles(launch.place, () => spawned(launch, port))
    const lifeline = child.stdio[3] as Writable
    lifeline.on("error", () => {})
    child.once("error", (error) => Deferred.unsafeDone(exited, failed(launch.place.dataDir, error)))
    child.once("exit", () => {
      lifeline.end("\n")
      Deferred.unsafeDone(exited, Effect.void)
    })
    return { child, exited, logged } satisfies Running
  })

const end = ({ child, exited }: Running) =>
  Effect.gen(function* () {
    child.kill("SIGINT")
    const isOver = yield* Effect.timeoutOption(Effect.exit(Deferred.await(exited)), STOP_TIMEOUT)
    if (isOver._tag === "Some") return
    // To Postgres this is like a power failure: the next start replays what was committed.
    child.kill("SIGQUIT")
    yield* Effect.exit(Deferred.await(exited))
  })

/** Messages of a server that may start at the next try. */
const TRANSIENT =
  /Address already in use|could not create any TCP|shared memory block [^\n]{0,200}is still in use|could not bind/

const whyNotStarted = (place: Place, { logged }: Running): EmbeddedRefused => {
  const text = readFileSync(place.log).subarray(logged).toString("utf8")
  if (/lock file "postmaster.pid" already exists/.test(text)) return taken(place)
  const lines = text.split("\n").filter((line) => line.trim() !== "")
  const reason = lines.findLast((line) => /(FATAL|PANIC|ERROR):/.test(line)) ?? lines.at(-1) ?? "it logged nothing"
  const words = reason.replace(/^.*?(FATAL|PANIC|ERROR): +/, "")
  return failed(place.dataDir, `${words}; see ${place.log}`, TRANSIENT.test(text))
}

const STARTING = Schedule.intersect(Schedule.spaced("10 millis"), Schedule.recurs(30_000))

/** Starts a server, and returns when it accepts connections; closing the scope stops it. The returned effect ends with the server. */
export const launch = (config: Launch, port: number) =>
  Effect.gen(function* () {
    const { place } = config
    const running = yield* Effect.acquireRelease(begin(config, port), end)
    const exited = Deferred.await(running.exited)
    const ready = Effect.sync(() => readyPort(place, running.child.pid) !== undefined).pipe(
      Effect.filterOrFail(
        (isReady) => isReady,
        () => failed(place.dataDir, "it is not ready after five minutes")
      ),
      Effect.retry(STARTING)
    )
    yield* Effect.raceFirst(
      ready,
      Effect.flatMap(exited, () => whyNotStarted(place, running))
    )
    return Effect.asVoid(Effect.exit(exited))
  })
