import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Schedule } from "effect"
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest"
import * as EmbeddedPostgres from "../../src/embedded/EmbeddedPostgres.js"
import { ask, build, postmasterOf, processesWith, Server } from "./Server.js"

let folder = ""
let log = ""
beforeAll(async () => {
  await build()
  folder = mkdtempSync(join(tmpdir(), "workshop-embedded-"))
  log = join(folder, "postgres/postgres.log")
}, 60_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const LONG = 60_000
const KEPT = [{ n: 42 }]

let first: Server
let url = ""
beforeEach(async () => {
  first = new Server(folder)
  url = await first.url()
  await ask(url, "drop table if exists kept", "create table kept (n integer)", "insert into kept values (42)")
}, LONG)

const keptAfterStart = () =>
  EmbeddedPostgres.startServer({ dataDir: folder }).pipe(
    Effect.flatMap(({ url }) => Effect.promise(() => ask(url, "select n from kept"))),
    Effect.scoped,
    Effect.runPromise
  )

describe("the durability of an embedded Postgres", { timeout: LONG }, () => {
  it("committed data survives kill -9 of the server and of the process that runs it", async () => {
    // SIGSTOP keeps the process from restarting the killed server before the process is killed itself.
    process.kill(first.pid, "SIGSTOP")
    process.kill(postmasterOf(folder), "SIGKILL")
    await first.end("SIGKILL")
    expect(await keptAfterStart()).toEqual(KEPT)
  })

  it("committed data survives kill -9 of the process alone, after which its server shuts down by itself", async () => {
    const before = readFileSync(log, "utf8").length
    await first.end("SIGKILL")
    expect(await keptAfterStart()).toEqual(KEPT)
    const logged = readFileSync(log, "utf8").slice(before)
    expect(logged.match(/database system is shut down\n/g)).toHaveLength(2)
    expect(logged).not.toContain("automatic recovery")
  })

  it("the next start stops a server that a killed process left running", async () => {
    const left = postmasterOf(folder)
    const watchers = processesWith(`port=${new URL(url).port} `).filter((pid) => pid !== left)
    expect(watchers).toHaveLength(1)
    for (const pid of watchers) process.kill(pid, "SIGKILL")
    await first.end("SIGKILL")
    expect(postmasterOf(folder)).toBe(left)
    expect(await keptAfterStart()).toEqual(KEPT)
  })

  it("the process restarts a killed server at the same address", async () => {
    process.kill(postmasterOf(folder), "SIGKILL")
    const again = Effect.retry(
      Effect.tryPromise(() => ask(url, "select n from kept")),
      Schedule.intersect(Schedule.spaced("50 millis"), Schedule.recurs(400))
    )
    expect(await Effect.runPromise(again)).toEqual(KEPT)
    await vi.waitFor(
      () => expect(first.output).toMatch(/ended unexpectedly[\s\S]*The embedded Postgres is running again/),
      60_000
    )
    await first.end("SIGTERM")
  })

  it("an embedded Postgres has every durability setting on", async () => {
    const settings = ["fsync", "full_page_writes", "synchronous_commit", "data_checksums"]
    const rows = await ask(url, `select ${settings.map((name) => `current_setting('${name}') as ${name}`).join(", ")}`)
    await first.end("SIGTERM")
    expect(rows).toEqual([{ fsync: "on", full_page_writes: "on", synchronous_commit: "on", data_checksums: "on" }])
  })
})

describe("the shutdown of an embedded Postgres", { timeout: LONG }, () => {
  it("the server shuts down cleanly with its process, and starts again even if another process now has its old process id", async () => {
    const pidFile = join(folder, "postgres/cluster/postmaster.pid")
    const written = readFileSync(pidFile, "utf8")
    await first.end("SIGTERM")
    expect(existsSync(pidFile)).toBe(false)
    writeFileSync(pidFile, written.replace(/^\d+/, String(process.pid)))
    expect(await keptAfterStart()).toEqual(KEPT)
  })

  it("closing the scope waits until the server has shut down", async () => {
    await first.end("SIGTERM")
    const started = Effect.as(EmbeddedPostgres.startServer({ dataDir: folder }), () => postmasterOf(folder))
    const pid = await Effect.runPromise(Effect.scoped(Effect.map(started, (read) => read())))
    expect(() => process.kill(pid, 0)).toThrow("ESRCH")
  })
})

describe.runIf(process.getuid?.() === 0)("under root", { timeout: LONG }, () => {
  it("started by root, Postgres runs as another user, even if only root may enter the data folder", async () => {
    await first.end("SIGTERM")
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(statSync(folder).uid).toBe(0)
    expect(statSync(join(folder, "postgres/cluster")).uid).not.toBe(0)
  })
})
