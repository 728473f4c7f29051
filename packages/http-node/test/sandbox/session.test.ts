import { HttpApi } from "@effect/platform"
import { SandboxApi } from "@workshop/http-node/sandbox"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { atEndOfFile } from "../../../../test/endOfFile.js"
import { TestService } from "../TestService.js"
import { DAY, HOUR, type Json, later, NOBODY, Sandbox, START } from "./Sandbox.js"

/** Reads the sandbox's stream and collects the names of its events. */
const listener = async (sandbox: Sandbox) => {
  const eventNames: Array<string> = []
  const response = await sandbox.runtime.runPromise(
    sandbox.pipeline({
      method: "GET",
      path: "/sandbox/stream",
      query: "",
      repeats: () => false,
      header: () => undefined,
      address: "192.0.2.1",
      body: () => Effect.succeed(new Uint8Array())
    })
  )
  atEndOfFile(response.follow!((text) => void eventNames.push(/^event: (\w+)$/m.exec(text)![1]!)))
  return eventNames
}

/**
 * A sandbox whose shop has a loyalty programme, a failing receiver, a client and a ready ticket, with a frozen clock 30
 * days later.
 */
const openFullSandbox = async (options: Parameters<typeof Sandbox.open>[0] = {}) => {
  const sandbox = await Sandbox.open(options)
  await sandbox.clock({ freeze: true })
  const shop = await sandbox.shop()
  const program = { active: true, name: "Stamps", stamps_required: 3, stamps_per_ticket: 1, reward_label: "A hem" }
  await sandbox.good("PATCH", `/sandbox/shops/${shop.id}`, { program })
  await sandbox.good("PUT", `/sandbox/shops/${shop.id}/receiver`, { use: true, answer: 500 })
  const person = await sandbox.person()
  await sandbox.good("POST", `/sandbox/clients/${person.id}/visits`, { shop_id: shop.id })
  const ticket = await sandbox.ticket(shop, { client_id: person.id })
  await sandbox.status(shop, ticket, "ready")
  await sandbox.clock({ advance: "30d" })
  return { sandbox, shop, person, ticket }
}

/** All data of a shop that the sandbox returns over HTTP. */
const seen = async (
  sandbox: Sandbox,
  { shop, ticket }: { readonly shop: { id: string; key: string }; ticket: Json }
) => {
  const of = (path: string) => sandbox.good("GET", `/sandbox/shops/${shop.id}${path}`)
  const { entries, windows } = await sandbox.good("GET", `/sandbox/tickets/${ticket.id}/history`)
  return {
    shops: await sandbox.good("GET", "/sandbox/shops"),
    clients: await of("/clients"),
    // The last use of a key is omitted, because it is stored with a delay.
    keys: (await of("/keys")).map(({ last_used_at: _, ...key }: Json) => key),
    tickets: await of("/tickets"),
    events: await of("/events"),
    deliveries: await of("/deliveries"),
    webhook: await of("/webhook"),
    receiver: await of("/receiver"),
    agenda: await sandbox.good("GET", "/sandbox/agenda"),
    requests: (await sandbox.good("GET", "/sandbox/requests")).map(({ id: _, ...request }: Json) => request),
    // Ids of requests are omitted, because they differ between processes.
    entries: entries.map(({ id: _, detail: { id: __, ...detail }, ...entry }: Json) => ({ ...entry, detail })),
    windows
  }
}

describe("POST /sandbox/reset (Specification, Sandbox)", () => {
  it("a reset removes all data, and the clock shows the real time again", async () => {
    const { sandbox, shop, person, ticket } = await openFullSandbox()
    await sandbox.good("PUT", "/sandbox/faults", { faults: [{ fault: "503" }] })
    const eventNames = await listener(sandbox)
    expect(await sandbox.good("POST", "/sandbox/reset")).toEqual({
      now: START,
      frozen: false,
      frozen_by: null,
      ahead_ms: 0
    })
    expect(eventNames).toEqual(["reset"])
    for (const path of ["shops", "faults", "requests", "agenda"])
      expect(await sandbox.good("GET", `/sandbox/${path}`), path).toEqual([])
    for (const path of [`shops/${shop.id}`, `tickets/${ticket.id}/history`])
      expect((await sandbox.ask("GET", `/sandbox/${path}`)).status, path).toBe(404)
    expect((await sandbox.ask("GET", "/v1/shop", undefined, { bearer: shop.key })).status).toBe(401)
    // The phone number is free again, and the clock is back at the start.
    const account = { given_name: "Amira", family_name: "Ben Salah", phone: person.phone }
    await sandbox.good("POST", "/sandbox/clients", account)
    expect((await sandbox.ticket(await sandbox.shop())).created_at).toBe(START)
  })

  it("a reset also resets the rate limits", async () => {
    const sandbox = await Sandbox.open()
    const ask = () => sandbox.ask("GET", "/v1/shop", undefined, { bearer: "wk_test_wrong" })
    while ((await ask()).status !== 429);
    await sandbox.good("POST", "/sandbox/reset")
    expect((await ask()).status).toBe(401)
  })

  it("a reset makes the stream send reset to a reconnecting reader, so that it reads all data again", async () => {
    const { sandbox } = await openFullSandbox()
    const { id } = (await sandbox.good("GET", "/sandbox/requests")).at(-1)
    await sandbox.good("POST", "/sandbox/reset")
    const response = await sandbox.runtime.runPromise(
      sandbox.pipeline({
        method: "GET",
        path: "/sandbox/stream",
        query: `after=${id}`,
        repeats: () => false,
        header: () => undefined,
        address: "192.0.2.1",
        body: () => Effect.succeed(new Uint8Array())
      })
    )
    expect(String(response.body)).toMatch(/event: reset\n/)
  })

  it("a reset creates the shop of the start again", async () => {
    const begun = await Sandbox.open({ begin: true })
    await begun.good("POST", "/sandbox/reset")
    expect((await begun.good("GET", "/sandbox/shops")).map(({ name }: Json) => name)).toEqual(["Made at the start"])
  })

  it("a reset and an import are refused if the store has data that no sandbox created", async () => {
    const sandbox = await Sandbox.open({ isReal: true })
    const session = await sandbox.good("GET", "/sandbox/session")
    for (const [path, body] of [
      ["/sandbox/reset", undefined],
      ["/sandbox/session", session]
    ] as const) {
      const { status, error } = await sandbox.ask("POST", path, body)
      expect([status, error.code, error.message]).toEqual([
        403,
        "FORBIDDEN",
        expect.stringMatching(/^These data were not created by a sandbox/)
      ])
    }
    expect(await sandbox.good("GET", "/sandbox/shops")).toHaveLength(1)
  })
})

describe("GET and POST /sandbox/session (Specification, Sandbox)", () => {
  it("a sandbox that imports a session continues from the state of the exporting sandbox", async () => {
    const exporting = await openFullSandbox()
    const session = await exporting.sandbox.good("GET", "/sandbox/session")
    const before = await seen(exporting.sandbox, exporting)
    const importing = await Sandbox.open({ seed: 7 })
    await importing.shop({ name: "Gone after the import" })
    const eventNames = await listener(importing)
    const imported = await importing.good("POST", "/sandbox/session", session)
    expect(imported).toMatchObject({ now: later(30 * DAY), frozen: true })
    expect(eventNames).toEqual(["reset"])
    expect(await seen(importing, exporting)).toEqual(before)
    const { id } = before.keys[0]
    expect(await importing.good("GET", `/sandbox/keys/${id}/text`)).toEqual({ id, key: exporting.shop.key })
    // The exported key is valid, the next ticket has the next number, and tickets close at their time.
    const next = await importing.ticket(exporting.shop)
    expect([next.number, next.created_at]).toEqual([exporting.ticket.number + 1, later(30 * DAY)])
    await importing.clock({ advance: "30d" })
    expect((await importing.good("GET", `/sandbox/tickets/${exporting.ticket.id}/history`)).ticket.state).toBe(
      "abandoned"
    )
  })

  it("an import accepts the whole response of an export, with its envelope", async () => {
    const { sandbox } = await openFullSandbox()
    const { data } = await sandbox.ask("GET", "/sandbox/session")
    await sandbox.clock({ advance: "1h" })
    const imported = await sandbox.good("POST", "/sandbox/session", { success: true, data })
    expect(imported.now).toBe(later(30 * DAY))
  })

  it("an import can restore an earlier state of the same sandbox", async () => {
    const { sandbox, shop, ticket } = await openFullSandbox()
    const session = await sandbox.good("GET", "/sandbox/session")
    await sandbox.clock({ advance: "31d" })
    expect((await sandbox.good("GET", `/sandbox/tickets/${ticket.id}/history`)).ticket.state).toBe("abandoned")
    await sandbox.good("POST", "/sandbox/session", session)
    expect((await sandbox.good("GET", `/sandbox/tickets/${ticket.id}/history`)).ticket.state).toBe("ready")
    expect((await sandbox.status(shop, ticket, "collected")).data.collected_at).toBe(later(30 * DAY))
  })

  it("an import refuses a file of another version, naming the version, and a changed or truncated file", async () => {
    const { sandbox } = await openFullSandbox()
    const session = await sandbox.good("GET", "/sandbox/session")
    const refusal = async (file: unknown) => (await sandbox.ask("POST", "/sandbox/session", file)).error.details.issues
    expect(await refusal({ ...session, version: 2 })).toEqual([
      {
        in: "body",
        field: "version",
        message: "is 2, but this server reads only version 1; import the file with the release that wrote it"
      }
    ])
    for (const neither of [{}, { success: true, data: {} }])
      expect(await refusal(neither)).toMatchObject([
        { field: "version", message: expect.stringMatching(/^is missing/) }
      ])
    for (const changed of [{ ...session, shops: [] }, { version: 1 }, { ...session, digest: "0".repeat(64) }])
      expect(await refusal(changed)).toMatchObject([
        { field: "digest", message: expect.stringMatching(/export the session again/) }
      ])
    expect(await sandbox.good("GET", "/sandbox/shops")).toHaveLength(1)
    expect(await sandbox.now()).toBe(later(30 * DAY))
  })

  it("the body of an import may be larger than the body of any other call", async () => {
    const { sandbox, shop } = await openFullSandbox()
    for (let i = 0; i < 28; i++) await sandbox.ticket(shop, { description: "x".repeat(500) })
    const session = await sandbox.good("GET", "/sandbox/session")
    expect(JSON.stringify(session).length).toBeGreaterThan(64 * 1024)
    expect((await sandbox.clock({ advance: "1h" })).now).toBe(later(30 * DAY + HOUR))
    expect((await sandbox.good("POST", "/sandbox/session", session)).now).toBe(later(30 * DAY))
  })
})

describe("POST /sandbox/scenarios/run (Specification, Sandbox)", () => {
  it("a run passes the scenario's text to runScenario and returns its report", async () => {
    const sandbox = await Sandbox.open({ runScenario: (text) => Effect.succeed({ passed: 1, read: text }) })
    const report = await sandbox.good("POST", "/sandbox/scenarios/run", { scenario: "name: A hem\n" })
    expect(report).toEqual({ passed: 1, read: "name: A hem\n" })
    expect((await sandbox.ask("POST", "/sandbox/scenarios/run", {})).issues).toEqual(["body scenario"])
  })

  it("a run is a 404 if the program that serves the sandbox has no runScenario", async () => {
    const sandbox = await Sandbox.open()
    expect((await sandbox.ask("POST", "/sandbox/scenarios/run", { scenario: "" })).status).toBe(404)
  })
})

describe("A server without a sandbox (Specification, Sandbox)", () => {
  let service: TestService
  beforeAll(async () => {
    service = await TestService.open()
  })
  afterAll(() => service.close())

  it("every path of the sandbox is a 404", async () => {
    const shop = await service.shop()
    const calls: Array<readonly [string, string]> = [["GET", "/sandbox/openapi.json"]]
    HttpApi.reflect(SandboxApi, {
      onGroup: () => undefined,
      onEndpoint: ({ endpoint }) => calls.push([endpoint.method, endpoint.path.replaceAll(/:\w+/g, NOBODY)])
    })
    expect(calls.length).toBeGreaterThan(50)
    for (const [method, path] of calls)
      for (const key of [null, shop.key])
        expect((await service.api(method, path, { key })).status, `${method} ${path}`).toBe(404)
  })
})
