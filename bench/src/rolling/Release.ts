import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"

/** A version of the program in a folder, installed and built. */
export interface Release {
  readonly name: string
  readonly folder: string
}

/** The program of this folder. */
export const present: Release = { name: "this program", folder: join(import.meta.dirname, "../../..") }

const git = (...args: ReadonlyArray<string>) => execFileSync("git", args, { cwd: present.folder, maxBuffer: 2 ** 30 })

/** The program of a commit. It is installed and built once, in a temporary folder. */
export const releaseOf = (commit: string): Release => {
  const name = git("rev-parse", "--short=10", `${commit}^{commit}`).toString().trim()
  const folder = join(tmpdir(), `workshop-release-${name}`)
  if (!existsSync(folder)) {
    console.log(`Installing ${name} …`)
    const fresh = `${folder}.${process.pid}.new`
    rmSync(fresh, { recursive: true, force: true })
    mkdirSync(fresh)
    execFileSync("tar", ["-x"], { cwd: fresh, input: git("archive", name) })
    execFileSync("npm", ["ci", "--silent"], { cwd: fresh, stdio: ["ignore", "ignore", "inherit"] })
    renameSync(fresh, folder)
  }
  return { name, folder }
}

const bin = ({ folder }: Release) => join(folder, "packages/cli/bin/workshop.js")

/** Runs a command of a release, and returns its output. */
export const run = (release: Release, ...args: ReadonlyArray<string>): string =>
  execFileSync(process.execPath, [bin(release), ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] })

/** A process of `workshop serve`. */
export class ServiceNode {
  readonly name: string
  readonly port: number
  readonly #process: ChildProcess

  private constructor(name: string, port: number, process: ChildProcess) {
    this.name = name
    this.port = port
    this.#process = process
  }

  /** Starts a node on a migrated database and a free port. */
  static async start(name: string, release: Release, url: string): Promise<ServiceNode> {
    const args = ["serve", "--no-migrate", "--database-url", url, "--port", "0", "--log-level", "error"]
    const child = spawn(process.execPath, [bin(release), ...args], { stdio: ["ignore", "pipe", "inherit"] })
    for await (const line of createInterface({ input: child.stdout })) {
      const [, port] = /http:\/\/127\.0\.0\.1:(\d+)/.exec(line) ?? []
      if (port === undefined) continue
      child.stdout.resume()
      return new ServiceNode(`${name} (${release.name})`, Number(port), child)
    }
    throw new Error(`${release.name} ended with status ${child.exitCode} before it served`)
  }

  /** Requests `/readyz`. Returns undefined if the node is ready, otherwise the reason why it is not. */
  async unready(): Promise<string | undefined> {
    const response = await fetch(`http://127.0.0.1:${this.port}/readyz`)
    const body = (await response.json()) as { readonly error?: { readonly message: string } }
    return response.ok ? undefined : (body.error?.message ?? `status ${response.status}`)
  }

  /** Stops the node like a supervisor, with SIGTERM. */
  async stop(): Promise<void> {
    if (this.#process.exitCode !== null) return
    const exit = once(this.#process, "exit")
    this.#process.kill("SIGTERM")
    await exit
  }
}
