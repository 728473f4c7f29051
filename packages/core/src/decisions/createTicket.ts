import { Either, Schema } from "effect"
import type { ClientNotFound } from "../domain/Client.js"
import { ForbiddenWord, type FoundWord, forbiddenField } from "../domain/ForbiddenWord.js"
import { ClientId, type OfferId, type ShopId, type TicketId } from "../domain/Identifier.js"
import { DateTimeText } from "../domain/Instant.js"
import { defaultLimits, Limits, type LimitsByPolicy, type PolicyName } from "../domain/Limits.js"
import { type LimitReached, takeUses } from "../domain/LimitWindow.js"
import type { ShopMoment } from "../domain/Moment.js"
import { AmountMinor, depositExceedsPrice } from "../domain/Money.js"
import type { OfferRecord } from "../domain/Offer.js"
import { Phone } from "../domain/Phone.js"
import { optional, refuseUnknownFields, Text } from "../domain/Text.js"
import { nextNumber, type Ticket, type TicketItem, type TicketRecord, TicketType } from "../domain/Ticket.js"
import { makeTrackingCode } from "../domain/TrackingCode.js"
import type { ChangeSet } from "./ChangeSet.js"
import { type Command, makeCommand } from "./Command.js"
import * as Load from "./Load.js"

// Effect sets this annotation on minItems and similar checks. A filter with it also runs, on the raw input, if other
// fields are invalid, so that a 400 reports every problem at once (Specification, Errors).
const RUNS_ON_INVALID_INPUT = Symbol.for("effect/annotation/StableFilter")

const isAmount = Schema.is(AmountMinor)

const ItemInput = Schema.Struct({
  label: Text(Limits.item_label_characters),
  service: optional(Text(Limits.item_service_characters)),
  price_minor: optional(AmountMinor)
}).annotations({ identifier: "TicketItemInput", description: "One of several items on a ticket to create" })

const describeItemCount = () => `must have ${Limits.items_min} to ${Limits.items_max} entries`

/** The body of a new ticket (Specification, Endpoints). The decision applies the defaults. */
export const TicketInput = Schema.Struct({
  service: Text(Limits.service_characters).annotations({ description: "The service, as in the app" }),
  type: optional(TicketType),
  item: optional(Text(Limits.item_characters)),
  description: optional(Text(Limits.description_characters)),
  items: optional(
    Schema.Array(ItemInput).pipe(
      Schema.minItems(Limits.items_min, { message: describeItemCount }),
      Schema.maxItems(Limits.items_max, { message: describeItemCount })
    )
  ),
  client_id: optional(ClientId),
  client_phone: optional(Phone),
  price_minor: optional(AmountMinor),
  deposit_minor: optional(AmountMinor),
  promised_at: optional(DateTimeText),
  external_ref: optional(Text(Limits.external_ref_characters))
})
  .annotations({ description: "A ticket to create" })
  .pipe(
    Schema.filter(
      ({ price_minor, deposit_minor }) =>
        isAmount(price_minor) && isAmount(deposit_minor) && depositExceedsPrice(price_minor, deposit_minor)
          ? { path: ["deposit_minor"], message: "must not be greater than price_minor" }
          : true,
      { [RUNS_ON_INVALID_INPUT]: true }
    ),
    Schema.brand("TicketInput")
  )
  .annotations({ identifier: "TicketInput", ...refuseUnknownFields })
/** A ticket to create, whose fields {@link TicketInput} has checked. */
export type TicketInput = typeof TicketInput.Type

/** The values of absent fields (Specification, Endpoints). */
export const ticketDefaults = { type: "repair" } as const satisfies Partial<TicketInput>

/** The limits that a shop's tickets count against. */
const POLICIES = ["tickets_per_hour", "tickets_per_day"] as const satisfies ReadonlyArray<PolicyName>

type ShopBounds = Pick<LimitsByPolicy, (typeof POLICIES)[number]>

/**
 * Creates a ticket in the state `workshop` with the shop's next number. A known client is linked at once. For a phone
 * number an offer is made, whether or not an account has the number, unless it is the linked client's own
 * (Specification, States; Tickets). `foundWords` are the words that the embedder's filter found before the command ran;
 * within the command, the shop's settings decide which of them are refused (Specification, Errors). `bounds` limits how
 * many tickets the shop creates; with null, the ticket is not counted.
 */
export const createTicket = (
  shop_id: ShopId,
  input: TicketInput,
  {
    via,
    foundWords,
    bounds = defaultLimits
  }: { readonly via: "app" | "api"; readonly foundWords: ReadonlyArray<FoundWord>; readonly bounds?: ShopBounds | null }
): Command<Ticket, ClientNotFound | ForbiddenWord | LimitReached> => {
  const client = input.client_id === null || input.client_id === undefined ? Load.none : Load.client(input.client_id)
  return makeCommand(shop_id, { client }, ({ shop, head, client }, changes, moment) => {
    const forbidden = forbiddenField(shop, input, foundWords)
    if (forbidden !== null) return Either.left(new ForbiddenWord({ field: forbidden }))

    const limitUses = takeUses(head, POLICIES, { bounds, now: moment.now, time_zone: shop.time_zone })
    if (Either.isLeft(limitUses)) return Either.left(limitUses.left)
    const { windows, limitStatuses } = limitUses.right
    changes.updateHead({ next_number: nextNumber(head.next_number), ...windows }).addLimitStatuses(...limitStatuses)
    const record = makeTicket(shop_id, changes, input, {
      number: head.next_number,
      via,
      moment,
      tracking_code: makeTrackingCode(moment)
    })
    const ticket = changes.putSequencedTicket(record, client?.client ?? null)
    changes.raiseEvent("ticket.created", { ticket }, record.id)
    if (ticket.client !== null) changes.raiseEvent("client.linked", { ticket, client: ticket.client }, record.id)
    const { client_phone } = record
    // No offer is made to the account that is already linked.
    if (client_phone !== null && client_phone !== client?.phone)
      changes.add({ _tag: "OfferPut", row: makeOffer(changes.newGrantId(), record, client_phone) })
    return changes.toDecision(ticket)
  })
}

const makeOffer = (id: OfferId, { shop_id, id: ticket_id, created_at }: TicketRecord, phone: Phone): OfferRecord => ({
  id,
  shop_id,
  ticket_id,
  phone,
  status: "open",
  created_at,
  answered_at: null
})

const NO_ITEMS: TicketRecord["items"] = []

const makeItem = (
  changes: ChangeSet,
  { label, service, price_minor }: NonNullable<TicketInput["items"]>[number]
): TicketItem => ({
  id: changes.newId(),
  label,
  service: service ?? null,
  price_minor: price_minor ?? null,
  done: false
})

const makeTicket = (
  shop_id: ShopId,
  changes: ChangeSet,
  input: TicketInput,
  assigned: {
    readonly number: number
    readonly via: "app" | "api"
    readonly moment: ShopMoment
    readonly tracking_code: string
  }
): TicketRecord => ({
  shop_id,
  id: changes.newId<TicketId>(),
  number: assigned.number,
  state: "workshop",
  outcome: null,
  type: input.type ?? ticketDefaults.type,
  service: input.service,
  item: input.item ?? null,
  description: input.description ?? null,
  items: input.items?.map((item) => makeItem(changes, item)) ?? NO_ITEMS,
  price_minor: input.price_minor ?? null,
  deposit_minor: input.deposit_minor ?? null,
  before_minor: null,
  quote: null,
  promised_at: input.promised_at ?? null,
  delay: null,
  part: null,
  client_id: input.client_id ?? null,
  client_phone: input.client_phone ?? null,
  tracking_code: assigned.tracking_code,
  photo_url: null,
  created_at: assigned.moment.recorded_at,
  updated_at: changes.nextChange.updated_at,
  ready_at: null,
  collected_at: null,
  abandoned_at: null,
  abandon_reason: null,
  notified_at: null,
  notified_channel: null,
  created_via: assigned.via,
  external_ref: input.external_ref ?? null,
  change_seq: changes.nextChange.change_seq,
  shop_changed_at: assigned.moment.now,
  stamps_earned: false,
  moves_per_day: null,
  notifications_per_day: null,
  history: null
})
