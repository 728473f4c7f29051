import * as MemoryStore from "@workshop/store-memory"
import { afterAll, describe, expect, it } from "vitest"
import { mountFetch } from "../../src/http.js"
import { isRefusal, type PlainTicket, refusalResponse, start, unwrap } from "../../src/promise.js"
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
  it("unwrap and orThrow give the value, and throw the refusal itself", async () => {
    expect(ticket).toMatchObject({ number: 1, state: "workshop" })
    const refused = await workshop.tickets.byNumber(caller, 17)
    expect(() => unwrap(refused)).toThrow("This shop has no such ticket")
    await expect(unwrap(workshop.tickets.byNumber(caller, 17))).rejects.toMatchObject({ _tag: "TicketNotFound" })
    await expect(workshop.orThrow.tickets.byNumber(caller, 0)).rejects.toMatchObject({ _tag: "InvalidInput" })
  })

  it("refusalResponse is the response of the API: status, code, reason and fields (Specification, Errors)", async () => {
    const handler = mountFetch(workshop, { authenticate: () => caller })
    const api = async (method: string, path: string, body?: unknown) => {
      const init = { method, headers: { "content-type": "application/json", "idempotency-key": "two" } }
      const text = body === undefined ? {} : { body: JSON.stringify(body) }
      const response = await handler(new Request(`http://a.test/v1/${path}`, { ...init, ...text }))
      return [response.status, response.headers.get("retry-after"), await response.json()]
    }
    const own = async (result: Promise<{ readonly ok: boolean; readonly refusal?: unknown }>) => {
      const { refusal } = await result
      const { status, headers, body } = refusalResponse(refusal as never, clock.unsafeCurrentTimeMillis())
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

  it("isRefusal distinguishes refusals from other errors, whose response is a 500 without their text", async () => {
    const refused = await workshop.orThrow.tickets.byNumber(caller, 17).catch((error: unknown) => error)
    expect([isRefusal(refused), refusalResponse(refused).status]).toEqual([true, 404])
    for (const error of [new Error("secret"), { _tag: "Elsewhere" }, undefined, { _tag: "TicketNotFound" }]) {
      expect(isRefusal(error)).toBe(false)
      const { status, body } = refusalResponse(error)
      expect([status, body.error.code, JSON.stringify(body).includes("secret")]).toEqual([500, "INTERNAL", false])
    }
  })

  it("events() keeps what happens from the call on, before anybody reads", async () => {
    const events = workshop.events()
    await workshop.orThrow.tickets.changeStatus(caller, ticket.id, "ready")
    for await (const event of events) {
      expect(event.type).toBe("ticket.ready")
      break
    }
  })

  it("an optional field may be undefined, as with exactOptionalPropertyTypes", async () => {
    const input: PlainTicket = { service: "Hem", client_phone: undefined, items: undefined }
    expect(await workshop.progress.edit(caller, ticket.id, { service: input.service, item: undefined })).toMatchObject({
      ok: true
    })
    expect(await workshop.tickets.list(caller, { phone: input.client_phone })).toMatchObject({ ok: true })
  })

  it("two ids are given by name, and named in what is wrong", async () => {
    expect(await workshop.offers.accept({ client_id: "a", offer_id: "b" })).toMatchObject({
      refusal: { issues: [{ field: "client_id" }, { field: "offer_id" }] }
    })
    expect(await workshop.audit.list({})).toMatchObject({ ok: true, value: [{ act: "shop.created" }] })
  })
})
