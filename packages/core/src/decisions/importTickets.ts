import { Either, Schema } from "effect"
import { type ClientLink, visibleClient } from "../domain/Client.js"
import { sha256Hex } from "../domain/Digest.js"
import type { ClientId, ShopId, TicketId } from "../domain/Identifier.js"
import { DateTimeText, type Instant } from "../domain/Instant.js"
import type { Issue } from "../domain/InvalidInput.js"
import { Limits, ServiceLimits } from "../domain/Limits.js"
import { blankCard, type CardRecord } from "../domain/LoyaltyCard.js"
import {
  ENTROPY_BYTES,
  IDENTIFIER_BYTES,
  IDENTIFIERS_PER_MS,
  type Moment,
  makeIdentifier,
  TRACKING_CODE_AT
} from "../domain/Moment.js"
import { AmountMinor, depositExceedsPrice } from "../domain/Money.js"
import { Phone } from "../domain/Phone.js"
import { optional, Text } from "../domain/Text.js"
import { nextNumber, PartStatus, Quote, TicketNumber, type TicketRecord, TicketType } from "../domain/Ticket.js"
import {
  AbandonReason,
  closure,
  dateInState,
  stateDates,
  type TicketState,
  TicketState as TicketStateText
} from "../domain/TicketLifecycle.js"
import { makeTrackingCode } from "../domain/TrackingCode.js"
import { SecureWebLink } from "../domain/WebLink.js"
import type { ChangeSet } from "./ChangeSet.js"
import { type Command, makeCommand } from "./Command.js"
import * as Load from "./Load.js"

const CountUpTo = (max: number) =>
  Schema.Int.pipe(Schema.between(0, max, { message: () => `must be a whole number from 0 to ${max}` }))

const CardRow = Schema.Struct({
  balance: CountUpTo(1_000_000),
  lifetime: optional(CountUpTo(1_000_000)),
  rewards_redeemed: optional(CountUpTo(ServiceLimits.imported_rewards))
})

const ClientRow = Schema.Struct({
  phone: Phone,
  given_name: Text(Limits.name_characters),
  family_name: Text(Limits.name_characters),
  hide_name: optional(Schema.Boolean),
  card: optional(CardRow)
})

const ItemRow = Schema.Struct({
  label: Text(Limits.item_label_characters),
  service: optional(Text(Limits.item_service_characters)),
  price_minor: optional(AmountMinor),
  done: optional(Schema.Boolean)
})

const QuoteRow = Schema.Struct({
  status: Quote.fields.status,
  price_minor: AmountMinor,
  note: optional(Text(Limits.note_characters)),
  proposed_at: DateTimeText,
  answered_at: optional(DateTimeText)
})

const DelayRow = Schema.Struct({
  previous_promised_at: optional(DateTimeText),
  reason: optional(Text(Limits.note_characters)),
  announced_at: DateTimeText
})

const PartRow = Schema.Struct({
  label: Text(Limits.item_label_characters),
  status: PartStatus,
  ordered_at: DateTimeText,
  expected_at: optional(DateTimeText),
  received_at: optional(DateTimeText)
})

const text = {
  external_ref: Text(Limits.external_ref_characters),
  service: Text(Limits.service_characters)
}

/** A row of an import: a ticket with its client, or only a client if the row has no service. */
export const ImportRow = Schema.Struct({
  external_ref: optional(text.external_ref),
  number: optional(TicketNumber),
  state: optional(TicketStateText),
  outcome: optional(Schema.Literal("ready", "impossible")),
  type: optional(TicketType),
  service: optional(text.service),
  item: optional(Text(Limits.item_characters)),
  description: optional(Text(Limits.description_characters)),
  items: optional(Schema.Array(ItemRow).pipe(Schema.maxItems(Limits.items_max))),
  price_minor: optional(AmountMinor),
  deposit_minor: optional(AmountMinor),
  before_minor: optional(AmountMinor),
  quote: optional(QuoteRow),
  delay: optional(DelayRow),
  part: optional(PartRow),
  promised_at: optional(DateTimeText),
  created_at: optional(DateTimeText),
  ready_at: optional(DateTimeText),
  collected_at: optional(DateTimeText),
  abandoned_at: optional(DateTimeText),
  abandon_reason: optional(AbandonReason),
  notified_at: optional(DateTimeText),
  notified_channel: optional(Schema.Literal("app", "sms", "whatsapp", "call")),
  created_via: optional(Schema.Literal("app", "api")),
  photo_url: optional(SecureWebLink),
  client_phone: optional(Phone),
  client: optional(ClientRow)
}).annotations({ identifier: "ImportRow" })
/** A row that {@link ImportRow} has checked. Instants are in milliseconds since 1970. */
export type ImportRow = typeof ImportRow.Type

const isGiven = <A>(value: A | null | undefined): value is A => value !== null && value !== undefined

function* dateIssues(row: ImportRow, state: TicketState, now: Instant): Generator<Issue> {
  for (const field of stateDates) {
    const hasDate = dateInState(state, field)
    if (hasDate === "always" && !isGiven(row[field])) yield { field, message: `is required if state is ${state}` }
    if (hasDate === "never" && isGiven(row[field])) yield { field, message: `must be omitted if state is ${state}` }
  }
  const pastDateFields = ["created_at", ...stateDates, "notified_at"] as const
  const created_at = row.created_at ?? 0
  let earliest = created_at
  for (const field of pastDateFields) {
    const at = row[field]
    if (!isGiven(at)) continue
    if (at > now) yield { field, message: "must not be in the future" }
    else if (at < 0) yield { field, message: "must not be before 1970" }
    else if (at < (field === "notified_at" ? created_at : earliest))
      yield { field, message: "must not be earlier than the date of a previous step" }
    else if (field !== "notified_at") earliest = at
  }
  if (!isGiven(row.created_at) && pastDateFields.some((field) => isGiven(row[field])))
    yield { field: "created_at", message: "is required if the row has other dates" }
}

function* ticketIssues(row: ImportRow, now: Instant): Generator<Issue> {
  const state = row.state ?? "workshop"
  if (!isGiven(row.external_ref))
    yield { field: "external_ref", message: "is required, because a repeated import finds the ticket by it" }
  yield* dateIssues(row, state, now)
  if (isGiven(row.outcome) && state !== "collected")
    yield { field: "outcome", message: "must be omitted, because only a collected ticket has it" }
  if (isGiven(row.abandon_reason) && state !== "abandoned")
    yield { field: "abandon_reason", message: "must be omitted, because only an abandoned ticket has it" }
  if (isGiven(row.price_minor) && isGiven(row.deposit_minor) && depositExceedsPrice(row.price_minor, row.deposit_minor))
    yield { field: "deposit_minor", message: "must not be greater than price_minor" }
  if (isGiven(row.quote) && (row.quote.status === "proposed") === isGiven(row.quote.answered_at))
    yield { field: "quote.answered_at", message: "is required if the quote was answered, and must be omitted if not" }
  if (isGiven(row.notified_channel) && !isGiven(row.notified_at))
    yield { field: "notified_at", message: "is required if notified_channel is given" }
}

function* cardIssues({ client }: ImportRow): Generator<Issue> {
  const card = client?.card
  if (!isGiven(card)) return
  const spent = (card.lifetime ?? card.balance) - card.balance
  const redeemed = card.rewards_redeemed ?? 0
  if (spent < 0) yield { field: "client.card.lifetime", message: "must not be less than the balance" }
  else if (spent < redeemed || (spent > 0 && redeemed === 0))
    yield {
      field: "client.card.rewards_redeemed",
      message: "must not be greater than lifetime minus balance, because each reward costs at least one stamp"
    }
}

/** The issues of a row beyond its single fields, such as dates or a card that contradict each other or the state. */
export const importIssues = (row: ImportRow, now: Instant): ReadonlyArray<Issue> => {
  if (isGiven(row.service)) return [...ticketIssues(row, now), ...cardIssues(row)]
  if (!isGiven(row.client)) return [{ field: "service", message: "is required for a ticket" }]
  const others = Object.entries(row).filter(([name, value]) => name !== "client" && isGiven(value))
  return [
    ...others.map(([field]) => ({
      field,
      message: "must be omitted, because only a ticket has it and the row has no service"
    })),
    ...cardIssues(row)
  ]
}

/** A valid row, with the account of its client. */
export interface CheckedRow {
  readonly row: ImportRow
  readonly client_id: ClientId | null
}

/** The counts of an import's written rows. */
export interface ImportResult {
  /** The number of created tickets. */
  readonly tickets: number
  /** Clients who became known to the shop. */
  readonly clients: number
  /** The number of loyalty cards that were imported. */
  readonly cards: number
  /** Tickets whose closure is due already, so that the next poll closes them. */
  readonly closing: number
}

const toHex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")

/** The moment with other random bytes for a tracking code, because a moment has the bytes of only one code. */
const withFreshEntropy = (moment: Moment, n: number): Moment => {
  const digest = sha256Hex(`${toHex(moment.entropy)} ${n}`)
  const entropy = Uint8Array.from(moment.entropy)
  for (let at = TRACKING_CODE_AT; at < ENTROPY_BYTES; at++)
    entropy[at] = Number.parseInt(digest.slice(2 * (at - TRACKING_CODE_AT), 2 * (at - TRACKING_CODE_AT) + 2), 16)
  return { ...moment, entropy }
}

/** Writes a card as ledger entries that add up to it. */
const writeCard = (changes: ChangeSet, emptyCard: CardRecord, importedCard: typeof CardRow.Type): void => {
  const { balance, lifetime = balance, rewards_redeemed } = importedCard
  const redeemed = rewards_redeemed ?? 0
  const line = { ticket_id: null, caller_id: null }
  let remaining = (lifetime ?? balance) - balance
  let card = emptyCard
  if ((lifetime ?? balance) > 0)
    card = changes.addLedgerEntry(card, { ...line, kind: "stamps", stamps: lifetime ?? balance })
  for (let rewards = redeemed; rewards > 0; rewards--) {
    const spent = Math.floor(remaining / rewards)
    card = changes.addLedgerEntry(card, { ...line, kind: "redeem", stamps: -spent })
    remaining -= spent
  }
}

const STATES_WITH_STAMPS: ReadonlySet<TicketState> = new Set(["ready", "collected"])

interface GeneratedFields {
  readonly id: TicketId
  readonly number: number
  readonly tracking_code: string
  readonly itemId: () => string
  readonly now: Instant
}

const recordOf = (
  shop_id: ShopId,
  { row, client_id }: CheckedRow,
  { id, number, tracking_code, itemId, now }: GeneratedFields
): Omit<TicketRecord, "updated_at" | "change_seq"> => {
  const state = row.state ?? "workshop"
  const { quote, delay, part } = row
  return {
    shop_id,
    id,
    number,
    state,
    outcome: state === "collected" ? (row.outcome ?? "ready") : null,
    type: row.type ?? "repair",
    service: row.service!,
    item: row.item ?? null,
    description: row.description ?? null,
    items: (row.items ?? []).map(({ label, service, price_minor, done }) => ({
      id: itemId(),
      label,
      service: service ?? null,
      price_minor: price_minor ?? null,
      done: done ?? false
    })),
    price_minor: row.price_minor ?? null,
    deposit_minor: row.deposit_minor ?? null,
    before_minor: row.before_minor ?? null,
    quote: isGiven(quote) ? { ...quote, note: quote.note ?? null, answered_at: quote.answered_at ?? null } : null,
    promised_at: row.promised_at ?? null,
    delay: isGiven(delay)
      ? { ...delay, previous_promised_at: delay.previous_promised_at ?? null, reason: delay.reason ?? null }
      : null,
    part: isGiven(part)
      ? { ...part, expected_at: part.expected_at ?? null, received_at: part.received_at ?? null }
      : null,
    client_id,
    client_phone: row.client_phone ?? null,
    tracking_code,
    photo_url: row.photo_url ?? null,
    created_at: row.created_at ?? now,
    ready_at: row.ready_at ?? null,
    collected_at: row.collected_at ?? null,
    abandoned_at: row.abandoned_at ?? null,
    abandon_reason:
      state === "abandoned" ? (row.abandon_reason ?? (isGiven(row.ready_at) ? "uncollected" : "no_news")) : null,
    notified_at: row.notified_at ?? null,
    notified_channel: row.notified_channel ?? null,
    created_via: row.created_via ?? "app",
    external_ref: row.external_ref ?? null,
    shop_changed_at: now,
    stamps_earned: STATES_WITH_STAMPS.has(state),
    moves_per_day: null,
    notifications_per_day: null,
    history: null
  }
}

/** Makes the rows' clients known to the shop, and adds their cards if the shop has none for them. */
const importClients = (
  rows: ReadonlyArray<CheckedRow>,
  known: Load.KnownClients,
  changes: ChangeSet,
  { shop_id, now }: { readonly shop_id: ShopId; readonly now: Instant }
) => {
  const links = new Map<ClientId, ClientLink>()
  const cards = new Set<ClientId>()
  let clients = 0
  for (const { row, client_id } of rows) {
    if (client_id === null) continue
    const { link, card } = known.get(client_id) ?? { link: null, card: null }
    const earlierLink = links.get(client_id) ?? link
    if (earlierLink?.known_at == null) {
      const linkRow = { shop_id, client_id, known_at: now, blocked_at: earlierLink?.blocked_at ?? null }
      links.set(client_id, linkRow)
      changes.add({ _tag: "LinkPut", row: linkRow })
      clients++
    }
    const importedCard = row.client?.card
    if (!isGiven(importedCard) || cards.has(client_id) || (card !== null && card.updated_at !== null)) continue
    cards.add(client_id)
    writeCard(changes, blankCard(shop_id, client_id), importedCard)
  }
  return { links, clients, cards: cards.size }
}

/**
 * Writes the rows' tickets with their dates, and their clients. It counts against no limit, checks no
 * words, and raises no events, or `ticket.created` for each ticket if `raises` is true (Specification, Tickets).
 */
export const importTickets = (
  shop_id: ShopId,
  rows: ReadonlyArray<CheckedRow>,
  { raises: raisesEvents }: { readonly raises: boolean }
): Command<ImportResult> => {
  const ids = [...new Set(rows.flatMap(({ client_id }) => client_id ?? []))]
  return makeCommand(shop_id, { known: Load.knownClients(ids) }, ({ head, known }, changes, moment) => {
    const { now } = moment
    const { links, clients, cards } = importClients(rows, known, changes, { shop_id, now: moment.recorded_at })
    const codes = new Set<string>()
    // The random bytes differ from those of the moment's own identifiers, which may have the same instant and count.
    const entropy = moment.entropy.map((byte, at) => (at === IDENTIFIER_BYTES - 1 ? byte ^ 0xff : byte))
    let next_number = head.next_number
    let [tickets, closing] = [0, 0]
    for (const [n, checked] of rows.entries()) {
      const { row, client_id } = checked
      if (!isGiven(row.service)) continue
      let tracking_code = makeTrackingCode(withFreshEntropy(moment, n))
      for (let repetition = 1; codes.has(tracking_code); repetition++)
        tracking_code = makeTrackingCode(withFreshEntropy(moment, n + repetition * rows.length))
      codes.add(tracking_code)
      const number = row.number ?? next_number
      if (row.number === undefined || row.number === null || row.number >= next_number) next_number = nextNumber(number)
      // The identifier has the ticket's own instant, so that a list by creation contains the ticket at its date.
      const id = isGiven(row.created_at)
        ? makeIdentifier<TicketId>({ now: row.created_at, entropy }, n % IDENTIFIERS_PER_MS)
        : changes.newId<TicketId>()
      const record = recordOf(shop_id, checked, {
        id,
        number,
        tracking_code,
        itemId: () => changes.newId(),
        now: moment.recorded_at
      })
      const { account, link } = (client_id === null ? undefined : known.get(client_id)) ?? {
        account: undefined,
        link: null
      }
      const client = client_id === null ? null : visibleClient(account, links.get(client_id) ?? link ?? undefined)
      const ticket = changes.putTicket(record, client)
      if (raisesEvents) changes.raiseEvent("ticket.created", { ticket }, id)
      if ((closure({ ...record, ...changes.nextChange })?.due_at ?? Number.POSITIVE_INFINITY) <= now) closing++
      tickets++
    }
    changes.updateHead({ next_number })
    return changes.toDecision({ tickets, clients, cards, closing })
  })
}

/**
 * Makes a command that runs only if no ticket of the shop has changed since `change_seq`, because the result of an
 * earlier look-up may otherwise be out of date. If a ticket has changed, the command writes nothing and its result is
 * null.
 */
export const refuseIfChanged = <Answer, Refusal>(
  command: Command<Answer, Refusal>,
  change_seq: number
): Command<Answer | null, Refusal> => ({
  ...command,
  run: (state, moment) =>
    state.head.change_seq === change_seq
      ? command.run(state, moment)
      : Either.right({ result: null, changes: [], limitStatuses: [] })
})
