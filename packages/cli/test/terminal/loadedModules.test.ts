import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { beforeAll, describe, expect, it } from "vitest"
import { bin, build, environment } from "../Workshop.js"

const root = fileURLToPath(new URL("../../../../", import.meta.url))
const compiled = `${root}packages/cli/dist/bin.js`

interface Coverage {
  readonly result: ReadonlyArray<{ readonly url: string }>
}

/** The files that a process of the program loads, from its V8 coverage. */
const loadedBy = async (program: string, words: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const folder = mkdtempSync(join(tmpdir(), "workshop-loaded-"))
  try {
    const env = environment({ NODE_V8_COVERAGE: folder })
    await promisify(execFile)(process.execPath, [program, ...words], { env })
    const loaded = readdirSync(folder).flatMap(
      (name) => (JSON.parse(readFileSync(join(folder, name), "utf8")) as Coverage).result
    )
    return loaded.flatMap(({ url }) => (url.startsWith("file:") ? [fileURLToPath(url)] : []))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Effect, the stores, the HTTP server and the testers' tools, which take most of a server's start time. */
const HEAVY = /\/node_modules\/(effect|@effect)\/|\/packages\/(core|store-[a-z]+|http-node|testers)\//

/** The name that Effect's fiber module contains, even in a bundle. */
const EFFECT = "effect/Fiber"

/** The comment with which esbuild begins a module of the testers' tools in a bundle. */
const TESTERS = "\n// ../testers/dist/"

describe("the modules that the command line loads (Specification, Commands)", { timeout: 60_000 }, () => {
  beforeAll(build, 300_000)

  it.each([["--help"], ["--version"]])(
    "workshop %s loads neither Effect nor a store nor the HTTP server nor the testers' tools",
    async (word) => {
      const files = await loadedBy(compiled, [word])
      expect(files).toContain(compiled)
      expect(files.filter((file) => HEAVY.test(file))).toEqual([])

      const chunks = await loadedBy(bin, [word])
      expect(chunks).toContain(`${root}packages/cli/bundle/bin.js`)
      expect(chunks.filter((file) => readFileSync(file, "utf8").includes(EFFECT))).toEqual([])
    }
  )

  it("the server and its help load no module of the testers' tools", async () => {
    const files = await loadedBy(compiled, ["serve", "--help"])
    expect(files.filter((file) => file.includes("/packages/testers/"))).toEqual([])
    const chunks = await loadedBy(bin, ["serve", "--help"])
    expect(chunks.filter((file) => readFileSync(file, "utf8").includes(TESTERS))).toEqual([])
    const others = await loadedBy(bin, ["simulate", "--seed", "1", "--steps", "1"])
    expect(others.some((file) => readFileSync(file, "utf8").includes(TESTERS))).toBe(true)
  })

  it("a command that needs Effect and a store loads them", async () => {
    const words = ["serve", "--help"]
    expect((await loadedBy(compiled, words)).some((file) => HEAVY.test(file))).toBe(true)
    expect((await loadedBy(bin, words)).some((file) => readFileSync(file, "utf8").includes(EFFECT))).toBe(true)
  })
})
