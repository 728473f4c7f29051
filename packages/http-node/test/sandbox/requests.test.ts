import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { atEndOfFile } from "../../../../test/endOfFile.js"
import { untilAsync } from "../../../../test/until.js"
import { Faults } from "../../src/sandbox/Faults.js"
import { Feed, Ring } from "../../src/sandbox/Feed.js"
import { DAY, type Json, later, NOBODY, Sandbox, START } from "./Sandbox.js"

const opened = async () => {
  const sandbox = await Sandbox.open()
  await sandbox.clock({ freeze: true })
  return { sandbox, shop: await sandbox.shop() }
}
const requests = (sandbox: Sandbox, query = ""): Promise<Array<Json>> =>
  sandbox.good("GET", "/sandbox/requests", undefined, { query })

describe("The sandbox's log of requests to the API (Specification, Sandbox)", () => {
  it("the log lists each request with its response, oldest first, and never contains an API key", async () => {
    const { sandbox, shop } = await opened()
    const repeated = { bearer: shop.key, idempotency_key: "till 1" }
    const ticket = await sandbox.good("POST", "/v1/tickets", { service: "Hem" }, repeated)
    await sandbox.ask("POST", "/v1/tickets", { service: "Hem" }, repeated)
    await sandbox.status(shop, ticket, "collected")
    await sandbox.ask("GET", "/v1/tickets", undefined, { bearer: "wk_live_wrong", query: "limit=1" })
    const log = await requests(sandbox)
    const first = log[0].id
    expect(log.map(({ id, method, path, status, reason }) => [id - first, method, path, status, reason])).toEqual([
      [0, "POST", "/v1/tickets", 201, null],
      [1, "POST", "/v1/tickets", 200, null],
      [2, "POST", `/v1/tickets/${ticket.id}/status`, 409, "INVALID_TRANSITION"],
      [3, "GET", "/v1/tickets?limit=1", 401, null]
    ])
    expect(log[0]).toEqual({
      id: first,
      at: START,
      shop_id: shop.id,
      key_last_four: shop.key.slice(-4),
      method: "POST",
      path: "/v1/tickets",
      route: "/v1/tickets",
      status: 201,
      code: null,
      reason: null,
      ticket_id: ticket.id,
      replayed: false,
      fault: null,
      duration_ms: expect.any(Number),
      request: {
        headers: { "content-type": "application/json", "idempotency-key": "till 1" },
        body: '{"service":"Hem"}'
      },
      response: {
        headers: expect.objectContaining({ "RateLimit-Limit": "30" }),
        body: expect.stringContaining(ticket.id)
      }
    })
    expect([log[1].replayed, log[1].ticket_id]).toEqual([true, ticket.id])
    expect([log[2].code, log[2].ticket_id, log[3].code, log[3].shop_id]).toEqual([
      "CONFLICT",
      ticket.id,
      "UNAUTHENTICATED",
      null
    ])
    expect(JSON.stringify(log)).not.toContain(shop.key)
  })

  it("the log can be filtered by shop, ticket and id, and limited to the latest requests", async () => {
    const { sandbox, shop } = await opened()
    const other = await sandbox.shop()
    const ticket = await sandbox.ticket(shop)
    await sandbox.ticket(other)
    await sandbox.status(shop, ticket, "ready")
    const ids = async (query: string) => (await requests(sandbox, query)).map(({ id }) => id)
    const [first, second, third] = await ids("")
    expect(await ids(`shop=${other.id}`)).toEqual([second])
    expect(await ids(`ticket=${ticket.id}`)).toEqual([first, third])
    expect(await ids(`after=${second}`)).toEqual([third])
    expect(await ids("limit=2")).toEqual([second, third])
    const wrong = await sandbox.ask("GET", "/sandbox/requests", undefined, { query: "shop=mine&after=-1" })
    expect([wrong.status, [...wrong.issues].sort()]).toEqual([400, ["query after", "query shop"]])
  })

  it("the log has a maximum number of entries and of characters, and its ids always increase", () => {
    const ring = new Ring<{ readonly id: number; readonly text: string }>(3, 10, ({ text }) => text.length, 0)
    const add = (text: string) => ring.add((id) => ({ id, text }))
    for (const text of ["a", "b", "c", "d"]) add(text)
    expect(ring.all.map(({ id }) => id)).toEqual([2, 3, 4])
    add("123456789")
    expect(ring.all.map(({ id }) => id)).toEqual([4, 5])
    add("longer than all that is kept")
    expect(ring.all.map(({ id }) => id)).toEqual([6])
    expect([ring.after(6), ring.after(5)?.length, ring.after(4), ring.after(7)]).toEqual([[], 1, undefined, undefined])
  })
})

describe("The stream of requests and events (Specification, Sandbox)", () => {
  /** The server-sent events in a text as `id name`, with ids relative to `from`. */
  const entriesIn = (text: string, from = 0) =>
    text
      .split("\n\n")
      .filter((entry) => entry !== "")
      .map((entry) => {
        const id = /^id: (\d+)$/m.exec(entry)?.[1]
        return `${id === undefined ? "-" : Number(id) - from} ${/^event: (\w+)$/m.exec(entry)?.[1]}`
      })

  /** The number before the first id: the start time of the process in the event hello, in ms. */
  const startIn = (text: unknown): number => Date.parse(/"started_at":"([^"]+)"/.exec(String(text))![1]!)

  const begin = async (sandbox: Sandbox, query = "", headers: Readonly<Record<string, string>> = {}) => {
    const response = await sandbox.runtime.runPromise(
      sandbox.pipeline({
        method: "GET",
        path: "/sandbox/stream",
        query,
        repeats: () => false,
        header: (name) => headers[name],
        address: "192.0.2.1",
        body: () => Effect.succeed(new Uint8Array())
      })
    )
    return response
  }

  it("the stream sends hello, and then API requests, webhook events, tickets and moves of the clock", async () => {
    const { sandbox, shop } = await opened()
    const response = await begin(sandbox)
    expect([response.status, response.headers["Content-Type"]]).toEqual([200, "text/event-stream; charset=utf-8"])
    expect(entriesIn(String(response.body))).toEqual(["- hello"])
    const chunks: Array<string> = []
    const stop = response.follow!((text) => void chunks.push(text))
    await sandbox.ticket(shop)
    await sandbox.clock({ advance: "1h" })
    stop()
    await sandbox.ticket(shop)
    expect(entriesIn(chunks.join(""), startIn(response.body))).toEqual(["2 event", "3 ticket", "4 request", "5 clock"])
    expect(chunks[3]).toContain(`"now":"${later(3_600_000)}"`)
  })

  it("the stream reports when and how far the clock moved, when faults and receivers were set, and when a fault was applied", async () => {
    const { sandbox, shop } = await opened()
    const response = await begin(sandbox)
    const events: Array<Json> = []
    const stop = response.follow!((text) => {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/m.exec(text)!
      events.push([event, JSON.parse(data!)])
    })
    atEndOfFile(stop)
    await sandbox.clock({ advance: "1m" })
    await sandbox.clock({ set: later(DAY) })
    await sandbox.clock({ freeze: false })
    await sandbox.clock({ freeze: true })
    await sandbox.good("PUT", "/sandbox/faults", { faults: [{ fault: "503" }] })
    await sandbox.ask("GET", "/v1/shop", undefined, { bearer: shop.key })
    await sandbox.good("PUT", `/sandbox/shops/${shop.id}/receiver`, { answer: 500 })
    const others = events.filter(([event]) => event !== "request")
    expect(others.map(([event, { at, moved_ms }]) => [event, at, moved_ms])).toEqual([
      ["clock", later(60_000), 60_000],
      ["clock", later(DAY), DAY - 60_000],
      ["clock", later(DAY), 0],
      ["clock", later(DAY), 0],
      ["fault", later(DAY), undefined],
      ["fault", later(DAY), undefined],
      ["receiver", later(DAY), undefined]
    ])
  })

  it("the stream continues after the id in a header or a parameter, and sends reset if it no longer has the following entries", async () => {
    const { sandbox, shop } = await opened()
    await sandbox.ticket(shop)
    const start = startIn((await begin(sandbox)).body)
    const after = async (query: string, headers = {}) =>
      entriesIn(String((await begin(sandbox, query, headers)).body), start)
    expect(await after("after=0")).toEqual(["- hello", "1 clock", "2 event", "3 ticket", "4 request"])
    expect(await after(`after=${start + 2}`)).toEqual(["- hello", "3 ticket", "4 request"])
    expect(await after("", { "last-event-id": `${start + 3}` })).toEqual(["- hello", "4 request"])
    expect(await after(`after=${start + 4}`)).toEqual(["- hello"])
    expect(await after(`after=${start + 400}`)).toEqual(["- hello", "4 reset"])
    // Ids begin with the start time of the process, so no id of an earlier process is an id of this process.
    expect(await after(`after=${start - 400}`)).toEqual(["- hello", "4 reset"])
    const feed = new Feed(0)
    for (let i = 0; i < 5002; i++) feed.publish("clock", { i })
    expect(entriesIn(feed.begin(0))).toEqual(["- hello", "5002 reset"])
    expect(entriesIn(feed.begin(1))).toEqual(["- hello", "5002 reset"])
    expect(entriesIn(feed.begin(2))).toHaveLength(5001)
  })

  it("only the stream accepts the token as a query parameter", async () => {
    const token = "t0ken".repeat(7)
    const sandbox = await Sandbox.open({ token })
    expect((await begin(sandbox, `token=${token}`)).status).toBe(200)
    expect((await begin(sandbox, "token=wrong")).status).toBe(401)
    expect((await sandbox.ask("GET", "/sandbox/shops", undefined, { query: `token=${token}` })).status).toBe(401)
  })
})

describe("Faults of the API (Specification, Sandbox)", () => {
  const set = (sandbox: Sandbox, ...faults: ReadonlyArray<object>) => sandbox.good("PUT", "/sandbox/faults", { faults })

  it("the faults 503 and 429 refuse the next requests with a method and a path, without executing them", async () => {
    const { sandbox, shop } = await opened()
    const listed = await set(sandbox, { method: "POST", path: "/v1/tickets", fault: "503", next: 2 })
    expect(listed).toEqual([{ id: "1", method: "POST", path: "/v1/tickets", fault: "503", next: 2, delay_ms: 0 }])
    const create = () =>
      sandbox.ask("POST", "/v1/tickets", { service: "Hem" }, { bearer: shop.key, idempotency_key: "same" })
    expect((await sandbox.ask("GET", "/v1/tickets", undefined, { bearer: shop.key })).status).toBe(200)
    const first = await create()
    expect([first.status, first.headers["Retry-After"], first.error.code]).toEqual([503, "1", "UNAVAILABLE"])
    expect((await sandbox.good("GET", "/sandbox/faults"))[0].next).toBe(1)
    expect((await create()).status).toBe(503)
    expect(await sandbox.good("GET", "/sandbox/faults")).toEqual([])
    expect((await create()).status).toBe(201)
    await set(sandbox, { fault: "429" })
    const limited = await create()
    expect([limited.status, limited.error.details]).toEqual([429, { limit: "requests_per_minute" }])
    expect(await sandbox.good("DELETE", "/sandbox/faults")).toEqual([])
    expect((await create()).meta).toEqual({ replayed: true })
    const log = await requests(sandbox)
    expect(log.map(({ fault }) => fault)).toEqual([null, "503", "503", null, "429", null])
    // The log also has the bodies of refused requests.
    expect(log.slice(1).map(({ request }) => request.body)).toEqual(Array(5).fill('{"service":"Hem"}'))
  })

  it("the fault delay executes the next requests only after the given time", async () => {
    const { sandbox, shop } = await opened()
    await set(sandbox, { path: "/v1/shop", fault: "delay", delay_ms: 1500, next: 1 })
    const ask = () => sandbox.ask("GET", "/v1/shop", undefined, { bearer: shop.key })
    let status = 0
    const answered = ask().then((response) => {
      status = response.status
    })
    const turn = () => new Promise((resume) => setImmediate(resume))
    await untilAsync(
      "the delayed request",
      () => sandbox.real.hasSleeper(1500),
      (isThere) => isThere
    )
    sandbox.real.pass(1499)
    for (let i = 0; i < 10; i++) await turn()
    expect(status).toBe(0)
    sandbox.real.pass(1)
    await answered
    expect(status).toBe(200)
    expect((await ask()).status).toBe(200)
    expect((await requests(sandbox)).map(({ fault }) => fault)).toEqual(["delay", null])
  })

  it("the fault lose_answer executes the request and closes the connection", async () => {
    const { sandbox, shop } = await opened()
    const ticket = await sandbox.ticket(shop)
    await set(sandbox, { path: "/v1/tickets/{id}/status", fault: "lose_answer", next: 1 })
    const arrived = [new TextEncoder().encode('{"status":"ready"}')]
    const headers: Readonly<Record<string, string>> = {
      authorization: `Bearer ${shop.key}`,
      "content-type": "application/json"
    }
    const response = await sandbox.runtime.runPromise(
      sandbox.pipeline({
        method: "POST",
        path: `/v1/tickets/${ticket.id}/status`,
        query: "",
        repeats: () => false,
        header: (name) => headers[name],
        address: "192.0.2.1",
        // Only the first call returns the bytes, because a request's body can be read once.
        body: () => Effect.succeed(arrived.splice(0)[0] ?? new Uint8Array())
      })
    )
    expect(response.closesConnection).toBe(true)
    expect((await sandbox.status(shop, ticket, "ready")).error.details.reason).toBe("SAME_STATE")
    const [, lost] = await requests(sandbox)
    expect([lost.status, lost.fault]).toEqual([200, "lose_answer"])
  })

  it("invalid faults are refused with all problems", async () => {
    const { sandbox } = await opened()
    const faults = [
      { fault: "explode" },
      { fault: "503", path: "/sandbox/clock" },
      { fault: "delay", delay_ms: -1, next: 0 },
      { fault: 504 }
    ]
    const { status, issues } = await sandbox.ask("PUT", "/sandbox/faults", { faults })
    expect([status, [...issues].sort()]).toEqual([
      400,
      [
        "body faults.0.fault",
        "body faults.1.path",
        "body faults.2.delay_ms",
        "body faults.2.next",
        "body faults.3.fault"
      ]
    ])
  })

  it("the faults 503 and 429 may be given as numbers", async () => {
    const { sandbox } = await opened()
    const set = await sandbox.good("PUT", "/sandbox/faults", { faults: [{ fault: 503 }, { fault: 429 }] })
    expect(set.map(({ fault }: Json) => fault)).toEqual(["503", "429"])
  })

  it("a fault delay without a duration is refused", async () => {
    const { sandbox } = await opened()
    for (const fault of [{ fault: "delay" }, { fault: "delay", delay_ms: 0 }])
      expect((await sandbox.ask("PUT", "/sandbox/faults", { faults: [fault] })).issues).toEqual([
        "body faults.0.delay_ms"
      ])
  })

  it("a * in the path of a fault matches exactly one segment of a request's path", () => {
    const faults = new Faults()
    const meets = (path: string | null, sent: string) => {
      faults.set([{ method: null, path, fault: "503", next: null, delay_ms: 0 }])
      return faults.take("GET", sent) !== undefined
    }
    expect(meets("/v1/tickets/{id}", "/v1/tickets/7")).toBe(true)
    expect(meets("/v1/*/7", "/v1/tickets/7")).toBe(true)
    expect(meets("/v1/tickets/:id", "/v1/tickets/7/status")).toBe(false)
    expect(meets("/v1/tickets", "/v1/tickets/7")).toBe(false)
    expect(meets(null, "/v1/tickets/7")).toBe(true)
  })
})

describe("A ticket's history (Specification, Sandbox)", () => {
  it("a ticket's history lists states, events and requests in order, including refused requests, and the ticket's deadlines", async () => {
    const { sandbox, shop } = await opened()
    const ticket = await sandbox.ticket(shop)
    await sandbox.clock({ advance: "1h" })
    await sandbox.status(shop, ticket, "collected")
    await sandbox.clock({ advance: "1h" })
    await sandbox.status(shop, ticket, "ready")
    await sandbox.clock({ advance: "1h" })
    await sandbox.status(shop, ticket, "collected")
    const history = await sandbox.good("GET", `/sandbox/tickets/${ticket.id}/history`)
    const path = `POST /v1/tickets/${ticket.id}/status`
    const HOUR = 3_600_000
    expect(history.entries.map(({ at, kind, title, ok }: Json) => [at, kind, title, ok])).toEqual([
      [START, "request", "POST /v1/tickets: 201", true],
      [START, "state", "workshop", true],
      [START, "event", "ticket.created", true],
      [later(HOUR), "request", `${path}: 409, INVALID_TRANSITION`, false],
      [later(2 * HOUR), "request", `${path}: 200`, true],
      [later(2 * HOUR), "state", "ready", true],
      [later(2 * HOUR), "event", "ticket.ready", true],
      [later(3 * HOUR), "request", `${path}: 200`, true],
      [later(3 * HOUR), "state", "collected", true],
      [later(3 * HOUR), "event", "ticket.collected", true]
    ])
    expect(history.windows).toEqual([{ kind: "reopen", from: later(3 * HOUR), to: later(3 * HOUR + DAY) }])
    expect(history.ticket.state).toBe("collected")
    expect(new Set(history.entries.map(({ id }: Json) => id)).size).toBe(history.entries.length)
  })

  it("in a ticket's history, the window for a reopening ends when the ticket is reopened", async () => {
    const { sandbox, shop } = await opened()
    const ticket = await sandbox.ticket(shop)
    for (const status of ["ready", "collected", "workshop"]) {
      await sandbox.clock({ advance: "1h" })
      expect((await sandbox.status(shop, ticket, status)).status).toBe(200)
    }
    const { windows } = await sandbox.good("GET", `/sandbox/tickets/${ticket.id}/history`)
    const HOUR = 3_600_000
    expect(windows).toContainEqual({ kind: "reopen", from: later(2 * HOUR), to: later(3 * HOUR) })
  })

  it("a ticket's history has the same tracking URL as the API", async () => {
    const sandbox = await Sandbox.open({ trackingPages: "http://127.0.0.1:4010/t/" })
    const shop = await sandbox.shop()
    const { id, tracking_url } = await sandbox.ticket(shop)
    expect(tracking_url).toMatch(/^http:\/\/127\.0\.0\.1:4010\/t\//)
    const { ticket } = await sandbox.good("GET", `/sandbox/tickets/${id}/history`)
    const [listed] = await sandbox.good("GET", `/sandbox/shops/${shop.id}/tickets`)
    expect([ticket.tracking_url, listed.tracking_url]).toEqual([tracking_url, tracking_url])
  })

  it("the history of an unknown ticket is a 404", async () => {
    const { sandbox } = await opened()
    expect((await sandbox.ask("GET", `/sandbox/tickets/${NOBODY}/history`)).status).toBe(404)
  })
})
