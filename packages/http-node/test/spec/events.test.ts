import { Webhooks } from "@workshop/core"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { DAY, HOUR, MINUTE, TestService } from "../TestService.js"

let service: TestService
beforeAll(async () => {
  service = await TestService.open({ seed: 6 })
})
afterAll(() => service.close())

describe("the events of tickets (Specification, Webhooks)", () => {
  it("each change in a ticket's life raises an event with the ticket as of that change, in order (Specification, Webhooks)", async () => {
    const shop = await service.shop({ tracking_base_url: "https://t.example/" })
    const client = await service.client()
    const stands = []
    const { id } = await shop.create({ service: "Hem", client_phone: client.phone, price_minor: 100 })
    const step = async (act: () => Promise<unknown>) => {
      service.clock.advance(MINUTE)
      await act()
      const ticket = await shop.ticket(id)
      stands.push({ ticket, at: service.iso() })
      return ticket
    }
    const created = { ticket: await shop.ticket(id), at: service.iso() }
    const badge = { id: client.id, display_name: "Amira Ben Salah" }
    const linked = await step(() => service.answerOffer(client, "accept"))
    const proposed = await step(() => shop.quote(id, { price_minor: 250, note: "More" }))
    const proposed_at = service.iso()
    const accepted = await step(() => shop.answerQuote(id, "accept"))
    const quoted_at = service.iso()
    const impossible = await step(() => shop.move(id, "impossible"))
    const back = await step(() => shop.move(id, "workshop"))
    const ready = await step(() => shop.move(id, "ready"))
    const notified = await step(() => shop.post(`/v1/tickets/${id}/notified`, { channel: "whatsapp" }))
    const collected = await step(() => shop.move(id, "collected"))
    const reopened = await step(() => shop.move(id, "workshop"))
    const again = await step(() => shop.move(id, "ready"))
    service.clock.advance(60 * DAY)
    await service.closeDue()
    const abandoned = await shop.ticket(id)
    await service.act(Effect.flatMap(Webhooks, (webhooks) => webhooks.ping(shop.id)))

    const offered = { status: "proposed", price_minor: 250, note: "More", proposed_at, answered_at: null }
    const quote = { ...offered, status: "accepted", answered_at: quoted_at }
    const byApp = (ticket: typeof ready) => ({ ticket, channel: "app", notified_at: ticket.notified_at })
    const events = await shop.events()
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ["ticket.created", { ticket: created.ticket }],
      ["client.linked", { ticket: linked, client: badge }],
      ["quote.proposed", { ticket: proposed, quote: offered }],
      ["quote.accepted", { ticket: accepted, quote }],
      ["ticket.impossible", { ticket: impossible }],
      ["client.notified", byApp(impossible)],
      ["ticket.reopened", { ticket: back, from: "impossible" }],
      ["ticket.ready", { ticket: ready }],
      ["client.notified", byApp(ready)],
      ["client.notified", { ticket: notified, channel: "whatsapp", notified_at: notified.notified_at }],
      ["ticket.collected", { ticket: collected }],
      ["ticket.reopened", { ticket: reopened, from: "collected" }],
      ["ticket.ready", { ticket: again }],
      ["client.notified", byApp(again)],
      ["ticket.abandoned", { ticket: abandoned, reason: "uncollected" }],
      ["ping", {}]
    ])
    for (const { type, created_at, data } of events) {
      if (type !== "ping" && type !== "ticket.abandoned") expect(created_at, type).toBe(data.ticket.updated_at)
    }
    expect(events.at(-1)!.created_at).toBe(service.iso())
  })

  it("the events of one command have different ids, which sort in the order of the events (Specification, Tickets)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const { id } = await shop.create({ service: "Hem", client_id: client.id })
    await shop.move(id, "ready", "collected", "workshop", "ready")
    const ids = (await shop.events()).map((event) => event.id)
    expect(new Set(ids).size).toBe(ids.length)
    const [created, linked] = ids
    expect(created! < linked!).toBe(true)
  })

  it("a later change of the ticket, client or shop, or a block, does not change a stored event (Specification, Webhooks)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const { id } = await shop.create({ service: "Hem", client_id: client.id, price_minor: 5 })
    const before = await shop.eventTexts()
    await shop.quote(id, { price_minor: 9 })
    await shop.answerQuote(id, "accept")
    await shop.move(id, "ready")
    await shop.change({ program: { active: false } })
    await service.block(client, shop)
    service.clock.advance(DAY)
    expect((await shop.eventTexts()).slice(0, before.length)).toEqual(before)
    expect(before[0]).toContain("Amira Ben Salah")
  })

  it("after a client has blocked the shop, no new event names the client (Specification, Clients and loyalty)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const { id } = await shop.create({ service: "Hem", client_id: client.id })
    await service.block(client, shop)
    const before = (await shop.eventTexts()).length
    await shop.post(`/v1/tickets/${id}/notified`, { channel: "sms" })
    await shop.move(id, "ready", "workshop", "impossible", "collected")
    await shop.tryCreate({ service: "Hem", client_id: client.id })
    const later = (await shop.eventTexts()).slice(before)
    expect(later.map((text) => (JSON.parse(text) as { type: string }).type)).toEqual([
      "client.notified",
      "ticket.ready",
      "ticket.reopened",
      "ticket.impossible",
      "ticket.collected"
    ])
    for (const text of later) {
      expect(text).not.toContain(client.id)
      expect(text).not.toContain("Amira")
    }
  })

  it("proposing a quote raises an event, refusing it raises another, and a second answer raises none (Specification, Endpoints)", async () => {
    const shop = await service.shop()
    const { id } = await shop.create()
    await shop.quote(id, { price_minor: 5 })
    await shop.answerQuote(id, "refuse")
    await expect(shop.answerQuote(id, "accept")).rejects.toMatchObject({ _tag: "QuoteClosed" })
    const events = await shop.events()
    expect(events.map(({ type }) => type)).toEqual(["ticket.created", "quote.proposed", "quote.refused"])
    expect(events[2]!.data).toMatchObject({ ticket: { id, quote: { status: "refused" } }, quote: { price_minor: 5 } })
  })

  it("a delay, a part and a photo raise ticket.updated, which names the changed fields (Specification, Endpoints)", async () => {
    const shop = await service.shop()
    const { id } = await shop.create()
    await shop.delay(id, { promised_at: "2026-12-24T09:00:00Z" })
    await shop.part(id, { label: "Zip", status: "ordered" })
    await shop.photo(id, "https://p.example/1.jpg")
    const events = await shop.events()
    expect(events.slice(1).map(({ type, data }) => [type, data.changed])).toEqual([
      ["ticket.updated", ["promised_at", "delay"]],
      ["ticket.updated", ["part"]],
      ["ticket.updated", ["photo_url"]]
    ])
    expect(events[3]!.data.ticket).toEqual(await shop.ticket(id))
  })

  it("reads, look-ups, stamps, rewards, visits and blocks raise no events (Specification, Webhooks)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const { id } = await shop.create({ service: "Hem", client_phone: "+21626000111" })
    await shop.ticket(id)
    await shop.get("/v1/tickets")
    await shop.get("/v1/clients", { phone: client.phone })
    await shop.stamp(client.id, 10)
    await shop.redeem(client.id)
    expect(await shop.eventTypes()).toEqual(["ticket.created"])
  })

  it("refused requests raise no events (Specification, Idempotency)", async () => {
    const shop = await service.shop()
    const { id } = await shop.create()
    await shop.tryMove(id, "collected")
    await shop.tryMove(id, "workshop")
    await shop.tryCreate({ service: "fuck" })
    expect(await shop.eventTypes()).toEqual(["ticket.created"])
  })

  it("a ticket made in the app raises ticket.created as a ticket made through the API does (Specification, Webhooks)", async () => {
    const shop = await service.shop()
    const { data } = await shop.createInApp({ service: "Hem" })
    expect((await shop.events()).map(({ type, data }) => [type, data])).toEqual([
      ["ticket.created", { ticket: await shop.ticket(data.id) }]
    ])
  })

  it("the events of one shop are not visible to another shop (Specification, Keys and scopes)", async () => {
    const [shop, other] = [await service.shop(), await service.shop()]
    await shop.create()
    expect(await other.events()).toEqual([])
    expect((await shop.events())[0]!.shop_id).toBe(shop.id)
  })

  it("an event's created_at follows the shop's clock, which never goes back (Specification, Lists and sync)", async () => {
    const shop = await service.shop()
    const { id } = await shop.create()
    service.clock.advance(-HOUR)
    await shop.move(id, "ready")
    service.clock.advance(HOUR)
    const [created, ready] = await shop.events()
    expect(ready!.created_at).toBe(created!.created_at)
  })
})
