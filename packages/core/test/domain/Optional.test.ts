import { Either, ParseResult, type Schema } from "effect"
import { describe, expect, it } from "vitest"
import { TicketInput } from "../../src/decisions/createTicket.js"
import { QuoteInput } from "../../src/decisions/quotes.js"
import { DelayInput, PartInput } from "../../src/decisions/ticketProgress.js"
import { inputIssues } from "../../src/domain/InvalidInput.js"
import { ClientInput } from "../../src/services/Clients.js"
import { ClockMove } from "../../src/services/clock/ClockAdvance.js"
import { ShopInput } from "../../src/services/Shops.js"
import { TicketQueryJson } from "../../src/services/TicketQuery.js"

const at = "2026-11-20T10:20:42Z"
const shop = { name: "Atelier", currency: "EUR", decimals: 2, time_zone: "Europe/Paris" }
const person = { given_name: "Amira", family_name: "Baccar", phone: "+21620123456" }

const CASES: ReadonlyArray<
  readonly [name: string, schema: Schema.Schema.AnyNoContext, needed: object, optional: string]
> = [
  [
    "TicketInput",
    TicketInput,
    { service: "Hem" },
    "type item description items client_id client_phone price_minor deposit_minor promised_at external_ref"
  ],
  ["QuoteInput", QuoteInput, { price_minor: 1 }, "note"],
  ["DelayInput", DelayInput, { promised_at: at }, "reason"],
  ["PartInput", PartInput, { label: "Zip", status: "ordered" }, "expected_at"],
  ["ShopInput", ShopInput, shop, "tracking_base_url"],
  ["ClientInput", ClientInput, person, "hide_name"],
  ["ClockMove", ClockMove, {}, "advance_ms advance set to freeze"],
  [
    "TicketQuery",
    TicketQueryJson,
    {},
    "state number limit client_id phone external_ref created_after created_before updated_since cursor"
  ]
]

const decode = (schema: Schema.Schema.AnyNoContext, body: object) =>
  Either.mapLeft(ParseResult.decodeUnknownEither(schema, { errors: "all" })(body), inputIssues)

const withoutNulls = (value: object) => Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== null))

describe("Specification, Errors: null for an optional field of a body means absent", () => {
  for (const [name, schema, needed, optional] of CASES) {
    const fields = optional.split(" ")
    const all = (value: null | undefined) => ({
      ...needed,
      ...Object.fromEntries(fields.map((field) => [field, value]))
    })

    it(`${name}: null means absent for ${fields.join(", ")}`, () => {
      const absent = Either.getOrThrow(decode(schema, needed))
      expect(Object.keys(absent)).toEqual(Object.keys(needed))
      expect(withoutNulls(Either.getOrThrow(decode(schema, all(null))))).toEqual(absent)
    })

    it(`${name}: undefined is refused for ${fields.join(", ")}, because no JSON has it`, () => {
      const issues = Either.getOrThrow(Either.flip(decode(schema, all(undefined))))
      expect(issues.map(({ field }) => field).toSorted()).toEqual(fields.toSorted())
    })
  }
})
