import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { DAY, HOUR, TestService } from "../TestService.js"
import type { TestShop } from "./TestShop.js"

let service: TestService
beforeAll(async () => {
  service = await TestService.open({ seed: 32 })
})
afterAll(() => service.close())

/** Moves the clock and closes what is due. */
const wait = async (ms: number) => {
  service.clock.advance(ms)
  await service.closeDue()
}

describe("automatic closure (Specification, States)", () => {
  it("a ready ticket that is not collected closes after 60 days as uncollected and raises its event (Specification, States)", async () => {
    const shop = await service.shop()
    const { id } = await shop.create()
    service.clock.advance(HOUR)
    await shop.move(id, "ready")
    await wait(60 * DAY - 1)
    expect((await shop.ticket(id)).state).toBe("ready")
    await wait(1)
    const closed = await shop.ticket(id)
    expect(closed).toMatchObject({
      state: "abandoned",
      abandon_reason: "uncollected",
      abandoned_at: service.iso(),
      updated_at: service.iso(),
      outcome: null,
      collected_at: null
    })
    const event = (await shop.events()).at(-1)!
    expect([event.type, event.data]).toEqual(["ticket.abandoned", { ticket: closed, reason: "uncollected" }])
  })

  it("a ticket in the workshop closes as no_news after 60 days without a change by the shop (Specification, States)", async () => {
    const shop = await service.shop()
    const { id } = await shop.create()
    await wait(60 * DAY - 1)
    expect((await shop.ticket(id)).state).toBe("workshop")
    await wait(1)
    const closed = await shop.ticket(id)
    expect(closed).toMatchObject({
      state: "abandoned",
      abandon_reason: "no_news",
      abandoned_at: service.iso(),
      ready_at: null
    })
    const event = (await shop.events()).at(-1)!
    expect([event.type, event.data]).toEqual(["ticket.abandoned", { ticket: closed, reason: "no_news" }])
  })

  it("a ticket that the closer closes late has the time at which its closure was due (Specification, States)", async () => {
    const shop = await service.shop()
    const { id } = await shop.create()
    const due = service.iso(60 * DAY)
    await wait(75 * DAY)
    expect(await shop.ticket(id)).toMatchObject({ state: "abandoned", abandoned_at: due })
  })

  it("repeated and concurrent runs of the closer close a ticket once (Specification, States)", async () => {
    const shop = await service.shop()
    await shop.create()
    service.clock.advance(60 * DAY)
    await Promise.all([service.closeDue(), service.closeDue(), service.closeDue()])
    await wait(60 * DAY)
    expect(await shop.eventTypes()).toEqual(["ticket.created", "ticket.abandoned"])
  })

  it("impossible and collected tickets are never closed automatically (Specification, States)", async () => {
    const shop = await service.shop()
    const [impossible, collected] = [await shop.create(), await shop.create()]
    await shop.move(impossible.id, "impossible")
    await shop.move(collected.id, "ready", "collected")
    await wait(400 * DAY)
    expect((await shop.ticket(impossible.id)).state).toBe("impossible")
    expect((await shop.ticket(collected.id)).state).toBe("collected")
  })

  it("if the shop's command commits before the closure, the ticket is not closed (Specification, States)", async () => {
    const shop = await service.shop()
    const { id } = await shop.create()
    service.clock.advance(60 * DAY)
    await shop.move(id, "ready")
    await wait(0)
    expect((await shop.ticket(id)).state).toBe("ready")
  })

  it("the 60 days of a ready ticket count from ready_at, and no other change restarts them (Specification, States)", async () => {
    const shop = await service.shop()
    const { id } = await shop.create()
    await shop.move(id, "ready")
    await wait(59 * DAY)
    expect((await shop.post(`/v1/tickets/${id}/notified`, { channel: "sms" })).status).toBe(200)
    await shop.quote(id, { price_minor: 1000 })
    await wait(DAY)
    expect(await shop.ticket(id)).toMatchObject({ state: "abandoned", abandon_reason: "uncollected" })
  })

  it("the 60 days of a ticket that is reopened and made ready again count from the new ready_at (Specification, States)", async () => {
    const shop = await service.shop()
    const { id } = await shop.create()
    await shop.move(id, "ready")
    await wait(59 * DAY)
    await shop.move(id, "workshop", "ready")
    await wait(59 * DAY)
    expect((await shop.ticket(id)).state).toBe("ready")
    await wait(DAY)
    expect((await shop.ticket(id)).state).toBe("abandoned")
  })

  const news: Readonly<Record<string, (shop: TestShop, id: string) => Promise<unknown>>> = {
    "a notified note": (shop, id) => shop.post(`/v1/tickets/${id}/notified`, { channel: "call" }),
    "a move to ready and back": (shop, id) => shop.move(id, "ready", "workshop"),
    "a proposed quote": (shop, id) => shop.quote(id, { price_minor: 5 }),
    "a delay": (shop, id) => shop.delay(id, { promised_at: "2027-09-01T10:00:00Z" }),
    "a part": (shop, id) => shop.part(id, { label: "Zip", status: "received" }),
    "a photo": (shop, id) => shop.photo(id, "https://p.example/1.jpg")
  }
  for (const [name, act] of Object.entries(news)) {
    it(`${name} is a change by the shop and restarts the 60 days of the workshop state (Specification, States)`, async () => {
      const shop = await service.shop()
      const { id } = await shop.create()
      await wait(59 * DAY)
      await act(shop, id)
      await wait(60 * DAY - 1)
      expect((await shop.ticket(id)).state).toBe("workshop")
      await wait(1)
      expect((await shop.ticket(id)).state).toBe("abandoned")
    })
  }

  it("a client's acceptance of a quote does not postpone the closure (Specification, States)", async () => {
    const shop = await service.shop()
    const { id } = await shop.create()
    await shop.quote(id, { price_minor: 700 })
    await wait(59 * DAY)
    await shop.answerQuote(id, "accept")
    await wait(DAY)
    expect((await shop.ticket(id)).state).toBe("abandoned")
  })

  it("reads and refused requests do not postpone the closure (Specification, States)", async () => {
    const shop = await service.shop()
    const { id } = await shop.create()
    await wait(59 * DAY)
    await shop.ticket(id)
    expect((await shop.tryMove(id, "collected")).status).toBe(409)
    await wait(DAY)
    expect((await shop.ticket(id)).state).toBe("abandoned")
  })

  it("more tickets than one poll of the closer reads are all closed (Specification, States)", async () => {
    const shop = await service.shop()
    for (let i = 0; i < 600; i++) {
      if (i % 150 === 0) service.clock.advance(HOUR)
      await shop.createInApp()
    }
    await wait(61 * DAY)
    service.clock.advance(HOUR)
    const { data } = await shop.get<ReadonlyArray<unknown>>("/v1/tickets", { state: "workshop,ready" })
    expect(data).toEqual([])
    expect((await shop.eventTypes()).filter((type) => type === "ticket.abandoned")).toHaveLength(600)
  })
})
