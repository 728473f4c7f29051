import { mountFetch } from "@workshop/core/http"
import { createTestWorkshop } from "@workshop/store-memory/testing"
import { describe, expect, it } from "vitest"

const BEGUN = "2026-11-20T10:00:00.000Z"
const PHONE = "+33612345678"

const open = async () => {
  const test = await createTestWorkshop({ begins: new Date(BEGUN) })
  const as = (caller_id: string) => ({ ...test.caller, caller_id })
  const { tickets } = test.workshop.orThrow
  const make = async (ticket: object = {}) =>
    (await tickets.create(as("amira"), { service: "Hem", ...ticket }, `${JSON.stringify(ticket)}`)).data.id
  const historyOf = (id: string) => tickets.history(test.caller, id)
  return { ...test, ...test.workshop.orThrow, as, make, historyOf }
}

const byService = { by: "service", caller_id: null, changed: null }
const by = (caller_id: string) => ({ by: "caller", caller_id, changed: null })

describe("the history of a ticket", () => {
  it("a history says who made each change, when, and what changed", async () => {
    const { tickets, progress, quotes, as, make, historyOf, advance, stop } = await open()
    const id = await make()
    await advance("1 hour")
    await progress.announceDelay(as("karim"), id, { promised_at: "2026-12-01T10:00:00Z", reason: "The zip" })
    await quotes.propose(as("karim"), id, { price_minor: 2000 })
    await quotes.recordAnswer(as("amira"), id, "accepted")
    await tickets.changeStatus(as("amira"), id, "ready")
    await tickets.recordNotified(as("selma"), id, "call")
    await tickets.changeStatus(as("selma"), id, "collected", "collect-1")
    await tickets.changeStatus(as("selma"), id, "collected", "collect-1")
    const at = "2026-11-20T11:00:00.000Z"
    expect(await historyOf(id)).toEqual([
      { at: BEGUN, type: "ticket.created", ...by("amira") },
      { at, type: "ticket.updated", ...by("karim"), changed: ["promised_at", "delay"] },
      { at, type: "quote.proposed", ...by("karim") },
      { at, type: "quote.accepted", ...by("amira") },
      { at, type: "ticket.ready", ...by("amira") },
      { at, type: "client.notified", ...by("selma") },
      { at, type: "ticket.collected", ...by("selma") }
    ])
    await stop()
  })

  it("a history names the service for a closure, and the client for their acts in the app", async () => {
    const { clients, offers, quotes, shop, as, make, historyOf, advance, stop } = await open()
    const client = await clients.register({ given_name: "Lina", family_name: "Roux", phone: PHONE })
    const id = await make({ client_phone: PHONE })
    const [offer] = await offers.ofClient(client.id)
    await offers.accept({ client_id: client.id, offer_id: offer!.id })
    await quotes.propose(as("amira"), id, { price_minor: 2000 })
    await quotes.refuse({ client_id: client.id, ticket_id: id })
    await advance("61 days")
    const byClient = { by: "client", caller_id: client.id, changed: null }
    const expected = [
      ["ticket.created", by("amira")],
      ["client.linked", byClient],
      ["quote.proposed", by("amira")],
      ["quote.refused", byClient],
      ["ticket.abandoned", byService]
    ] as const
    expect(await historyOf(id)).toMatchObject(expected.map(([type, author]) => ({ type, ...author })))
    expect(await clients.erase(client.id, [])).toEqual({ shops: [shop.id] })
    expect(await historyOf(id)).toMatchObject(
      expected.map(([type, { by, caller_id }]) => ({ type, by, caller_id: by === "client" ? null : caller_id }))
    )
    await stop()
  })

  it("a refused move is not in the history, and a ticket of another shop is not found", async () => {
    const { workshop, tickets, caller, shops, as, make, historyOf, stop } = await open()
    const id = await make()
    expect(await workshop.tickets.changeStatus(as("karim"), id, "collected")).toMatchObject({ ok: false })
    expect(await historyOf(id)).toHaveLength(1)
    const other = await shops.create({ name: "Other", currency: "EUR", time_zone: "Europe/Paris" })
    const refused = await workshop.tickets.history({ ...caller, shop_id: other.id }, id)
    expect(refused).toMatchObject({ ok: false, refusal: { _tag: "TicketNotFound" } })
    expect((await tickets.byId(caller, id)).state).toBe("workshop")
    await stop()
  })

  it("a history keeps the first change and the latest, a hundred in all", async () => {
    const { progress, as, make, historyOf, stop } = await open()
    const id = await make()
    for (let n = 0; n < 120; n++) await progress.edit(as(`caller ${n}`), id, { description: `Note ${n}` })
    const kept = (await historyOf(id)).map(({ caller_id }) => caller_id)
    expect([kept.length, kept[0], kept[1], kept.at(-1)]).toEqual([100, "amira", "caller 21", "caller 119"])
    await stop()
  })

  it("an imported ticket has no history", async () => {
    const { workshop, tickets, shop, as, historyOf, caller, stop } = await open()
    await workshop.orThrow.import(shop.id, { rows: [{ external_ref: "A-1", service: "Hem" }] })
    const { id } = (await tickets.list(caller, {})).data[0]!
    expect(await historyOf(id)).toEqual([])
    await tickets.changeStatus(as("karim"), id, "ready")
    expect(await historyOf(id)).toMatchObject([{ type: "ticket.ready", caller_id: "karim" }])
    await stop()
  })

  it("no response, event or webhook contains a history", async () => {
    const { workshop, tickets, webhooks, shop, as, make, advance, received, stop } = await open()
    await webhooks.set(shop.id, "https://shop.example/hook")
    const api = mountFetch(workshop, {
      authenticate: () => ({ shop_id: shop.id, caller_id: "the till", scopes: ["tickets:read", "tickets:write"] })
    })
    const id = await make()
    await tickets.changeStatus(as("karim"), id, "ready")
    await advance(0)
    const bodies = await Promise.all(
      [`/v1/tickets/${id}`, "/v1/tickets", "/v1/tickets/by-number/1", "/v1/tickets?updated_since=2026-01-01T00:00:00Z"]
        .map((path) => api(new Request(`http://test${path}`)))
        .map(async (response) => (await response).text())
    )
    expect(bodies.every((body) => body.includes(id))).toBe(true)
    const texts = [...bodies, ...received.webhooks.map(({ body }) => body), JSON.stringify(received.events)].join()
    for (const word of ["amira", "karim", "the till", "history"]) expect(texts).not.toContain(word)
    await stop()
  })
})
