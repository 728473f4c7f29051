import { Either } from "effect"
import type { ClientNotFound } from "../domain/Client.js"
import { ForbiddenWord, type FoundWord } from "../domain/ForbiddenWord.js"
import type { OfferId, ShopId, TicketId } from "../domain/Identifier.js"
import type { Instant } from "../domain/Instant.js"
import type { PolicyName } from "../domain/Limits.js"
import { currentWindow, hasRoom, LimitReached, type LimitStatus, limitStatus, withUses } from "../domain/LimitWindow.js"
import type { ShopMoment } from "../domain/Moment.js"
import type { OfferRecord } from "../domain/Offer.js"
import type { Phone } from "../domain/Phone.js"
import type { ShopHead, ShopRecord } from "../domain/Shop.js"
import type { Ticket, TicketItem, TicketRecord } from "../domain/Ticket.js"
import { nextNumber } from "../domain/TicketNumber.js"
import { trackingCode } from "../domain/TrackingCode.js"
import { ChangeSet } from "./ChangeSet.js"
import { type Command, make } from "./Command.js"
import { refusedField } from "./checkedTexts.js"
import * as Need from "./Load.js"
import { type TicketInput, ticketDefaults } from "./TicketInput.js"

/** The limits that a shop's tickets count against. */
const POLICIES = ["tickets_per_hour", "tickets_per_day"] as const satisfies ReadonlyArray<PolicyName>

type Windows = Pick<ShopHead, (typeof POLICIES)[number]>

const usages = (windows: Windows, policies: ReadonlyArray<keyof Windows> = POLICIES): ReadonlyArray<LimitStatus> =>
  policies.map((policy) => limitStatus(windows[policy], policy))

/** The shop's windows with one more ticket in them, or the refusal of those that are full (Specification, Limits). */
const oneMore = (head: ShopHead, { time_zone }: ShopRecord, now: Instant): Either.Either<Windows, LimitReached> => {
  const tickets_per_hour = currentWindow(head.tickets_per_hour, "tickets_per_hour", now, time_zone)
  const tickets_per_day = currentWindow(head.tickets_per_day, "tickets_per_day", now, time_zone)
  const open: Windows = { tickets_per_hour, tickets_per_day }
  const full = POLICIES.filter((policy) => !hasRoom(open[policy], policy, 1))
  if (full.length > 0) return Either.left(new LimitReached({ usages: usages(open, full) }))
  return Either.right({
    tickets_per_hour: withUses(tickets_per_hour, 1),
    tickets_per_day: withUses(tickets_per_day, 1)
  })
}

/**
 * A new ticket in the workshop with the shop's next number. A known client is linked at once; a phone number gets
 * an offer, whoever holds it or nobody, unless it is the linked client's own (Specification, States; Tickets). `found` is
 * what the embedder's filter found in the texts beforehand; the shop's settings decide on it, in its turn (Specification, Errors).
 */
export const createTicket = (
  shop_id: ShopId,
  input: TicketInput,
  { via, found }: { readonly via: "app" | "api"; readonly found: ReadonlyArray<FoundWord> }
): Command<Ticket, ClientNotFound | ForbiddenWord | LimitReached> => {
  const wanted = input.client_id === null || input.client_id === undefined ? Need.none : Need.client(input.client_id)
  return make({
    shop_id,
    needs: { wanted },
    decide: (loaded, moment) => {
      const { shop, head, wanted } = loaded
      const refused = refusedField(shop, input, found)
      if (refused !== null) return Either.left(new ForbiddenWord({ field: refused }))

      const windows = oneMore(head, shop, moment.now)
      if (Either.isLeft(windows)) return Either.left(windows.left)

      const changes = new ChangeSet(loaded, moment)
      changes.head({ ...windows.right, next_number: nextNumber(head.next_number) }).touched(...usages(windows.right))
      const record = newTicket(shop_id, changes, input, {
        number: head.next_number,
        via,
        moment,
        tracking_code: trackingCode(moment)
      })
      const ticket = changes.changed(record, wanted?.client ?? null)
      changes.raise("ticket.created", { ticket }, record.id)
      if (ticket.client !== null) changes.raise("client.linked", { ticket, client: ticket.client }, record.id)
      const { client_phone } = record
      // The account that is linked already has nothing to accept.
      if (client_phone !== null && client_phone !== wanted?.phone)
        changes.add({ _tag: "OfferPut", row: newOffer(changes.grantId(), record, client_phone) })
      return changes.decided(ticket)
    }
  })
}

const newOffer = (id: OfferId, { shop_id, id: ticket_id, created_at }: TicketRecord, phone: Phone): OfferRecord => ({
  id,
  shop_id,
  ticket_id,
  phone,
  status: "open",
  created_at,
  answered_at: null
})

const NO_ITEMS: TicketRecord["items"] = []

const newItem = (
  changes: ChangeSet,
  { label, service, price_minor }: NonNullable<TicketInput["items"]>[number]
): TicketItem => ({ id: changes.id(), label, service: service ?? null, price_minor: price_minor ?? null, done: false })

const newTicket = (
  shop_id: ShopId,
  changes: ChangeSet,
  input: TicketInput,
  drawn: {
    readonly number: number
    readonly via: "app" | "api"
    readonly moment: ShopMoment
    readonly tracking_code: string
  }
): TicketRecord => ({
  shop_id,
  id: changes.id<TicketId>(),
  number: drawn.number,
  state: "workshop",
  outcome: null,
  type: input.type ?? ticketDefaults.type,
  service: input.service,
  item: input.item ?? null,
  description: input.description ?? null,
  items: input.items?.map((item) => newItem(changes, item)) ?? NO_ITEMS,
  price_minor: input.price_minor ?? null,
  deposit_minor: input.deposit_minor ?? null,
  before_minor: null,
  quote: null,
  promised_at: input.promised_at ?? null,
  delay: null,
  part: null,
  client_id: input.client_id ?? null,
  client_phone: input.client_phone ?? null,
  tracking_code: drawn.tracking_code,
  photo_url: null,
  created_at: drawn.moment.recorded_at,
  updated_at: changes.change.updated_at,
  ready_at: null,
  collected_at: null,
  abandoned_at: null,
  abandon_reason: null,
  notified_at: null,
  notified_channel: null,
  created_via: drawn.via,
  external_ref: input.external_ref ?? null,
  change_seq: changes.change.change_seq,
  shop_changed_at: drawn.moment.now,
  stamps_earned: false,
  moves_per_day: null,
  notifications_per_day: null
})
