import { type TicketInput, ticketDefaults } from "../../decisions/createTicket.js"
import type { StampsGiven } from "../../decisions/giveStamps.js"
import type { ClientView } from "../../domain/Client.js"
import { type EventType, eventTypes } from "../../domain/EventType.js"
import { Limits } from "../../domain/Limits.js"
import type { LoyaltyCard, LoyaltyProgram } from "../../domain/LoyaltyCard.js"
import type { Money } from "../../domain/Money.js"
import type { ShopView } from "../../domain/Shop.js"
import type { Delay, Part, Quote, Ticket, TicketItem } from "../../domain/Ticket.js"
import type { Node } from "./Json.js"
import { eventName } from "./Webhooks.js"

type Descriptions<T> = Readonly<Record<Extract<keyof T, string>, string>>

const ticket = {
  id: "The ticket's id; it never changes",
  number: `The number that the shop writes on the item. After ${Limits.ticket_number_max} the numbers start again at 1, so use \`id\` to keep a ticket`,
  number_label: "The number as printed: four digits",
  state: "The ticket's state",
  outcome: "Of a collected ticket: `ready` if the work was done, `impossible` if it was not; null for other states",
  type: "`repair` is work on something brought in, `prepare` an order to get ready",
  service: "The work to do, such as `Resoling`",
  item: "The item that was brought in, such as `Brown boots`",
  description: "A note for the people in the workshop",
  items: "The items on this ticket if there are several; empty for one",
  money: "Price, deposit and what is left to pay",
  quote: "The last new price that was proposed to the client, or null",
  promised_at: "When the shop promised to be ready",
  delay: "The last postponement of the promised date, or null",
  part: "The part the workshop waits for or has received, or null",
  client: "The linked client; null if there is none or they block the shop",
  client_phone: "The phone number given with the ticket, in E.164",
  tracking_code:
    "The code on the receipt, by which a client finds the ticket. It has no I, L, O or U, so that it can be read aloud",
  tracking_url: "The page on which the client follows the ticket; null if the shop has none",
  photo_url: "A picture of the item",
  created_at: "When the ticket was created",
  updated_at:
    "When anything of the ticket last changed. It never decreases in the order of changes, so a sync can rely on it",
  ready_at: "When it became ready; null again when it goes back to the workshop",
  collected_at: "When it was collected; null again when it is reopened",
  abandoned_at: "When the service closed the ticket, or null",
  abandon_reason: "Why the service closed it, or null",
  notified_at: "When the client was last notified, by the app or by the shop, or null",
  created_via: "Whether the ticket was created in the shop's app or through this API",
  external_ref: "Your own reference, to find the ticket by"
} as const satisfies Descriptions<Ticket>

const given = ["service", "type", "item", "description", "promised_at", "external_ref"] as const

const client = {
  id: "The client's id, the same in every shop that knows them",
  display_name: "The name as the client wishes it shown: in full, or the given name with an initial",
  tickets_open: "How many of their tickets are still in the shop",
  tickets_total: "How many tickets they ever had in the shop",
  loyalty: "Their card; null while the shop's programme is off"
} as const satisfies Descriptions<ClientView>

const item = {
  id: "The entry's id",
  label: "The item, such as `Left boot`",
  service: "The work on this item, if it differs from the ticket's",
  price_minor: "Its price in minor units, for information: the ticket's price is not computed from it",
  done: "Whether the work on it is done"
} as const satisfies Descriptions<TicketItem>

/** The fields of the data of all events. */
const event = {
  ticket: "The ticket as it was after the event",
  quote: "The quote as it was after the event",
  client: "The client who is linked now",
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
    ...(Object.fromEntries(given.map((name) => [name, ticket[name]])) as Pick<typeof ticket, (typeof given)[number]>),
    items: "Several items on one ticket",
    client_id: "A client known to the shop, who is linked at once",
    client_phone:
      "The phone number to which the ticket is offered, in international format. The response is the same whether or not an account has it",
    price_minor: "The price in minor units of the shop's currency",
    deposit_minor: "The amount paid already, in minor units; at most the price"
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
    currency: "ISO 4217 code of the shop's currency",
    decimals: "How many digits an amount has after the decimal point: with 3, 12500 is 12.500",
    price_minor: "The price in minor units, or null if the shop gave none",
    deposit_minor: "The amount paid already in minor units, or null",
    remaining_minor: "Price less deposit in minor units; null without a price",
    before_minor: "The price before the client accepted a new one, or null"
  } satisfies Descriptions<Money>,
  Quote: {
    status: "Waiting for the client, or how they answered",
    price_minor: "The new price in minor units",
    note: "The shop's reason for the new price, or null",
    proposed_at: "When the shop proposed it",
    answered_at: "When the client answered, or null"
  } satisfies Descriptions<Quote>,
  Delay: {
    previous_promised_at: "The date that was promised before, or null",
    reason: "The shop's reason for the delay, or null",
    announced_at: "When the promise was moved"
  } satisfies Descriptions<Delay>,
  Part: {
    label: "The name of the part",
    status: "`ordered` while the part is on its way, then `received`",
    ordered_at: "When the shop ordered it",
    expected_at: "When the shop expects it, or null",
    received_at: "When it arrived, or null"
  } satisfies Descriptions<Part>,
  ClientBadge: { id: client.id, display_name: client.display_name },
  Client: client,
  LoyaltyCard: {
    balance: "Stamps that are not spent yet",
    lifetime: "All stamps ever given; spending does not lower it",
    rewards_available: "How many rewards the balance would buy now",
    rewards_redeemed: "How many rewards were used so far",
    updated_at: "When the card last changed; null for a card never used"
  } satisfies Descriptions<LoyaltyCard>,
  LoyaltyProgram: {
    active: "Whether stamps are given and rewards used at present",
    name: "The shop's name for its programme, or null",
    stamps_required: "How many stamps a reward costs",
    stamps_per_ticket: "How many stamps a finished ticket of a linked client earns, once",
    reward_label: "The reward, such as `A free hem`, or null"
  } satisfies Descriptions<LoyaltyProgram>,
  Loyalty: { program: "The shop's rules", card: "The client's card, also while the programme is off" },
  StampsGiven: {
    card: "The card afterwards",
    added: "How many stamps were added",
    rewards_unlocked: "How many more rewards the card can now buy"
  } satisfies Descriptions<StampsGiven>,
  RewardRedeemed: {
    card: "The card afterwards",
    reward: "The reward that was given",
    "reward.label": "The reward, as the programme named it then, or null",
    "reward.redeemed_at": "When it was used"
  },
  Shop: {
    id: "The shop's id; it never changes",
    name: "The shop's name",
    currency: "ISO 4217 code of all amounts of the shop",
    decimals: "How many digits an amount has after the decimal point",
    time_zone: "The IANA name of the time zone. Daily limits start again at its midnight",
    scopes: "The scopes of the key that you used"
  } satisfies Descriptions<ShopView>,
  StatusInput: { status: "The state to which the ticket moves" },
  NotifiedInput: { channel: "How the shop notified its client" },
  StampsInput: { count: "How many stamps to add: all of them or, past the day's limit, none" },
  ListMeta: {
    has_more: "Whether there is another page",
    next_cursor: "Send it as `cursor` for the next page; null on the last one",
    synced_until: "Present if `updated_since` was sent: send it as `updated_since` next time"
  },
  NumberMeta: { others: `Other tickets with the number, newest first, at most ${Limits.others_max}` },
  RepeatableMeta: { replayed: "False in the first response to an Idempotency-Key, true in every repetition" },
  RequestIssue: {
    in: "The part of the request with the problem",
    field: "The dotted path of the field with the problem, such as `items.1.label`",
    message: "The problem, and how to correct it"
  },
  ScopeDetails: { scope: "The scope that the key lacks" },
  FieldDetails: { field: "The dotted path of the text with the word" },
  LimitDetails: { limit: "The policy that is used up" },
  ...Object.fromEntries(
    (Object.keys(eventTypes) as ReadonlyArray<EventType>).map((type) => [eventName(type), eventData])
  ),
  TicketData: { ticket: event.ticket },
  IssueDetails: { issues: "All problems of the request at once" },
  ConflictDetails: {
    reason: "The reason, for programs",
    from: "Of a refused move: the state the ticket is in",
    to: "Of a refused move: the requested status",
    allowed: "Of a refused move: the statuses the ticket would accept now",
    state: "Of a ticket that refuses: the state it is in",
    updated_at: "Of a ticket that refuses: when it last changed"
  }
}

const text = (max: number): Node => ({ minLength: 1, maxLength: max })
const count: Node = { minimum: 0 }
const amount: Node = { format: "int64", minimum: 0, maximum: Limits.amount_minor_max }
const number: Node = { minimum: 1, maximum: Limits.ticket_number_max }
const label: Node = { pattern: "^[0-9]{4}$" }
const phone: Node = { pattern: "^\\+[1-9][0-9]{1,14}$" }
// The pattern of an input, because the service trims it and removes the characters between the digits.
const typedPhone: Node = { pattern: "^\\s*\\+.*[0-9]" }
const currency: Node = { pattern: "^[A-Z]{3}$" }
const decimals: Node = { minimum: 0, maximum: 4 }

const itemBounds = {
  label: text(Limits.item_characters),
  service: text(Limits.service_characters),
  price_minor: amount
}

/** The bounds, patterns, sizes and defaults that the generated schema of a field lacks, by named schema. */
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
  TicketListResponse: { data: { maxItems: Limits.page_max } },
  NumberMeta: { others: { maxItems: Limits.others_max } },
  IssueDetails: { issues: { minItems: 1 } },
  QuoteInput: { price_minor: amount },
  ClientInput: { phone: typedPhone }
}
