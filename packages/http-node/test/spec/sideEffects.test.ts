import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { DAY, HOUR, MINUTE, TestService } from "../TestService.js"
import type { CardJson } from "./TestShop.js"

let service: TestService
beforeAll(async () => {
  service = await TestService.open({ seed: 31 })
})
afterAll(() => service.close())

const program = { stamps_per_ticket: 3, stamps_required: 10 }

describe("the side effects of a ticket's change of state (Specification, States)", () => {
  it("a new ticket is in the state workshop, and its later timestamps are null (Specification, States)", async () => {
    const shop = await service.shop()
    const ticket = await shop.create({ service: "Hem" })
    expect(ticket).toMatchObject({
      state: "workshop",
      outcome: null,
      ready_at: null,
      collected_at: null,
      abandoned_at: null,
      abandon_reason: null,
      notified_at: null,
      created_at: service.iso(),
      updated_at: service.iso()
    })
  })

  it("ready sets ready_at, and collected sets collected_at and the outcome ready (Specification, States)", async () => {
    const shop = await service.shop()
    const { id } = await shop.create()
    service.clock.advance(HOUR)
    const ready_at = service.iso()
    expect(await shop.move(id, "ready")).toMatchObject({ ready_at, updated_at: ready_at, outcome: null })
    service.clock.advance(HOUR)
    const collected = await shop.move(id, "collected")
    expect(collected).toMatchObject({ ready_at, collected_at: service.iso(), outcome: "ready" })
  })

  it("an impossible ticket is collected with the outcome impossible, without ready_at (Specification, States)", async () => {
    const shop = await service.shop()
    const { id } = await shop.create()
    const collected = await shop.move(id, "impossible", "collected")
    expect(collected).toMatchObject({ ready_at: null, collected_at: service.iso(), outcome: "impossible" })
  })

  it("a move back to the workshop clears ready_at, collected_at and outcome, and keeps notified_at (Specification, States)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const { id } = await shop.create({ service: "Hem", client_id: client.id })
    await shop.move(id, "ready")
    const notified_at = service.iso()
    service.clock.advance(MINUTE)
    await shop.move(id, "collected")
    service.clock.advance(MINUTE)
    const reopened = await shop.move(id, "workshop")
    expect(reopened).toMatchObject({
      state: "workshop",
      ready_at: null,
      collected_at: null,
      outcome: null,
      notified_at
    })
  })

  for (const status of ["ready", "impossible"]) {
    it(`a linked client is notified in the app when their ticket is ${status} (Specification, States)`, async () => {
      const shop = await service.shop()
      const client = await service.known(shop)
      const { id } = await shop.create({ service: "Hem", client_id: client.id })
      service.clock.advance(MINUTE)
      const moved = await shop.move(id, status)

      expect(moved.notified_at).toBe(service.iso())
      const events = (await shop.events()).slice(2)
      expect(events.map(({ type, data }) => [type, data])).toEqual([
        [`ticket.${status}`, { ticket: moved }],
        ["client.notified", { ticket: moved, channel: "app", notified_at: service.iso() }]
      ])
      const [note, ...more] = await service.inbox(client)
      expect(more).toEqual([])
      expect(note).toMatchObject({ type: `ticket.${status}`, ticket_id: id, client_id: client.id })
    })

    it(`no client is notified when a ticket without a linked client is ${status} (Specification, States)`, async () => {
      const shop = await service.shop()
      const stranger = await service.client()
      const { id } = await shop.create({ service: "Hem", client_phone: stranger.phone })
      const moved = await shop.move(id, status)
      expect(moved.notified_at).toBeNull()
      expect(await shop.eventTypes()).toEqual(["ticket.created", `ticket.${status}`])
      expect(await service.inbox(stranger)).toEqual([])
    })

    it(`a client who blocked the shop is not notified when their ticket is ${status} (Specification, Clients and loyalty)`, async () => {
      const shop = await service.shop()
      const client = await service.known(shop)
      const { id } = await shop.create({ service: "Hem", client_id: client.id })
      await service.block(client, shop)
      const before = (await shop.events()).length
      const moved = await shop.move(id, status)
      expect(moved).toMatchObject({ notified_at: null, client: null })
      expect((await shop.eventTypes()).slice(before)).toEqual([`ticket.${status}`])
      expect(await service.inbox(client)).toEqual([])
    })
  }

  it("collecting and reopening a ticket notify no client in the app (Specification, States)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const { id } = await shop.create({ service: "Hem", client_id: client.id })
    await shop.move(id, "ready", "collected", "workshop")
    expect(await service.inbox(client)).toHaveLength(1)
    expect(await shop.eventTypes()).toEqual([
      "ticket.created",
      "client.linked",
      "ticket.ready",
      "client.notified",
      "ticket.collected",
      "ticket.reopened"
    ])
  })
})

describe("stamps that tickets earn (Specification, States; Clients and loyalty)", () => {
  const setting = async (settings: Readonly<Record<string, unknown>> = {}) => {
    const shop = await service.shop()
    await shop.change({ program: { ...program, ...settings } })
    const client = await service.known(shop)
    const { id } = await shop.create({ service: "Hem", client_id: client.id })
    const lifetime = async () => (await shop.get<{ card: CardJson }>(`/v1/clients/${client.id}/loyalty`)).data.card
    return { shop, client, id, lifetime }
  }

  it("a ticket earns stamps_per_ticket when it is first ready, and never again (Specification, Clients and loyalty)", async () => {
    const { shop, id, lifetime } = await setting()
    await shop.move(id, "ready")
    const ready = { balance: 3, lifetime: 3, rewards_available: 0, rewards_redeemed: 0, updated_at: service.iso() }
    expect(await lifetime()).toEqual(ready)
    service.clock.advance(MINUTE)
    await shop.move(id, "workshop", "ready", "collected", "workshop", "ready", "collected")
    expect(await lifetime()).toEqual(ready)
  })

  it("an impossible ticket earns no stamps, even when collected, but earns them if it is made ready afterwards (Specification, Clients and loyalty)", async () => {
    const { shop, id, lifetime } = await setting()
    await shop.move(id, "impossible", "collected")
    expect(await lifetime()).toMatchObject({ lifetime: 0, updated_at: null })
    await shop.move(id, "workshop", "ready")
    expect(await lifetime()).toMatchObject({ lifetime: 3 })
  })

  it("a ticket made ready while the programme was off earns its stamps when it is collected with the programme on (Specification, Clients and loyalty)", async () => {
    const { shop, id, lifetime } = await setting({ active: false })
    await shop.move(id, "ready")
    expect(await lifetime()).toMatchObject({ lifetime: 0 })
    await shop.change({ program: { active: true } })
    await shop.move(id, "collected")
    expect(await lifetime()).toMatchObject({ lifetime: 3 })
  })

  it("a ticket made ready before its client was linked earns its stamps when it is collected (Specification, Clients and loyalty)", async () => {
    const shop = await service.shop()
    const client = await service.client()
    const { id } = await shop.create({ service: "Hem", client_phone: client.phone })
    await shop.move(id, "ready")
    await service.answerOffer(client, "accept")
    await shop.move(id, "collected")
    const { data } = await shop.get<{ card: CardJson }>(`/v1/clients/${client.id}/loyalty`)
    expect(data.card.lifetime).toBe(1)
  })

  it("stamps that tickets earn do not count against the limit of 20 stamps a day (Specification, Clients and loyalty)", async () => {
    const { shop, client, id } = await setting({ stamps_per_ticket: 50, stamps_required: 100 })
    await shop.move(id, "ready")
    for (const count of [10, 10]) expect((await shop.stamp(client.id, count)).status).toBe(200)
    expect((await shop.stamp(client.id, 1)).status).toBe(429)
  })

  it("tickets earn no stamps if the programme has 0 stamps per ticket (Specification, Clients and loyalty)", async () => {
    const { shop, id, lifetime } = await setting({ stamps_per_ticket: 0 })
    await shop.move(id, "ready", "collected")
    expect(await lifetime()).toMatchObject({ lifetime: 0, updated_at: null })
  })
})

describe("tickets offered to a phone number (Specification, States; Endpoints)", () => {
  it("a ticket with client_phone is offered to the account with that number, and no client is linked automatically (Specification, States)", async () => {
    const shop = await service.shop()
    const client = await service.client()
    const ticket = await shop.create({ service: "Hem", client_phone: client.phone })
    expect(ticket).toMatchObject({ client: null, client_phone: client.phone })
    expect((await shop.ticket(ticket.id)).client).toBeNull()
    expect((await shop.get(`/v1/clients/${client.id}`)).status).toBe(404)
  })

  it("after an accepted offer the client appears in the ticket, in its events and in look-ups (Specification, Webhooks; Clients and loyalty)", async () => {
    const shop = await service.shop()
    const client = await service.client()
    const { id } = await shop.create({ service: "Hem", client_phone: client.phone })
    service.clock.advance(MINUTE)
    await service.answerOffer(client, "accept")
    const badge = { id: client.id, display_name: "Amira Ben Salah" }
    const ticket = await shop.ticket(id)
    expect(ticket).toMatchObject({ client: badge, updated_at: service.iso() })
    expect((await shop.events()).at(-1)).toMatchObject({ type: "client.linked", data: { ticket, client: badge } })
    expect((await shop.get("/v1/clients", { phone: client.phone })).data).toMatchObject({
      id: client.id,
      tickets_total: 1
    })
  })

  it("a block of an offer's shop links no client, raises no event, and stays after a later visit (Specification, Clients and loyalty)", async () => {
    const shop = await service.shop()
    const client = await service.client()
    const { id } = await shop.create({ service: "Hem", client_phone: client.phone })
    const before = await shop.ticket(id)
    await service.answerOffer(client, "block")
    await service.visit(client, shop)
    expect(await shop.ticket(id)).toEqual(before)
    expect(await shop.eventTypes()).toEqual(["ticket.created"])
    expect((await shop.get(`/v1/clients/${client.id}`)).status).toBe(404)
  })

  it("a client's acceptance of an offer does not postpone the closure as no_news (Specification, States)", async () => {
    const shop = await service.shop()
    const client = await service.client()
    const { id } = await shop.create({ service: "Hem", client_phone: client.phone })
    service.clock.advance(59 * DAY)
    await service.answerOffer(client, "accept")
    service.clock.advance(DAY)
    await service.closeDue()
    expect((await shop.ticket(id)).state).toBe("abandoned")
  })
})
