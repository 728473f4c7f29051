import { spawn } from "node:child_process"
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { connect as dial } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Schedule, type Scope } from "effect"
import { freePort } from "../../../../test/freePort.js"

/** The path of PgBouncer, which depends on the Linux distribution. */
const PROGRAM = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].find((path) => existsSync(path))

/** The reason why tests that need PgBouncer are skipped, or false if it is installed. */
export const NO_POOLER: string | false =
  PROGRAM === undefined && "There is no PgBouncer on this machine: install the package pgbouncer to run this test"

const answers = (port: number) =>
  Effect.async<void, Error>((resume) => {
    const socket = dial(port, "127.0.0.1")
    socket.on("connect", () => {
      socket.destroy()
      resume(Effect.void)
    })
    socket.on("error", (error) => resume(Effect.fail(error)))
  })

const targetOf = ({ hostname, port, username, password }: URL): string =>
  `host=${hostname} port=${port} user=${username}${password === "" ? "" : ` password=${password}`}`

const configOf = (url: URL, mode: "session" | "transaction", port: number): string => `[databases]
${url.pathname.slice(1)} = ${targetOf(url)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
auth_type = any
pool_mode = ${mode}
unix_socket_dir =
`

/**
 * Starts PgBouncer with its default settings in front of a database, on the port `at` or on a free port. Returns the
 * connection string through it. The end of the scope stops it.
 */
export const pooler = (
  url: string,
  mode: "session" | "transaction",
  at?: number
): Effect.Effect<string, never, Scope.Scope> =>
  Effect.gen(function* () {
    const target = new URL(url)
    const port = at ?? (yield* Effect.promise(() => freePort()))
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "workshop-pooler-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true }))
    )
    const config = join(folder, "pgbouncer.ini")
    writeFileSync(config, configOf(target, mode, port))
    chmodSync(folder, 0o755)
    // PgBouncer refuses to run as root.
    const user = process.getuid?.() === 0 ? ["-u", "nobody"] : []
    yield* Effect.acquireRelease(
      Effect.sync(() => spawn(PROGRAM!, ["-q", ...user, config], { stdio: "ignore" })),
      (child) =>
        Effect.async<void>((resume) => {
          child.once("exit", () => resume(Effect.void))
          child.kill("SIGTERM")
          child.kill("SIGQUIT")
        })
    )
    yield* Effect.orDie(
      Effect.retry(answers(port), Schedule.intersect(Schedule.spaced("20 millis"), Schedule.recurs(500)))
    )
    const through = new URL(url)
    through.host = `127.0.0.1:${port}`
    return through.href
  })
