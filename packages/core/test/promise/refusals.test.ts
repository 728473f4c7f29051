import * as MemoryStore from "@workshop/store-memory"
import { afterAll, describe, expect, expectTypeOf, it } from "vitest"
import { type CallerFields, type MountOptions, mountFetch } from "../../src/http.js"
import {
  isRefusal,
  type PlainCaller,
  type PlainTicket,
  refusalResponse,
  start,
  successResponse,
  unwrap
} from "../../src/promise.js"
import { SettableClock } from "../../src/testing/SettableClock.js"

const clock = new SettableClock()
const workshop = await start({ store: MemoryStore.layer, background: false, clock, limits: { tickets_per_hour: 2 } })
afterAll(() => workshop.stop())
const shop = await unwrap(
  workshop.shops.create({ name: "Needle", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" })
)
const caller = { shop_id: shop.id, caller_id: "amira", scopes: ["tickets:read", "tickets:write"], via: "api" } as const
const { data: ticket } = await workshop.orThrow.tickets.create(caller, { service: "Hem" }, "one")

describe("refusals", () => {
  it("unwrap and orThrow return the value, and throw the refusal itself", async () => {
    expect(ticket).toMatchObject({ number: 1, state: "workshop" })
    const refused = await workshop.tickets.byNumber(caller, 17)
    expect(() => unwrap(refused)).toThrow("This shop has no ticket with this id or number")
    await expect(unwrap(workshop.tickets.byNumber(caller, 17))).rejects.toMatchObject({ _tag: "TicketNotFound" })
    await expect(workshop.orThrow.tickets.byNumber(caller, 0)).rejects.toMatchObject({ _tag: "InvalidInput" })
  })

  it("a missing argument is named in the refusal", async () => {
    const services = workshop as unknown as Record<
      string,
      Record<string, (...args: Array<unknown>) => Promise<unknown>>
    >
    for (const [service, method, args, fields] of [
      ["tickets", "create", [], ["caller", "ticket", "idempotency_key"]],
      ["shops", "list", [], ["limit"]],
      ["webhooks", "set", [shop.id], ["webhook_address"]],
      ["webhooks", "events", [shop.id, 5], ["page"]]
    ] as const) {
      const refused = await services[service]![method]!(...args)
      expect(refused).toMatchObject({ ok: false, refusal: { issues: fields.map((field) => ({ field })) } })
    }
    expect(await workshop.import(undefined as never, undefined as never)).toMatchObject({
      refusal: { issues: [{ field: "shop_id" }] }
    })
  })

  it("refusalResponse is the response of the API, with status, code, reason and fields (Specification, Errors)", async () => {
    const handler = mountFetch(workshop, { authenticate: () => caller })
    const api = async (method: string, path: string, body?: unknown) => {
      const init = { method, headers: { "content-type": "application/json", "idempotency-key": "two" } }
      const text = body === undefined ? {} : { body: JSON.stringify(body) }
      const response = await handler(new Request(`http://a.test/v1/${path}`, { ...init, ...text }))
      return [response.status, response.headers.get("retry-after"), await response.json()]
    }
    const own = async (result: Promise<{ readonly ok: boolean; readonly refusal?: unknown }>) => {
      const { refusal } = await result
      const { status, headers, body } = refusalResponse(refusal)
      return [status, headers["Retry-After"] ?? null, body]
    }
    const same = { status: "workshop" }
    expect(await own(workshop.tickets.changeStatus(caller, ticket.id, "workshop"))).toEqual(
      await api("POST", `tickets/${ticket.id}/status`, same)
    )
    expect(await own(workshop.tickets.create(caller, { service: "", price_minor: -1 }, "two"))).toEqual(
      await api("POST", "tickets", { service: "", price_minor: -1 })
    )
    expect(await own(workshop.tickets.create(caller, { service: "merde" }, "two"))).toEqual(
      await api("POST", "tickets", { service: "merde" })
    )
    await workshop.orThrow.tickets.create(caller, { service: "Coat" }, "three")
    expect(await own(workshop.tickets.create(caller, { service: "Late" }, "two"))).toEqual(
      await api("POST", "tickets", { service: "Late" })
    )
  })

  it("a refusal names an argument as the API does, whichever part of a request has it (Specification, Errors)", async () => {
    const handler = mountFetch(workshop, {
      authenticate: () => ({ ...caller, scopes: ["tickets:read", "tickets:write", "clients:read", "loyalty:write"] })
    })
    const issuesOf = async (method: string, path: string, body?: object, key = "k") => {
      const headers = { "content-type": "application/json", "idempotency-key": key }
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
      return (await (await handler(new Request(`http://a.test/v1/${path}`, init))).json()).error.details.issues
    }
    const own = async (result: Promise<{ readonly ok: boolean; readonly refusal?: unknown }>) =>
      (refusalResponse((await result).refusal).body.error.details as { readonly issues: unknown }).issues
    const { tickets, clients, loyalty } = workshop
    const invalid = "wrong" as never
    const cases = [
      [tickets.create(caller, [] as never, "k"), issuesOf("POST", "tickets", [])],
      [tickets.byId(caller, "17"), issuesOf("GET", "tickets/17")],
      [tickets.byNumber(caller, 0), issuesOf("GET", "tickets/by-number/0")],
      [
        tickets.changeStatus(caller, ticket.id, invalid),
        issuesOf("POST", `tickets/${ticket.id}/status`, { status: invalid })
      ],
      [
        tickets.recordNotified(caller, ticket.id, invalid),
        issuesOf("POST", `tickets/${ticket.id}/notified`, { channel: invalid })
      ],
      [
        tickets.create(caller, { service: "Hem" }, "x".repeat(99)),
        issuesOf("POST", "tickets", { service: "Hem" }, "x".repeat(99))
      ],
      [clients.byId(caller, "17"), issuesOf("GET", "clients/17")],
      [clients.byPhone(caller, "17"), issuesOf("GET", "clients?phone=17")],
      [loyalty.giveStamps(caller, "17", 99, "k"), issuesOf("POST", "clients/17/loyalty/stamps", { count: 99 })]
    ] as const
    for (const [result, api] of cases) expect(await own(result)).toEqual(await api)
    expect(await tickets.byId(caller, "17")).toMatchObject({ refusal: { issues: [{ field: "ticket_id" }] } })
  })

  it("successResponse is the response of the API, with status, envelope, meta and the header of a replay", async () => {
    const other = await start({ store: MemoryStore.layer, background: false, clock })
    const { id } = await unwrap(other.shops.create({ name: "Needle", currency: "TND", time_zone: "Africa/Tunis" }))
    const by = { ...caller, shop_id: id }
    const handler = mountFetch(other, { authenticate: () => by })
    const api = async (method: string, path: string, key: string, body?: object) => {
      const headers = { "content-type": "application/json", "idempotency-key": key }
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
      const response = await handler(new Request(`http://a.test/v1/${path}`, init))
      return [response.status, response.headers.get("idempotent-replayed"), await response.json()]
    }
    const own = ({ status, headers, body }: ReturnType<typeof successResponse>) => [
      status,
      headers["Idempotent-Replayed"] ?? null,
      JSON.parse(JSON.stringify(body))
    ]
    const { tickets } = other.orThrow
    const first = await tickets.create(by, { service: "Hem" }, "one")
    expect([first.data.number, own(successResponse(first))[0]]).toEqual([1, 201])
    const replay = await tickets.create(by, { service: "Hem" }, "one")
    expect(own(successResponse(replay))).toEqual(await api("POST", "tickets", "one", { service: "Hem" }))
    const created = await api("POST", "tickets", "two", { service: "Zip" })
    const second = await tickets.create(by, { service: "Zip" }, "two")
    expect(own(successResponse({ ...second, replayed: false }))).toEqual(created)
    expect(own(successResponse(await tickets.byId(by, first.data.id)))).toEqual(
      await api("GET", `tickets/${first.data.id}`, "")
    )
    expect(own(successResponse(await tickets.list(by, { limit: 1 })))).toEqual(await api("GET", "tickets?limit=1", ""))
    expect(own(successResponse(await tickets.byNumber(by, 2)))).toEqual(await api("GET", "tickets/by-number/2", ""))
    const moved = await tickets.changeStatus(by, first.data.id, "ready", "three")
    const path = `tickets/${first.data.id}/status`
    expect(own(successResponse({ ...moved, replayed: true }))).toEqual(
      await api("POST", path, "three", { status: "ready" })
    )
    await other.stop()
  })

  it("isRefusal distinguishes refusals from other errors, whose response is a 500 without their text", async () => {
    const refused = await workshop.orThrow.tickets.byNumber(caller, 17).catch((error: unknown) => error)
    expect([isRefusal(refused), refusalResponse(refused).status]).toEqual([true, 404])
    for (const error of [new Error("secret"), { _tag: "Elsewhere" }, undefined, { _tag: "TicketNotFound" }]) {
      expect(isRefusal(error)).toBe(false)
      const { status, body } = refusalResponse(error)
      expect([status, body.error.code, JSON.stringify(body).includes("secret")]).toEqual([500, "INTERNAL", false])
    }
  })

  it("events() buffers the events after the call, even before the first read", async () => {
    const events = workshop.events()
    await workshop.orThrow.tickets.changeStatus(caller, ticket.id, "ready")
    for await (const event of events) {
      expect(event.type).toBe("ticket.ready")
      break
    }
  })

  it("an optional field may be undefined, even with exactOptionalPropertyTypes", async () => {
    const input: PlainTicket = { service: "Hem", client_phone: undefined, items: undefined }
    expect(await workshop.progress.edit(caller, ticket.id, { service: input.service, item: undefined })).toMatchObject({
      ok: true
    })
    expect(await workshop.tickets.list(caller, { phone: input.client_phone })).toMatchObject({ ok: true })
  })

  it("authenticate accepts a caller that your own routes use, even with exactOptionalPropertyTypes", () => {
    expectTypeOf<Omit<PlainCaller, "via"> | null>().toExtend<CallerFields | null>()
    expectTypeOf<(request: Request) => Omit<PlainCaller, "via"> | null>().toExtend<
      NonNullable<MountOptions<Request>["authenticate"]>
    >()
  })

  it("a method with two ids takes them by name, and its refusals use these names", async () => {
    expect(await workshop.offers.accept({ client_id: "a", offer_id: "b" })).toMatchObject({
      refusal: { issues: [{ field: "client_id" }, { field: "offer_id" }] }
    })
    expect(await workshop.audit.list({})).toMatchObject({ ok: true, value: [{ act: "shop.created" }] })
  })
})
