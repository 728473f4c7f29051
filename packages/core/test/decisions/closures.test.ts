import { describe, expect, it } from "vitest"
import type { Command } from "../../src/decisions/Command.js"
import { changeStatus, closeTicket, recordNotified } from "../../src/decisions/changeStatus.js"
import { answerOffer } from "../../src/decisions/clientLink.js"
import { editTicket } from "../../src/decisions/editTicket.js"
import { answerQuote, proposeQuote } from "../../src/decisions/quotes.js"
import { announceDelay, attachPhoto, recordPart } from "../../src/decisions/ticketProgress.js"
import type { OfferId, TicketId } from "../../src/domain/Identifier.js"
import { AMIRA, DAY, NOBODY, SHOP, START, TestShop } from "./fixtures.js"

const SIXTY_DAYS = 5_184_000_000
const CLOSED_AT = "2026-05-01T09:00:00.000Z"

type Act = (id: TicketId, offer: OfferId) => Command<unknown, unknown>

/** The shop's acts on a ticket other than status changes. */
const SHOPS_NEWS: Record<string, Act> = {
  notified: (id) => recordNotified(SHOP, id, "sms"),
  "a proposed quote": (id) => proposeQuote(SHOP, id, { price_minor: 900 } as never),
  "a delay": (id) => announceDelay(SHOP, id, { promised_at: START + 90 * DAY } as never),
  "a part": (id) => recordPart(SHOP, id, { label: "Zip", status: "ordered" } as never),
  "a photo": (id) => attachPhoto(SHOP, id, { photo_url: "https://img.example.com/1.jpg" } as never),
  "an edit": (id) => editTicket(SHOP, id, { description: "Blue thread" } as never, [])
}

/** The client's acts on a ticket. */
const CLIENTS_ACTS: Record<string, Act> = {
  "a quote accepted": (id) => answerQuote(SHOP, id, "accepted"),
  "a quote refused": (id) => answerQuote(SHOP, id, "refused"),
  "a link accepted": (_, offer) => answerOffer(SHOP, offer, "accepted")
}

const quoted = (state: "workshop" | "ready") => {
  const shop = new TestShop()
  const id = shop.create({ client_phone: AMIRA.phone })
  const offer = shop.offer.id
  shop.does(proposeQuote(SHOP, id, { price_minor: 800 } as never))
  if (state === "ready") shop.moves(id, "ready")
  return { shop, id, offer }
}

describe("Specification, States: closure after 60 days", () => {
  it("a ready ticket never collected closes at exactly 60 days with reason uncollected (Specification, States)", () => {
    const shop = new TestShop()
    const id = shop.ticketIn("ready")
    const ticket = shop.wait(SIXTY_DAYS).does(closeTicket(SHOP, id))
    expect(ticket).toMatchObject({ state: "abandoned", abandon_reason: "uncollected", abandoned_at: CLOSED_AT })
    expect(shop.eventTypes).toEqual(["ticket.abandoned"])
    expect(shop.events[0]!.data).toEqual({ ticket, reason: "uncollected" })
    expect(shop.record(id)).toMatchObject({ ready_at: START, outcome: null, collected_at: null })
  })

  it("a ticket in the workshop without news closes at exactly 60 days with reason no_news (Specification, States)", () => {
    const shop = new TestShop()
    const id = shop.create()
    const ticket = shop.wait(SIXTY_DAYS).does(closeTicket(SHOP, id))
    expect(ticket).toMatchObject({ state: "abandoned", abandon_reason: "no_news", abandoned_at: CLOSED_AT })
    expect(shop.events[0]!.data).toEqual({ ticket, reason: "no_news" })
  })

  it("a ticket is not closed one millisecond before its sixty days are over (Specification, States)", () => {
    for (const state of ["ready", "workshop"] as const) {
      const shop = new TestShop()
      const id = shop.ticketIn(state)
      expect(shop.wait(SIXTY_DAYS - 1).does(closeTicket(SHOP, id))).toBeNull()
      expect(shop.last.changes).toEqual([])
      expect(shop.record(id).state).toBe(state)
    }
  })

  it("a ticket that is closed late has its due time in abandoned_at and the current time in updated_at (Specification, States)", () => {
    const shop = new TestShop()
    const id = shop.create()
    const { change_seq } = shop.record(id)
    shop.wait(SIXTY_DAYS + DAY).does(closeTicket(SHOP, id))
    expect(shop.record(id)).toMatchObject({
      abandoned_at: START + SIXTY_DAYS,
      updated_at: START + SIXTY_DAYS + DAY,
      shop_changed_at: START,
      change_seq: change_seq + 1
    })
  })

  it("an impossible or collected ticket is never closed automatically (Specification, States)", () => {
    for (const state of ["impossible", "collected"] as const) {
      const shop = new TestShop()
      const id = shop.ticketIn(state)
      expect(shop.wait(10 * SIXTY_DAYS).does(closeTicket(SHOP, id))).toBeNull()
      expect(shop.record(id).state).toBe(state)
    }
  })

  it("closing a ticket twice does nothing the second time (Specification, States)", () => {
    const shop = new TestShop()
    const id = shop.ticketIn("abandoned")
    expect(shop.wait(DAY).does(closeTicket(SHOP, id))).toBeNull()
    expect(shop.last.changes).toEqual([])
  })

  it("if a command of the shop commits first at the instant of the closure, the closure does nothing (Specification, States)", () => {
    const shop = new TestShop()
    const collected = shop.ticketIn("ready")
    const kept = shop.create()
    shop.wait(SIXTY_DAYS).moves(collected, "collected")
    shop.does(recordNotified(SHOP, kept, "call"))
    expect(shop.does(closeTicket(SHOP, collected))).toBeNull()
    expect(shop.does(closeTicket(SHOP, kept))).toBeNull()
    expect([shop.record(collected).state, shop.record(kept).state]).toEqual(["collected", "workshop"])
  })

  it("if the closure commits first, the shop's command is refused (Specification, States)", () => {
    const shop = new TestShop()
    const id = shop.ticketIn("ready")
    shop.wait(SIXTY_DAYS).does(closeTicket(SHOP, id))
    expect(shop.refuses(changeStatus(SHOP, id, "collected"))._tag).toBe("TicketAbandoned")
  })

  it("a closure does not notify the client of the ticket (Specification, States)", () => {
    const shop = new TestShop()
    const id = shop.create({ client_id: shop.meets(AMIRA) })
    shop.wait(SIXTY_DAYS).does(closeTicket(SHOP, id))
    expect(shop.eventTypes).toEqual(["ticket.abandoned"])
    expect(shop.rows("NotificationAppended")).toEqual([])
  })

  it("an unknown ticket is not found (Specification, Endpoints)", () => {
    expect(new TestShop().refuses(closeTicket(SHOP, NOBODY as never))._tag).toBe("TicketNotFound")
  })
})

describe("Specification, States: the acts that count as news", () => {
  for (const [name, act] of Object.entries(SHOPS_NEWS)) {
    it(`${name} postpones the closure of a ticket in the workshop by 60 days (Specification, States)`, () => {
      const { shop, id, offer } = quoted("workshop")
      shop.wait(59 * DAY).does(act(id, offer))
      expect(shop.record(id).shop_changed_at).toBe(START + 59 * DAY)
      shop.now = START + 59 * DAY + SIXTY_DAYS - 1
      expect(shop.does(closeTicket(SHOP, id))).toBeNull()
      expect(shop.wait(1).does(closeTicket(SHOP, id))?.abandon_reason).toBe("no_news")
    })

    it(`${name} does not postpone the closure of a ready ticket (Specification, States)`, () => {
      const { shop, id, offer } = quoted("ready")
      shop.wait(59 * DAY).does(act(id, offer))
      shop.now = START + SIXTY_DAYS
      expect(shop.does(closeTicket(SHOP, id))).toMatchObject({ abandon_reason: "uncollected", abandoned_at: CLOSED_AT })
    })
  }

  for (const [name, act] of Object.entries(CLIENTS_ACTS)) {
    it(`an act of the client does not postpone a closure: ${name} (Specification, States)`, () => {
      for (const state of ["workshop", "ready"] as const) {
        const { shop, id, offer } = quoted(state)
        shop.wait(59 * DAY).does(act(id, offer))
        expect(shop.record(id)).toMatchObject({ shop_changed_at: START, updated_at: START + 59 * DAY })
        shop.now = START + SIXTY_DAYS
        expect(shop.does(closeTicket(SHOP, id))).toMatchObject({ abandoned_at: CLOSED_AT })
      }
    })
  }

  it("the 60 days of a reopened ticket count from its reopening (Specification, States)", () => {
    const shop = new TestShop()
    const id = shop.ticketIn("ready")
    shop.wait(59 * DAY).moves(id, "workshop")
    expect(shop.wait(SIXTY_DAYS - 1).does(closeTicket(SHOP, id))).toBeNull()
    expect(shop.wait(1).does(closeTicket(SHOP, id))?.abandon_reason).toBe("no_news")
  })

  it("the 60 days of a ticket that is made ready again count from the second time (Specification, States)", () => {
    const shop = new TestShop()
    const id = shop.ticketIn("ready")
    shop.wait(30 * DAY).moves(id, "workshop", "ready")
    expect(shop.wait(30 * DAY).does(closeTicket(SHOP, id))).toBeNull()
    expect(shop.wait(30 * DAY).does(closeTicket(SHOP, id))).toMatchObject({ abandoned_at: "2026-05-31T09:00:00.000Z" })
  })

  it("an abandoned ticket refuses every act (Specification, States)", () => {
    const { shop, id } = quoted("workshop")
    shop.wait(SIXTY_DAYS).does(closeTicket(SHOP, id))
    for (const act of Object.values(SHOPS_NEWS))
      expect(shop.refuses(act(id, NOBODY as OfferId))).toMatchObject({ _tag: "TicketAbandoned" })
  })
})
