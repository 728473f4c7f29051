import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { DAY, HOUR, MINUTE, NOBODY, TestService } from "../TestService.js"
import type { TicketJson } from "./TestShop.js"

let service: TestService
beforeAll(async () => {
  service = await TestService.open({ seed: 44 })
})
afterAll(() => service.close())

const BAD_IDS = [
  "1",
  "x",
  NOBODY.slice(1),
  `${NOBODY}0`,
  NOBODY.replaceAll("-", ""),
  "%20",
  "by-numbers",
  "null",
  "%00"
]

describe("GET /v1/tickets/{id} (Specification, Endpoints)", () => {
  it("a ticket can be read by its id in upper or lower case (Specification, Endpoints)", async () => {
    const shop = await service.shop()
    const ticket = await shop.create()
    expect(await shop.ticket(ticket.id)).toEqual(ticket)
    expect(await shop.ticket(ticket.id.toUpperCase())).toEqual(ticket)
    expect((await shop.get(`/v1/tickets/${encodeURIComponent(ticket.id)}`)).status).toBe(200)
  })

  it("the 404 for another shop's ticket equals the 404 for an unknown ticket (Specification, Endpoints)", async () => {
    const [shop, otherShop] = [await service.shop(), await service.shop()]
    const { id } = await otherShop.create()
    const [foreign, unknown] = [await shop.get(`/v1/tickets/${id}`), await shop.get(`/v1/tickets/${NOBODY}`)]
    expect([foreign.status, foreign.text]).toEqual([404, unknown.text])
  })

  it("an id in the path that is not a UUID is a 400, for every endpoint with an id (Specification, Endpoints; Errors)", async () => {
    const shop = await service.shop()
    const endpoints = [
      ["GET", "/v1/tickets/ID", undefined],
      ["POST", "/v1/tickets/ID/status", { status: "ready" }],
      ["POST", "/v1/tickets/ID/notified", { channel: "sms" }],
      ["GET", "/v1/clients/ID", undefined],
      ["GET", "/v1/clients/ID/loyalty", undefined],
      ["POST", "/v1/clients/ID/loyalty/stamps", { count: 1 }],
      ["POST", "/v1/clients/ID/loyalty/redeem", undefined]
    ] as const
    for (const [method, path, body] of endpoints) {
      for (const id of BAD_IDS) {
        service.clock.advance(3000)
        const response = await service.api(method, path.replace("ID", id), {
          key: shop.key,
          body,
          idempotency_key: shop.newIdempotencyKey()
        })
        const issues = response.error.details?.issues?.map((issue) => `${issue.in} ${issue.field}`)
        expect([response.status, issues], `${method} ${path} ${id}`).toEqual([400, ["path id"]])
      }
    }
  })
})

describe("GET /v1/tickets/by-number/{n} (Specification, Endpoints; Lists and sync)", () => {
  const other = ({ id, number, number_label, state, created_at }: TicketJson) => ({
    id,
    number,
    number_label,
    state,
    created_at
  })

  it("a read by a number that only one ticket has returns that ticket without meta.others (Specification, Endpoints)", async () => {
    const shop = await service.shop()
    await shop.create()
    const second = await shop.create()
    const response = await shop.get("/v1/tickets/by-number/2")
    expect([response.data, response.meta]).toEqual([second, { others: [] }])
  })

  it("a read by a number that several tickets have returns the newest open ticket, and meta.others lists the rest, newest first (Specification, Endpoints; Lists and sync)", async () => {
    const shop = await service.shop()
    const again = async (...moves: ReadonlyArray<string>) => {
      await shop.change({ next_number: 7 })
      service.clock.advance(HOUR)
      const { id } = await shop.create()
      await shop.move(id, ...moves)
      return shop.ticket(id)
    }
    const abandoned = await again()
    service.clock.advance(60 * DAY)
    await service.closeDue()
    const workshop = await again()
    const impossible = await again("impossible")
    const collected = await again("ready", "collected")
    const first = await shop.get("/v1/tickets/by-number/7")
    expect(first.data).toEqual(impossible)
    expect(first.meta).toEqual({
      others: [other(collected), other(workshop), { ...other(abandoned), state: "abandoned" }]
    })
    await shop.move(impossible.id, "collected")
    expect((await shop.get("/v1/tickets/by-number/7")).data).toEqual(workshop)
    await shop.move(workshop.id, "ready", "collected")
    const none = await shop.get("/v1/tickets/by-number/7")
    expect(none.data).toEqual(collected)
    expect((none.meta.others as ReadonlyArray<TicketJson>).map(({ id }) => id)).toEqual([
      impossible.id,
      workshop.id,
      abandoned.id
    ])
  })

  it("a ready ticket counts as open, and meta.others has no ticket of another shop (Specification, Endpoints; Lists and sync)", async () => {
    const [shop, stranger] = [await service.shop(), await service.shop()]
    await stranger.create()
    const old = await shop.create()
    await shop.move(old.id, "ready")
    await shop.change({ next_number: 1 })
    service.clock.advance(MINUTE)
    const young = await shop.create()
    await shop.move(young.id, "ready", "collected")
    const response = await shop.get("/v1/tickets/by-number/1")
    expect(response.data.id).toBe(old.id)
    expect((response.meta.others as ReadonlyArray<TicketJson>).map(({ id }) => id)).toEqual([young.id])
  })

  it("of two tickets of one millisecond the ticket with the higher id counts as newer (Specification, Lists and sync)", async () => {
    const shop = await service.shop()
    const twins = [await shop.create()]
    await shop.change({ next_number: 1 })
    twins.push(await shop.create())
    twins.sort((a, b) => (a.id < b.id ? 1 : -1))
    const response = await shop.get("/v1/tickets/by-number/1")
    expect([response.data.id, (response.meta.others as ReadonlyArray<TicketJson>)[0]!.id]).toEqual(
      twins.map(({ id }) => id)
    )
  })

  it("meta.others has at most 100 tickets (Specification, Lists and sync)", async () => {
    const shop = await service.shop()
    for (let i = 0; i < 103; i++) {
      await shop.change({ next_number: 5 })
      await shop.createInApp()
    }
    expect((await shop.get("/v1/tickets/by-number/5")).meta.others).toHaveLength(100)
  })

  it("a number without a ticket is a 404, and a value that is not an integer from 1 to 9999 is a 400 (Specification, Lists and sync)", async () => {
    const shop = await service.shop()
    for (const n of ["1", "42", "9999"]) expect((await shop.get(`/v1/tickets/by-number/${n}`)).status, n).toBe(404)
    for (const n of ["0", "10000", "-1", "1.5", "1e2", "abc", "0x1", "%201", "99999999999999999999", "NaN"]) {
      const response = await shop.get(`/v1/tickets/by-number/${n}`)
      const issues = response.error.details?.issues?.map((issue) => `${issue.in} ${issue.field}`)
      expect([response.status, issues], n).toEqual([400, ["path n"]])
    }
  })
})

describe("POST /v1/tickets/{id}/notified (Specification, Endpoints; States)", () => {
  for (const channel of ["sms", "whatsapp", "call"]) {
    it(`the channel ${channel} sets notified_at and raises client.notified with the channel, and sends no notification in the app (Specification, States)`, async () => {
      const shop = await service.shop()
      const client = await service.known(shop)
      const { id } = await shop.create({ service: "Hem", client_id: client.id })
      service.clock.advance(MINUTE)
      const response = await shop.post(`/v1/tickets/${id}/notified`, { channel })
      expect(response.status).toBe(200)
      expect(response.meta).toEqual({ replayed: false })
      expect(response.data).toEqual(await shop.ticket(id))
      expect(response.data).toMatchObject({ notified_at: service.iso(), updated_at: service.iso(), state: "workshop" })
      const events = (await shop.events()).slice(2)
      expect(events.map(({ type, data }) => [type, data])).toEqual([
        ["client.notified", { ticket: response.data, channel, notified_at: service.iso() }]
      ])
      expect(await service.inbox(client)).toEqual([])
    })
  }

  const states: Readonly<Record<string, ReadonlyArray<string>>> = {
    workshop: [],
    ready: ["ready"],
    impossible: ["impossible"],
    collected: ["ready", "collected"]
  }
  for (const [state, moves] of Object.entries(states)) {
    it(`a ticket in the state ${state} can be marked as notified, even without a client and more than once (Specification, States)`, async () => {
      const shop = await service.shop()
      const { id } = await shop.create()
      await shop.move(id, ...moves)
      service.clock.advance(48 * HOUR)
      for (let i = 0; i < 2; i++) {
        service.clock.advance(MINUTE)
        const response = await shop.post(`/v1/tickets/${id}/notified`, { channel: "sms" })
        expect(response.data).toMatchObject({ state, notified_at: service.iso() })
      }
      expect((await shop.eventTypes()).filter((type) => type === "client.notified")).toHaveLength(2)
    })
  }

  it("marking an abandoned ticket as notified is a 409 ABANDONED and changes nothing (Specification, States)", async () => {
    const shop = await service.shop()
    const { id } = await shop.create()
    service.clock.advance(60 * DAY)
    await service.closeDue()
    const before = await shop.ticket(id)
    const response = await shop.post(`/v1/tickets/${id}/notified`, { channel: "sms" })
    const { state, updated_at } = before
    expect([response.status, response.error.details]).toEqual([409, { reason: "ABANDONED", state, updated_at }])
    expect(await shop.ticket(id)).toEqual(before)
  })

  it("any other channel, including app, and an unknown field are a 400, and an unknown ticket is a 404 (Specification, Endpoints)", async () => {
    const shop = await service.shop()
    const { id } = await shop.create()
    for (const channel of ["app", "SMS", "email", "", null, 1, ["sms"]]) {
      const response = await shop.post(`/v1/tickets/${id}/notified`, { channel })
      expect([response.status, response.error.details?.issues?.[0]?.field], String(channel)).toEqual([400, "channel"])
    }
    const extra = await shop.post(`/v1/tickets/${id}/notified`, { channel: "sms", note: "x" })
    expect(extra.error.details?.issues).toMatchObject([{ in: "body", field: "note" }])
    expect((await shop.post(`/v1/tickets/${id}/notified`)).status).toBe(400)
    expect((await shop.post(`/v1/tickets/${NOBODY}/notified`, { channel: "sms" })).status).toBe(404)
    const foreign = await (await service.shop()).post(`/v1/tickets/${id}/notified`, { channel: "sms" })
    expect(foreign.status).toBe(404)
    expect((await shop.ticket(id)).notified_at).toBeNull()
  })
})
