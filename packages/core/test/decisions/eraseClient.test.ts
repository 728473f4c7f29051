import { describe, expect, it } from "vitest"
import { withAuthor } from "../../src/decisions/Command.js"
import { createTicket } from "../../src/decisions/createTicket.js"
import {
  eraseEvents,
  eraseIdempotencyRecords,
  eraseRecords,
  eraseTickets,
  forgetClient
} from "../../src/decisions/eraseClient.js"
import { giveStamps } from "../../src/decisions/giveStamps.js"
import { type IdempotencyKey, makeIdempotent } from "../../src/decisions/Idempotency.js"
import type { AttemptRecord, SentEvent } from "../../src/domain/Delivery.js"
import type { EventRecord } from "../../src/domain/Event.js"
import type { EventId, TicketId } from "../../src/domain/Identifier.js"
import type { Person } from "../../src/domain/Person.js"
import { clientAuthor } from "../../src/domain/TicketChange.js"
import { statusResult } from "../../src/testing/TestDispatcher.js"
import { AMIRA, HOUR, KARIM, KEY, NOBODY, NOBODYS_PHONE, PROGRAM, SHOP, TestShop, ticketInput } from "./fixtures.js"

const amira: Person = { client_id: AMIRA.id, names: ["Amira", "Ben Salah"], phones: [AMIRA.phone] }

describe("docs/personal-data.md: a client is erased from tickets", () => {
  const erases = (shop: TestShop, ...ids: ReadonlyArray<TicketId>) => shop.does(eraseTickets(SHOP, amira, ids))

  it("an erased client's own ticket loses notes, phone number and name, and keeps the client's id, because the stamp ledger must add up", () => {
    const shop = new TestShop()
    const id = shop.create({ client_id: shop.meets(AMIRA), item: "Coat of Amira", description: "She waits" })
    erases(shop, id)
    expect(shop.record(id)).toMatchObject({ client_id: AMIRA.id, item: "Coat of [erased]", description: null })
  })

  it("a ticket without a client loses its notes too, because it may be the erased client's", () => {
    const shop = new TestShop()
    const id = shop.create({ client_phone: AMIRA.phone, description: "She waits" })
    erases(shop, id)
    expect(shop.record(id)).toMatchObject({ client_id: null, client_phone: null, description: null })
  })

  it("a ticket of another client loses only the erased client's name and number", () => {
    const shop = new TestShop()
    const id = shop.create({ client_id: shop.meets(KARIM), description: "He waits for Amira" })
    erases(shop, id)
    expect(shop.record(id)).toMatchObject({ client_id: KARIM.id, description: "He waits for [erased]" })
  })

  it("each changed ticket takes the next place in the order of changes, and raises no event", () => {
    const shop = new TestShop()
    const ids = [shop.create({ item: "Amira" }), shop.create({ item: "Amira" })]
    shop.wait(HOUR)
    erases(shop, ...ids)
    expect(shop.last.changes.map(({ _tag }) => _tag)).toEqual(["TicketPut", "TicketPut", "HeadPut"])
    expect(ids.map((id) => shop.record(id).change_seq)).toEqual([3, 4])
    expect(shop.record(ids[0]!).updated_at).toBe(shop.now)
  })

  it("a ticket without the client's data does not change, and a ticket that does not exist is skipped", () => {
    const shop = new TestShop()
    const id = shop.create({ client_id: shop.meets(KARIM), item: "Coat" })
    const before = shop.record(id)
    erases(shop, id, NOBODY as TicketId)
    expect(shop.record(id)).toBe(before)
    expect(shop.rows("TicketPut")).toEqual([])
  })

  it("the history of a ticket loses the erased client's id, and a ticket without a history gets none", () => {
    const shop = new TestShop()
    const create = createTicket(SHOP, ticketInput({ item: "Amira" }), { via: "app", foundWords: [] })
    const id = shop.does(withAuthor(clientAuthor(AMIRA.id), create)).id as TicketId
    const { history, ...imported } = shop.record(id)
    const other = NOBODY as TicketId
    shop.slice.tickets.set(other, { ...imported, id: other })
    expect(history).toMatchObject([{ type: "ticket.created", by: "client", caller_id: AMIRA.id }])
    erases(shop, id, other)
    expect(shop.record(id).history).toEqual([{ ...history![0], caller_id: null }])
    expect(shop.record(other)).not.toHaveProperty("history")
  })
})

const event = (n: number, data: object): EventRecord => ({
  shop_id: SHOP,
  id: `event ${n}` as EventId,
  type: "client.linked",
  seq: n,
  ticket_id: null,
  created_at: 0,
  body: JSON.stringify({ id: `event ${n}`, type: "client.linked", created_at: "x", data })
})

const attempt = (event_id: EventId, n: number, head: string): AttemptRecord => ({
  ...statusResult(200),
  shop_id: SHOP,
  event_id,
  n,
  started_at: 0,
  head
})

describe("docs/personal-data.md: a client is erased from events", () => {
  const named = event(1, { client: { id: AMIRA.id, display_name: "Amira B." } })
  const other = event(2, { client: { id: KARIM.id, display_name: "Karim T." } })
  const erasing = (...events: ReadonlyArray<SentEvent>) => {
    const shop = new TestShop()
    const kept = new Map(events.map((one) => [one.event.id, one]))
    Object.assign(shop.slice, { events: { get: (id: EventId) => kept.get(id), rewrite: () => {} } })
    shop.does(eraseEvents(SHOP, amira, [named.id, other.id]))
    return shop
  }

  it("the text of an event is written again without the client's name, and the rest of the event is unchanged", () => {
    const shop = erasing({ event: named, attempts: [] }, { event: other, attempts: [] })
    const body = named.body.replace('"Amira B."', "null")
    expect(shop.last.changes).toEqual([{ _tag: "EventRewritten", row: { ...named, body } }])
  })

  it("the stored beginnings of receivers' responses are erased, because a receiver may repeat the request in any form", () => {
    const [answeredWith, empty] = [attempt(other.id, 1, "HTTP/1.1 200 OK\n\nAmira"), attempt(other.id, 2, "")]
    const shop = erasing({ event: other, attempts: [answeredWith, empty] })
    expect(shop.last.changes).toEqual([{ _tag: "AttemptRewritten", row: { ...answeredWith, head: "" } }])
  })

  it("events that are no longer stored are skipped", () => {
    expect(erasing().last.changes).toEqual([])
  })
})

describe("docs/personal-data.md: a client is erased from the responses that are kept for repetitions", () => {
  const keyed = (key: string, request: Record<string, unknown>) =>
    makeIdempotent(
      { caller_id: KEY, operation: "tickets.create", key: key as IdempotencyKey, request },
      createTicket(SHOP, ticketInput(request), { via: "api", foundWords: [] })
    )
  const keysOf = (...keys: ReadonlyArray<string>) =>
    keys.map((key) => ({ caller_id: KEY, operation: "tickets.create", key }))
  const erases = (shop: TestShop, ...keys: ReadonlyArray<string>) =>
    shop.does(eraseIdempotencyRecords(SHOP, amira, keysOf(...keys)))

  it("an idempotency key still returns the same ticket, without the client's name, for any request with the key", () => {
    const shop = new TestShop()
    const { data } = shop.does(keyed("a", { item: "Coat of Amira" }))
    erases(shop, "a")
    expect(shop.last.changes.map(({ _tag }) => _tag)).toEqual(["IdempotencyRecordPut"])
    expect(shop.rows("IdempotencyRecordPut").map(({ fingerprint }) => fingerprint)).toEqual([""])
    const erased = { data: { ...data, item: "Coat of [erased]" }, replayed: true }
    expect(shop.does(keyed("a", { item: "Coat of Amira" }))).toEqual(erased)
    expect(shop.does(keyed("a", { item: "Hat" }))).toEqual(erased)
    expect(shop.slice.tickets.size).toBe(1)
  })

  it("a stored request is removed even if its response has no data of the client, because the request may have some", () => {
    const shop = new TestShop()
    const { data } = shop.does(keyed("a", { item: "Coat" }))
    erases(shop, "a")
    expect(shop.does(keyed("a", { item: "Hat" }))).toEqual({ data, replayed: true })
  })

  it("an idempotency record whose request was removed before is rewritten only if it contains the client's name", () => {
    const shop = new TestShop()
    shop.does(keyed("a", { item: "Coat of Amira and Karim" }))
    shop.does(eraseIdempotencyRecords(SHOP, { client_id: KARIM.id, names: ["Karim"], phones: [] }, keysOf("a")))
    erases(shop, "a")
    expect(shop.does(keyed("a", {})).data.item).toBe("Coat of [erased] and [erased]")
    erases(shop, "a")
    expect(shop.last.changes).toEqual([])
  })

  it("an idempotency record whose key contains the client's name is deleted, and the others are kept", () => {
    const shop = new TestShop()
    for (const key of ["for Amira", "b"]) shop.does(keyed(key, { item: "Coat" }))
    erases(shop, "for Amira", "c")
    expect(shop.last.changes).toEqual([
      { _tag: "IdempotencyRecordRemoved", row: { shop_id: SHOP, ...keysOf("for Amira")[0] } }
    ])
    expect([...shop.slice.idempotency_records.values()].map(({ key }) => key)).toEqual(["b"])
  })

  it("a stored response that is not a ticket is kept, because it has no texts", () => {
    const shop = new TestShop({ program: PROGRAM })
    const client_id = shop.meets(AMIRA)
    const stamps = (count: number) =>
      makeIdempotent(
        { caller_id: KEY, operation: "tickets.create", key: "a" as IdempotencyKey, request: { count } },
        giveStamps(SHOP, { client_id, caller_id: KEY, count: count as never })
      )
    shop.does(stamps(2))
    erases(shop, "a")
    expect(shop.last.changes).toEqual([])
    expect(shop.refuses(stamps(3))._tag).toBe("IdempotencyKeyReused")
  })
})

describe("docs/personal-data.md: the remaining rows of an erased client are deleted", () => {
  it("an erasure deletes the client's offers and notifications, including those that wait to be sent", () => {
    const shop = new TestShop()
    shop.create({ client_phone: NOBODYS_PHONE })
    const { offer } = shop
    const notification = { id: "n1", client_id: AMIRA.id } as never
    shop.does(eraseRecords(SHOP, { offers: [offer], notifications: [notification] }))
    expect(shop.last.changes.slice(0, -1)).toEqual([
      { _tag: "OfferRemoved", row: { shop_id: SHOP, id: offer.id } },
      { _tag: "NotificationRemoved", row: { shop_id: SHOP, id: "n1", client_id: AMIRA.id } },
      { _tag: "QueuedNotificationRemoved", row: { shop_id: SHOP, id: "n1" } }
    ])
    expect(shop.slice.offers.size).toBe(0)
  })

  it("the link between client and shop is deleted last, and then the shop no longer knows the client", () => {
    const shop = new TestShop()
    shop.meets(AMIRA)
    shop.does(forgetClient(SHOP, amira))
    expect(shop.last.changes.map(({ _tag }) => _tag)).toEqual(["LinkRemoved", "HeadPut"])
    expect(shop.slice.links.has(AMIRA.id)).toBe(false)
  })
})
