import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { build as esbuild } from "esbuild"
import { connect } from "../../src/migrate/Session.js"

const root = fileURLToPath(new URL("../../../..", import.meta.url))

/** Where the bundle of server.mjs is, in a folder that other accounts may enter. */
let bundle = ""

/** Bundles server.mjs with the sources, because a process loads a thousand modules one by one in a second of processor time. */
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
    // Its paths lead to the sources.
    tsconfig: join(root, "tsconfig.test.json"),
    external: ["pg-native"],
    banner: {
      js: 'import { createRequire as requireFrom } from "node:module"\nconst require = requireFrom(import.meta.url)'
    }
  })
  bundle = outfile
}

/** A process of its own that keeps a Postgres in a folder. */
export class Server {
  readonly #child: ChildProcess
  /** Its first line: the connection string, or the error that it failed with. */
  readonly said: Promise<string>
  readonly #ended: Promise<unknown>
  /** Everything that it has printed so far, its log too. */
  output = ""

  constructor(dataDir: string, ids: { readonly uid?: number; readonly gid?: number } = {}) {
    // The bundle finds the programs of Postgres there.
    const env = { ...process.env, NODE_PATH: join(root, "node_modules") }
    const stdio = ["ignore", "pipe", "inherit"] as const
    this.#child = spawn(process.execPath, [bundle, dataDir], { cwd: "/", env, stdio: [...stdio], ...ids })
    this.#ended = once(this.#child, "close")
    this.#child.stdout?.on("data", (chunk) => {
      this.output += chunk
    })
    this.said = Promise.race([once(this.#child.stdout!, "data"), this.#ended]).then(() => this.output.trim())
  }

  /** Its connection string; rejects with the sentence of a server that did not start. */
  async url(): Promise<string> {
    const said = await this.said
    if (!said.startsWith("postgres://")) throw new Error(said)
    return said
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  async end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    this.#child.kill(signal)
    await this.#ended
  }
}

/** The process id of the server that keeps a folder's data. */
export const postmasterOf = (dataDir: string): number =>
  Number(readFileSync(join(dataDir, "postgres/cluster/postmaster.pid"), "utf8").split("\n")[0])

/** The processes whose command line holds a text. */
export const processesWith = (text: string): ReadonlyArray<number> =>
  execFileSync("ps", ["-eo", "pid=,args="], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes(text))
    .map((line) => Number.parseInt(line, 10))

/** Runs statements on a connection of their own and returns the rows of the last. */
export const ask = (url: string, ...statements: ReadonlyArray<string>): Promise<ReadonlyArray<unknown>> =>
  Effect.gen(function* () {
    const session = yield* connect(url, { schema: "public" })
    const answers = yield* Effect.forEach(statements, (sql) => session.run(sql))
    return answers.at(-1) ?? []
  }).pipe(Effect.scoped, Effect.runPromise)
