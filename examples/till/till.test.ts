import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createClient } from "@workshop/client"
import { mountFetch } from "@workshop/core/http"
import * as Workshop from "@workshop/core/promise"
import { SettableClock } from "@workshop/core/testing"
import * as MemoryStore from "@workshop/store-memory"
import { afterEach, beforeEach, expect, it } from "vitest"
import { openDisk } from "./DiskFile.js"
import { run } from "./run.js"
import { sync, take } from "./Till.js"

let folder = ""
let path = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "workshop-till-"))
  path = join(folder, "kept/till.json")
})
afterEach(() => rmSync(folder, { recursive: true }))

/** A workshop with a shop, and a connection to it that can be interrupted. */
const opened = async () => {
  const clock = new SettableClock()
  const workshop = await Workshop.start({ store: MemoryStore.layer, clock, background: false })
  const keyOf = async (name: string) => {
    const shop = await workshop.shops.create({ name, currency: "EUR", decimals: 2, time_zone: "Europe/Paris" })
    if (!shop.ok) throw shop.refusal
    const key = await workshop.keys.create(shop.value.id, { name: "till", scopes: ["tickets:read", "tickets:write"] })
    if (!key.ok) throw key.refusal
    return key.value.key
  }
  const line: { state: "up" | "down" | "answers get lost" } = { state: "up" }
  const requests: Array<string> = []
  const serve = mountFetch(workshop)
  const fetch = async (request: Request) => {
    requests.push(`${request.method} ${request.url}`)
    if (line.state === "down") throw new TypeError("fetch failed")
    const answer = await serve(request)
    if (line.state === "answers get lost" && request.method === "POST") throw new TypeError("socket hang up")
    return answer
  }
  const options = { fetch, wait: async () => undefined }
  return { workshop, clock, line, asked: requests, options, keyOf, key: await keyOf("Lac") }
}

/** Runs the till once, and returns its exit status and the lines that it printed. */
const shift = async (key: string | undefined, options: Awaited<ReturnType<typeof opened>>["options"]) => {
  const [log, error]: [Array<string>, Array<string>] = [[], []]
  const screen = {
    log: (...words: ReadonlyArray<unknown>) => void log.push(words.join(" ")),
    error: (...words: ReadonlyArray<unknown>) => void error.push(words.join(" "))
  }
  const environment = { WORKSHOP_URL: "http://shop.example", WORKSHOP_KEY: key, WORKSHOP_TILL: path }
  return { status: await run(environment, screen, options), log, error }
}

it("a till creates tickets while it is offline, and syncs without a gap or a duplicate (Specification, Lists and sync; Idempotency)", async () => {
  const { workshop, line, options, key } = await opened()
  const client = createClient({ baseUrl: "http://shop.example", key, ...options })
  line.state = "down"
  const disk = openDisk(path)
  take(disk, { service: "Hem", price_minor: 1200 })
  take(disk, { service: "", price_minor: 500 })
  expect(await sync(client, disk)).toMatchObject({ problem: { code: "UNREACHABLE" } })
  expect(disk.outbox.size).toBe(2)

  line.state = "answers get lost"
  await sync(client, disk)
  line.state = "up"
  const { refused } = await sync(client, disk)
  expect(refused).toHaveLength(1)
  expect(disk.outbox.size).toBe(0)
  expect([...disk.tickets.values()].map(({ service, number }) => `${number} ${service}`)).toEqual(["1 Hem"])

  const [ticket] = disk.tickets.values()
  await client.tickets.changeStatus(ticket!.id, "ready")
  expect(await sync(client, disk)).toMatchObject({ problem: null })
  expect(disk.tickets.get(ticket!.id)?.state).toBe("ready")
  await workshop.stop()
})

it("the old ticket of a replay never replaces a newer state (Specification, Idempotency)", async () => {
  const { workshop, clock, line, options, key } = await opened()
  const client = createClient({ baseUrl: "http://shop.example", key, ...options })
  const other = createClient({ baseUrl: "http://shop.example", key, fetch: mountFetch(workshop) })
  const disk = openDisk(path)
  take(disk, { service: "Hem", price_minor: 1200 })
  line.state = "answers get lost"
  await sync(client, disk)
  const [ticket] = disk.tickets.values()
  expect([disk.outbox.size, ticket?.state]).toEqual([1, "workshop"])

  clock.advance(1000)
  await other.tickets.changeStatus(ticket!.id, "ready")
  clock.advance(1000)
  await other.tickets.create({ service: "Zip" })
  await sync(client, disk)
  expect(disk.tickets.get(ticket!.id)?.state).toBe("ready")

  line.state = "up"
  await sync(client, disk)
  expect([disk.outbox.size, disk.tickets.get(ticket!.id)?.state]).toEqual([0, "ready"])
  await workshop.stop()
})

it("a second sync reads only the changes since the first (Specification, Lists and sync)", async () => {
  const { workshop, clock, asked: requests, options, key } = await opened()
  const other = createClient({ baseUrl: "http://shop.example", key, ...options })
  for (const service of ["Hem", "Zip", "Lining"]) {
    await other.tickets.create({ service })
    clock.advance(1000)
  }
  expect(await shift(key, options)).toMatchObject({
    status: 0,
    log: { 0: expect.stringMatching(/^4 changes .* 0 waiting/), length: 5 }
  })

  const { syncedUntil } = openDisk(path)
  clock.advance(1000)
  requests.length = 0
  // The second run reads its own sale, and again the last change of the first run, because `updated_since` is
  // inclusive.
  const second = await shift(key, options)
  expect(second).toMatchObject({ status: 0, log: { 0: expect.stringMatching(/^2 changes .* 0 waiting/), length: 6 } })
  const [read] = requests.filter((line) => line.includes("updated_since"))
  expect(new URL(read!.split(" ")[1]!).searchParams.get("updated_since")).toBe(syncedUntil)
  await workshop.stop()
})

it("the till's saved data are complete, even after a crash during a write", async () => {
  const { workshop, options, key } = await opened()
  await shift(key, options)
  const before = readFileSync(path, "utf8")
  mkdirSync(`${path}.new`)
  await expect(shift(key, options)).rejects.toThrow("EISDIR")
  expect(readFileSync(path, "utf8")).toBe(before)
  rmSync(`${path}.new`, { recursive: true })
  expect(await shift(key, options)).toMatchObject({ status: 0 })
  expect(openDisk(path).tickets.size).toBe(2)
  await workshop.stop()
})

it("the till reports a wrong key, an unavailable server and another shop's file, with exit status 1", async () => {
  const { workshop, line, options, key, keyOf } = await opened()
  expect(await shift(undefined, options)).toMatchObject({
    status: 1,
    error: [expect.stringMatching(/^Set WORKSHOP_KEY /)]
  })
  expect(existsSync(path)).toBe(false)
  expect(await shift("wk_live_no", options)).toEqual({
    status: 1,
    log: [],
    error: [
      "http://shop.example does not know this WORKSHOP_KEY: `npm start` prints one, `workshop key create` makes another. The sale is kept."
    ]
  })
  line.state = "down"
  expect(await shift(key, options)).toEqual({
    status: 1,
    log: [],
    error: ["No response from http://shop.example: fetch failed. The sale is kept, and goes out next time."]
  })
  line.state = "up"
  // Both sales are still in the outbox, and are sent now with the third.
  expect(await shift(key, options)).toMatchObject({ status: 0, log: { length: 4 } })
  expect(await shift(await keyOf("Rive"), options)).toMatchObject({
    status: 1,
    error: [`${path} keeps another shop's tickets: name another file with WORKSHOP_TILL, or remove it.`]
  })
  await workshop.stop()
})
