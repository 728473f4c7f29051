import { appendFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { binariesFor } from "../../src/embedded/Binaries.js"
import { dataDirectory } from "../../src/embedded/DataDirectory.js"
import * as EmbeddedPostgres from "../../src/embedded/EmbeddedPostgres.js"
import { build, Server } from "./Server.js"

beforeAll(build, 60_000)

const LONG = 60_000

/** Starts an embedded Postgres that must fail to start, and returns its error. */
const refusalOf = (dataDir: string, settings: Readonly<Record<string, string>> = {}) =>
  Effect.runPromise(Effect.flip(Effect.scoped(EmbeddedPostgres.startServer({ dataDir, settings }))))

let folder = ""
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "workshop-embedded-"))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe("an embedded Postgres that cannot start fails with a remedy", { timeout: LONG }, () => {
  it("if two processes start at once on one new data directory, one is refused, and a CLI command can share the other's server", async () => {
    const both = [new Server(folder), new Server(folder)]
    const firstLines = await Promise.all(both.map((server) => server.firstLine))
    const first = both[firstLines.findIndex((line) => line.startsWith("postgres://"))]
    expect(firstLines.filter((line) => line.startsWith(`The data directory ${folder} is in use by`))).toHaveLength(1)
    const { reason, message } = await refusalOf(folder)
    expect(reason).toBe("in_use")
    expect(message).toBe(
      `The data directory ${folder} is in use by the process ${first?.pid}. Stop that process, or choose another dataDir.`
    )
    const { url } = await Effect.runPromise(Effect.scoped(EmbeddedPostgres.shareServer({ dataDir: folder })))
    expect(url).toBe(await first?.url())
    await Promise.all(both.map((server) => server.end("SIGTERM")))
  })

  it("the error quotes the server's own message if the server does not start, even if the log was rotated because of its size", async () => {
    const log = join(folder, "postgres/postgres.log")
    for (const filling of ["", "a long day\n".repeat(1_000_000)]) {
      appendFileSync(log, filling)
      const { reason, message } = await refusalOf(folder, { no_such_setting: "on" })
      expect(reason).toBe("failed")
      expect(message).toMatch(
        /^Postgres cannot run in .* \(unrecognized configuration parameter "no_such_setting", see .*postgres\.log\)\. Choose/
      )
    }
    expect([statSync(log).size < 1_000, statSync(`${log}.1`).size > 10_000_000]).toEqual([true, true])
  })

  it("data of another version of Postgres is refused", async () => {
    writeFileSync(join(folder, "postgres/cluster/PG_VERSION"), "17\n")
    const { reason, message } = await refusalOf(folder)
    expect(reason).toBe("other_version")
    expect(message).toMatch(
      /^The data in .* were written by Postgres 17, but this program contains Postgres 18\. Dump the data.*into a new dataDir\.$/
    )
  })

  it("a platform for which npm has no Postgres package is refused", async () => {
    const { reason, message } = await Effect.runPromise(
      Effect.flip(binariesFor(dataDirectory("/nowhere"), undefined, "sunos-x64"))
    )
    expect(reason).toBe("no_binaries")
    expect(message).toBe(
      "npm installed no embedded Postgres for sunos-x64, because there is none for this platform or optional dependencies were omitted. Use another store, such as @workshop/store-memory, or PgStore with your own Postgres."
    )
  })

  it("a data directory that cannot be created is refused", async () => {
    const { reason, message } = await refusalOf(join(folder, "postgres/password"))
    expect(reason).toBe("failed")
    expect(message).toMatch(
      /^Postgres cannot run in .*\/password \(ENOTDIR.*\). Choose another dataDir, or use another store, such as/
    )
  })
})
