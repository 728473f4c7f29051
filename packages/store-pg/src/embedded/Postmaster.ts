import { type ChildProcess, spawn } from "node:child_process"
import { closeSync, existsSync, fstatSync, openSync, readFileSync, renameSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import type { Writable } from "node:stream"
import { Deferred, Effect, Schedule } from "effect"
import { type SystemUser, spawnOptionsFor } from "./Account.js"
import type { Binaries } from "./Binaries.js"
import { type DataDirectory, tryFiles } from "./DataDirectory.js"
import { EmbeddedRefused, embeddedFailure } from "./EmbeddedRefused.js"
import { isAlive, isServerOf, livingPid, processMark } from "./ProcessId.js"

/** The setting in a server's command line that identifies the process that started the server. */
const OWNER = "workshop.owner"

const linesOf = (path: string): ReadonlyArray<string> =>
  existsSync(path) ? readFileSync(path, "utf8").split("\n") : []

const pidFile = ({ cluster }: DataDirectory): string => join(cluster, "postmaster.pid")

/** The port of the server that accepts connections; undefined if there is none. */
export const readyPort = (directory: DataDirectory, ofPid?: number): number | undefined => {
  const [pid, , , port, , , , state] = linesOf(pidFile(directory))
  return state?.trim() === "ready" && (ofPid === undefined || Number(pid) === ofPid) ? Number(port) : undefined
}

const runningPidIn = (directory: DataDirectory): number | undefined => {
  const pid = Number(linesOf(pidFile(directory))[0])
  return Number.isInteger(pid) && pid > 0 && isServerOf(pid, directory.cluster) ? pid : undefined
}

const ownerPidIn = ({ cluster }: DataDirectory): number | undefined => {
  const [options = ""] = linesOf(join(cluster, "postmaster.opts"))
  const ownerMark = /workshop\.owner=([\w@]+)/.exec(options)?.[1]
  return ownerMark === undefined ? undefined : livingPid(ownerMark)
}

const directoryInUse = ({ dataDir }: DataDirectory, pid?: number): EmbeddedRefused => {
  const who = pid === undefined ? "another process" : `the process ${pid}`
  return new EmbeddedRefused({ reason: "in_use", what: `The data directory ${dataDir} is in use by ${who}` })
}

/** Whether the server has ended. Polls at most `polls` more times, every 50 ms. */
const hasEnded = (directory: DataDirectory, polls: number) =>
  Effect.sync(() => runningPidIn(directory)).pipe(
    Effect.filterOrFail((pid) => pid === undefined),
    Effect.retry(Schedule.intersect(Schedule.spaced("50 millis"), Schedule.recurs(polls))),
    Effect.isSuccess
  )

/**
 * Stops the server that a killed process left in a data directory, and removes the pid file that a power failure left. Fails if the process
 * that started the server still runs.
 */
export const stopStaleServer = Effect.fnUntraced(function* (directory: DataDirectory) {
  if (runningPidIn(directory) !== undefined) {
    const owner = ownerPidIn(directory)
    if (owner !== undefined) return yield* directoryInUse(directory, owner)
    // The watcher stops the server, unless the watcher was killed too.
    if (!(yield* hasEnded(directory, 20))) {
      const [pid, newOwner] = [runningPidIn(directory), ownerPidIn(directory)]
      if (newOwner !== undefined) return yield* directoryInUse(directory, newOwner)
      if (pid !== undefined) yield* tryFiles(directory, () => process.kill(pid, "SIGINT"))
      if (!(yield* hasEnded(directory, 400))) return yield* directoryInUse(directory, pid)
    }
  }
  const otherPid = Number(linesOf(pidFile(directory))[0])
  // Removes the pid file, because Postgres would mistake another program with the dead server's process id for that
  // server.
  if (isAlive(otherPid) && !isServerOf(otherPid, directory.cluster)) rmSync(pidFile(directory), { force: true })
})

/** The options with which a server is started. */
export interface Launch {
  readonly directory: DataDirectory
  readonly binaries: Binaries
  readonly account: SystemUser | undefined
  /** Settings that override those of postgresql.conf. */
  readonly settings: Readonly<Record<string, string>>
}

/**
 * A script that starts the server with a watcher. The watcher stops the server when the process at the other end of
 * descriptor 3 dies, even if it is killed. After the server has ended, that process writes a line to the descriptor,
 * which ends the watcher. The parentheses make init the watcher's parent, because Postgres waits for all its own
 * children.
 */
const LIFELINE = '( (read _ <&3 || kill -INT $$) & ); exec "$@" 3<&-'

const MAX_LOG_BYTES = 10 * 1024 * 1024
const STOP_TIMEOUT = "3 seconds"

/** A server that was started. */
interface StartedServer {
  readonly child: ChildProcess
  /** The length of the log before the start, in bytes. */
  readonly logged: number
  /** Completed when the process has ended. */
  readonly exited: Deferred.Deferred<void, EmbeddedRefused>
}

const spawnServer = ({ directory, binaries, account, settings }: Launch, port: number) => {
  const { path, options } = spawnOptionsFor(directory.cluster, account)
  const network = { listen_addresses: "127.0.0.1", port: String(port), unix_socket_directories: "" }
  const allSettings = { ...network, ...settings, [OWNER]: processMark(process.pid) }
  const flags = Object.entries(allSettings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
  const program = join(binaries.folder, "bin", "postgres")
  if (existsSync(directory.log) && statSync(directory.log).size > MAX_LOG_BYTES)
    renameSync(directory.log, `${directory.log}.1`)
  const log = openSync(directory.log, "a", 0o600)
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

const beginServer = (launch: Launch, port: number) =>
  Effect.gen(function* () {
    const exited = yield* Deferred.make<void, EmbeddedRefused>()
    const { child, logged } = yield* tryFiles(launch.directory, () => spawnServer(launch, port))
    const lifeline = child.stdio[3] as Writable
    lifeline.on("error", () => {})
    child.once("error", (error) => Deferred.unsafeDone(exited, embeddedFailure(launch.directory.dataDir, error)))
    child.once("exit", () => {
      lifeline.end("\n")
      Deferred.unsafeDone(exited, Effect.void)
    })
    return { child, exited, logged } satisfies StartedServer
  })

const endServer = ({ child, exited }: StartedServer) =>
  Effect.gen(function* () {
    child.kill("SIGINT")
    const isOver = yield* Effect.timeoutOption(Effect.exit(Deferred.await(exited)), STOP_TIMEOUT)
    if (isOver._tag === "Some") return
    // Postgres ends without a clean shutdown, and the next start recovers all commits.
    child.kill("SIGQUIT")
    yield* Effect.exit(Deferred.await(exited))
  })

/** Matches the log of a failed start that may succeed at the next attempt. */
const TRANSIENT =
  /Address already in use|could not create any TCP|shared memory block [^\n]{0,200}is still in use|could not bind/

const startFailure = (directory: DataDirectory, { logged }: StartedServer): EmbeddedRefused => {
  const text = readFileSync(directory.log).subarray(logged).toString("utf8")
  if (/lock file "postmaster.pid" already exists/.test(text)) return directoryInUse(directory)
  const lines = text.split("\n").filter((line) => line.trim() !== "")
  const reason = lines.findLast((line) => /(FATAL|PANIC|ERROR):/.test(line)) ?? lines.at(-1) ?? "it logged nothing"
  const words = reason.replace(/^.*?(FATAL|PANIC|ERROR): +/, "")
  return embeddedFailure(directory.dataDir, `${words}, see ${directory.log}`, TRANSIENT.test(text))
}

const STARTING = Schedule.intersect(Schedule.spaced("10 millis"), Schedule.recurs(30_000))

/**
 * Starts a server, which stops with the scope. Returns once it accepts connections. The returned effect completes when
 * the server ends.
 */
export const launch = (config: Launch, port: number) =>
  Effect.gen(function* () {
    const { directory } = config
    const server = yield* Effect.acquireRelease(beginServer(config, port), endServer)
    const exited = Deferred.await(server.exited)
    const ready = Effect.sync(() => readyPort(directory, server.child.pid) !== undefined).pipe(
      Effect.filterOrFail(
        (isReady) => isReady,
        () => embeddedFailure(directory.dataDir, "it was not ready after five minutes")
      ),
      Effect.retry(STARTING)
    )
    yield* Effect.raceFirst(
      ready,
      Effect.flatMap(exited, () => startFailure(directory, server))
    )
    return Effect.asVoid(Effect.exit(exited))
  })
