import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { DelayInput, PartInput, QuoteInput } from "../../src/decisions/actOnTicket.js"
import { TicketInput } from "../../src/decisions/createTicket.js"
import { ClientInput } from "../../src/services/Clients.js"
import { ClockMove } from "../../src/services/ClockAdvance.js"
import { ShopInput } from "../../src/services/Shops.js"
import { TicketQueryJson } from "../../src/services/TicketQuery.js"

const at = "2026-11-20T10:20:42Z"
const shop = { name: "Atelier", currency: "EUR", decimals: 2, time_zone: "Europe/Paris" }
const person = { given_name: "Amira", family_name: "Baccar", phone: "+21620123456" }

const CASES: ReadonlyArray<readonly [schema: Schema.Schema.AnyNoContext, needed: object, optional: string]> = [
  [
    TicketInput,
    { service: "Hem" },
    "type item description items client_id client_phone price_minor deposit_minor promised_at external_ref"
  ],
  [QuoteInput, { price_minor: 1 }, "note"],
  [DelayInput, { promised_at: at }, "reason"],
  [PartInput, { label: "Zip", status: "ordered" }, "expected_at"],
  [ShopInput, shop, "tracking_base_url"],
  [ClientInput, person, "hide_name"],
  [ClockMove, {}, "advance_ms advance set to freeze"],
  [
    TicketQueryJson,
    {},
    "state number limit client_id phone external_ref created_after created_before updated_since cursor"
  ]
]

describe("Specification, Errors: null for an optional field of a body means absent", () => {
  for (const [schema, needed, optional] of CASES) {
    it(`${Object.keys(needed)} with ${optional}`, () => {
      const nulls = Object.fromEntries(optional.split(" ").map((name) => [name, null]))
      for (const body of [needed, { ...needed, ...nulls }])
        expect(Either.isRight(Schema.decodeUnknownEither(schema)(body))).toBe(true)
      for (const name of optional.split(" "))
        expect(Either.isLeft(Schema.decodeUnknownEither(schema)({ ...needed, [name]: undefined })), name).toBe(true)
    })
  }
})
