import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { editTicket, type TicketEdit } from "../../src/decisions/editTicket.js"
import {
  announceDelay,
  attachPhoto,
  type DelayInput,
  type PartInput,
  PhotoInput,
  recordPart
} from "../../src/decisions/ticketProgress.js"
import type { FoundWord } from "../../src/domain/ForbiddenWord.js"
import { HOUR, NOBODY, SHOP, START, TestShop } from "./fixtures.js"

const ISO = (hours: number) => new Date(START + hours * HOUR).toISOString()
const delay = (id: string, promised_at: number, more: { reason?: string | null } = {}) =>
  announceDelay(SHOP, id as never, { promised_at, ...more } as DelayInput)
const part = (id: string, input: { label?: string; status: "ordered" | "received"; expected_at?: number | null }) =>
  recordPart(SHOP, id as never, { label: "Zip", ...input } as PartInput)
const edit = (id: string, changes: object, foundWords: ReadonlyArray<FoundWord> = []) =>
  editTicket(SHOP, id as never, changes as TicketEdit, foundWords)

describe("Specification, Tickets: a delay", () => {
  it("a delay moves the promised date, and keeps the previous one and the reason (Specification, Tickets)", () => {
    const shop = new TestShop()
    const id = shop.create({ promised_at: ISO(10) })
    const ticket = shop.wait(HOUR).does(delay(id, START + 50 * HOUR, { reason: "The thread is late" }))
    expect(ticket.promised_at).toBe(ISO(50))
    expect(ticket.delay).toEqual({
      previous_promised_at: ISO(10),
      reason: "The thread is late",
      announced_at: ISO(1)
    })
    expect(shop.events).toMatchObject([{ type: "ticket.updated", data: { ticket, changed: ["promised_at", "delay"] } }])
  })

  it("the previous date and the reason of a delay are null if there are none (Specification, Tickets)", () => {
    const shop = new TestShop()
    expect(shop.does(delay(shop.create(), START + HOUR)).delay).toEqual({
      previous_promised_at: null,
      reason: null,
      announced_at: ISO(0)
    })
  })

  it("a second delay keeps the first promised date (Specification, Tickets)", () => {
    const shop = new TestShop()
    const id = shop.create({ promised_at: ISO(10) })
    shop.does(delay(id, START + 20 * HOUR))
    expect(shop.does(delay(id, START + 30 * HOUR)).delay?.previous_promised_at).toBe(ISO(20))
  })
})

describe("Specification, Tickets: a part", () => {
  it("a part that is ordered and then received keeps the dates of its order and of its expected arrival (Specification, Tickets)", () => {
    const shop = new TestShop()
    const id = shop.create()
    expect(shop.does(part(id, { status: "ordered", expected_at: START + 48 * HOUR })).part).toEqual({
      label: "Zip",
      status: "ordered",
      ordered_at: ISO(0),
      expected_at: ISO(48),
      received_at: null
    })
    expect(shop.wait(40 * HOUR).does(part(id, { status: "received" })).part).toEqual({
      label: "Zip",
      status: "received",
      ordered_at: ISO(0),
      expected_at: ISO(48),
      received_at: ISO(40)
    })
    expect(shop.events).toMatchObject([{ type: "ticket.updated", data: { changed: ["part"] } }])
  })

  it("null for the expected date means that none was given, so the known date stays (Specification, Errors)", () => {
    const shop = new TestShop()
    const id = shop.create()
    shop.does(part(id, { status: "ordered", expected_at: START + 48 * HOUR }))
    expect(shop.does(part(id, { status: "received", expected_at: null })).part?.expected_at).toBe(ISO(48))
  })

  it("a part with another name does not get the dates of the first (Specification, Tickets)", () => {
    const shop = new TestShop()
    const id = shop.create()
    shop.does(part(id, { status: "ordered", expected_at: START + 48 * HOUR }))
    expect(shop.wait(HOUR).does(part(id, { label: "Buttons", status: "received" })).part).toEqual({
      label: "Buttons",
      status: "received",
      ordered_at: ISO(1),
      expected_at: null,
      received_at: ISO(1)
    })
  })

  it("the expected date of a part can be changed (Specification, Tickets)", () => {
    const shop = new TestShop()
    const id = shop.create()
    shop.does(part(id, { status: "ordered", expected_at: START + 48 * HOUR }))
    expect(shop.wait(HOUR).does(part(id, { status: "ordered", expected_at: START + 72 * HOUR })).part).toMatchObject({
      ordered_at: ISO(0),
      expected_at: ISO(72)
    })
  })
})

describe("Specification, Resources: a photo", () => {
  it("a new photo replaces the previous one (Specification, Resources)", () => {
    const shop = new TestShop()
    const id = shop.create()
    for (const photo_url of ["https://img.example.com/1.jpg", "https://img.example.com/2.jpg"]) {
      const ticket = shop.does(attachPhoto(SHOP, id, { photo_url } as PhotoInput))
      expect(ticket.photo_url).toBe(photo_url)
      expect(shop.events).toMatchObject([{ type: "ticket.updated", data: { ticket, changed: ["photo_url"] } }])
    }
  })

  it("the address of a photo must begin with https (Specification, Sandbox)", () => {
    const accepts = (photo_url: string) => Either.isRight(Schema.decodeUnknownEither(PhotoInput)({ photo_url }))
    expect(["https://a.example/x.png", "http://a.example/x.png"].map(accepts)).toEqual([true, false])
  })
})

describe("Specification, States: an edit", () => {
  it("an edit changes the given fields, empties those that are null, leaves the rest, and names the fields that it changed (Specification, States)", () => {
    const shop = new TestShop()
    const id = shop.create({ item: "Coat", description: "Blue", price_minor: 900, external_ref: "A-1" })
    const before = shop.record(id)
    shop.wait(HOUR).does(edit(id, { service: "Lining", description: null, price_minor: 1000 }))
    expect(shop.record(id)).toEqual({
      ...before,
      service: "Lining",
      description: null,
      price_minor: 1000,
      updated_at: START + HOUR,
      shop_changed_at: START + HOUR,
      change_seq: before.change_seq + 1,
      history: [
        ...(before.history ?? []),
        {
          at: START + HOUR,
          type: "ticket.updated",
          changed: ["service", "description", "money"],
          by: "service",
          caller_id: null
        }
      ]
    })
    const changed = ["service", "description", "money"]
    expect(shop.events).toMatchObject([
      { type: "ticket.updated", data: { ticket: { id, service: "Lining" }, changed } }
    ])
    shop.does(edit(id, { service: "Lining" }))
    expect(shop.events).toMatchObject([{ type: "ticket.updated", data: { changed: [] } }])
  })

  it("an edit marks items as done and not done by their ids (Specification, Resources)", () => {
    const shop = new TestShop()
    const id = shop.create({ items: [{ label: "Coat" }, { label: "Hat" }] })
    const [coat, hat] = shop.record(id).items
    const done = () => shop.record(id).items.map((item) => item.done)
    shop.does(edit(id, { items_done: [{ id: hat!.id, done: true }] }))
    expect(done()).toEqual([false, true])
    shop.does(
      edit(id, {
        items_done: [
          { id: coat!.id, done: true },
          { id: hat!.id, done: false }
        ]
      })
    )
    expect(done()).toEqual([true, false])
    expect(
      shop.refuses(
        edit(id, {
          items_done: [
            { id: coat!.id, done: true },
            { id: NOBODY, done: true }
          ]
        })
      )
    ).toMatchObject({
      _tag: "InvalidInput",
      issues: [{ field: "items_done.1.id" }]
    })
  })

  it("an edit that makes the deposit higher than the price is refused, whether it changes the deposit or the price (Specification, Tickets)", () => {
    const shop = new TestShop()
    const id = shop.create({ price_minor: 900, deposit_minor: 500 })
    const issues = [{ field: "deposit_minor" }]
    expect(shop.refuses(edit(id, { deposit_minor: 901 }))).toMatchObject({ _tag: "InvalidInput", issues })
    expect(shop.refuses(edit(id, { price_minor: 499 }))).toMatchObject({ _tag: "InvalidInput", issues })
    expect(shop.does(edit(id, { price_minor: 100, deposit_minor: 100 })).money.remaining_minor).toBe(0)
    expect(shop.does(edit(id, { price_minor: null })).money).toMatchObject({ price_minor: null, remaining_minor: null })
  })

  it("an edit with a word that the embedder or the shop forbids is refused (Specification, Errors)", () => {
    const shop = new TestShop({ forbidden_words: ["darn"] })
    const id = shop.create()
    expect(shop.refuses(edit(id, { item: "Coat" }, [{ field: "item", word: "coat" }]))).toMatchObject({
      _tag: "ForbiddenWord",
      field: "item"
    })
    expect(shop.refuses(edit(id, { description: "darn" }))).toMatchObject({ field: "description" })
  })

  it("an abandoned ticket refuses delays, parts, photos and edits with its state and its last change (Specification, Errors)", () => {
    const shop = new TestShop()
    const id = shop.ticketIn("abandoned")
    const { updated_at } = shop.record(id)
    for (const act of [edit(id, {}), delay(id, START), part(id, { status: "ordered" })])
      expect(shop.refuses(act)).toMatchObject({ _tag: "TicketAbandoned", state: "abandoned", updated_at })
  })

  it("an edit of an unknown ticket is not found (Specification, Endpoints)", () => {
    expect(new TestShop().refuses(edit(NOBODY, {}))._tag).toBe("TicketNotFound")
  })
})
