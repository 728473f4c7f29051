import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { Event, eventBody } from "../../src/domain/Event.js"
import { eventTypes } from "../../src/domain/EventType.js"
import type { EventId, ShopId } from "../../src/domain/Identifier.js"

const ID = "00000000-0000-7000-8000-0000000000e1" as EventId
const SHOP = "00000000-0000-7000-8000-000000000001" as ShopId
const AT = 1_772_442_000_123

describe("Specification, Resources: the event envelope", () => {
  it("the text of an event has exactly these bytes (Specification, Webhooks)", () => {
    expect(eventBody(ID, "ping", AT, SHOP, {})).toBe(
      '{"id":"00000000-0000-7000-8000-0000000000e1","type":"ping","created_at":"2026-03-02T09:00:00.123Z",' +
        '"api_version":"1","shop_id":"00000000-0000-7000-8000-000000000001","data":{}}'
    )
  })

  it("an event has its complete data, with any characters (Specification, Webhooks)", () => {
    const client = { id: "c", display_name: 'Zoé "Élie" 𠮷\n' }
    const body = eventBody(ID, "client.linked", AT, SHOP, { ticket: { id: "t" } as never, client })
    expect(JSON.parse(body)).toEqual({
      id: ID,
      type: "client.linked",
      created_at: "2026-03-02T09:00:00.123Z",
      api_version: "1",
      shop_id: SHOP,
      data: { ticket: { id: "t" }, client }
    })
    const read = Schema.decodeUnknownEither(Event, { onExcessProperty: "error" })
    expect(read(JSON.parse(body))).toEqual(Either.right(JSON.parse(body)))
    for (const data of [null, "text", [1]])
      expect(Either.isLeft(read({ ...JSON.parse(body), data })), `${data}`).toBe(true)
  })

  it("the types of events are the same as in the specification (Specification, Webhooks)", () => {
    expect(Object.keys(eventTypes).sort()).toEqual([
      "client.linked",
      "client.notified",
      "ping",
      "quote.accepted",
      "quote.proposed",
      "quote.refused",
      "ticket.abandoned",
      "ticket.collected",
      "ticket.created",
      "ticket.impossible",
      "ticket.ready",
      "ticket.reopened",
      "ticket.updated"
    ])
  })
})
