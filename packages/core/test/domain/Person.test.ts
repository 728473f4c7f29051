import type { ClientId, Phone } from "@workshop/core"
import { describe, expect, it } from "vitest"
import {
  eraseFromEventBody,
  eraseFromTicket,
  eraseFromTicketView,
  makeEraser,
  type Person
} from "../../src/domain/Person.js"

const client_id = "01980000-0000-7000-8000-000000000001" as ClientId

const erased = (name: string, text: string) => makeEraser({ client_id, names: [name], phones: [] })(text)

describe("the erasure of a name from a text", () => {
  it.each([
    ["Amélie", "for Am\u00e9lie, hem", "for [erased], hem"],
    ["Amélie", "for Ame\u0301lie, hem", "for [erased], hem"],
    ["Ame\u0301lie", "AM\u00c9LIE", "[erased]"],
    ["Ben  Ali", "Ben Ali", "[erased]"],
    ["Ben Ali", "Ben  Ali and Ben\nAli and Ben\u00a0Ali", "[erased] and [erased] and [erased]"],
    ["O'Neil (jr.)", "the O'Neil (jr.) boots", "the [erased] boots"],
    ["Ali", "Aligned for ali, Khali", "Aligned for [erased], Khali"],
    ["A", "A hem for A", "A hem for A"]
  ])("the name %j is removed from %j", (name, text, left) => expect(erased(name, text)).toBe(left))
})

const PHONE = "+21620123456" as Phone
const amira: Person = { client_id, names: ["Amira", "Baccar"], phones: [PHONE, "+33612345678" as Phone] }

describe("the erasure of a number from a text", () => {
  it.each([
    ["call +21620123456 or 00216 20 123 456", "call [erased] or [erased]"],
    ["20.123.456, (0) 20-123-456, 020123456, +216 (20) 123/456", "[erased], [erased], [erased], [erased]"],
    ["1201234567 and 20123456 and 20 123 4567", "1201234567 and [erased] and 20 123 4567"],
    ["order 20 1 23456, not 20    123456", "order [erased], not 20    123456"]
  ])("the number is removed from %j", (text, left) =>
    expect(makeEraser({ client_id, names: [], phones: [PHONE] })(text)).toBe(left)
  )
})

const ticket = {
  service: "Hem for Amira",
  item: "Coat of Amira",
  description: "Amira waits",
  items: [
    { label: "Sleeve of Baccar", service: "Cut for Amira", done: true },
    { label: "Collar", service: null, done: false }
  ],
  quote: { note: "Amira agrees", price_minor: 5 },
  delay: { reason: "Amira is away", announced_at: 1 },
  part: { label: "Zip of Amira", status: "ordered" },
  client_phone: PHONE as string | null,
  photo_url: "https://photo.example/amira" as string | null,
  external_ref: "amira-7" as string | null,
  number: 7
}
const bare = { ...ticket, item: null, description: null, quote: null, delay: null, part: null, external_ref: null }
const named = {
  service: "Hem for [erased]",
  item: "Coat of [erased]",
  items: [
    { label: "Sleeve of [erased]", service: "Cut for [erased]", done: true },
    { label: "Collar", service: null, done: false }
  ],
  part: { label: "Zip of [erased]", status: "ordered" },
  external_ref: "[erased]-7",
  number: 7
}
const ofTheirs = {
  ...named,
  description: null,
  quote: { note: null, price_minor: 5 },
  delay: { reason: null, announced_at: 1 },
  client_phone: null,
  photo_url: null
}
const ofOthers = {
  ...named,
  description: "[erased] waits",
  quote: { note: "[erased] agrees", price_minor: 5 },
  delay: { reason: "[erased] is away", announced_at: 1 },
  client_phone: null,
  photo_url: "https://photo.example/[erased]"
}

describe("the erasure of a person from a ticket", () => {
  it("a ticket of the person loses number, picture and notes, and only the name in the texts that accounting needs", () => {
    expect(eraseFromTicket(amira, ticket, true)).toEqual(ofTheirs)
  })

  it("a ticket of another client keeps its notes, and loses only the person's name and number", () => {
    expect(eraseFromTicket(amira, ticket, false)).toEqual(ofOthers)
    const other = { ...ticket, client_phone: "+21620999999" }
    expect(eraseFromTicket(amira, other, false).client_phone).toBe("+21620999999")
    expect(eraseFromTicket(amira, other, true).client_phone).toBeNull()
  })

  it("empty fields stay empty", () => {
    const { item, description, quote, delay, part, external_ref } = eraseFromTicket(amira, bare, false)
    expect([item, description, quote, delay, part, external_ref]).toEqual(Array(6).fill(null))
  })
})

const person = { id: client_id as string, display_name: "Amira B." as string | null }
const otherClient = { id: "01980000-0000-7000-8000-000000000002", display_name: "Zoé K." }
const unnamed = { id: client_id, display_name: null }

describe("the erasure of a person from a stored response", () => {
  it("an earlier response counts as the person's unless it shows another client; its client keeps the id and loses the name", () => {
    expect(eraseFromTicketView(amira, { ...ticket, client: person })).toEqual({ ...ofTheirs, client: unnamed })
    expect(eraseFromTicketView(amira, { ...ticket, client: null })).toEqual({ ...ofTheirs, client: null })
    expect(eraseFromTicketView(amira, { ...ticket, client: otherClient })).toEqual({ ...ofOthers, client: otherClient })
  })
})

describe("the erasure of a person from the text of an event", () => {
  const without = (data: object) =>
    JSON.parse(eraseFromEventBody(amira, JSON.stringify({ id: "evt_1", type: "ping", created_at: "x", data })))

  it("the text of an event keeps everything except the person's data", () => {
    expect(without({})).toEqual({ id: "evt_1", type: "ping", created_at: "x", data: {} })
    expect(without({ ticket: { ...ticket, client: person }, reason: "no_news" }).data).toEqual({
      ticket: { ...ofTheirs, client: unnamed },
      reason: "no_news"
    })
  })

  it("erasure removes the client's name from an event, and the note from a quote on their ticket", () => {
    expect(without({ client: person }).data).toEqual({ client: unnamed })
    expect(without({ client: otherClient }).data).toEqual({ client: otherClient })
    const quote = { note: "for Amira", price_minor: 9 }
    expect(without({ ticket: { ...bare, client: person }, quote }).data.quote).toEqual({ note: null, price_minor: 9 })
    expect(without({ ticket: { ...bare, client: otherClient }, quote }).data.quote).toEqual({
      note: "for [erased]",
      price_minor: 9
    })
    expect(without({ ticket: { ...bare, client: otherClient }, quote: { note: null } }).data.quote).toEqual({
      note: null
    })
    expect(without({ quote }).data).toEqual({ quote: { note: null, price_minor: 9 } })
  })
})
