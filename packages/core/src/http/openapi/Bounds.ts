import { ticketDefaults } from "../../decisions/createTicket.js"
import { Limits } from "../../domain/Limits.js"
import type { Node } from "./Json.js"

const text = (most: number): Node => ({ minLength: 1, maxLength: most })
const count: Node = { minimum: 0 }
const amount: Node = { format: "int64", minimum: 0, maximum: Limits.amount_minor_max }
const number: Node = { minimum: 1, maximum: Limits.ticket_number_max }
const label: Node = { pattern: "^[0-9]{4}$" }
const phone: Node = { pattern: "^\\+[1-9][0-9]{1,14}$" }
// As it is typed: trimmed first, and what stands between the digits is dropped.
const typedPhone: Node = { pattern: "^\\s*\\+.*[0-9]" }
const currency: Node = { pattern: "^[A-Z]{3}$" }
const decimals: Node = { minimum: 0, maximum: 4 }

const item = {
  label: text(Limits.item_characters),
  service: text(Limits.service_characters),
  price_minor: amount
}

/** The bounds of a field's values that its schema lacks and its prose gives: bounds, patterns, sizes and defaults, by named schema. */
export const fieldBounds: Readonly<Record<string, Readonly<Record<string, Node>>>> = {
  Ticket: {
    number,
    number_label: label,
    service: text(Limits.service_characters),
    item: text(Limits.item_characters),
    description: text(Limits.description_characters),
    items: { maxItems: Limits.items_max },
    client_phone: phone,
    tracking_code: { pattern: "^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$" },
    external_ref: text(Limits.external_ref_characters)
  },
  TicketInput: {
    type: { default: ticketDefaults.type },
    client_phone: typedPhone,
    price_minor: amount,
    deposit_minor: amount
  },
  TicketItem: item,
  TicketItemInput: item,
  TicketSummary: { number, number_label: label },
  Money: {
    currency,
    decimals,
    price_minor: amount,
    deposit_minor: amount,
    remaining_minor: amount,
    before_minor: amount
  },
  Quote: { price_minor: amount, note: text(Limits.note_characters) },
  Delay: { reason: text(Limits.note_characters) },
  Part: { label: text(Limits.item_characters) },
  Client: { tickets_open: count, tickets_total: count },
  LoyaltyCard: { balance: count, lifetime: count, rewards_available: count, rewards_redeemed: count },
  StampsGiven: {
    added: { minimum: Limits.stamps_per_call_min, maximum: Limits.stamps_per_call_max },
    rewards_unlocked: count
  },
  Shop: { currency, decimals, scopes: { uniqueItems: true } },
  TicketListAnswer: { data: { maxItems: Limits.page_max } },
  NumberMeta: { others: { maxItems: Limits.others_max } },
  IssueDetails: { issues: { minItems: 1 } },
  QuoteInput: { price_minor: amount },
  ClientInput: { phone: typedPhone }
}
