import { TicketId, TicketInput } from "@workshop/core"
import { EmptyBody } from "@workshop/core/internal/http"
import { Either, ParseResult, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { quickReader, UNSURE } from "../../src/fast/QuickReader.js"
import { TicketQuery } from "../../src/services/TicketQuery.js"

const readTicket = quickReader(TicketInput, true)!

/** A valid or nearly valid text of a ticket's field. */
const text = fc.constantFrom("Zip", " Zip ", "", "a\u0000b", "\ud800", "x".repeat(121), null, 7)
const amount = fc.constantFrom(0, 45_000, -1, 1.5, 1e13, "1", null)
const item = fc.record(
  { label: text, service: text, price_minor: amount, colour: fc.constant("red") },
  { requiredKeys: ["label"] }
)
const ticket = fc.record(
  {
    service: text,
    type: fc.constantFrom("repair", "prepare", "mend", null),
    item: text,
    items: fc.oneof(fc.array(item, { maxLength: 3 }), fc.constant(null), fc.constant({})),
    client_id: fc.constantFrom("0197D1A0-0000-7000-8000-000000000001", "nobody", null),
    client_phone: fc.constantFrom("+216 20 123 456", "20123456", null),
    price_minor: amount,
    deposit_minor: amount,
    promised_at: fc.constantFrom("2031-11-24T17:00:00Z", "2031-02-30T17:00:00Z", null),
    external_ref: text,
    colour: fc.constant("red"),
    ["__proto__"]: fc.constant({})
  },
  { requiredKeys: [] }
)

describe("the quick reader and the schema read a request alike (Specification, Errors)", () => {
  it("the quick reader reads a valid body as the schema does", () => {
    const body = {
      service: " Zip ",
      items: [{ label: "Jacket" }, { label: "Coat", price_minor: 5 }],
      client_id: "0197D1A0-0000-7000-8000-000000000001",
      client_phone: "+216 20 123 456",
      item: null,
      promised_at: "2031-11-24T17:00:00Z"
    }
    expect(readTicket(body)).toEqual({
      service: "Zip",
      items: [{ label: "Jacket" }, { label: "Coat", price_minor: 5 }],
      client_id: "0197d1a0-0000-7000-8000-000000000001",
      client_phone: "+21620123456",
      item: null,
      promised_at: Date.UTC(2031, 10, 24, 17)
    })
  })

  it("the quick reader accepts a body if and only if the schema does, with the same result", () => {
    const bySchema = ParseResult.decodeUnknownEither(TicketInput, { errors: "all", onExcessProperty: "error" })
    fc.assert(
      fc.property(ticket, (body) => {
        const decoded = bySchema(body)
        expect(readTicket(body)).toEqual(Either.isRight(decoded) ? decoded.right : UNSURE)
      }),
      { seed: 1120, numRuns: 1000 }
    )
  })

  it.each([null, [], "service", 7, undefined, [{ service: "Zip" }]])(
    "the quick reader leaves %j to the schema",
    (body) => expect(readTicket(body)).toBe(UNSURE)
  )

  it("the quick reader accepts only the empty object for an endpoint without fields", () => {
    const read = quickReader(EmptyBody, true)!
    expect(read({})).toEqual({})
    expect(read({ page: "2" })).toBe(UNSURE)
  })

  it("the quick reader ignores unknown fields if they are allowed", () => {
    const read = quickReader(Schema.Struct({ id: TicketId }), false)!
    const id = "0197d1a0-0000-7000-8000-000000000001"
    expect(read({ id, more: "x" })).toEqual({ id })
  })

  it("the quick reader is not built for a schema that it does not know", () => {
    expect(quickReader(Schema.Struct({}), true)).toBeUndefined()
    expect(quickReader(Schema.Struct({ a: Schema.optionalWith(Schema.Number, { default: () => 1 }) }), true)).toBe(
      undefined
    )
    expect(quickReader(Schema.Union(Schema.String, Schema.Number), true)).toBeUndefined()
    expect(quickReader(Schema.String.annotations({ decodingFallback: () => Either.right("") }), true)).toBeUndefined()
  })
})

describe("the query of the list has a quick reader too (Specification, Endpoints)", () => {
  const read = quickReader(TicketQuery, true)!

  it("the quick reader of the list reads numbers and lists", () =>
    expect(read({ limit: "50", state: "ready, workshop" })).toEqual({ limit: 50, state: ["ready", "workshop"] }))

  it.each([{ limit: "0" }, { state: "" }, { state: "ready,lost" }, { colour: "red" }])(
    "the quick reader of the list leaves %j to the schema",
    (query) => expect(read(query)).toBe(UNSURE)
  )
})
