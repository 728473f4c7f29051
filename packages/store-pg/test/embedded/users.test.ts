import { execFileSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { canEnter, postgresUserFor, type SystemUser } from "../../src/embedded/Account.js"
import { binariesFor, reachableBinaries } from "../../src/embedded/Binaries.js"
import { dataDirectory } from "../../src/embedded/DataDirectory.js"
import { ask, build, Server } from "./Server.js"

beforeAll(build, 60_000)

const LONG = 60_000
const isRoot = process.getuid?.() === 0
const nobody: SystemUser = { name: "nobody", uid: 65_534, gid: 65_534 }
const clone = fileURLToPath(new URL(".", import.meta.url))
const VERSION = "18.9.0"

let folder = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "workshop-embedded-"))
  chmodSync(folder, 0o755)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }), 60_000)

const under = (...names: ReadonlyArray<string>): string => {
  const path = join(folder, ...names)
  mkdirSync(path, { recursive: true })
  return path
}

describe.runIf(isRoot)("under root", { timeout: LONG }, () => {
  it("root runs Postgres as the user who owns the data", () => {
    chownSync(folder, nobody.uid, nobody.gid)
    expect(postgresUserFor(folder)?.uid).toBe(nobody.uid)
  })

  it("programs in a folder that only root may enter are copied to a folder where Postgres's user can run them", async () => {
    const binaries = await Effect.runPromise(binariesFor(dataDirectory(folder), undefined))
    const closed = under("closed")
    chmodSync(closed, 0o700)
    cpSync(binaries.folder, join(closed, "native"), { recursive: true, verbatimSymlinks: true })
    const cache = join(folder, "cache")
    const copy = reachableBinaries(
      { folder: join(closed, "native"), version: VERSION },
      under("closed/data"),
      nobody,
      cache
    )
    expect(copy.folder).toBe(join(cache, `binaries-${VERSION}`))
    const version = execFileSync(join(copy.folder, "bin/postgres"), ["--version"], { ...nobody, encoding: "utf8" })
    expect(version).toMatch(/^postgres \(PostgreSQL\) 18\./)
  })

  it.runIf(canEnter(clone, nobody))(
    "an ordinary user runs Postgres as themselves, and another user is refused on their data",
    async () => {
      chownSync(folder, nobody.uid, nobody.gid)
      const first = new Server(folder, nobody)
      await ask(await first.url(), "select 1")
      await first.end("SIGTERM")
      expect(statSync(join(folder, "postgres/cluster")).uid).toBe(nobody.uid)
      expect(statSync(join(folder, "postgres")).mode & 0o777).toBe(0o700)
      const other = new Server(folder, { uid: 12_345, gid: 12_345 })
      expect(await other.firstLine).toBe(
        `The Postgres in ${folder} belongs to another user. Run this program as the user who created the data, or choose another dataDir.`
      )
    }
  )
})

/**
 * A package as npm unpacks it if install scripts are blocked: pg-symlinks.json lists the symbolic links, but none
 * exists.
 */
const bare = (): string => {
  const native = under("native")
  const files = ["bin/postgres", "bin/initdb", "lib/libpq.so.5.18", "lib/libpq.a", "share/postgresql/postgres.bki"]
  for (const file of files) {
    under("native", dirname(file))
    writeFileSync(join(native, file), file)
  }
  const links = [{ source: "native/lib/libpq.so.5.18", target: "native/lib/libpq.so.5" }]
  writeFileSync(join(native, "pg-symlinks.json"), JSON.stringify(links))
  return native
}

describe("if npm blocked the install script of the Postgres package", () => {
  it("the symbolic links are created in a copy beside the data, and the package stays unchanged", () => {
    const [native, place] = [bare(), under("data")]
    const copy = reachableBinaries({ folder: native, version: VERSION }, place, undefined)
    expect(copy.folder).toBe(join(place, `binaries-${VERSION}`))
    expect(lstatSync(join(copy.folder, "lib/libpq.so.5")).isSymbolicLink()).toBe(true)
    expect(statSync(join(copy.folder, "lib/libpq.so.5")).size).toBe("lib/libpq.so.5.18".length)
    expect(existsSync(join(copy.folder, "lib/libpq.a"))).toBe(false)
    expect(existsSync(join(native, "lib/libpq.so.5"))).toBe(false)
  })

  it("an incomplete copy is replaced, and a copy of another version is deleted", () => {
    const [native, place] = [bare(), under("data")]
    const older = reachableBinaries({ folder: native, version: "18.8.0" }, place, undefined)
    const { folder: copy } = reachableBinaries({ folder: native, version: VERSION }, place, undefined)
    expect(existsSync(older.folder)).toBe(false)
    writeFileSync(join(copy, "bin/initdb"), "")
    reachableBinaries({ folder: native, version: VERSION }, place, undefined)
    expect(statSync(join(copy, "bin/initdb")).size).toBe("bin/initdb".length)
  })

  it("a package that has its symbolic links is not copied", () => {
    const native = bare()
    symlinkSync("libpq.so.5.18", join(native, "lib/libpq.so.5"))
    expect(reachableBinaries({ folder: native, version: VERSION }, under("data"), undefined).folder).toBe(native)
  })
})
