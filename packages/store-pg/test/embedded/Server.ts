import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { build as esbuild } from "esbuild"
import { openMigrationSession } from "../../src/migrate/Session.js"

const root = fileURLToPath(new URL("../../../..", import.meta.url))

/** The path of the bundle of server.mjs, in a folder that other users may enter. */
let bundle = ""

/**
 * Bundles server.mjs with the sources, because loading its thousand modules takes each process a second of processor
 * time.
 */
export const build = async (): Promise<void> => {
  if (bundle !== "") return
  const folder = mkdtempSync(join(tmpdir(), "workshop-server-"))
  chmodSync(folder, 0o755)
  const outfile = join(folder, "server.mjs")
  await esbuild({
    entryPoints: [fileURLToPath(new URL("server.mjs", import.meta.url))],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    // The paths of this configuration map the packages to their sources.
    tsconfig: join(root, "tsconfig.test.json"),
    external: ["pg-native"],
    banner: {
      js: 'import { createRequire as requireFrom } from "node:module"\nconst require = requireFrom(import.meta.url)'
    }
  })
  bundle = outfile
}

/** A child process that runs an embedded Postgres with its data in `dataDir`. */
export class Server {
  readonly #child: ChildProcess
  /** The first line that the process prints: the connection string, or its error. */
  readonly firstLine: Promise<string>
  readonly #ended: Promise<unknown>
  /** The output of the process so far, including its log. */
  output = ""

  constructor(dataDir: string, ids: { readonly uid?: number; readonly gid?: number } = {}) {
    // The bundle loads the package with the programs of Postgres from NODE_PATH.
    const env = { ...process.env, NODE_PATH: join(root, "node_modules") }
    const stdio = ["ignore", "pipe", "inherit"] as const
    this.#child = spawn(process.execPath, [bundle, dataDir], { cwd: "/", env, stdio: [...stdio], ...ids })
    this.#ended = once(this.#child, "close")
    this.#child.stdout?.on("data", (chunk) => {
      this.output += chunk
    })
    this.firstLine = Promise.race([once(this.#child.stdout!, "data"), this.#ended]).then(() => this.output.trim())
  }

  /** The connection string. Rejects with the printed error if Postgres did not start. */
  async url(): Promise<string> {
    const firstLine = await this.firstLine
    if (!firstLine.startsWith("postgres://")) throw new Error(firstLine)
    return firstLine
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  async end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    this.#child.kill(signal)
    await this.#ended
  }
}

/** The process id of the Postgres server whose data is in a folder. */
export const postmasterOf = (dataDir: string): number =>
  Number(readFileSync(join(dataDir, "postgres/cluster/postmaster.pid"), "utf8").split("\n")[0])

/** The ids of the processes whose command line contains `text`. */
export const processesWith = (text: string): ReadonlyArray<number> =>
  execFileSync("ps", ["-eo", "pid=,args="], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes(text))
    .map((line) => Number.parseInt(line, 10))

/** Runs statements on a new connection and returns the rows of the last statement. */
export const ask = (url: string, ...statements: ReadonlyArray<string>): Promise<ReadonlyArray<unknown>> =>
  Effect.gen(function* () {
    const session = yield* openMigrationSession(url, { schema: "public" })
    const answers = yield* Effect.forEach(statements, (sql) => session.run(sql))
    return answers.at(-1) ?? []
  }).pipe(Effect.scoped, Effect.runPromise)
