import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { inject } from "vitest"

const root = fileURLToPath(new URL("../../..", import.meta.url))
/** The executable behind the `workshop` command. */
export const bin = `${root}/packages/cli/bin/workshop.js`

/** The longest wait for output; shorter than a test's timeout, so that the error shows what the process printed. */
const TIMEOUT_MS = 55_000

/** Asks the global setup to build the program and its bundle, which it does once per test run. */
export const build = async (): Promise<void> => {
  const built = await fetch(`http://127.0.0.1:${inject("clusterDoor")}/build`)
  if (!built.ok) throw new Error(`The build failed: ${await built.text()}`)
}

/** The environment of the test process without the `WORKSHOP_*` variables, because they would set flags. */
export const environment = (extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("WORKSHOP_"))),
  ...extra
})

/** A `workshop` process. */
export class Workshop {
  stdout = ""
  stderr = ""
  /** The exit status, or the signal that ended the process. */
  readonly exited: Promise<number | string | null>
  readonly #child: ChildProcess

  /** `cwd` is the working directory; by default the one of the test process. */
  constructor(args: ReadonlyArray<string>, extra: Readonly<Record<string, string>> = {}, cwd?: string) {
    this.#child = spawn(process.execPath, [bin, ...args], {
      cwd,
      env: environment(extra),
      stdio: ["ignore", "pipe", "pipe"]
    })
    this.#child.stdout?.on("data", (chunk) => {
      this.stdout += chunk
      this.#child.emit("said")
    })
    this.#child.stderr?.on("data", (chunk) => {
      this.stderr += chunk
      this.#child.emit("said")
    })
    this.exited = once(this.#child, "close").then(([status, signal]) => {
      this.#child.emit("said")
      return status ?? signal
    })
  }

  /** Waits until standard output matches the pattern. Throws if the process ends first. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    const timeout = AbortSignal.timeout(TIMEOUT_MS)
    while (true) {
      const found = pattern.exec(this.stdout)
      if (found !== null) return found
      const said = `${this.stdout}${this.stderr}`
      if (this.#child.exitCode !== null) throw new Error(`It ended: ${said}`)
      if (timeout.aborted) throw new Error(`Waited ${TIMEOUT_MS / 1000} s for ${pattern}; it printed: ${said}`)
      await once(this.#child, "said", { signal: timeout }).catch(() => undefined)
    }
  }

  /** Waits until the process has printed its address and key, and returns them. */
  async listens(): Promise<{ readonly base: string; readonly port: number; readonly key: string }> {
    const [, base = "", port = ""] = await this.says(/^Listening on (http:\/\/\S+:(\d+))$/m)
    const [, key = ""] = await this.says(/^export WORKSHOP_KEY=(wk_(?:live|test)_\S+)$/m)
    return { base, port: Number(port), key }
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }
}

/** Runs a command, and waits until its process ends. */
export const run = async (args: ReadonlyArray<string>, extra: Readonly<Record<string, string>> = {}, cwd?: string) => {
  const workshop = new Workshop(args, extra, cwd)
  const status = await workshop.exited
  return { status, stdout: workshop.stdout, stderr: workshop.stderr }
}

/** The `workshop` processes that a test file starts. */
export class Workshops {
  readonly #started: Array<Workshop> = []

  start(args: ReadonlyArray<string>, extra: Readonly<Record<string, string>> = {}): Workshop {
    const workshop = new Workshop(args, extra)
    this.#started.push(workshop)
    return workshop
  }

  /** Kills the processes that still run, and waits until all have ended. */
  async end(): Promise<void> {
    for (const workshop of this.#started) {
      workshop.kill("SIGKILL")
      await workshop.exited
    }
  }
}
