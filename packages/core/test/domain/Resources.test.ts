import { type SchemaAST as AST, Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { ShopChannel } from "../../src/decisions/changeStatus.js"
import { TicketInput } from "../../src/decisions/createTicket.js"
import { TicketEdit } from "../../src/decisions/editTicket.js"
import { RewardRedeemed, StampsGiven } from "../../src/decisions/giveStamps.js"
import { ImportRow } from "../../src/decisions/importTickets.js"
import { QuoteAnswer, QuoteInput } from "../../src/decisions/quotes.js"
import { DelayInput, PartInput } from "../../src/decisions/ticketProgress.js"
import { Event } from "../../src/domain/Event.js"
import { ShopView } from "../../src/domain/Shop.js"
import { Ticket } from "../../src/domain/Ticket.js"

/**
 * Prints the values that a schema accepts: `{a b?}` for an object, `[…]` for a list, `a | b` for a union, or else the
 * type.
 */
const shape = (ast: AST.AST): string => {
  switch (ast._tag) {
    case "Refinement":
    case "Transformation":
      return shape(ast.from)
    case "TypeLiteral":
      return ast.indexSignatures.length > 0
        ? "record"
        : `{${ast.propertySignatures.map(({ name, isOptional, type }) => `${String(name)}${isOptional ? "?" : ""}: ${shape(type)}`).join(", ")}}`
    case "TupleType":
      return `[${ast.rest.map(({ type }) => shape(type)).join(", ")}]`
    case "Union":
      return ast.types.map(shape).join(" | ")
    case "Literal":
      return String(ast.literal)
    case "Declaration":
      return "string"
    default:
      return ast._tag.replace("Keyword", "").toLowerCase()
  }
}
const of = (schema: Schema.Schema.AnyNoContext) => shape(schema.ast)

const CARD =
  "{balance: number, lifetime: number, rewards_available: number, rewards_redeemed: number, updated_at: string | null}"
const STATES = "workshop | ready | impossible | collected | abandoned"
const QUOTE =
  "{status: proposed | accepted | refused, price_minor: number, note: string | null, proposed_at: string, answered_at: string | null}"
const PART =
  "{label: string, status: ordered | received, ordered_at: string, expected_at: string | null, received_at: string | null}"

// Written out from Specification, Resources, with the fields that were added since.
describe("Specification, Resources: fields and their types", () => {
  it("a ticket has these fields and types", () => {
    expect(of(Ticket)).toBe(
      `{id: string, number: number | null, number_label: string | null, state: ${STATES}, outcome: ready | impossible | null, ` +
        "type: repair | prepare, service: string, item: string | null, description: string | null, " +
        "items: [{id: string, label: string, service: string | null, price_minor: number | null, done: boolean}], " +
        "money: {currency: string | null, decimals: number, price_minor: number | null, deposit_minor: number | null, remaining_minor: number | null, before_minor: number | null}, " +
        `quote: ${QUOTE} | null, promised_at: string | null, ` +
        "delay: {previous_promised_at: string | null, reason: string | null, announced_at: string} | null, " +
        `part: ${PART} | null, client: {id: string, display_name: string | null} | null, client_phone: string | null, ` +
        "tracking_code: string | null, tracking_url: string | null, photo_url: string | null, created_at: string, updated_at: string, " +
        "ready_at: string | null, collected_at: string | null, abandoned_at: string | null, " +
        "abandon_reason: uncollected | no_news | null, notified_at: string | null, created_via: app | api, external_ref: string | null}"
    )
  })

  it("a shop, an event, stamps and a reward have these fields and types", () => {
    expect(of(ShopView)).toBe(
      "{id: string, name: string, currency: string, decimals: number, time_zone: string, scopes: [tickets:read | tickets:write | clients:read | loyalty:write]}"
    )
    expect(of(Event)).toMatch(
      /^\{id: string, type: ticket\.created \|.*, created_at: string, api_version: string, shop_id: string, data: record\}$/
    )
    expect(of(StampsGiven)).toBe(`{card: ${CARD}, added: number, rewards_unlocked: number}`)
    expect(of(RewardRedeemed)).toBe(`{card: ${CARD}, reward: {label: string | null, redeemed_at: string}}`)
  })
})

describe("Specification, Errors: a field without a value", () => {
  it("a field without a value is left out, and never undefined", () => {
    for (const name of ["service", "item", "items_done"])
      expect(Either.isLeft(Schema.decodeUnknownEither(TicketEdit)({ [name]: undefined })), name).toBe(true)
    expect(Schema.decodeUnknownEither(TicketEdit)({})).toEqual(Either.right({}))
  })
})

describe("Specification, Endpoints and Sandbox: the inputs of acts on a ticket", () => {
  it.each([
    [ShopChannel, "sms | whatsapp | call"],
    [QuoteAnswer, "accepted | refused"],
    [QuoteInput, "{price_minor: number, note?: string | null}"],
    [DelayInput, "{promised_at: string, reason?: string | null}"],
    [PartInput, "{label: string, status: ordered | received, expected_at?: string | null}"],
    [
      TicketEdit,
      "{service?: string, item?: string | null, description?: string | null, price_minor?: number | null, deposit_minor?: number | null, promised_at?: string | null, external_ref?: string | null, items_done?: [{id: string, done: boolean}]}"
    ],
    [
      TicketInput,
      "{service: string, type?: repair | prepare | null, item?: string | null, description?: string | null, " +
        "items?: [{label: string, service?: string | null, price_minor?: number | null}] | null, client_id?: string | null, client_phone?: string | null, " +
        "price_minor?: number | null, deposit_minor?: number | null, promised_at?: string | null, external_ref?: string | null}"
    ],
    [
      ImportRow,
      `{external_ref?: string | null, number?: number | null, state?: ${STATES} | null, outcome?: ready | impossible | null, type?: repair | prepare | null, ` +
        "service?: string | null, item?: string | null, description?: string | null, " +
        "items?: [{label: string, service?: string | null, price_minor?: number | null, done?: boolean | null}] | null, " +
        "price_minor?: number | null, deposit_minor?: number | null, before_minor?: number | null, " +
        "quote?: {status: proposed | accepted | refused, price_minor: number, note?: string | null, proposed_at: string, answered_at?: string | null} | null, " +
        "delay?: {previous_promised_at?: string | null, reason?: string | null, announced_at: string} | null, " +
        "part?: {label: string, status: ordered | received, ordered_at: string, expected_at?: string | null, received_at?: string | null} | null, " +
        "promised_at?: string | null, created_at?: string | null, ready_at?: string | null, collected_at?: string | null, abandoned_at?: string | null, " +
        "abandon_reason?: uncollected | no_news | null, notified_at?: string | null, notified_channel?: app | sms | whatsapp | call | null, " +
        "created_via?: app | api | null, photo_url?: string | null, client_phone?: string | null, " +
        "client?: {phone: string, given_name: string, family_name: string, hide_name?: boolean | null, " +
        "card?: {balance: number, lifetime?: number | null, rewards_redeemed?: number | null} | null} | null}"
    ]
  ] as ReadonlyArray<readonly [Schema.Schema.AnyNoContext, string]>)(
    "the input of an act has these fields and types, case %#",
    (schema, fields) => expect(of(schema)).toBe(fields)
  )
})
