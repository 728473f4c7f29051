import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { answerOffer } from "../../src/decisions/clientLink.js"
import * as Load from "../../src/decisions/Load.js"
import type { ApiKeyRecord } from "../../src/domain/ApiKey.js"
import type { ClientId, EventId, OfferId, TicketId } from "../../src/domain/Identifier.js"
import { blankCard } from "../../src/domain/LoyaltyCard.js"
import type { QueuedNotification } from "../../src/domain/Notification.js"
import { AMIRA, KARIM, KEY, NOBODY, NOBODYS_PHONE, OTHER_KEY, SHOP, START, TestShop } from "./fixtures.js"

const CLIENT = NOBODY as ClientId
const TICKET = NOBODY as TicketId
const OFFER = NOBODY as OfferId
const [EVENT, OTHER_EVENT] = ["event 1", "event 2"] as ReadonlyArray<string> as [EventId, EventId]
const RECORD = { caller_id: KEY, operation: "tickets.create", key: "a" }
const STAMPS = { caller_id: KEY, client_id: AMIRA.id }

const read = <L, E>(shop: TestShop, need: Load.Load<L, E>): L => Either.getOrThrow(need.read(shop.slice))
const refusal = (shop: TestShop, need: Load.Load<unknown, { readonly _tag: string }>) =>
  Either.match(need.read(shop.slice), { onLeft: ({ _tag }) => _tag, onRight: () => "found" })

/** A shop that knows Amira, and that Karim has blocked. */
const openShop = () => {
  const shop = new TestShop()
  shop.meets(AMIRA)
  shop.create({ client_phone: KARIM.phone })
  shop.does(answerOffer(SHOP, shop.offer.id, "blocked"))
  return shop
}

describe("docs/write-a-store.md: the rows that a decision asks the store to load", () => {
  it.each([
    ["nothing", Load.none, []],
    ["a ticket", Load.ticket(TICKET), [{ _tag: "Ticket", id: NOBODY }]],
    ["several tickets", Load.tickets([TICKET]), [{ _tag: "Ticket", id: NOBODY }]],
    ["a client whom the shop sees", Load.client(AMIRA.id), [{ _tag: "VisibleClient", id: AMIRA.id }]],
    ["a client's account", Load.account(AMIRA.id), [{ _tag: "Client", id: AMIRA.id }]],
    [
      "several clients",
      Load.knownClients([AMIRA.id, KARIM.id]),
      [
        { _tag: "Client", id: AMIRA.id },
        { _tag: "Client", id: KARIM.id }
      ]
    ],
    ["an offer", Load.offer(OFFER), [{ _tag: "Offer", id: NOBODY }]],
    ["the keys", Load.keys, [{ _tag: "Keys" }]],
    ["stamps that were given", Load.stampLimit(STAMPS), [{ _tag: "StampLimit", key: STAMPS }]],
    ["a delivery", Load.delivery(EVENT, 1), [{ _tag: "Delivery", event_id: EVENT }]],
    ["waiting deliveries", Load.waitingDeliveries(7), [{ _tag: "Deliveries", max: 7 }]],
    ["events", Load.events([EVENT]), [{ _tag: "Event", id: EVENT }]],
    ["attempts", Load.attempts(EVENT), [{ _tag: "Attempts", event_id: EVENT }]],
    ["records of idempotency keys", Load.idempotencyRecords([RECORD]), [{ _tag: "IdempotencyRecord", key: RECORD }]],
    ["a queued notification", Load.queuedNotification("m", 1), [{ _tag: "QueuedNotification", id: "m" }]],
    ["a replay", Load.replay("r", 9), [{ _tag: "Replay", id: "r", max: 9 }]]
  ])("a decision asks the store to load: %s", (_, { loadRequests: asks }, expected) => expect(asks).toEqual(expected))
})

describe("Specification, Clients and loyalty: a client that a decision loads", () => {
  it("a client is loaded if the shop knows them, with their number and a card that may be blank", () => {
    const shop = openShop()
    const client = { id: AMIRA.id, display_name: "Amira Ben Salah" }
    const found = { client, card: blankCard(SHOP, AMIRA.id), phone: AMIRA.phone }
    expect(read(shop, Load.client(AMIRA.id))).toEqual(found)
    const card = { ...found.card, balance: 3 }
    shop.slice.cards.set(AMIRA.id, card)
    expect(read(shop, Load.client(AMIRA.id))).toEqual({ ...found, card })
  })

  it("a client whom the shop never met, a client who blocks the shop and an unknown id are not found", () => {
    expect(refusal(new TestShop(), Load.client(AMIRA.id))).toBe("ClientNotFound")
    expect([KARIM.id, CLIENT].map((id) => refusal(openShop(), Load.client(id)))).toEqual([
      "ClientNotFound",
      "ClientNotFound"
    ])
  })

  it("a client who acts themselves is loaded, whether or not the shop sees them", () => {
    const shop = openShop()
    expect(read(new TestShop(), Load.account(AMIRA.id))).toEqual({ account: AMIRA, link: null })
    expect(read(shop, Load.account(KARIM.id))).toMatchObject({ account: KARIM, link: { blocked_at: START } })
    expect(refusal(shop, Load.account(CLIENT))).toBe("ClientNotFound")
  })

  it("several clients are loaded if they have accounts, each with the link and the card if these exist", () => {
    const shop = openShop()
    const card = blankCard(SHOP, AMIRA.id)
    shop.slice.cards.set(AMIRA.id, card)
    shop.slice.links.delete(KARIM.id)
    expect([...read(shop, Load.knownClients([AMIRA.id, CLIENT, KARIM.id]))]).toEqual([
      [AMIRA.id, { account: AMIRA, link: expect.objectContaining({ known_at: START }), card }],
      [KARIM.id, { account: KARIM, link: null, card: null }]
    ])
  })
})

describe("Specification, Tickets: a ticket that a decision loads", () => {
  it("a ticket is loaded with its client as the shop sees them, and without one who blocked the shop since", () => {
    const shop = new TestShop()
    const [ofAmira, ofKarim, withoutClient] = [
      shop.create({ client_id: shop.meets(AMIRA) }),
      shop.create({ client_id: shop.meets(KARIM) }),
      shop.create()
    ]
    shop.create({ client_phone: KARIM.phone })
    shop.does(answerOffer(SHOP, shop.offer.id, "blocked"))
    const linked = [ofAmira, ofKarim, withoutClient].map((id) => read(shop, Load.ticket(id)).linked?.client.id)
    expect(linked).toEqual([AMIRA.id, undefined, undefined])
    expect(read(shop, Load.ticket(withoutClient))).toEqual({ record: shop.record(withoutClient), linked: null })
    expect(refusal(shop, Load.ticket(TICKET))).toBe("TicketNotFound")
  })

  it("tickets that do not exist are left out if several are loaded", () => {
    const shop = new TestShop()
    const id = shop.create()
    expect(read(shop, Load.tickets([TICKET, id]))).toEqual([shop.record(id)])
  })
})

describe("Specification, Endpoints: an offer that a decision loads", () => {
  it("an offer is loaded with its ticket, the ticket's client and the account that holds the number now", () => {
    const shop = openShop()
    const id = shop.create({ client_id: AMIRA.id, client_phone: KARIM.phone })
    expect(read(shop, Load.offer(shop.offer.id))).toEqual({
      record: shop.offer,
      ticket: shop.record(id),
      linked: expect.objectContaining({ client: expect.objectContaining({ id: AMIRA.id }) }),
      holder: KARIM,
      link: shop.slice.links.get(KARIM.id)
    })
    shop.slice.links.delete(KARIM.id)
    expect(read(shop, Load.offer(shop.offer.id)).link).toBeNull()
  })

  it("an offer is not found if it or its ticket does not exist, or if no account holds the number", () => {
    const shop = new TestShop()
    expect(refusal(shop, Load.offer(OFFER))).toBe("OfferNotFound")
    shop.create({ client_phone: NOBODYS_PHONE })
    expect(refusal(shop, Load.offer(shop.offer.id))).toBe("OfferNotFound")
    const id = shop.create({ client_phone: KARIM.phone })
    const offer = shop.offer.id
    expect(refusal(shop, Load.offer(offer))).toBe("found")
    shop.slice.tickets.delete(id)
    expect(refusal(shop, Load.offer(offer))).toBe("OfferNotFound")
  })
})

describe("docs/write-a-store.md: other rows that decisions load", () => {
  it("all keys of the shop are loaded, including revoked ones", () => {
    const shop = new TestShop()
    const rows = [KEY, OTHER_KEY].map((id) => ({ id, revoked_at: START }) as ApiKeyRecord)
    for (const row of rows) shop.slice.keys.set(row.id, row)
    expect(read(shop, Load.keys)).toEqual(rows)
  })

  it("the stamps that a caller gave a client today are loaded, 0 if there are none", () => {
    const shop = new TestShop()
    const window = { used: 2, resets_at: START }
    shop.slice.stamp_limits.set(`${KEY} ${AMIRA.id}`, window)
    expect(read(shop, Load.stampLimit(STAMPS))).toBe(window)
    expect(read(shop, Load.stampLimit({ ...STAMPS, caller_id: OTHER_KEY }))).toBeUndefined()
  })

  it("a delivery is loaded only with the token of its latest claim", () => {
    const shop = new TestShop()
    const row = { event_id: EVENT, token: 4 } as never
    shop.slice.deliveries.set(EVENT, row)
    expect([3, 4, 5].map((token) => read(shop, Load.delivery(EVENT, token)))).toEqual([null, row, null])
    expect(read(shop, Load.delivery(OTHER_EVENT, 4))).toBeNull()
  })

  it("a decision loads at most the requested number of waiting deliveries", () => {
    const shop = new TestShop()
    for (const id of [EVENT, OTHER_EVENT]) shop.slice.deliveries.set(id, {} as never)
    expect([1, 2, 3].map((max) => read(shop, Load.waitingDeliveries(max)).length)).toEqual([1, 2, 2])
    expect(read(shop, Load.waitingDeliveries(1))).toEqual([EVENT])
  })

  it("requested events and idempotency records are loaded if they are still stored", () => {
    const shop = new TestShop()
    const kept = { event: { id: EVENT }, attempts: [] } as never
    Object.assign(shop.slice, { events: { get: (id: EventId) => (id === EVENT ? kept : undefined) } })
    expect(read(shop, Load.events([OTHER_EVENT, EVENT]))).toEqual([kept])
    const record = { ...RECORD, response: "{}" } as never
    shop.slice.idempotency_records.set(`${KEY} tickets.create a`, record)
    expect(read(shop, Load.idempotencyRecords([{ ...RECORD, key: "b" }, RECORD]))).toEqual([record])
  })

  it("the attempts of an event are loaded, none if it was never tried", () => {
    const shop = new TestShop()
    const rows = [{ n: 1 }] as never
    shop.slice.attempts.set(EVENT, rows)
    expect([EVENT, OTHER_EVENT].map((id) => read(shop, Load.attempts(id)))).toEqual([rows, []])
  })

  it("a queued notification is loaded only with the number of attempts that its claim counted", () => {
    const shop = new TestShop()
    const row: QueuedNotification = { shop_id: SHOP, id: "m", receiver: "client", attempts_made: 2, due_at: START }
    shop.slice.queuedNotifications.set("m", row)
    expect([1, 2, 3].map((n) => read(shop, Load.queuedNotification("m", n)))).toEqual([null, row, null])
    expect(read(shop, Load.queuedNotification("other", 2))).toBeNull()
  })

  it("a replay is loaded with the next events that it selects, as many as the decision asked for", () => {
    const shop = new TestShop()
    const record = { id: "r" } as never
    shop.slice.replays.set("r", record)
    Object.assign(shop.slice, { replayable: (...of: ReadonlyArray<unknown>) => of })
    expect(read(shop, Load.replay("r", 9))).toEqual({ record, next: [record, 9] })
    expect(read(shop, Load.replay("other", 9))).toBeNull()
  })
})
