import { execFileSync } from "node:child_process"
import { chownSync, existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, type Scope } from "effect"
import { freePort } from "../../../../test/freePort.js"

/** Debian's folder of the programs that the npm package lacks: `pg_basebackup`, `pg_dump`, `pg_restore`. */
const BIN = [18, 17, 16, 15].map((major) => `/usr/lib/postgresql/${major}/bin`).find((path) => existsSync(path))

/** The reason why tests that need these programs are skipped; empty if Postgres is installed. */
export const NOT_INSTALLED: string =
  BIN === undefined ? ": skipped, as no Postgres of Debian's is installed (apt-get install postgresql)" : ""

const isRoot = process.getuid?.() === 0
const id = (flag: "-u" | "-g") => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }))

/** The user and group under which to run Postgres, which refuses to run as root. */
export const account = () => (isRoot ? { uid: id("-u"), gid: id("-g") } : {})

/** The settings of every server. `start` adds others to these. */
const SETTINGS = { listen_addresses: "127.0.0.1", unix_socket_directories: "", fsync: "off" }

/**
 * Runs the programs of one Postgres version in a temporary folder. The end of the scope stops servers that still run.
 */
interface Programs {
  /** Runs a program in the folder, and returns what it printed. */
  readonly run: (program: string, ...args: ReadonlyArray<string>) => string
  /** Starts the server of a data folder and returns its port. */
  readonly start: (
    data: string,
    settings?: Readonly<Record<string, string>>
  ) => Effect.Effect<number, never, Scope.Scope>
}

/** The programs in the folder `bin`. */
export const programsIn = (bin: string): Effect.Effect<Programs, never, Scope.Scope> =>
  Effect.gen(function* () {
    const ids = account()
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "workshop-installed-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
    )
    if (ids.uid !== undefined) chownSync(folder, ids.uid, ids.gid!)
    const run = (program: string, ...args: ReadonlyArray<string>): string =>
      execFileSync(join(bin, program), args, {
        cwd: folder,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
        ...ids
      })
    const stop = (data: string) => {
      try {
        run("pg_ctl", "-D", data, "-m", "immediate", "stop")
      } catch {
        // The test has already stopped the server.
      }
    }
    return {
      run,
      start: (data, settings = {}) =>
        Effect.flatMap(
          Effect.promise(() => freePort()),
          (port) =>
            Effect.acquireRelease(
              Effect.sync(() => {
                const flags = Object.entries({ ...SETTINGS, ...settings, port: String(port) })
                const options = flags.map(([name, value]) => `-c ${name}=${value}`).join(" ")
                run("pg_ctl", "-D", data, "-l", `${data}.log`, "-o", options, "-w", "start")
                return port
              }),
              () => Effect.sync(() => stop(data))
            )
        )
    }
  })

/** The programs of the Postgres that Debian installed. */
export const installed: Effect.Effect<Programs, never, Scope.Scope> = Effect.suspend(() => programsIn(BIN!))
