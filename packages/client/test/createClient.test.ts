import { HttpApi } from "@effect/platform"
import { afterAll, describe, expect, expectTypeOf, it } from "vitest"
import { untilAsync } from "../../../test/until.js"
import type { CodeOf, ResponseOf } from "../../core/src/client/ClientContract.js"
import { WorkshopApi } from "../../core/src/http/WorkshopApi.js"
import { SettableClock } from "../../core/src/testing/SettableClock.js"
import { startTestWorkshop } from "../../core/test/client/startTestWorkshop.js"
import {
  type ApiFailure,
  createClient,
  type RequestEvent,
  type ResponseEvent,
  unwrap,
  type WorkshopClient,
  WorkshopError
} from "../src/index.js"

const BASE = "http://127.0.0.1:4010/v1"
const clock = new SettableClock(Date.parse("2026-11-20T10:00:00Z"))
const { workshop, key, fetch } = await startTestWorkshop({ seed: 3, clock })
afterAll(() => workshop.stop())

const client = createClient({ baseUrl: BASE, key, fetch })

/** A `fetch` that returns the responses of a list, and records the requests. */
const scripted = (...answers: ReadonlyArray<Response | Error | "real" | "lost">) => {
  const requests: Array<Request> = []
  const waited: Array<number> = []
  const answer = async (request: Request): Promise<Response> => {
    requests.push(request.clone())
    const next = answers[requests.length - 1] ?? "real"
    if (next instanceof Error) throw next
    if (next === "lost") {
      await fetch(request)
      throw new TypeError("fetch failed")
    }
    return next === "real" ? fetch(request) : next
  }
  const wait = async (ms: number) => void waited.push(ms)
  const options = { fetch: answer, wait, random: () => 1 }
  return { asked: requests, waited, options, client: createClient({ baseUrl: BASE, key, ...options }) }
}

const failure = (status: number, code: string, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify({ success: false, error: { code, message: "no" } }), { status, headers })

describe("@workshop/client", () => {
  it("the client has every endpoint of the contract, with its path and its method (Specification, Endpoints)", async () => {
    const wire: Array<string> = []
    const ID = "0198c5f1-0d20-7000-8a4f-2be6c90d1357"
    const spy = createClient({
      baseUrl: "http://127.0.0.1:4010",
      key,
      fetch: async ({ method, url }) => {
        wire.push(`${method} ${new URL(url).pathname}`)
        return Response.json({ success: true, data: [], meta: { next_cursor: null } })
      }
    })
    await spy.shop.read()
    await spy.tickets.create({ service: "Hem" })
    await spy.tickets.list()
    await spy.tickets.byId(ID)
    await spy.tickets.byNumber(7)
    await spy.tickets.changeStatus(ID, "ready")
    await spy.tickets.recordNotified(ID, "sms")
    await spy.clients.byPhone("+21620123456")
    await spy.clients.byId(ID)
    await spy.clients.loyalty(ID)
    await spy.clients.giveStamps(ID, 1)
    await spy.clients.redeem(ID)
    const contract: Array<string> = []
    HttpApi.reflect(WorkshopApi, {
      onGroup: () => undefined,
      onEndpoint: ({ endpoint }) =>
        contract.push(`${endpoint.method} ${endpoint.path.replace(":id", ID).replace(":n", "7")}`)
    })
    expect(wire).toEqual(contract)
  })

  it("the client has the types of the contract: results, meta, and codes (Specification, Errors)", () => {
    type Value<R> = R extends { readonly ok: true; readonly value: infer A } ? A : never
    type Code<R> = R extends { readonly ok: false; readonly error: infer E }
      ? E extends ApiFailure
        ? E["code"]
        : never
      : never
    type Tickets = WorkshopClient["tickets"]
    type Clients = WorkshopClient["clients"]
    type Of<F extends (...args: never) => unknown> = Awaited<ReturnType<F>>
    expectTypeOf<Value<Of<Tickets["create"]>>>().toEqualTypeOf<ResponseOf<"tickets", "create">["data"]>()
    expectTypeOf<Value<Of<Tickets["list"]>>>().toEqualTypeOf<ResponseOf<"tickets", "list">["data"]>()
    expectTypeOf<Value<Of<Clients["byId"]>>>().toEqualTypeOf<ResponseOf<"clients", "byId">["data"]>()
    expectTypeOf<Value<Of<Clients["loyalty"]>>>().toEqualTypeOf<ResponseOf<"clients", "loyalty">["data"]>()
    expectTypeOf<Value<Of<Clients["giveStamps"]>>>().toEqualTypeOf<ResponseOf<"clients", "giveStamps">["data"]>()
    expectTypeOf<Value<Of<Clients["redeem"]>>>().toEqualTypeOf<ResponseOf<"clients", "redeem">["data"]>()
    expectTypeOf<Value<Of<WorkshopClient["shop"]["read"]>>>().toEqualTypeOf<ResponseOf<"shop", "read">["data"]>()
    expectTypeOf<Code<Of<WorkshopClient["shop"]["read"]>>>().toEqualTypeOf<CodeOf<"shop", "read">>()
    expectTypeOf<Code<Of<Tickets["create"]>>>().toEqualTypeOf<CodeOf<"tickets", "create">>()
    expectTypeOf<Code<Of<Tickets["list"]>>>().toEqualTypeOf<CodeOf<"tickets", "list">>()
    expectTypeOf<Code<Of<Tickets["changeStatus"]>>>().toEqualTypeOf<CodeOf<"tickets", "changeStatus">>()
    expectTypeOf<Code<Of<Tickets["byNumber"]>>>().toEqualTypeOf<CodeOf<"tickets", "byNumber">>()
    expectTypeOf<Code<Of<Clients["byPhone"]>>>().toEqualTypeOf<CodeOf<"clients", "byPhone">>()
    expectTypeOf<Code<Of<Clients["redeem"]>>>().toEqualTypeOf<CodeOf<"clients", "redeem">>()
    expect(Object.keys(client)).toEqual(["shop", "tickets", "clients"])
  })

  it("a refusal is a value, typed by its code (Specification, Errors)", async () => {
    const ticket = unwrap(await client.tickets.create({ service: "Heels" }))
    const refused = await client.tickets.changeStatus(ticket.id, "collected")
    if (refused.ok || refused.error.code !== "CONFLICT") throw new Error("not refused")
    expect(refused.error.details).toEqual({
      reason: "INVALID_TRANSITION",
      from: "workshop",
      to: "collected",
      allowed: ["ready", "impossible"],
      state: "workshop",
      updated_at: ticket.updated_at
    })
    expect(refused.error).toMatchObject({ status: 409, request_id: expect.stringMatching(/^[0-9a-f]{24}$/) })
  })

  it("a create whose response was lost is retried with the same key and creates one ticket (Specification, Idempotency)", async () => {
    const lossy = scripted(new TypeError("fetch failed"), new TypeError("fetch failed"), "real")
    const result = await lossy.client.tickets.create({ service: "Zip", external_ref: "lost" })
    expect(result).toMatchObject({ ok: true, value: { service: "Zip" }, meta: { replayed: false } })
    expect(new Set(lossy.asked.map(({ headers }) => headers.get("idempotency-key"))).size).toBe(1)
    expect(lossy.waited).toEqual([200, 400])
    expect(await client.tickets.list({ external_ref: "lost" })).toMatchObject({ ok: true, value: [{ service: "Zip" }] })
  })

  it("a change of state whose response was lost is retried with its key and happens once (Specification, Idempotency)", async () => {
    const ticket = unwrap(await client.tickets.create({ service: "Heels" }))
    const lossy = scripted("lost", "real")
    const moved = await lossy.client.tickets.changeStatus(ticket.id, "ready")
    expect(moved).toMatchObject({
      ok: true,
      value: { state: "ready" },
      meta: { replayed: true },
      response: { attempts: 2 }
    })
    expect(new Set(lossy.asked.map(({ headers }) => headers.get("idempotency-key"))).size).toBe(1)
  })

  it("a call sends the given idempotency key, or else a new one", async () => {
    const calls = scripted("real", "real", "real")
    await calls.client.tickets.create({ service: "Zip" }, { idempotencyKey: "sale-17" })
    await calls.client.tickets.create({ service: "Zip" })
    await calls.client.tickets.create({ service: "Zip" })
    const [own, ...fresh] = calls.asked.map(({ headers }) => headers.get("idempotency-key"))
    expect([own, new Set(fresh).size]).toEqual(["sale-17", 2])
  })

  it("the client waits for the time in Retry-After, even before a retry that it would otherwise not make (Specification, Limits)", async () => {
    const busy = scripted(failure(429, "TOO_MANY_ATTEMPTS", { "retry-after": "2" }), "real")
    const answered = await busy.client.tickets.changeStatus("0198c5f1-0d20-7000-8a4f-2be6c90d1357", "ready")
    expect(answered).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } })
    expect(busy.waited).toEqual([2000])
  })

  it("the client returns a 429 at once, with the seconds to wait, if the wait would be too long", async () => {
    const busy = scripted(failure(429, "TOO_MANY_ATTEMPTS", { "retry-after": "60" }))
    expect(await busy.client.shop.read()).toMatchObject({ ok: false, error: { retry_after_seconds: 60 } })
    expect(busy.waited).toEqual([])
  })

  it("the client returns the failure after its last retry", async () => {
    const away = scripted(...Array.from({ length: 4 }, () => failure(503, "UNAVAILABLE", { "retry-after": "1" })))
    expect(await away.client.shop.read()).toMatchObject({ ok: false, error: { code: "UNAVAILABLE" } })
    expect(away.asked).toHaveLength(4)
  })

  it("an option that does not exist is refused with the names of the existing options", () => {
    const misspelt = { baseUrl: BASE, key, retry: 5 }
    expect(() => createClient(misspelt)).toThrow(
      /^createClient has no option retry\. The options are baseUrl, key, retries, .*, random\.$/
    )
  })

  it("the client never waits longer than its maximum, however often it retries", async () => {
    const down = scripted(...Array.from({ length: 8 }, () => new TypeError("fetch failed")))
    const patient = createClient({ baseUrl: BASE, key, retries: 7, ...down.options })
    expect(await patient.shop.read()).toMatchObject({ ok: false, error: { code: "UNREACHABLE" } })
    expect(down.waited).toEqual([200, 400, 800, 1600, 3200, 5000, 5000])
  })

  it("a call that is aborted while it waits ends at once, and is not repeated", async () => {
    const away = scripted(failure(503, "UNAVAILABLE", { "retry-after": "5" }), "real")
    const call = new AbortController()
    const asking = createClient({ baseUrl: BASE, key, fetch: away.options.fetch }).shop.read({ signal: call.signal })
    await untilAsync(
      "the first request",
      () => away.asked.length,
      (count) => count > 0
    )
    // After this turn of the event loop, the client waits for its retry.
    await new Promise((resolve) => setImmediate(resolve))
    call.abort()
    expect(await asking).toMatchObject({ ok: false, error: { code: "ABORTED", attempts: 1 } })
    expect(away.asked).toHaveLength(1)
  })

  it("a call that is aborted before it begins sends nothing", async () => {
    const never = scripted("real")
    const outcome = await never.client.shop.read({ signal: AbortSignal.abort() })
    expect(outcome).toMatchObject({ ok: false, error: { code: "ABORTED", attempts: 0 } })
    expect(never.asked).toEqual([])
  })

  it("a call that is aborted before its response is not repeated, and is not reported as a time-out", async () => {
    const call = new AbortController()
    const hanging = (request: Request) =>
      new Promise<Response>((_, reject) => {
        request.signal.addEventListener("abort", () => reject(request.signal.reason))
        setImmediate(() => call.abort())
      })
    const outcome = await createClient({ baseUrl: BASE, key, fetch: hanging }).shop.read({ signal: call.signal })
    expect(outcome).toMatchObject({ ok: false, error: { code: "ABORTED", attempts: 1 } })
  })

  it("a response that takes too long is reported as UNREACHABLE after all attempts of the call", async () => {
    const hanging = (request: Request) =>
      new Promise<Response>((_, reject) =>
        request.signal.addEventListener("abort", () => reject(request.signal.reason))
      )
    const slow = createClient({ baseUrl: BASE, key, fetch: hanging, wait: async () => undefined })
    expect(await slow.shop.read({ timeoutMs: 1, retries: 2 })).toMatchObject({
      ok: false,
      error: {
        code: "TIMED_OUT",
        attempts: 3,
        message: "No response from http://127.0.0.1:4010/v1: it took longer than 1 ms"
      }
    })
  })

  it("the random part of a client's wait is half of the wait", async () => {
    const waits = async (random: () => number) => {
      const down = scripted(new TypeError("fetch failed"), new TypeError("fetch failed"))
      await createClient({ baseUrl: BASE, key, ...down.options, random }).shop.read()
      return down.waited
    }
    expect([await waits(() => 0), await waits(() => 0.5)]).toEqual([
      [100, 200],
      [150, 300]
    ])
  })

  it("a result has the request's id, the rate limit and the number of attempts, as a failure has", async () => {
    const limits = { limit: 120, remaining: expect.any(Number), reset_seconds: expect.any(Number) }
    const response = { request_id: expect.stringMatching(/^[0-9a-f]{24}$/), rate_limit: limits, attempts: 1 }
    expect(await client.shop.read()).toMatchObject({ ok: true, response: { status: 200, ...response } })
    const missing = await client.tickets.byId("0198c5f1-0d20-7000-8a4f-2be6c90d1357")
    expect(missing).toMatchObject({ ok: false, error: { status: 404, ...response } })
  })

  it("onRequest and onResponse are called for each attempt", async () => {
    const events: Array<RequestEvent | ResponseEvent> = []
    const busy = scripted(failure(503, "UNAVAILABLE", { "retry-after": "1" }), "real")
    const hooks = { onRequest: (e: RequestEvent) => events.push(e), onResponse: (e: ResponseEvent) => events.push(e) }
    await createClient({ baseUrl: BASE, key, ...busy.options, ...hooks }).shop.read()
    const request = { method: "GET", url: `${BASE}/shop`, idempotency_key: null }
    expect(events).toMatchObject([
      { ...request, attempt: 1 },
      { ...request, attempt: 1, status: 503, retry_in_ms: 1000 },
      { ...request, attempt: 2 },
      { ...request, attempt: 2, status: 200, retry_in_ms: null }
    ])
  })

  it("the User-Agent begins with the name of your program", async () => {
    const calls = scripted("real")
    await createClient({ baseUrl: BASE, key, ...calls.options, userAgent: "till/1.4" }).shop.read()
    expect(calls.asked[0]?.headers.get("user-agent")).toMatch(/^till\/1\.4 workshop-client\/\d+\.\d+\.\d+$/)
  })

  it.each([
    [{ baseUrl: "tickets.example.com", key: "wk_live_x" }, /baseUrl must be the service's address/],
    [{ baseUrl: "ftp://tickets.example.com", key: "wk_live_x" }, /baseUrl must be/],
    [{ baseUrl: BASE, key: "" }, /key must be the shop's API key/],
    [{ baseUrl: BASE, key: undefined as unknown as string }, /key must be/],
    [{ baseUrl: BASE, key: "wk_live_x\n" }, /key must be/]
  ])("the option in %o is refused with a message that says what to change", (options, message) => {
    expect(() => createClient(options)).toThrow(message)
  })

  it("the failure UNREACHABLE has the reason from the causes of fetch's error", async () => {
    const refused = new Error("connect ECONNREFUSED 127.0.0.1:4010")
    const all = Object.assign(new AggregateError([refused, refused], ""), { code: "ECONNREFUSED" })
    for (const [cause, why] of [
      [refused, refused.message],
      [all, "ECONNREFUSED"]
    ] as const) {
      const lost = scripted(new TypeError("fetch failed", { cause }))
      expect(await lost.client.shop.read({ retries: 0 })).toMatchObject({
        error: { code: "UNREACHABLE", message: `No response from ${BASE}: ${why}` }
      })
    }
  })

  it.each([
    [{ timeoutMs: -1 }, "timeoutMs must be a whole number from 1"],
    [{ timeoutMs: 0 }, "timeoutMs must be a whole number from 1"],
    [{ retries: 1.5 }, "retries must be a whole number from 0"],
    [{ maxRetryDelayMs: Number.NaN }, "maxRetryDelayMs must be a whole number from 0"]
  ])("the option %j of a call is refused in one sentence", (options, sentence) => {
    expect(() => createClient({ baseUrl: BASE, key, ...options } as never)).toThrow(sentence)
  })

  it("wrong options of a call are refused in one sentence", async () => {
    await expect(client.shop.read({ timeoutMs: -1 })).rejects.toThrow("timeoutMs must be a whole number from 1")
  })

  it("unwrap throws a failure as an exception with its code, its message and its cause", async () => {
    const lost = scripted(new TypeError("fetch failed"))
    const outcome = await lost.client.shop.read({ retries: 0 })
    const thrown = (() => {
      try {
        return unwrap(outcome)
      } catch (error) {
        return error
      }
    })()
    expect(thrown).toBeInstanceOf(WorkshopError)
    expect(thrown).toMatchObject({
      code: "UNREACHABLE",
      message: expect.stringContaining("fetch failed"),
      failure: { attempts: 1 }
    })
    expect((thrown as Error).cause).toBeInstanceOf(TypeError)
  })

  it.each([
    "<h1>Hello</h1>",
    "null",
    "true",
    '{"success":true}',
    '{"success":false}',
    '{"success":false,"error":null}',
    '{"success":false,"error":"Not found"}',
    '{"success":false,"error":{"code":404}}',
    '{"error":{"code":"NOT_FOUND","message":"no"}}'
  ])("a response that is not from the service is a failure: %s", async (body) => {
    const proxy = scripted(new Response(body, { status: 200 }))
    expect(await proxy.client.shop.read()).toMatchObject({ ok: false, error: { code: "MISUNDERSTOOD", status: 200 } })
  })

  it("pages are read to the end, or until a failure (Specification, Lists and sync)", async () => {
    for (const service of ["A", "B", "C"]) {
      clock.advance(1)
      await client.tickets.create({ service, external_ref: "walk" })
    }
    const seen: Array<ReadonlyArray<string>> = []
    for await (const page of client.tickets.pages({ external_ref: "walk", limit: 2 }))
      seen.push(unwrap(page).map(({ service }) => service))
    expect(seen).toEqual([["C", "B"], ["A"]])
    const items: Array<string> = []
    const pages = client.tickets.pages({ external_ref: "walk", limit: 2 })
    for await (const { service } of pages.items()) items.push(service)
    expect(items).toEqual(["C", "B", "A"])
    const broken: Array<boolean> = []
    for await (const page of client.tickets.pages({ limit: 101 })) broken.push(page.ok)
    expect(broken).toEqual([false])
    await expect(async () => {
      for await (const ticket of client.tickets.pages({ limit: 101 }).items()) expect(ticket).toBeUndefined()
    }).rejects.toMatchObject({ name: "WorkshopError", code: "VALIDATION_ERROR" })
  })

  it("two syncs miss no change, because a change between them comes with the second (Specification, Lists and sync)", async () => {
    const till = new Map<string, string>()
    let since: string | undefined
    const sync = async () => {
      for await (const page of client.tickets.changes({ since, limit: 1 })) {
        if (!page.ok) throw new Error(page.error.message)
        for (const { id, state } of page.value) till.set(id, state)
        since = page.meta.synced_until
      }
    }
    const ticket = unwrap(await client.tickets.create({ service: "Lining" }))
    await sync()
    expect(till.get(ticket.id)).toBe("workshop")
    clock.advance(5)
    await client.tickets.changeStatus(ticket.id, "ready")
    await sync()
    expect(till.get(ticket.id)).toBe("ready")
  })
})
