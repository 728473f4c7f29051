import { HttpApi } from "@effect/platform"
import { afterAll, describe, expect, expectTypeOf, it } from "vitest"
import { type Client, createClient } from "../../src/client/Client.js"
import type { AnswerOf, CodeOf } from "../../src/client/ClientContract.js"
import type { AnsweredFailure } from "../../src/client/ClientFailure.js"
import { WorkshopApi } from "../../src/http/WorkshopApi.js"
import { SettableClock } from "../../src/testing/SettableClock.js"
import { openShopfront } from "./Shopfront.js"

const BASE = "http://127.0.0.1:4010/v1"
const clock = new SettableClock(Date.parse("2026-11-20T10:00:00Z"))
const { workshop, key, fetch } = await openShopfront({ seed: 3, clock })
afterAll(() => workshop.stop())

const client = createClient({ baseUrl: BASE, key, fetch })

type Settled<A> =
  | { readonly ok: true; readonly value: A }
  | { readonly ok: false; readonly error: { readonly message: string } }

const must = <A>(result: Settled<A>): A => {
  if (!result.ok) throw new Error(result.error.message)
  return result.value
}

/** A `fetch` that answers from a list, and keeps what it was asked. */
const scripted = (...answers: ReadonlyArray<Response | Error | "real">) => {
  const asked: Array<Request> = []
  const waited: Array<number> = []
  const answer = async (request: Request): Promise<Response> => {
    asked.push(request.clone())
    const next = answers[asked.length - 1] ?? "real"
    if (next instanceof Error) throw next
    return next === "real" ? fetch(request) : next
  }
  const wait = async (ms: number) => void waited.push(ms)
  const options = { fetch: answer, wait }
  return { asked, waited, options, client: createClient({ baseUrl: BASE, key, ...options }) }
}

const failure = (status: number, code: string, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify({ success: false, error: { code, message: "no" } }), { status, headers })

describe("The Promise client", () => {
  it("has every endpoint of the contract, at its path and with its method (Specification, Endpoints)", async () => {
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

  it("is typed as the contract is: results, what else is said, and codes (Specification, Errors)", () => {
    type Value<R> = R extends { readonly ok: true; readonly value: infer A } ? A : never
    type Code<R> = R extends { readonly ok: false; readonly error: infer E }
      ? E extends AnsweredFailure
        ? E["code"]
        : never
      : never
    type Tickets = Client["tickets"]
    type Clients = Client["clients"]
    type Of<F extends (...args: never) => unknown> = Awaited<ReturnType<F>>
    expectTypeOf<Value<Of<Tickets["create"]>>>().toEqualTypeOf<AnswerOf<"tickets", "create">["data"]>()
    expectTypeOf<Value<Of<Tickets["list"]>>>().toEqualTypeOf<AnswerOf<"tickets", "list">["data"]>()
    expectTypeOf<Value<Of<Clients["byId"]>>>().toEqualTypeOf<AnswerOf<"clients", "byId">["data"]>()
    expectTypeOf<Value<Of<Clients["loyalty"]>>>().toEqualTypeOf<AnswerOf<"clients", "loyalty">["data"]>()
    expectTypeOf<Value<Of<Clients["giveStamps"]>>>().toEqualTypeOf<AnswerOf<"clients", "giveStamps">["data"]>()
    expectTypeOf<Value<Of<Clients["redeem"]>>>().toEqualTypeOf<AnswerOf<"clients", "redeem">["data"]>()
    expectTypeOf<Value<Of<Client["shop"]["read"]>>>().toEqualTypeOf<AnswerOf<"shop", "read">["data"]>()
    expectTypeOf<Code<Of<Client["shop"]["read"]>>>().toEqualTypeOf<CodeOf<"shop", "read">>()
    expectTypeOf<Code<Of<Tickets["create"]>>>().toEqualTypeOf<CodeOf<"tickets", "create">>()
    expectTypeOf<Code<Of<Tickets["list"]>>>().toEqualTypeOf<CodeOf<"tickets", "list">>()
    expectTypeOf<Code<Of<Tickets["changeStatus"]>>>().toEqualTypeOf<CodeOf<"tickets", "changeStatus">>()
    expectTypeOf<Code<Of<Tickets["byNumber"]>>>().toEqualTypeOf<CodeOf<"tickets", "byNumber">>()
    expectTypeOf<Code<Of<Clients["byPhone"]>>>().toEqualTypeOf<CodeOf<"clients", "byPhone">>()
    expectTypeOf<Code<Of<Clients["redeem"]>>>().toEqualTypeOf<CodeOf<"clients", "redeem">>()
    expect(Object.keys(client)).toEqual(["shop", "tickets", "clients"])
  })

  it("answers a refusal as a value, typed by its code (Specification, Errors)", async () => {
    const made = must(await client.tickets.create({ service: "Heels" }))
    const refused = await client.tickets.changeStatus(made.id, "collected")
    if (refused.ok || refused.error.code !== "CONFLICT") throw new Error("not refused")
    expect(refused.error.details).toEqual({
      reason: "INVALID_TRANSITION",
      from: "workshop",
      to: "collected",
      allowed: ["ready", "impossible"],
      state: "workshop",
      updated_at: made.updated_at
    })
    expect(refused.error).toMatchObject({ status: 409, request_id: expect.stringMatching(/^[0-9a-f]{24}$/) })
  })

  it("repeats a create whose answer was lost under the same key: one ticket (Specification, Idempotency)", async () => {
    const lossy = scripted(new TypeError("fetch failed"), new TypeError("fetch failed"), "real")
    const made = await lossy.client.tickets.create({ service: "Zip", external_ref: "lost" })
    expect(made).toMatchObject({ ok: true, value: { service: "Zip" }, meta: { replayed: false } })
    expect(new Set(lossy.asked.map(({ headers }) => headers.get("idempotency-key"))).size).toBe(1)
    expect(lossy.waited).toEqual([200, 400])
    expect(await client.tickets.list({ external_ref: "lost" })).toMatchObject({ ok: true, value: [{ service: "Zip" }] })
  })

  it("does not repeat a change of state whose answer was lost: nothing tells whether it was made", async () => {
    const lossy = scripted(new TypeError("fetch failed"))
    const lost = await lossy.client.tickets.changeStatus("0198c5f1-0d20-7000-8a4f-2be6c90d1357", "ready")
    expect(lost).toMatchObject({ ok: false, error: { code: "UNREACHABLE" } })
    expect(lossy.asked).toHaveLength(1)
  })

  it("waits as long as Retry-After says, also before a call that it would not repeat otherwise (Specification, Limits)", async () => {
    const busy = scripted(failure(429, "TOO_MANY_ATTEMPTS", { "retry-after": "2" }), "real")
    const answered = await busy.client.tickets.changeStatus("0198c5f1-0d20-7000-8a4f-2be6c90d1357", "ready")
    expect(answered).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } })
    expect(busy.waited).toEqual([2000])
  })

  it("answers at once what it would wait for too long, with the seconds to wait", async () => {
    const busy = scripted(failure(429, "TOO_MANY_ATTEMPTS", { "retry-after": "60" }))
    expect(await busy.client.shop.read()).toMatchObject({ ok: false, error: { retry_after_s: 60 } })
    expect(busy.waited).toEqual([])
  })

  it("gives up after its retries", async () => {
    const away = scripted(...Array.from({ length: 4 }, () => failure(503, "UNAVAILABLE", { "retry-after": "1" })))
    expect(await away.client.shop.read()).toMatchObject({ ok: false, error: { code: "UNAVAILABLE" } })
    expect(away.asked).toHaveLength(4)
  })

  it("never waits longer than it may, however often it tries again", async () => {
    const down = scripted(...Array.from({ length: 8 }, () => new TypeError("fetch failed")))
    const patient = createClient({ baseUrl: BASE, key, retries: 7, ...down.options })
    expect(await patient.shop.read()).toMatchObject({ ok: false, error: { code: "UNREACHABLE" } })
    expect(down.waited).toEqual([200, 400, 800, 1600, 3200, 5000, 5000])
  })

  it("a call given up while it waits ends there, and is not made again", async () => {
    const away = scripted(failure(503, "UNAVAILABLE", { "retry-after": "5" }), "real")
    const call = new AbortController()
    const asking = createClient({ baseUrl: BASE, key, fetch: away.options.fetch }).shop.read({ signal: call.signal })
    while (away.asked.length === 0) await Promise.resolve()
    // A turn of the loop, so that it waits by now.
    await new Promise((resolve) => setImmediate(resolve))
    call.abort()
    expect(await asking).toMatchObject({ ok: false, error: { code: "UNAVAILABLE", retry_after_s: 5 } })
    expect(away.asked).toHaveLength(1)
  })

  it("a call given up before its answer is not made again", async () => {
    const call = new AbortController()
    call.abort()
    const lost = scripted(new TypeError("fetch failed"), failure(503, "UNAVAILABLE"))
    for (const code of ["UNREACHABLE", "UNAVAILABLE"])
      expect(await lost.client.shop.read({ signal: call.signal })).toMatchObject({ ok: false, error: { code } })
    expect([lost.asked.length, lost.waited]).toEqual([2, []])
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
  ])("says so where something else answers: %s", async (body) => {
    const proxy = scripted(new Response(body, { status: 200 }))
    expect(await proxy.client.shop.read()).toMatchObject({ ok: false, error: { code: "MISUNDERSTOOD", status: 200 } })
  })

  it("walks pages to the end, and ends at a failure (Specification, Lists and sync)", async () => {
    for (const service of ["A", "B", "C"]) {
      clock.advance(1)
      await client.tickets.create({ service, external_ref: "walk" })
    }
    const seen: Array<ReadonlyArray<string>> = []
    for await (const page of client.tickets.pages({ external_ref: "walk", limit: 2 }))
      seen.push(must(page).map(({ service }) => service))
    expect(seen).toEqual([["C", "B"], ["A"]])
    const broken: Array<boolean> = []
    for await (const page of client.tickets.pages({ limit: 101 })) broken.push(page.ok)
    expect(broken).toEqual([false])
  })

  it("syncs without a gap: what changes between two walks comes with the second (Specification, Lists and sync)", async () => {
    const till = new Map<string, string>()
    let since: string | undefined
    const sync = async () => {
      for await (const page of client.tickets.changes({ since, limit: 1 })) {
        if (!page.ok) throw new Error(page.error.message)
        for (const { id, state } of page.value) till.set(id, state)
        since = page.meta.synced_until
      }
    }
    const made = must(await client.tickets.create({ service: "Lining" }))
    await sync()
    expect(till.get(made.id)).toBe("workshop")
    clock.advance(5)
    await client.tickets.changeStatus(made.id, "ready")
    await sync()
    expect(till.get(made.id)).toBe("ready")
  })
})
