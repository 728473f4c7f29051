import type { TicketInput } from "../../decisions/createTicket.js"
import type { StampsGiven } from "../../decisions/giveStamps.js"
import type { ClientView } from "../../domain/Client.js"
import { Limits } from "../../domain/Limits.js"
import type { LoyaltyCard, LoyaltyProgram } from "../../domain/LoyaltyCard.js"
import type { Money } from "../../domain/Money.js"
import type { ShopView } from "../../domain/Shop.js"
import type { Delay, Part, Quote, Ticket, TicketItem } from "../../domain/Ticket.js"

type Words<T> = Readonly<Record<Extract<keyof T, string>, string>>

const ticket = {
  id: "The ticket's own name, the same for good",
  number: "What the shop writes on the item. After 9999 it starts again at 1, so it names a ticket only for a while",
  number_label: "The number as printed: four digits",
  state: "Where the ticket stands",
  outcome: "Of a collected ticket: was the work done (`ready`) or not (`impossible`)? Otherwise null",
  type: "`repair` is work on something brought in, `prepare` an order to get ready",
  service: "What is to be done",
  item: "What was brought in",
  description: "A note for the people in the workshop",
  items: "The things on this ticket where there are several; otherwise empty",
  money: "Price, deposit and what is left to pay",
  quote: "The last new price that was proposed to the client, or null",
  promised_at: "When it is to be ready",
  delay: "The last time the promise was moved, or null",
  part: "The part the workshop waits for or has received, or null",
  client: "The linked client; null where there is none or they block the shop",
  client_phone: "The phone number given with the ticket, in E.164",
  tracking_code:
    "The code on the receipt, by which a client finds the ticket. Read aloud it is not mistaken: no I, L, O or U",
  tracking_url: "The page that follows the ticket; null where the shop has none",
  photo_url: "A picture of the item",
  created_at: "When the ticket was made",
  updated_at: "When anything of it last changed. Never falls along the order of changes, so a sync may rely on it",
  ready_at: "When it became ready; null again once it goes back to the workshop",
  collected_at: "When it was collected; null again once it is reopened",
  abandoned_at: "The instant at which it was due to be closed, and is closed since",
  abandon_reason: "Why the service closed it, or null",
  notified_at: "When the client was last notified, by the app or by the shop",
  created_via: "Made in the shop's app or through this API",
  external_ref: "Your own reference, to find the ticket by"
} as const satisfies Words<Ticket>

const given = ["service", "type", "item", "description", "promised_at", "external_ref"] as const

const client = {
  id: "The client's own name, the same in every shop that knows them",
  display_name: "The name as the client wishes it shown: in full, or the given name with an initial",
  tickets_open: "Their tickets still in the shop",
  tickets_total: "All their tickets with the shop",
  loyalty: "Their card; null while the shop's programme is off"
} as const satisfies Words<ClientView>

const item = {
  id: "The entry's own name",
  label: "What it is",
  service: "What is to be done with it, where that differs from the ticket's",
  price_minor: "Its price in minor units, for information: the ticket's price does not follow from it",
  done: "Whether the work on it is done"
} as const satisfies Words<TicketItem>

/** A description of each field of each named schema. The compiler misses no field of ours. */
export const fieldWords: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ticket: ticket,
  TicketInput: {
    ...(Object.fromEntries(given.map((name) => [name, ticket[name]])) as Pick<typeof ticket, (typeof given)[number]>),
    items: `Several things on one ticket: ${Limits.items_min} to ${Limits.items_max} entries`,
    client_id: "A client who knows the shop already; they are linked at once",
    client_phone:
      "The ticket is offered to whoever holds this number, in international format. The answer is the same whether anybody does",
    price_minor: "The price in minor units of the shop's currency",
    deposit_minor: "What was paid already, in minor units; not more than the price"
  } satisfies Words<TicketInput>,
  TicketItem: item,
  TicketItemInput: { label: item.label, service: item.service, price_minor: item.price_minor },
  TicketSummary: {
    id: ticket.id,
    number: "The number asked for",
    number_label: ticket.number_label,
    state: ticket.state,
    created_at: ticket.created_at
  },
  Money: {
    currency: "ISO 4217 code of the shop's currency",
    decimals: "How many digits of an amount stand after the decimal point: 12500 is 12.500 with 3",
    price_minor: "The price, or null where none was said",
    deposit_minor: "What was paid already, or null",
    remaining_minor: "Price less deposit; null without a price",
    before_minor: "The price before the client accepted a new one, or null"
  } satisfies Words<Money>,
  Quote: {
    status: "Waiting for the client, or how they answered",
    price_minor: "The new price in minor units",
    note: "What the shop said about it",
    proposed_at: "When the shop proposed it",
    answered_at: "When the client answered, or null"
  } satisfies Words<Quote>,
  Delay: {
    previous_promised_at: "The promise before this one",
    reason: "What the shop said about it",
    announced_at: "When the promise was moved"
  } satisfies Words<Delay>,
  Part: {
    label: "Which part",
    status: "On its way, or here",
    ordered_at: "When it was ordered",
    expected_at: "When it should be here",
    received_at: "When it came, or null"
  } satisfies Words<Part>,
  ClientBadge: { id: client.id, display_name: client.display_name },
  Client: client,
  LoyaltyCard: {
    balance: "Stamps not spent yet",
    lifetime: "All stamps ever given; spending does not lower it",
    rewards_available: "How many rewards the balance would buy now",
    rewards_redeemed: "How many rewards were used so far",
    updated_at: "When the card last changed; null for a card never used"
  } satisfies Words<LoyaltyCard>,
  LoyaltyProgram: {
    active: "Whether stamps are given and rewards used at present",
    name: "What the shop calls it",
    stamps_required: "What a reward costs",
    stamps_per_ticket: "What a finished ticket of a linked client gives, once",
    reward_label: "What the reward is"
  } satisfies Words<LoyaltyProgram>,
  Loyalty: { program: "The shop's rules", card: "The client's card as it stands, also while the programme is off" },
  StampsGiven: {
    card: "The card afterwards",
    added: "How many stamps were added",
    rewards_unlocked: "How many rewards these stamps brought within reach"
  } satisfies Words<StampsGiven>,
  RewardRedeemed: { card: "The card afterwards", reward: "What was given" },
  Reward: { label: "What the reward was, as the programme named it", redeemed_at: "When it was used" },
  Shop: {
    id: "The shop's own name, the same for good",
    name: "What the shop is called",
    currency: "ISO 4217 code of all its amounts",
    decimals: "How many digits of an amount stand after the decimal point",
    time_zone: "IANA name; the shop's day, by which daily limits count, ends at midnight there",
    scopes: "What the key that asked may do"
  } satisfies Words<ShopView>,
  StatusInput: { status: "The state the ticket shall move to" },
  NotifiedInput: { channel: "How the shop notified its client" },
  StampsInput: { count: "How many stamps to add: all of them or, past the day's limit, none" },
  ListMeta: {
    has_more: "Whether there is another page",
    next_cursor: "Send it as `cursor` for the next page; null on the last one",
    synced_until: "Where `updated_since` was sent: from where to sync next time"
  },
  NumberMeta: { others: `Other tickets with the number, newest first, at most ${Limits.others_max}` },
  RepeatableMeta: { replayed: "False on the first answer to an Idempotency-Key, true on every repetition" },
  RequestIssue: {
    in: "The part of the request",
    field: "Where in it, dotted: `items.1.label`",
    message: "What to change"
  },
  ScopeDetails: { scope: "The right that the key lacks" },
  FieldDetails: { field: "The text that holds the word, dotted" },
  LimitDetails: { limit: "The policy that is used up" },
  IssueDetails: { issues: "Every problem at once" },
  ConflictDetails: {
    reason: "The cause",
    from: "Of a refused move: the state the ticket is in",
    to: "Of a refused move: the status asked for",
    allowed: "Of a refused move: the statuses the ticket would accept now",
    state: "Of a ticket that refuses: the state it is in",
    updated_at: "Of a ticket that refuses: when it last changed"
  }
}
