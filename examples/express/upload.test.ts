import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { StoreUnavailable } from "@workshop/core"
import * as Workshop from "@workshop/core/promise"
import { Store } from "@workshop/core/store"
import * as MemoryStore from "@workshop/store-memory"
import { Context, Effect, Layer } from "effect"
import express, { type Express, type Request } from "express"
import { afterAll, beforeAll, expect, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
let folder = ""
let addUpload: (app: Express, workshop: Workshop.PromiseWorkshop, shopOf: (request: Request) => string | null) => void

/** The route of the page docs/import.md. */
beforeAll(async () => {
  const page = readFileSync(join(root, "docs/import.md"), "utf8")
  const [, text = ""] = /^```ts\n\/\/ src\/upload\.ts\n([\s\S]*?)^```/m.exec(page) ?? []
  mkdirSync(join(root, ".workshop"), { recursive: true })
  folder = mkdtempSync(join(root, ".workshop", "upload-"))
  writeFileSync(join(folder, "upload.ts"), text)
  ;({ addUpload } = await import(join(folder, "upload.ts")))
})
afterAll(() => rmSync(folder, { recursive: true }))

it("an upload of CSV is imported, and an upload of another content type is refused (docs/import.md)", async () => {
  const workshop = await Workshop.start({ store: MemoryStore.layer, background: false })
  const { id } = await workshop.orThrow.shops.create({ name: "Needle", currency: "EUR", time_zone: "Europe/Paris" })
  const app = express()
  app.use(express.json())
  addUpload(app, workshop, () => id)
  const server = app.listen(0, "127.0.0.1")
  await new Promise((resolve) => server.once("listening", resolve))
  const upload = (type: string) =>
    fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/admin/import`, {
      method: "POST",
      headers: { "content-type": type, connection: "close" },
      body: "external_ref,service\nA-1,Hem\nA-2,Zip,extra\n"
    })
  const imported = await upload("text/csv; charset=utf-8")
  expect([imported.status, await imported.json()]).toMatchObject([200, { tickets: 1, bad_rows: [{ line: 3 }] }])
  const refused = await upload("application/x-www-form-urlencoded")
  expect([refused.status, await refused.text()]).toEqual([415, "Send application/x-ndjson or text/csv\n"])
  await new Promise((resolve) => server.close(resolve))
  await workshop.stop()
})

it("an upload of JSON lines is imported, or reports the written rows with a 503, after which a repetition completes it (docs/import.md)", async () => {
  /** The number of commands until the store becomes unavailable. */
  let commands = 1
  const store = Layer.map(MemoryStore.layer, (ports) => {
    const { transact } = Context.get(ports, Store)
    return Context.add(ports, Store, {
      transact: (command) => (commands-- > 0 ? transact(command) : Effect.fail(new StoreUnavailable({})))
    })
  })
  const workshop = await Workshop.start({ store, background: false })
  const { id } = await workshop.orThrow.shops.create({ name: "Needle", currency: "EUR", time_zone: "Europe/Paris" })
  const app = express()
  app.use(express.json())
  addUpload(app, workshop, (request) => (request.headers.cookie === "session=amira" ? id : null))
  const server = app.listen(0, "127.0.0.1")
  await new Promise((resolve) => server.once("listening", resolve))
  const rows = Array.from({ length: 600 }, (_, i) => JSON.stringify({ external_ref: `A-${i}`, service: "Hem" }))
  const upload = async (cookie: string) => {
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/admin/import`, {
      method: "POST",
      headers: { cookie, "content-type": "application/x-ndjson", connection: "close" },
      body: rows.join("\n")
    })
    return { status: response.status, body: response.status === 401 ? null : await response.json() }
  }
  expect((await upload("")).status).toBe(401)
  const cut = await upload("session=amira")
  expect(cut).toMatchObject({ status: 503, body: { error: { code: "UNAVAILABLE" } } })
  const { rows: read, tickets } = cut.body.so_far
  expect([read > 0 && read < 600, tickets]).toEqual([true, read])
  commands = 1_000
  expect(await upload("session=amira")).toMatchObject({
    status: 200,
    body: { rows: 600, tickets: 600 - read, already: read }
  })
  await new Promise((resolve) => server.close(resolve))
  await workshop.stop()
})
