import { Either } from "effect"
import type { ClientNotFound } from "../domain/Client.js"
import { ForbiddenWord } from "../domain/ForbiddenWord.js"
import type { OfferId, ShopId, TicketId } from "../domain/Identifier.js"
import type { Instant } from "../domain/Instant.js"
import { current, LimitReached, type Usage, usage, used } from "../domain/LimitWindow.js"
import type { ShopHead, ShopRecord } from "../domain/Shop.js"
import type { Ticket, TicketItem, TicketRecord } from "../domain/Ticket.js"
import { following } from "../domain/TicketNumber.js"
import { trackingCode } from "../domain/TrackingCode.js"
import { ChangeSet } from "./ChangeSet.js"
import { type Command, make } from "./Command.js"
import * as Need from "./Need.js"
import { ownForbiddenField } from "./spokenTexts.js"
import { type TicketInput, ticketDefaults } from "./TicketInput.js"

const ticketWindows = (shop: ShopRecord, head: ShopHead, now: Instant) => ({
  tickets_per_hour: current(head.tickets_per_hour, "tickets_per_hour", now, shop.time_zone),
  tickets_per_day: current(head.tickets_per_day, "tickets_per_day", now, shop.time_zone)
})

const usages = (windows: ReturnType<typeof ticketWindows>): ReadonlyArray<Usage> => [
  usage(windows.tickets_per_hour, "tickets_per_hour"),
  usage(windows.tickets_per_day, "tickets_per_day")
]

/**
 * A new ticket in the workshop with the shop's next number. A known client is linked at once; a phone number gets
 * an offer, whoever holds it or nobody (spec §3, contract §4). `forbidden` is the embedder's verdict on the texts,
 * found beforehand and refused in its turn (contract §2).
 */
export const createTicket = (
  shop_id: ShopId,
  input: TicketInput,
  { via, forbidden }: { readonly via: "app" | "api"; readonly forbidden: string | null }
): Command<Ticket, ClientNotFound | ForbiddenWord | LimitReached> => {
  const wanted: Need.Need<Need.SeenClient | null, ClientNotFound> =
    input.client_id === null || input.client_id === undefined ? Need.none : Need.client(input.client_id)
  return make({
    shop_id,
    needs: { wanted },
    decide: (loaded, moment) => {
      const { shop, head, wanted } = loaded
      const refused = forbidden ?? ownForbiddenField(shop, input)
      if (refused !== null) return Either.left(new ForbiddenWord({ field: refused }))

      const windows = ticketWindows(shop, head, moment.now)
      const full = usages(windows).filter(({ remaining }) => remaining === 0)
      if (full.length > 0) return Either.left(new LimitReached({ usages: full }))
      const counted = {
        tickets_per_hour: used(windows.tickets_per_hour, 1),
        tickets_per_day: used(windows.tickets_per_day, 1)
      }

      const changes = new ChangeSet(loaded, moment)
      changes.head({ ...counted, next_number: following(head.next_number) }).touched(...usages(counted))
      const client = wanted?.client ?? null
      const record = newTicket(shop_id, changes, input, {
        number: head.next_number,
        via,
        now: moment.now,
        tracking_code: trackingCode(moment)
      })
      const ticket = changes.changed(record, client)
      changes.raise("ticket.created", { ticket }, record.id)
      if (ticket.client !== null) changes.raise("client.linked", { ticket, client: ticket.client }, record.id)
      if (record.client_phone !== null) {
        const phone = record.client_phone
        const row = {
          id: changes.id<OfferId>(),
          shop_id,
          ticket_id: record.id,
          phone,
          status: "open",
          created_at: moment.now,
          answered_at: null
        } as const
        changes.add({ _tag: "OfferPut", row })
      }
      return changes.decided(ticket)
    }
  })
}

const NO_ITEMS: TicketRecord["items"] = []

const newItem = (
  changes: ChangeSet,
  { label, service, price_minor }: NonNullable<TicketInput["items"]>[number]
): TicketItem => ({ id: changes.id(), label, service: service ?? null, price_minor: price_minor ?? null, done: false })

const newTicket = (
  shop_id: ShopId,
  changes: ChangeSet,
  input: TicketInput,
  drawn: { readonly number: number; readonly via: "app" | "api"; readonly now: Instant; readonly tracking_code: string }
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
  created_at: drawn.now,
  updated_at: changes.change.updated_at,
  ready_at: null,
  collected_at: null,
  abandoned_at: null,
  abandon_reason: null,
  notified_at: null,
  created_via: drawn.via,
  external_ref: input.external_ref ?? null,
  change_seq: changes.change.change_seq,
  shop_changed_at: drawn.now,
  stamps_earned: false
})
