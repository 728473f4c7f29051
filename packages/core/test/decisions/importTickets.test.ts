import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { ImportRow, importIssues } from "../../src/decisions/importTickets.js"

const NOW = Date.parse("2026-11-20T10:00:00Z")

const issues = (row: object) =>
  importIssues(Schema.decodeUnknownSync(ImportRow)({ external_ref: "A-1", service: "Hem", ...row }), NOW).map(
    ({ field, message }) => `${field} ${message}`
  )

const client = { phone: "+21620123456", given_name: "Amira", family_name: "Ben Salah" }
const early = "2026-01-05T09:00:00Z"
const late = "2026-02-05T09:00:00Z"

describe("rows that are valid (Specification, Tickets)", () => {
  it.each([
    ["a ticket in the workshop, with no date at all", {}],
    ["a ticket in the workshop", { state: "workshop", created_at: early, price_minor: 5, deposit_minor: 5 }],
    ["a ready ticket", { state: "ready", created_at: early, ready_at: late }],
    ["an impossible ticket", { state: "impossible", created_at: early }],
    [
      "a collected ticket that was ready",
      { state: "collected", created_at: early, ready_at: early, collected_at: late }
    ],
    [
      "a collected ticket that was impossible",
      { state: "collected", outcome: "impossible", created_at: early, collected_at: late }
    ],
    [
      "an abandoned ticket",
      { state: "abandoned", created_at: early, ready_at: early, abandoned_at: late, abandon_reason: "uncollected" }
    ],
    ["a client with a card", { client: { ...client, card: { balance: 2, lifetime: 12, rewards_redeemed: 1 } } }],
    [
      "a ticket of the present instant",
      { state: "ready", created_at: new Date(NOW).toISOString(), ready_at: new Date(NOW).toISOString() }
    ],
    ["a ticket of the first instant of 1970", { created_at: "1970-01-01T00:00:00Z" }],
    [
      "a ticket whose client was notified before it was ready",
      { state: "ready", created_at: early, ready_at: late, notified_at: early }
    ],
    [
      "a ticket that was collected before its client was notified",
      { state: "collected", created_at: early, collected_at: early, notified_at: late }
    ],
    ["a ticket with a deposit and no price", { deposit_minor: 5 }],
    ["a ticket with a price and no deposit", { price_minor: 5 }],
    ["an open quote", { quote: { status: "proposed", price_minor: 1, proposed_at: early } }],
    ["a refused quote", { quote: { status: "refused", price_minor: 1, proposed_at: early, answered_at: late } }],
    [
      "a card whose rewards cost one stamp each",
      { client: { ...client, card: { balance: 0, lifetime: 2, rewards_redeemed: 2 } } }
    ],
    ["a card without a redeemed reward", { client: { ...client, card: { balance: 2 } } }]
  ])("a row of an import is valid: %s", (_, row) => {
    expect(issues(row)).toEqual([])
  })

  it("a row may have only a client, without a ticket", () => {
    expect(importIssues(Schema.decodeUnknownSync(ImportRow)({ client }), NOW)).toEqual([])
  })
})

describe("rows that contradict themselves are refused with a message that says what to change", () => {
  it.each([
    [{ external_ref: null }, "external_ref is required, because a repeated import finds the ticket by it"],
    [{ state: "ready", created_at: early }, "ready_at is required if state is ready"],
    [{ state: "collected", created_at: early }, "collected_at is required if state is collected"],
    [{ state: "abandoned", created_at: early }, "abandoned_at is required if state is abandoned"],
    [{ created_at: early, ready_at: late }, "ready_at must be omitted if state is workshop"],
    [
      { state: "ready", created_at: late, ready_at: early },
      "ready_at must not be earlier than the date of a previous step"
    ],
    [{ created_at: "2027-01-01T00:00:00Z" }, "created_at must not be in the future"],
    [{ created_at: new Date(NOW + 1).toISOString() }, "created_at must not be in the future"],
    [{ created_at: "1969-01-01T00:00:00Z" }, "created_at must not be before 1970"],
    [{ state: "ready", ready_at: late }, "created_at is required if the row has other dates"],
    [{ outcome: "ready" }, "outcome must be omitted, because only a collected ticket has it"],
    [{ abandon_reason: "no_news" }, "abandon_reason must be omitted, because only an abandoned ticket has it"],
    [{ price_minor: 1, deposit_minor: 2 }, "deposit_minor must not be greater than price_minor"],
    [{ notified_channel: "sms" }, "notified_at is required if notified_channel is given"],
    [
      { quote: { status: "accepted", price_minor: 1, proposed_at: early } },
      "quote.answered_at is required if the quote was answered, and must be omitted if not"
    ],
    [
      { quote: { status: "proposed", price_minor: 1, proposed_at: early, answered_at: late } },
      "quote.answered_at is required if the quote was answered, and must be omitted if not"
    ],
    [
      { state: "collected", created_at: late, ready_at: null, collected_at: early },
      "collected_at must not be earlier than the date of a previous step"
    ],
    [
      { state: "collected", created_at: late, collected_at: early },
      "collected_at must not be earlier than the date of a previous step"
    ],
    [{ created_at: late, notified_at: early }, "notified_at must not be earlier than the date of a previous step"],
    [
      { state: "collected", created_at: early, ready_at: late, collected_at: early },
      "collected_at must not be earlier than the date of a previous step"
    ],
    [
      { client: { ...client, card: { balance: 0, lifetime: 1, rewards_redeemed: 2 } } },
      "client.card.rewards_redeemed must not be greater than lifetime minus balance, because each reward costs at least one stamp"
    ],
    [
      { client: { ...client, card: { balance: 2, lifetime: 1 } } },
      "client.card.lifetime must not be less than the balance"
    ],
    [
      { client: { ...client, card: { balance: 2, lifetime: 12 } } },
      "client.card.rewards_redeemed must not be greater than lifetime minus balance, because each reward costs at least one stamp"
    ],
    [{ service: null, external_ref: null }, "service is required for a ticket"]
  ])("a row that contradicts itself is refused: %j", (row, issue) => {
    expect(issues(row)).toEqual([issue])
  })

  it("a card of an imported client has a whole number of stamps, at most a million", () => {
    const accepts = (card: object) =>
      Either.isRight(Schema.decodeUnknownEither(ImportRow)({ client: { ...client, card } }))
    expect([0, 1_000_000, 1_000_001, -1, 0.5].map((balance) => accepts({ balance }))).toEqual([
      true,
      true,
      false,
      false,
      false
    ])
    expect([200, 201].map((rewards_redeemed) => accepts({ balance: 0, rewards_redeemed }))).toEqual([true, false])
  })

  it("a row with only a client is refused if it has a field of a ticket", () => {
    const row = Schema.decodeUnknownSync(ImportRow)({ client, state: "ready" })
    expect(importIssues(row, NOW)).toEqual([
      { field: "state", message: "must be omitted, because only a ticket has it and the row has no service" }
    ])
  })
})
