import { execFileSync } from "node:child_process"
import { chownSync, existsSync, mkdtempSync, rmSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, type Scope } from "effect"

/** Where Debian puts the programs that npm does not bring: `pg_basebackup`, `pg_dump`, `pg_restore`. */
const BIN = [18, 17, 16, 15].map((major) => `/usr/lib/postgresql/${major}/bin`).find((path) => existsSync(path))

/** Why a test of them cannot run here; empty where it can. */
export const NOT_INSTALLED: string =
  BIN === undefined ? ": skipped, as no Postgres of Debian's is installed (apt-get install postgresql)" : ""

const isRoot = process.getuid?.() === 0
const id = (flag: "-u" | "-g") => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }))

/** Postgres does not run as root. */
const account = () => (isRoot ? { uid: id("-u"), gid: id("-g") } : {})

const freePort = Effect.async<number>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo
    server.close(() => resume(Effect.succeed(port)))
  })
})

/** Folders and programs of an installed Postgres; servers that still run are stopped with the scope. */
export const installed: Effect.Effect<
  {
    /** Runs a program in the folder, and answers what it printed. */
    readonly run: (program: string, ...args: ReadonlyArray<string>) => string
    /** Starts the server of a data folder; answers its port. */
    readonly start: (data: string) => Effect.Effect<number, never, Scope.Scope>
  },
  never,
  Scope.Scope
> = Effect.gen(function* () {
  const ids = account()
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "workshop-installed-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  if (ids.uid !== undefined) chownSync(folder, ids.uid, ids.gid!)
  const run = (program: string, ...args: ReadonlyArray<string>): string =>
    execFileSync(join(BIN!, program), args, {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      ...ids
    })
  const stop = (data: string) => {
    try {
      run("pg_ctl", "-D", data, "-m", "immediate", "stop")
    } catch {
      // It was stopped before.
    }
  }
  return {
    run,
    start: (data) =>
      Effect.flatMap(freePort, (port) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off`
            run("pg_ctl", "-D", data, "-l", `${data}.log`, "-o", settings, "-w", "start")
            return port
          }),
          () => Effect.sync(() => stop(data))
        )
      )
  }
})
