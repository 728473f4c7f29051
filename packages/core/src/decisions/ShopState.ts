import type { ApiKeyRecord } from "../domain/ApiKey.js"
import type { ClientAccount, ClientLink } from "../domain/Client.js"
import type { AttemptRecord, DeliveryRecord, SentEvent } from "../domain/Delivery.js"
import type { EventRecord } from "../domain/Event.js"
import { type IdempotencyRecord, idempotencyRecordKey } from "../domain/IdempotencyRecord.js"
import type { ClientId, EventId, KeyId, OfferId, TicketId } from "../domain/Identifier.js"
import type { LimitWindow } from "../domain/LimitWindow.js"
import type { CardRecord } from "../domain/LoyaltyCard.js"
import type { MessageRecord } from "../domain/Message.js"
import type { OfferRecord } from "../domain/Offer.js"
import type { Phone } from "../domain/Phone.js"
import type { EventRange, ReplayRecord } from "../domain/Replay.js"
import type { ShopHead, ShopRecord } from "../domain/Shop.js"
import { stampCountKey } from "../domain/StampCount.js"
import type { TicketRecord } from "../domain/Ticket.js"
import type { Webhook } from "../domain/Webhook.js"
import type { Change } from "./Change.js"

/** A read-only look into rows by their key; a store backs it with a map, or with what it loaded. */
export interface ReadMap<K, V> {
  readonly get: (key: K) => V | undefined
}

/**
 * The part of one shop's data that a command sees. The memory store keeps one a shop;
 * another store fills one with what the commands of a batch ask for.
 */
export interface ShopState {
  shop: ShopRecord
  head: ShopHead
  webhook: Webhook | null
  readonly tickets: Map<TicketId, TicketRecord>
  readonly links: Map<ClientId, ClientLink>
  readonly cards: Map<ClientId, CardRecord>
  readonly offers: Map<OfferId, OfferRecord>
  readonly keys: Map<KeyId, ApiKeyRecord>
  readonly remembered: Map<string, IdempotencyRecord>
  readonly deliveries: Map<EventId, DeliveryRecord>
  /** The attempts at events, oldest first. */
  readonly attempts: Map<EventId, Array<AttemptRecord>>
  readonly replays: Map<string, ReplayRecord>
  readonly messages: Map<string, MessageRecord>
  readonly stamps_used: Map<string, LimitWindow>
  /** Events that were raised before, with their attempts. */
  readonly events: ReadMap<EventId, SentEvent> & { readonly rewrite: (event: EventRecord) => void }
  /** The next events of a replay, of which at most `most` were looked at. */
  readonly replayable: (replay: ReplayRecord, most: number) => EventRange
  /** Accounts belong to no shop; a slice only looks at them. */
  readonly accounts: ReadMap<ClientId, ClientAccount>
  readonly holders: ReadMap<Phone, ClientAccount>
}

type Seen = Pick<ShopState, "shop" | "head" | "webhook" | "events" | "replayable" | "accounts" | "holders">

/** A slice of a shop into which nothing but its settings is loaded yet. */
export const loadState = ({ shop, head, webhook, events, replayable, accounts, holders }: Seen): ShopState => ({
  // Each by its name: an object that begins as a spread is slower to read, and costs a request a tenth more.
  shop,
  head,
  webhook,
  tickets: new Map(),
  links: new Map(),
  cards: new Map(),
  offers: new Map(),
  keys: new Map(),
  remembered: new Map(),
  deliveries: new Map(),
  attempts: new Map(),
  replays: new Map(),
  messages: new Map(),
  stamps_used: new Map(),
  events,
  replayable,
  accounts,
  holders
})

type Forgetting = "LinkRemoved" | "OfferRemoved" | "RememberedRemoved" | "EventRewritten"

/** Makes visible what only the erasure of a client changes. */
const forget = (slice: ShopState, change: Extract<Change, { readonly _tag: Forgetting }>): void => {
  if (change._tag === "LinkRemoved") slice.links.delete(change.row.client_id)
  else if (change._tag === "OfferRemoved") slice.offers.delete(change.row.id)
  else if (change._tag === "RememberedRemoved") slice.remembered.delete(idempotencyRecordKey(change.row))
  else slice.events.rewrite(change.row)
}

const log = (attempts: ShopState["attempts"], row: AttemptRecord): void => {
  const known = attempts.get(row.event_id)
  if (known === undefined) attempts.set(row.event_id, [row])
  else known.push(row)
}

/** Makes a change visible to the commands that follow. Rows that no command asks for are left to the store. */
export const apply = (slice: ShopState, change: Change): void => {
  switch (change._tag) {
    case "HeadPut":
      slice.head = change.row
      return
    case "ShopPut":
      slice.shop = change.row
      return
    case "WebhookPut":
      slice.webhook = change.row
      return
    case "WebhookRemoved":
      slice.webhook = null
      return
    case "TicketPut":
      slice.tickets.set(change.row.id, change.row)
      return
    case "LinkPut":
      slice.links.set(change.row.client_id, change.row)
      return
    case "LinkRemoved":
    case "OfferRemoved":
    case "RememberedRemoved":
    case "EventRewritten":
      forget(slice, change)
      return
    case "CardPut":
      slice.cards.set(change.row.client_id, change.row)
      return
    case "OfferPut":
      slice.offers.set(change.row.id, change.row)
      return
    case "KeyPut":
      slice.keys.set(change.row.id, change.row)
      return
    case "RememberedPut": {
      const place = idempotencyRecordKey(change.row)
      // Anew at the end, so that a store may find those that expire first at the beginning.
      slice.remembered.delete(place)
      slice.remembered.set(place, change.row)
      return
    }
    case "StampsUsedPut":
      slice.stamps_used.set(stampCountKey(change.key), change.row)
      return
    case "DeliveryPut":
    case "DeliveryRenewed":
      slice.deliveries.set(change.row.event_id, change.row)
      return
    case "DeliveryRemoved":
      slice.deliveries.delete(change.row.event_id)
      return
    case "MessagePut":
      slice.messages.set(change.row.id, change.row)
      return
    case "MessageRemoved":
      slice.messages.delete(change.row.id)
      return
    case "ReplayPut":
      slice.replays.set(change.row.id, change.row)
      return
    case "AttemptAppended":
      log(slice.attempts, change.row)
      return
    case "AuditAppended":
    case "NoticeAppended":
    case "LedgerAppended":
    case "NotificationAppended":
    case "NotificationRemoved":
    case "AttemptRewritten":
    case "EventRaised":
      return
  }
}
