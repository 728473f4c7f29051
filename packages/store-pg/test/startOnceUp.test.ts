import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { LogLine, PromiseOptions, PromiseWorkshop } from "@workshop/core/promise"
import * as MemoryStore from "@workshop/store-memory"
import { Layer } from "effect"
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest"
import { DatabaseFailed } from "../src/connection/DatabaseFailed.js"
import { MigratedStore } from "../src/index.js"

type StartOnceUp = <E>(options: PromiseOptions<E>, tries?: number, pause_ms?: number) => Promise<PromiseWorkshop>

const root = fileURLToPath(new URL("../../..", import.meta.url))
let folder = ""
let startOnceUp: StartOnceUp

// The function is copied from the page docs/embed.md.
beforeAll(async () => {
  const page = readFileSync(join(root, "docs/embed.md"), "utf8")
  const [, text = ""] = /^```ts\n\/\/ src\/startOnceUp\.ts\n([\s\S]*?)^```/m.exec(page) ?? []
  mkdirSync(join(root, ".workshop"), { recursive: true })
  folder = mkdtempSync(join(root, ".workshop", "start-once-up-"))
  writeFileSync(join(folder, "startOnceUp.ts"), text)
  ;({ startOnceUp } = await import(join(folder, "startOnceUp.ts")))
})
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(() => void vi.restoreAllMocks())

const url = "postgres://amira:geheim5f1@127.0.0.1:1/shop"
const LINE =
  "The workshop waits for its database. The database cannot be reached (connect ECONNREFUSED 127.0.0.1:1). Check that the database server is running, and that the store's url has its address."

it("startOnceUp passes each failed try to the option logger, and rejects with the last error (docs/embed.md)", async () => {
  const warn = vi.spyOn(console, "warn")
  const lines: Array<LogLine> = []
  const logger = (line: LogLine) => void lines.push(line)
  await expect(startOnceUp({ store: MigratedStore.layer({ url }), logger }, 3, 0)).rejects.toMatchObject({
    _tag: "DatabaseFailed",
    reason: "unreachable"
  })
  expect(lines.map(({ level, message }) => [level, message])).toEqual([
    ["warning", LINE],
    ["warning", LINE]
  ])
  expect(warn).not.toHaveBeenCalled()
})

it("startOnceUp without a logger reports failed tries to the console, and starts once the database is up (docs/embed.md)", async () => {
  const warn = vi.spyOn(console, "warn").mockReturnValue()
  let away = 2
  const store = Layer.suspend(() =>
    away-- > 0
      ? Layer.fail(new DatabaseFailed({ reason: "unreachable", code: undefined, what: "It is away" }))
      : MemoryStore.layer
  )
  const workshop = await startOnceUp({ store, background: false }, 40, 0)
  expect(await workshop.ready()).toEqual({ ready: true })
  expect(warn).toHaveBeenCalledTimes(2)
  await workshop.stop()
})

it("startOnceUp rejects at once with an error that a retry cannot fix (docs/embed.md)", async () => {
  const warn = vi.spyOn(console, "warn")
  const store = MigratedStore.layer({ url, schema: "pg_wrong" })
  await expect(startOnceUp({ store }, 40, 0)).rejects.toMatchObject({ _tag: "OptionRefused", option: "schema" })
  expect(warn).not.toHaveBeenCalled()
})
