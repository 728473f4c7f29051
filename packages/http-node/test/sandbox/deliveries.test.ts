import { beforeAll, describe, expect, it } from "vitest"
import { type Json, later, MINUTE, NOBODY, Sandbox, START } from "./Sandbox.js"

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await Sandbox.open()
})

/** Creates a shop with a webhook and two events a minute apart. No dispatcher runs, so nothing is delivered. */
const hooked = async () => {
  const own = await Sandbox.open()
  const { id } = await own.shop()
  await own.clock({ freeze: true })
  await own.good("PUT", `/sandbox/shops/${id}/webhook`, { url: "http://127.0.0.1:9/hook" })
  const first = await own.good("POST", `/sandbox/shops/${id}/webhook/ping`)
  await own.clock({ advance_ms: MINUTE })
  const second = await own.good("POST", `/sandbox/shops/${id}/webhook/ping`)
  const path = `/sandbox/shops/${id}/deliveries`
  return { own, id, path, first, second, replay: (body: unknown) => own.good("POST", `${path}/replay`, body) }
}

describe("GET /sandbox/shops/{id}/deliveries (Specification, Sandbox)", () => {
  it("each event is listed with its state, the time of its next attempt, and its attempts", async () => {
    const { own, path, first, second } = await hooked()
    expect(await own.good("GET", path)).toMatchObject([
      { event_id: first.id, type: "ping", state: "pending", next_attempt_at: START, attempts: [] },
      { event_id: second.id, type: "ping", state: "pending", next_attempt_at: later(MINUTE), attempts: [] }
    ])
  })

  it("events raised before there was a webhook are not listed", async () => {
    const { id } = await sandbox.shop()
    await sandbox.good("POST", `/sandbox/shops/${id}/webhook/ping`)
    await sandbox.good("PUT", `/sandbox/shops/${id}/webhook`, { url: "http://127.0.0.1:9/hook" })
    expect(await sandbox.good("GET", `/sandbox/shops/${id}/deliveries`)).toEqual([])
    expect(await sandbox.good("GET", `/sandbox/shops/${id}/notices`)).toEqual([])
  })
})

describe("POST /sandbox/shops/{id}/deliveries/replay (Specification, Sandbox)", () => {
  it("a replay returns the number of events that it sends again: all events, or those that match ids, times and a state, with null as no filter", async () => {
    const { replay, first, second } = await hooked()
    const dry_run = true
    expect(await replay({ dry_run })).toEqual({ count: 2 })
    expect(await replay({ event_ids: [second.id, first.id, second.id], dry_run })).toEqual({ count: 2 })
    expect(await replay({ event_ids: [NOBODY], dry_run })).toEqual({ count: 0 })
    expect(await replay({ since: later(MINUTE), dry_run })).toEqual({ count: 1 })
    expect(await replay({ until: later(MINUTE), dry_run })).toEqual({ count: 1 })
    expect(await replay({ since: START, until: START, dry_run })).toEqual({ count: 0 })
    expect(await replay({ state: "pending", since: null, event_ids: null, dry_run })).toEqual({ count: 2 })
    expect(await replay({ state: "dead", dry_run })).toEqual({ count: 0 })
    expect(await replay({})).toEqual({ count: 2 })
  })

  it.each<[string, Json, ReadonlyArray<string>]>([
    ["an event id that is not a UUID", { event_ids: ["x"] }, ["body event_ids.0"]],
    ["an empty list of event ids", { event_ids: [] }, ["body event_ids.0"]],
    ["more than 1,000 event ids", { event_ids: Array(1001).fill(NOBODY) }, ["body event_ids"]],
    ["event ids and a state", { event_ids: [NOBODY], state: "dead" }, ["body event_ids"]],
    ["event ids and a time", { event_ids: [NOBODY], since: START }, ["body event_ids"]],
    ["an unknown state", { state: "lost" }, ["body state"]],
    ["a date that does not exist", { since: "2026-02-30" }, ["body since"]],
    ["a number as a time", { until: 5 }, ["body until"]],
    ["a text for a Boolean", { dry_run: "yes" }, ["body dry_run"]],
    ["an unknown field", { ids: [NOBODY] }, ["body ids"]]
  ])("a replay with %s is refused", async (_, body, issues) => {
    const { id } = await sandbox.shop()
    await sandbox.good("PUT", `/sandbox/shops/${id}/webhook`, { url: "http://127.0.0.1:9/hook" })
    const response = await sandbox.ask("POST", `/sandbox/shops/${id}/deliveries/replay`, body)
    expect([response.status, response.error?.code, response.issues]).toEqual([400, "VALIDATION_ERROR", issues])
  })

  it("a replay for a shop without a webhook is refused, even as a dry run", async () => {
    const { id } = await sandbox.shop()
    for (const body of [{}, { dry_run: true }]) {
      const { status, error } = await sandbox.ask("POST", `/sandbox/shops/${id}/deliveries/replay`, body)
      expect([status, error.code]).toEqual([404, "NOT_FOUND"])
    }
  })
})

describe("An unknown shop has no deliveries (Specification, Sandbox)", () => {
  it.each([
    ["GET", "deliveries", undefined],
    ["GET", "notices", undefined],
    ["POST", "deliveries/replay", {}],
    ["POST", "deliveries/replay", { dry_run: true }]
  ] as const)("%s …/%s for an unknown shop is a 404", async (method, path, body) => {
    const { status, error } = await sandbox.ask(method, `/sandbox/shops/${NOBODY}/${path}`, body)
    expect([status, error.code]).toEqual([404, "NOT_FOUND"])
  })
})
