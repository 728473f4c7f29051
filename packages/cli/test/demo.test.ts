import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { ClientInput, Clients, Keys, Shops } from "@workshop/core"
import { Effect, Exit, Schema, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { testDatabase } from "../../store-pg/test/cluster/TestDatabase.js"
import { servicesLayer } from "../src/owner/ownerCommand.js"
import { demoSteps, openDemoShop } from "../src/serve/DemoShop.js"
import { runCommandLine } from "./runCommandLine.js"
import { build, run, type Workshop, Workshops } from "./Workshop.js"

const LONG = { timeout: 240_000 }
const processes = new Workshops()

beforeAll(build, 120_000)
afterAll(() => processes.end(), 60_000)

const databases = Effect.runSync(Scope.make())
afterAll(() => Effect.runPromise(Scope.close(databases, Exit.void)))

/** An environment that names a new, empty database, because an embedded Postgres takes longer to start. */
const aDatabase = async () => {
  const { url } = await Effect.runPromise(Scope.extend(testDatabase, databases))
  return { DATABASE_URL: url }
}

type Surroundings = Awaited<ReturnType<typeof aDatabase>>

/** Starts `workshop serve`, reads the shop of the printed key, and stops the process. */
const shopOfStart = async (there: Surroundings, ...flags: ReadonlyArray<string>) => {
  const workshop = processes.start(["serve", "--port", "0", ...flags], there)
  const { base, key } = await workshop.listens()
  const response = await fetch(`${base}/v1/shop`, { headers: { Authorization: `Bearer ${key}` } })
  const { data } = (await response.json()) as { readonly data: { readonly id: string; readonly name: string } }
  workshop.kill("SIGTERM")
  return { shop: data, status: await workshop.exited, stdout: workshop.stdout, stderr: workshop.stderr }
}

const shops = async (there: Surroundings): Promise<ReadonlyArray<{ readonly id: string; readonly name: string }>> =>
  JSON.parse((await runCommandLine(["shop", "list", "--json"], there)).stdout)

describe("a first start (Specification, Commands)", LONG, () => {
  it("a first start on a taken port opens no shop, so the next start shows a key; a second --demo reuses its shop", async () => {
    const there = await aDatabase()
    const taken = createServer().listen(0, "127.0.0.1")
    await once(taken, "listening")
    const { port } = taken.address() as AddressInfo
    const refused = await run(["serve", "--port", String(port)], there)
    expect(refused).toMatchObject({
      status: 1,
      stdout: "",
      stderr: expect.stringContaining(`${port} is already in use`)
    })
    taken.close()
    expect(await shops(there)).toEqual([])

    expect(await shopOfStart(there)).toMatchObject({ shop: { name: "My workshop" }, status: 0, stderr: "" })
    const first = await shopOfStart(there, "--demo")
    expect(first).toMatchObject({ shop: { name: "Demo workshop" }, status: 0, stderr: "" })
    const [mine] = await shops(there)
    const plain = processes.start(["serve", "--port", "0"], { ...there, npm_command: "exec" })
    await plain.says(
      /create another key with these commands \(set DATABASE_URL as for this process\):\nnpx workshop shop list\n/
    )
    expect(plain.stdout).toContain("\nnpx workshop key create SHOP --name Till\n")
    plain.kill("SIGTERM")
    await plain.exited
    const made = await runCommandLine(["key", "create", mine!.id, "--name", "Till", "--json"], there)
    expect(JSON.parse(made.stdout)).toMatchObject({ shop_id: mine!.id })
    const second = await shopOfStart(there, "--demo")
    expect(second).toMatchObject({ shop: first.shop, status: 0, stderr: "" })
    expect(second.stdout).toContain(
      "The shop Demo workshop exists from an earlier start. Here is a new key for it, which is shown only this once:"
    )
    expect((await shops(there)).map(({ name }) => name)).toEqual(["My workshop", "Demo workshop"])
  })
})

describe("a reset of the sandbox (Specification, Sandbox)", LONG, () => {
  it("a reset sandbox has a new demo shop with the same key, and its scenarios do not move its clock", async () => {
    const workshop = processes.start(["serve", "--port", "0", "--sandbox", "--demo", "--store", "memory"])
    const { base, key } = await workshop.listens()
    const shop = async () => {
      const response = await fetch(`${base}/v1/shop`, { headers: { Authorization: `Bearer ${key}` } })
      return ((await response.json()) as { readonly data: { readonly id: string; readonly name: string } }).data
    }
    const before = await shop()
    expect((await fetch(`${base}/sandbox/reset`, { method: "POST" })).status).toBe(200)
    const after = await shop()
    expect([after.name, after.id === before.id]).toEqual(["Demo workshop", false])
    const shops = (await (await fetch(`${base}/sandbox/shops`)).json()) as { readonly data: ReadonlyArray<unknown> }
    expect(shops.data).toHaveLength(1)

    const run = async (scenario: string) => {
      const headers = { "Content-Type": "application/json" }
      const body = JSON.stringify({ scenario })
      const response = await fetch(`${base}/sandbox/scenarios/run`, { method: "POST", headers, body })
      return ((await response.json()) as { readonly data: object }).data
    }
    const steps = "steps:\n  - create ticket: { service: Hem }\n    as: hem\n  - advance: 60d\n"
    const state = (expected: string) => `  - get ticket: $hem\n    expect: { data: { state: ${expected} } }\n`
    expect(await run(`name: Closed\n${steps}${state("abandoned")}`)).toMatchObject({ passed: 1, failed: 0 })
    expect(await run(`name: Closed\n${steps}${state("ready")}`)).toMatchObject({
      passed: 0,
      failed: 1,
      scenarios: [{ name: "Closed", failure: { line: 6 } }]
    })
    expect(await run("name: Nothing\nsteps:\n  - fly: {}\n")).toMatchObject({ problems: [{ line: 3 }] })
    // Scenarios run on a separate service, so the sandbox's clock did not move.
    const { data } = (await (await fetch(`${base}/sandbox/clock`)).json()) as { readonly data: { ahead_ms: number } }
    expect(data.ahead_ms).toBeLessThan(1000)
  })
})

describe("the data of a sandbox (Specification, Keys and scopes)", LONG, () => {
  it("a production server refuses the data of a sandbox, and a sandbox refuses production data", async () => {
    const there = await aDatabase()
    const start = (...flags: ReadonlyArray<string>) => processes.start(["serve", "--port", "0", ...flags], there)
    const end = async (workshop: Workshop) => {
      workshop.kill("SIGTERM")
      expect([await workshop.exited, workshop.stderr]).toEqual([0, ""])
    }
    const statusOf = async (base: string, key: string) =>
      (await fetch(`${base}/v1/shop`, { headers: { Authorization: `Bearer ${key}` } })).status

    const key = "wk_test_the-till-of-the-shop"
    const sandbox = start("--sandbox", "--demo-key", key)
    const { base, key: shown } = await sandbox.listens()
    expect([shown, await statusOf(base, key)]).toEqual([key, 200])
    expect(sandbox.stdout).toContain("The shop My workshop is open. Its key is the one that --demo-key gives:")
    await end(sandbox)

    const [shop] = await shops(there)
    const made = await runCommandLine(["key", "create", shop!.id, "--name", "Second", "--json"], there)
    expect(JSON.parse(made.stdout).key).toMatch(/^wk_test_/)

    const earnest = start()
    await earnest.says(/A sandbox made these data, and its keys \(wk_test_\.\.\.\) are refused here/)
    const [, there2 = ""] = await earnest.says(/^Listening on (http:\/\/\S+)$/m)
    expect(await statusOf(there2, key)).toBe(401)
    await end(earnest)

    const again = start("--sandbox", "--demo-key", key)
    const { base: later } = await again.listens()
    expect(again.stdout).toContain(
      "The shop My workshop exists from an earlier start. Its key is the one that --demo-key gives:"
    )
    expect(await statusOf(later, key)).toBe(200)
    await end(again)
  })

  it("a sandbox refuses data that a production server created, unless --sandbox-on-real-data allows it", async () => {
    const there = await aDatabase()
    const earnest = processes.start(["serve", "--port", "0"], there)
    expect((await earnest.listens()).key).toMatch(/^wk_live_/)
    earnest.kill("SIGTERM")
    await earnest.exited

    const refused = await run(["serve", "--port", "0", "--sandbox"], there)
    expect(refused).toMatchObject({
      status: 1,
      stdout: "",
      stderr:
        "These data were not created by a sandbox, and a sandbox would give out keys to every shop and move time forward permanently. Choose other data with --data-dir or --database-url, use --store memory, or add --sandbox-on-real-data if you are sure.\n"
    })
    const meant = processes.start(["serve", "--port", "0", "--sandbox", "--sandbox-on-real-data"], there)
    await meant.says(/^The sandbox API's OpenAPI document: http.*\/sandbox\/openapi\.json$/m)
    // The console comes directly after the address, because it is the page to begin with.
    await meant.says(/^Listening on .*\nOpen the sandbox's console: http.*\/console$/m)
    meant.kill("SIGTERM")
    expect(await meant.exited).toBe(0)
  })
})

describe("the demo shop (Specification, Commands)", LONG, () => {
  const inMemory = servicesLayer({ store: "memory", databaseUrl: null, dataDir: "", migrate: true })

  it("each start creates and shows one key of the demo shop, until it has five", async () => {
    const program = Effect.gen(function* () {
      const starts = yield* Effect.replicateEffect(openDemoShop, 6)
      const [shop] = yield* Shops.list(null, 10)
      return { starts, shops: yield* Shops.list(null, 10), keys: yield* Keys.list(shop!.id), id: shop!.id }
    })
    const { starts, shops, keys, id } = await Effect.runPromise(Effect.provide(program, inMemory))
    expect(shops).toHaveLength(1)
    expect(starts.slice(0, 5).map(({ key }) => key?.slice(-4))).toEqual(keys.map(({ last_four }) => last_four))
    expect(starts[5]).toEqual({
      key: null,
      phone: null,
      opening: `The shop Demo workshop exists from an earlier start, and already has as many keys as a shop may have. To get a new key at the next start, list the shop's keys with the first of these commands, and revoke one with the second:\nworkshop key list ${id}\nworkshop key revoke KEY`
    })
  })

  it("the demo shop opens even if other accounts have the phone numbers of its clients", async () => {
    const amira = Schema.decodeSync(ClientInput)({ given_name: "Ali", family_name: "Haddad", phone: "+21620123456" })
    const opened = Effect.zipRight(Clients.register(amira), openDemoShop)
    const demo = await Effect.runPromise(Effect.provide(opened, inMemory))
    expect(demo.phone).toBe("+21620123457")
    expect(demoSteps("http://x", demo.key ?? "", demo).at(-1)).toContain("phone=%2B21620123457")
  })
})
