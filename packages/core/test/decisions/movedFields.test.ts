import { describe, expect, it } from "vitest"
import { recordNotified } from "../../src/decisions/changeStatus.js"
import { answerOffer } from "../../src/decisions/clientLink.js"
import { AMIRA, HOUR, KARIM, SHOP, START, TestShop } from "./fixtures.js"

const ISO = "2026-03-02T09:00:00.000Z"
const ISO_1H = "2026-03-02T10:00:00.000Z"
const ISO_2H = "2026-03-02T11:00:00.000Z"

describe("Specification, States: the fields that a move sets and clears", () => {
  it("a move to ready sets ready_at, and none of the fields of a collection or an abandonment (Specification, States)", () => {
    const shop = new TestShop()
    const id = shop.create()
    shop.wait(HOUR).moves(id, "ready")
    expect(shop.record(id)).toMatchObject({
      ready_at: START + HOUR,
      collected_at: null,
      outcome: null,
      abandoned_at: null,
      abandon_reason: null
    })
  })

  it("a move to impossible sets neither ready_at nor an outcome (Specification, Resources)", () => {
    const shop = new TestShop()
    const id = shop.create()
    shop.wait(HOUR).moves(id, "impossible")
    expect(shop.record(id)).toMatchObject({ ready_at: null, collected_at: null, outcome: null })
  })

  it("a ready ticket that is collected has outcome ready and keeps ready_at (Specification, States)", () => {
    const shop = new TestShop()
    const id = shop.create()
    shop.moves(id, "ready")
    shop.wait(HOUR).moves(id, "collected")
    expect(shop.record(id)).toMatchObject({ outcome: "ready", ready_at: START, collected_at: START + HOUR })
  })

  it("an impossible ticket that is collected has outcome impossible (Specification, States)", () => {
    const shop = new TestShop()
    const id = shop.create()
    shop.moves(id, "impossible")
    shop.wait(HOUR).moves(id, "collected")
    expect(shop.record(id)).toMatchObject({ outcome: "impossible", ready_at: null, collected_at: START + HOUR })
  })

  it("a move back to the workshop clears ready_at, collected_at and outcome (Specification, States)", () => {
    for (const state of ["ready", "impossible", "collected"] as const) {
      const shop = new TestShop()
      const id = shop.ticketIn(state)
      shop.wait(HOUR).moves(id, "workshop")
      expect(shop.record(id)).toMatchObject({ ready_at: null, collected_at: null, outcome: null, state: "workshop" })
    }
  })

  it("an impossible ticket that was ready before has no ready_at (Specification, States)", () => {
    const shop = new TestShop()
    const id = shop.ticketIn("ready")
    shop.moves(id, "workshop", "impossible", "collected")
    expect(shop.record(id)).toMatchObject({ ready_at: null, outcome: "impossible" })
  })

  it("a move back to the workshop keeps notified_at (Specification, States)", () => {
    const shop = new TestShop()
    const id = shop.create()
    shop.does(recordNotified(SHOP, id, "sms"))
    shop.wait(HOUR).moves(id, "ready", "workshop")
    expect(shop.record(id).notified_at).toBe(START)
  })

  it("every move sets updated_at and shop_changed_at and takes the next place in the order of changes (Specification, Lists and sync)", () => {
    const shop = new TestShop()
    const id = shop.create()
    let seq = shop.record(id).change_seq
    for (const status of ["ready", "workshop", "impossible", "collected", "workshop"] as const) {
      shop.wait(HOUR).moves(id, status)
      expect(shop.record(id)).toMatchObject({ updated_at: shop.now, shop_changed_at: shop.now, change_seq: seq + 1 })
      seq += 1
    }
  })

  it("a move leaves all other fields of the ticket unchanged (Specification, States)", () => {
    const shop = new TestShop()
    const id = shop.create({ item: "Coat", price_minor: 900, deposit_minor: 100, external_ref: "A-1" })
    const before = shop.record(id)
    shop.wait(HOUR).moves(id, "ready", "collected", "workshop")
    expect(shop.record(id)).toEqual({
      ...before,
      updated_at: shop.now,
      shop_changed_at: shop.now,
      change_seq: before.change_seq + 3,
      moves_per_day: { used: 3, resets_at: expect.any(Number) },
      history: [
        ...(before.history ?? []),
        ...["ticket.ready", "ticket.collected", "ticket.reopened"].map((type) => ({
          at: shop.now,
          type,
          by: "service",
          caller_id: null
        }))
      ]
    })
  })

  it("the response, the event and a later read show the same ticket (Specification, Webhooks)", () => {
    const shop = new TestShop()
    const id = shop.create()
    shop.wait(HOUR).moves(id, "ready")
    expect(shop.last.result).toEqual(shop.events[0]!.data.ticket)
    expect(shop.last.result).toMatchObject({ ready_at: ISO_1H, updated_at: ISO_1H, created_at: ISO, state: "ready" })
    expect(shop.events[0]!.created_at).toBe(ISO_1H)
  })
})

describe("Specification, States: a client is notified of a move", () => {
  it("a linked client is notified of a ready ticket with an event, notified_at and a notification (Specification, States)", () => {
    const shop = new TestShop()
    const id = shop.create({ client_id: shop.meets(AMIRA) })
    shop.wait(HOUR).moves(id, "ready")
    expect(shop.eventTypes).toEqual(["ticket.ready", "client.notified"])
    expect(shop.events[1]!.data).toEqual({ ticket: shop.last.result, channel: "app", notified_at: ISO_1H })
    expect(shop.events[0]!.data.ticket!.notified_at).toBe(ISO_1H)
    expect(shop.rows("NotificationAppended")).toMatchObject([
      { client_id: AMIRA.id, ticket_id: id, type: "ticket.ready", created_at: START + HOUR, ticket: shop.last.result }
    ])
  })

  it("a linked client is notified if the ticket is impossible (Specification, States)", () => {
    const shop = new TestShop()
    const id = shop.create({ client_id: shop.meets(AMIRA) })
    shop.wait(2 * HOUR).moves(id, "impossible")
    expect(shop.eventTypes).toEqual(["ticket.impossible", "client.notified"])
    expect(shop.events[1]!.data).toMatchObject({ channel: "app", notified_at: ISO_2H })
    expect(shop.rows("NotificationAppended")).toMatchObject([{ client_id: AMIRA.id, type: "ticket.impossible" }])
    expect(shop.record(id)).toMatchObject({ notified_at: START + 2 * HOUR, notified_channel: "app" })
  })

  it("the phone number on a ticket without a client is notified, and the ticket does not record this (Specification, States)", () => {
    const shop = new TestShop()
    const id = shop.create({ client_phone: AMIRA.phone })
    shop.moves(id, "ready")
    expect(shop.rows("NotificationAppended")).toMatchObject([{ client_id: null, ticket_id: id, type: "ticket.ready" }])
    expect(shop.eventTypes).toEqual(["ticket.ready"])
    expect(shop.record(id).notified_at).toBeNull()
  })

  it("the phone number on the ticket of a client who blocks the shop is not notified (Specification, Clients and loyalty)", () => {
    const shop = new TestShop()
    const id = shop.create({ client_id: shop.meets(AMIRA), client_phone: KARIM.phone })
    shop.create({ client_phone: AMIRA.phone })
    shop.does(answerOffer(SHOP, shop.offer.id, "blocked"))
    shop.moves(id, "ready")
    expect(shop.rows("NotificationAppended")).toEqual([])
    expect(shop.eventTypes).toEqual(["ticket.ready"])
  })

  it("collecting and reopening a ticket notify no client (Specification, States)", () => {
    const shop = new TestShop()
    const id = shop.create({ client_id: shop.meets(AMIRA) })
    shop.moves(id, "ready")
    for (const status of ["collected", "workshop"] as const) {
      shop.wait(HOUR).moves(id, status)
      expect(shop.rows("NotificationAppended")).toEqual([])
      expect(shop.eventTypes).toEqual([status === "collected" ? "ticket.collected" : "ticket.reopened"])
      expect(shop.record(id).notified_at).toBe(START)
    }
  })

  it("a client is notified each time the ticket becomes ready (Specification, States)", () => {
    const shop = new TestShop()
    const id = shop.create({ client_id: shop.meets(AMIRA) })
    shop.moves(id, "ready", "workshop")
    shop.wait(HOUR).moves(id, "ready")
    expect(shop.everyRow("NotificationAppended")).toHaveLength(2)
    expect(shop.record(id).notified_at).toBe(START + HOUR)
  })

  it("a ticket with a number and no account is notified by phone, which the API does not show (Specification, States)", () => {
    const shop = new TestShop()
    const id = shop.create({ client_phone: AMIRA.phone })
    for (const [status, type] of [
      ["ready", "ticket.ready"],
      ["workshop"],
      ["impossible", "ticket.impossible"]
    ] as const) {
      shop.moves(id, status)
      expect(shop.rows("NotificationAppended").map((row) => [row.client_id, row.type])).toEqual(
        type === undefined ? [] : [[null, type]]
      )
      expect(shop.eventTypes).toHaveLength(1)
    }
    expect(shop.record(id).notified_at).toBeNull()
  })

  it("a move of a ticket without a client and without a number notifies nobody (Specification, States)", () => {
    const shop = new TestShop()
    const id = shop.create({})
    for (const status of ["ready", "workshop", "impossible"] as const) {
      shop.moves(id, status)
      expect(shop.rows("NotificationAppended")).toEqual([])
    }
  })

  it("a linked client who blocks the shop is not notified, and the ticket shows no client (Specification, Clients and loyalty)", () => {
    const shop = new TestShop()
    const id = shop.create({ client_id: shop.meets(KARIM) })
    shop.create({ client_phone: KARIM.phone })
    shop.does(answerOffer(SHOP, shop.offer.id, "blocked"))
    for (const status of ["ready", "workshop", "impossible", "collected"] as const) {
      shop.moves(id, status)
      expect(shop.eventTypes).toHaveLength(1)
      expect(shop.rows("NotificationAppended")).toEqual([])
      expect(shop.last.result).toMatchObject({ client: null, notified_at: null })
    }
    expect(JSON.stringify(shop.events)).not.toContain("Karim")
  })
})

describe("Specification, Endpoints: the shop notified the client itself", () => {
  it("a shop's own notification sets notified_at, counts as a change by the shop, and emits client.notified with its channel (Specification, States)", () => {
    for (const channel of ["sms", "whatsapp", "call"] as const) {
      const shop = new TestShop()
      const id = shop.create()
      const { change_seq } = shop.record(id)
      const ticket = shop.wait(HOUR).does(recordNotified(SHOP, id, channel))
      expect(shop.eventTypes).toEqual(["client.notified"])
      expect(shop.events[0]!.data).toEqual({ ticket, channel, notified_at: ISO_1H })
      expect(ticket.notified_at).toBe(ISO_1H)
      expect(shop.record(id)).toMatchObject({
        state: "workshop",
        notified_at: START + HOUR,
        notified_channel: channel,
        shop_changed_at: START + HOUR,
        updated_at: START + HOUR,
        change_seq: change_seq + 1
      })
      expect(shop.rows("NotificationAppended")).toEqual([])
    }
  })

  it("a shop's own notification is accepted in every state but abandoned, and changes no state (Specification, States)", () => {
    for (const state of ["workshop", "ready", "impossible", "collected"] as const) {
      const shop = new TestShop()
      const id = shop.ticketIn(state)
      expect(shop.wait(30 * HOUR).does(recordNotified(SHOP, id, "call"))).toMatchObject({
        state,
        notified_at: "2026-03-03T15:00:00.000Z"
      })
    }
    const shop = new TestShop()
    const id = shop.ticketIn("abandoned")
    expect(shop.refuses(recordNotified(SHOP, id, "sms"))._tag).toBe("TicketAbandoned")
  })
})
