import { type ChildProcess, spawn } from "node:child_process"
import { closeSync, existsSync, fstatSync, openSync, readFileSync, renameSync, statSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import type { Writable } from "node:stream"
import { Deferred, Effect, Schedule } from "effect"
import type { Account } from "./Account.js"
import type { Binaries } from "./Binaries.js"
import { markOf } from "./ChildProcess.js"
import { type EmbeddedRefused, failed } from "./EmbeddedRefused.js"
import { entryTo, type Place } from "./Place.js"
import { OWNER, pidLines, taken } from "./StaleServer.js"

/** What a server is started with. */
export interface Launch {
  readonly place: Place
  readonly binaries: Binaries
  readonly account: Account | undefined
  readonly port: number
  /** Settings of postgresql.conf, above those of the file. */
  readonly settings: Readonly<Record<string, string>>
}

/** A server that accepts connections. */
export interface Postmaster {
  readonly pid: number
  /** Done once the process has ended, for whatever reason. */
  readonly exited: Effect.Effect<void>
}

/**
 * Stops the server when the process that holds the other end of descriptor 3 dies, however it dies. A line on it says
 * that the server has ended by itself. The parentheses give the watcher to init: Postgres knows all its own children.
 */
const LIFELINE = '( (read _ <&3 || kill -INT $$) & ); exec "$@" 3<&-'

const LONG_LOG_BYTES = 10 * 1024 * 1024
const STOPPING = "3 seconds"

const openLog = ({ log }: Place): number => {
  if (existsSync(log) && statSync(log).size > LONG_LOG_BYTES) renameSync(log, `${log}.1`)
  return openSync(log, "a", 0o600)
}

/** A child, and how long its log was before it said anything. */
interface Spawned {
  readonly child: ChildProcess
  readonly logged: number
}

const spawned = ({ place, binaries, account, port, settings }: Launch): Spawned => {
  const { cwd, path, ids } = entryTo(place.cluster, account)
  const all = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: "",
    ...settings,
    [OWNER]: markOf(process.pid)
  }
  const flags = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`])
  const log = openLog(place)
  try {
    const logged = fstatSync(log).size
    const program = join(binaries.folder, "bin", "postgres")
    const child = spawn("/bin/sh", ["-c", LIFELINE, "sh", program, "-D", path, ...flags], {
      cwd,
      env: {},
      ...ids,
      stdio: ["ignore", log, log, "pipe"],
      detached: true
    })
    return { child, logged }
  } finally {
    closeSync(log)
  }
}

/** A child, and what became of it. */
interface Running extends Spawned {
  readonly exited: Deferred.Deferred<void, EmbeddedRefused>
}

const begin = (launch: Launch) =>
  Effect.gen(function* () {
    const { place } = launch
    const exited = yield* Deferred.make<void, EmbeddedRefused>()
    const catchFailure = (error: unknown) => failed(place.dataDir, error)
    const { child, logged } = yield* Effect.try({ try: () => spawned(launch), catch: catchFailure })
    const lifeline = child.stdio[3] as Writable
    lifeline.on("error", () => {})
    child.once("error", (error) => Deferred.unsafeDone(exited, Effect.fail(catchFailure(error))))
    child.once("exit", () => {
      lifeline.end("\n")
      Deferred.unsafeDone(exited, Effect.void)
    })
    return { child, exited, logged } satisfies Running
  })

const end = ({ child, exited }: Running) =>
  Effect.gen(function* () {
    child.kill("SIGINT")
    const isOver = yield* Effect.timeoutOption(Effect.exit(Deferred.await(exited)), STOPPING)
    if (isOver._tag === "Some") return
    // It is the same as a loss of power to Postgres: the next start replays what was committed.
    child.kill("SIGQUIT")
    yield* Effect.exit(Deferred.await(exited))
  })

const lastWords = (text: string): string => {
  const said = text.split("\n").filter((line) => line.trim() !== "")
  return said.findLast((line) => /(FATAL|PANIC|ERROR):/.test(line)) ?? said.at(-1) ?? "it ended without a word"
}

/** What a server says that could not start, and whether another try may go better. */
const RETRIED =
  /Address already in use|could not create any TCP|shared memory block [^\n]{0,200}is still in use|could not bind/

/** A start that failed in a way that passes by itself: a port taken meanwhile, or children of a killed server. */
export class TryAgain {
  readonly _tag = "TryAgain"
  constructor(readonly refused: EmbeddedRefused) {}
}

const notStarted = ({ place }: Launch, { logged }: Running) => {
  const text = readFileSync(place.log).subarray(logged).toString("utf8")
  if (/lock file "postmaster.pid" already exists/.test(text)) return taken(place)
  const refused = failed(
    place.dataDir,
    `${lastWords(text).replace(/^.*?(FATAL|PANIC|ERROR): +/, "")}; see ${place.log}`
  )
  return RETRIED.test(text) ? new TryAgain(refused) : refused
}

const isReady = (place: Place, pid: number | undefined): boolean => {
  const lines = pidLines(place)
  return Number(lines[0]) === pid && lines[7]?.trim() === "ready"
}

const STARTING = Schedule.intersect(Schedule.spaced("10 millis"), Schedule.recurs(30_000))

/** Starts a server and waits until it accepts connections; closing the scope stops it and waits for its end. */
export const launch = (config: Launch) =>
  Effect.gen(function* () {
    const running = yield* Effect.acquireRelease(begin(config), end)
    const { pid } = running.child
    const ready = Effect.sync(() => isReady(config.place, pid)).pipe(
      Effect.filterOrFail(
        (is) => is,
        () => failed(config.place.dataDir, "it is not ready after five minutes")
      ),
      Effect.retry(STARTING)
    )
    const died = Effect.flatMap(Deferred.await(running.exited), () => Effect.fail(notStarted(config, running)))
    yield* Effect.raceFirst(ready, died)
    return { pid: pid ?? 0, exited: Effect.asVoid(Effect.exit(Deferred.await(running.exited))) } satisfies Postmaster
  })

/** A port of this machine that nobody listens on just now. */
export const freePort: Effect.Effect<number> = Effect.async((resume) => {
  const probe = createServer()
  probe.listen(0, "127.0.0.1", () => {
    const address = probe.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    probe.close(() => resume(Effect.succeed(port)))
  })
})
