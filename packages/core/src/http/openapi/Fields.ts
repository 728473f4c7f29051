import { type TicketInput, ticketDefaults } from "../../decisions/createTicket.js"
import type { StampsGiven } from "../../decisions/giveStamps.js"
import type { ClientView } from "../../domain/Client.js"
import { type EventType, eventTypes } from "../../domain/EventType.js"
import { Limits } from "../../domain/Limits.js"
import type { LoyaltyCard, LoyaltyProgram } from "../../domain/LoyaltyCard.js"
import type { Money } from "../../domain/Money.js"
import type { ShopView } from "../../domain/Shop.js"
import { type Delay, NUMBER_DIGITS, type Part, type Quote, type Ticket, type TicketItem } from "../../domain/Ticket.js"
import type { JsonObject } from "./Json.js"
import { eventName } from "./Webhooks.js"

type Descriptions<T> = Readonly<Record<Extract<keyof T, string>, string>>

const ticket = {
  id: "The ticket's id, which never changes",
  number: `The number that the shop writes on the item. After ${Limits.ticket_number_max} the numbers start again at 1, so use \`id\` to identify a ticket`,
  number_label: `The number as printed, with ${NUMBER_DIGITS} digits`,
  state: "The ticket's state",
  outcome: "For a collected ticket, `ready` if the work was done and `impossible` if not. null in other states",
  type: "`repair` for work on an item that was brought in, `prepare` for an order to prepare",
  service: "The work to do, such as `Resoling`",
  item: "The item that was brought in, such as `Brown boots`",
  description: "A note for the people in the workshop",
  items: "The items on this ticket if there are several. Empty for a single item",
  money: "Price, deposit and what is left to pay",
  quote: "The last new price that was proposed to the client, or null",
  promised_at: "The time by which the shop promised to have the ticket ready",
  delay: "The last postponement of the promised date, or null",
  part: "The part that the workshop waits for or has received, or null",
  client: "The linked client. null if no client is linked, or if the client blocks the shop",
  client_phone: "The phone number that was given with the ticket, in E.164",
  tracking_code:
    "The code on the receipt, by which a client finds the ticket. It has no I, L, O or U, so that it can be read aloud",
  tracking_url: "The page on which the client follows the ticket. null if the shop has no such pages",
  photo_url: "A picture of the item",
  created_at: "When the ticket was created",
  updated_at:
    "When any field of the ticket last changed. Later changes never have an earlier updated_at, so a sync can rely on it",
  ready_at: "When the ticket became ready. null again after it goes back to the workshop",
  collected_at: "When the item was collected. null again after the ticket is reopened",
  abandoned_at: "When the service closed the ticket, or null",
  abandon_reason: "Why the service closed the ticket, or null",
  notified_at: "When the client was last notified, by the app or by the shop, or null",
  created_via: "Whether the ticket was created in the shop's app or through this API",
  external_ref: "Your own reference, by which you can find the ticket"
} as const satisfies Descriptions<Ticket>

const inputFields = ["service", "type", "item", "description", "promised_at", "external_ref"] as const

const client = {
  id: "The client's id, the same in every shop that knows them",
  display_name:
    "The name in the form that the client chose: the full name, or the given name with the initial of the family name",
  tickets_open: "How many of the client's tickets are open in this shop",
  tickets_total: "How many tickets the client has ever had in this shop",
  loyalty: "The client's loyalty card. null while the shop's programme is off"
} as const satisfies Descriptions<ClientView>

const item = {
  id: "The item's id",
  label: "The item, such as `Left boot`",
  service: "The work on this item, if it differs from the ticket's service",
  price_minor: "The item's price in minor units, for information only. The ticket's price is not computed from it",
  done: "Whether the work on the item is done"
} as const satisfies Descriptions<TicketItem>

/** The fields of the data of all events. */
const event = {
  ticket: "The ticket as it was after the event",
  quote: "The quote as it was after the event",
  client: "The client who was linked",
  channel: "How the client was notified"
}
const eventData = Object.fromEntries(Object.entries(event).map(([name, words]) => [`data.${name}`, words]))

/**
 * The description of each field of each named schema. A missing field does not compile. `a.b` is the field b of an
 * unnamed schema at the field a.
 */
export const fieldDescriptions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ticket: ticket,
  TicketInput: {
    ...(Object.fromEntries(inputFields.map((name) => [name, ticket[name]])) as Pick<
      typeof ticket,
      (typeof inputFields)[number]
    >),
    items: "The items, if the ticket has several",
    client_id: "The id of a client whom the shop knows. The ticket is linked to the client at once",
    client_phone:
      "The phone number to which the ticket is offered, in international format. The response is the same whether or not an account has this number",
    price_minor: "The price in minor units of the shop's currency",
    deposit_minor: "The amount already paid, in minor units, at most the price"
  } satisfies Descriptions<TicketInput>,
  TicketItem: item,
  TicketItemInput: { label: item.label, service: item.service, price_minor: item.price_minor },
  TicketSummary: {
    id: ticket.id,
    number: "The requested number",
    number_label: ticket.number_label,
    state: ticket.state,
    created_at: ticket.created_at
  },
  Money: {
    currency: "The ISO 4217 code of the shop's currency",
    decimals: "How many digits an amount has after the decimal point. With 3, the amount 12500 is 12.500",
    price_minor: "The price in minor units, or null if the shop gave no price",
    deposit_minor: "The amount already paid, in minor units, or null",
    remaining_minor: "The price minus the deposit, in minor units. null without a price",
    before_minor: "The price before the client accepted a new one, or null"
  } satisfies Descriptions<Money>,
  Quote: {
    status: "`proposed` until the client answers, then the client's answer",
    price_minor: "The new price in minor units",
    note: "The shop's reason for the new price, or null",
    proposed_at: "When the shop proposed the price",
    answered_at: "When the client answered, or null"
  } satisfies Descriptions<Quote>,
  Delay: {
    previous_promised_at: "The date that was promised before, or null",
    reason: "The shop's reason for the delay, or null",
    announced_at: "When the shop postponed the date"
  } satisfies Descriptions<Delay>,
  Part: {
    label: "The name of the part",
    status: "`ordered` while the part is on its way, then `received`",
    ordered_at: "When the shop ordered the part",
    expected_at: "When the shop expects the part, or null",
    received_at: "When the part arrived, or null"
  } satisfies Descriptions<Part>,
  ClientBadge: { id: client.id, display_name: client.display_name },
  Client: client,
  LoyaltyCard: {
    balance: "The stamps that are not spent yet",
    lifetime: "All stamps ever given. Using a reward does not lower this number",
    rewards_available: "How many rewards the client could use now",
    rewards_redeemed: "How many rewards the client has used so far",
    updated_at: "When the card last changed. null for a card that was never used"
  } satisfies Descriptions<LoyaltyCard>,
  LoyaltyProgram: {
    active: "Whether the programme is on, so that stamps can be given and rewards used",
    name: "The shop's name for its programme, or null",
    stamps_required: "How many stamps a reward costs",
    stamps_per_ticket: "How many stamps a finished ticket of a linked client earns. A ticket earns stamps only once",
    reward_label: "The reward, such as `A free hem`, or null"
  } satisfies Descriptions<LoyaltyProgram>,
  Loyalty: {
    program: "The shop's loyalty programme",
    card: "The client's card, which is present even while the programme is off"
  },
  StampsGiven: {
    card: "The card afterwards",
    added: "How many stamps were added",
    rewards_unlocked: "How many more rewards the client can use because of these stamps"
  } satisfies Descriptions<StampsGiven>,
  RewardRedeemed: {
    card: "The card afterwards",
    reward: "The reward that was used",
    "reward.label": "The programme's name for the reward at that time, or null",
    "reward.redeemed_at": "When the reward was used"
  },
  Shop: {
    id: "The shop's id, which never changes",
    name: "The shop's name",
    currency: "The ISO 4217 code of the currency of all the shop's amounts",
    decimals: "How many digits an amount has after the decimal point",
    time_zone: "The IANA name of the shop's time zone. Daily limits reset at midnight in this time zone",
    scopes: "The scopes of the key that you used"
  } satisfies Descriptions<ShopView>,
  StatusInput: { status: "The state to which the ticket moves" },
  NotifiedInput: { channel: "How the shop notified its client" },
  StampsInput: { count: "How many stamps to add. If they would exceed the day's limit, none are added" },
  ListMeta: {
    has_more: "Whether there is another page",
    next_cursor: "Send this as `cursor` to get the next page. null on the last page",
    synced_until: "Present if `updated_since` was sent. Send this as `updated_since` in the next sync"
  },
  NumberMeta: { others: `Other tickets with the number, newest first, at most ${Limits.others_max}` },
  RepeatableMeta: { replayed: "False in the first response to an Idempotency-Key, true in every repetition" },
  RequestIssue: {
    in: "The part of the request with the problem",
    field: "The dotted path of the field with the problem, such as `items.1.label`",
    message: "The problem, and how to correct it"
  },
  ScopeDetails: { scope: "The scope that the key lacks" },
  FieldDetails: { field: "The dotted path of the text with the forbidden word" },
  LimitDetails: { limit: "The name of the limit that is used up" },
  ...Object.fromEntries(
    (Object.keys(eventTypes) as ReadonlyArray<EventType>).map((type) => [eventName(type), eventData])
  ),
  TicketData: { ticket: event.ticket },
  IssueDetails: { issues: "All problems of the request" },
  ConflictDetails: {
    reason: "The reason, in a form for programs",
    from: "For a refused move, the state of the ticket",
    to: "For a refused move, the requested status",
    allowed: "For a refused move, the statuses that the ticket accepts now",
    state: "For a conflict of a ticket, the ticket's state",
    updated_at: "For a conflict of a ticket, when the ticket last changed"
  }
}

const makeTextBounds = (max: number): JsonObject => ({ minLength: 1, maxLength: max })
const count: JsonObject = { minimum: 0 }
const amount: JsonObject = { format: "int64", minimum: 0, maximum: Limits.amount_minor_max }
const number: JsonObject = { minimum: 1, maximum: Limits.ticket_number_max }
const label: JsonObject = { pattern: `^[0-9]{${NUMBER_DIGITS}}$` }
const phone: JsonObject = { pattern: "^\\+[1-9][0-9]{1,14}$" }
// The pattern of an input, because the service trims it and removes the characters between the digits.
const phoneInput: JsonObject = { pattern: "^\\s*\\+.*[0-9]" }
const currency: JsonObject = { pattern: "^[A-Z]{3}$" }
const decimals: JsonObject = { minimum: 0, maximum: 4 }

const itemBounds = {
  label: makeTextBounds(Limits.item_characters),
  service: makeTextBounds(Limits.service_characters),
  price_minor: amount
}

/** The bounds, patterns, sizes and defaults that the generated schema of a field lacks, by named schema. */
export const fieldBounds: Readonly<Record<string, Readonly<Record<string, JsonObject>>>> = {
  Ticket: {
    number,
    number_label: label,
    service: makeTextBounds(Limits.service_characters),
    item: makeTextBounds(Limits.item_characters),
    description: makeTextBounds(Limits.description_characters),
    items: { maxItems: Limits.items_max },
    client_phone: phone,
    tracking_code: { pattern: "^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$" },
    external_ref: makeTextBounds(Limits.external_ref_characters)
  },
  TicketInput: {
    type: { default: ticketDefaults.type },
    client_phone: phoneInput,
    price_minor: amount,
    deposit_minor: amount
  },
  TicketItem: itemBounds,
  TicketItemInput: itemBounds,
  TicketSummary: { number, number_label: label },
  Money: {
    currency,
    decimals,
    price_minor: amount,
    deposit_minor: amount,
    remaining_minor: amount,
    before_minor: amount
  },
  Quote: { price_minor: amount, note: makeTextBounds(Limits.note_characters) },
  Delay: { reason: makeTextBounds(Limits.note_characters) },
  Part: { label: makeTextBounds(Limits.item_characters) },
  Client: { tickets_open: count, tickets_total: count },
  LoyaltyCard: { balance: count, lifetime: count, rewards_available: count, rewards_redeemed: count },
  StampsGiven: {
    added: { minimum: Limits.stamps_per_call_min, maximum: Limits.stamps_per_call_max },
    rewards_unlocked: count
  },
  Shop: { currency, decimals, scopes: { uniqueItems: true } },
  TicketListResponse: { data: { maxItems: Limits.page_max } },
  NumberMeta: { others: { maxItems: Limits.others_max } },
  IssueDetails: { issues: { minItems: 1 } },
  QuoteInput: { price_minor: amount },
  ClientInput: { phone: phoneInput }
}
