import { Order } from "effect"
import type { ApiKeyRecord } from "../domain/ApiKey.js"
import type { AuditEntry } from "../domain/AuditEntry.js"
import type { ClientAccount, ClientLink } from "../domain/Client.js"
import type { AttemptRecord, DeliveryRecord, EventRange, ReplayRecord, SentEvent } from "../domain/Delivery.js"
import type { EventRecord } from "../domain/Event.js"
import { type IdempotencyRecord, type IdempotencyRecordKey, idempotencyRecordKey } from "../domain/IdempotencyRecord.js"
import type { ClientId, EventId, KeyId, OfferId, TicketId } from "../domain/Identifier.js"
import type { LimitWindow } from "../domain/LimitWindow.js"
import { type CardRecord, type LedgerEntry, type StampLimitKey, stampLimitKey } from "../domain/LoyaltyCard.js"
import type { NotificationRecord, QueuedNotification } from "../domain/Notification.js"
import type { OfferRecord } from "../domain/Offer.js"
import type { Phone } from "../domain/Phone.js"
import type { ShopHead, ShopRecord } from "../domain/Shop.js"
import type { TicketRecord } from "../domain/Ticket.js"
import { acknowledges, type NoticeRecord, type Webhook } from "../domain/Webhook.js"

/**
 * Every change that can happen to the data. A `Put` has the row as it is afterwards, a `Removed` names the row that is deleted, and an
 * `Appended` or `Raised` has a row that only the erasure of a client may change later.
 */
export type Change =
  | { readonly _tag: "HeadPut"; readonly row: ShopHead }
  | { readonly _tag: "ShopPut"; readonly row: ShopRecord }
  | { readonly _tag: "TicketPut"; readonly row: TicketRecord }
  | { readonly _tag: "LinkPut"; readonly row: ClientLink }
  | { readonly _tag: "LinkRemoved"; readonly row: Pick<ClientLink, "shop_id" | "client_id"> }
  | { readonly _tag: "OfferPut"; readonly row: OfferRecord }
  | { readonly _tag: "OfferRemoved"; readonly row: Pick<OfferRecord, "shop_id" | "id"> }
  | { readonly _tag: "CardPut"; readonly row: CardRecord }
  | { readonly _tag: "StampLimitPut"; readonly key: StampLimitKey; readonly row: LimitWindow }
  | { readonly _tag: "KeyPut"; readonly row: ApiKeyRecord }
  | { readonly _tag: "WebhookPut"; readonly row: Webhook }
  | { readonly _tag: "WebhookRemoved"; readonly row: Pick<Webhook, "shop_id"> }
  | { readonly _tag: "DeliveryPut"; readonly row: DeliveryRecord }
  /** Gives a delivery that is in flight all its attempts again; its claim stays valid. */
  | { readonly _tag: "DeliveryRenewed"; readonly row: DeliveryRecord }
  | { readonly _tag: "DeliveryRemoved"; readonly row: Pick<DeliveryRecord, "shop_id" | "event_id"> }
  | { readonly _tag: "ReplayPut"; readonly row: ReplayRecord }
  | { readonly _tag: "QueuedNotificationPut"; readonly row: QueuedNotification }
  | { readonly _tag: "QueuedNotificationRemoved"; readonly row: Pick<QueuedNotification, "shop_id" | "id"> }
  | { readonly _tag: "IdempotencyRecordPut"; readonly row: IdempotencyRecord }
  | {
      readonly _tag: "IdempotencyRecordRemoved"
      readonly row: IdempotencyRecordKey & Pick<IdempotencyRecord, "shop_id">
    }
  | { readonly _tag: "LedgerAppended"; readonly row: LedgerEntry }
  | { readonly _tag: "NotificationAppended"; readonly row: NotificationRecord }
  | { readonly _tag: "NotificationRemoved"; readonly row: Pick<NotificationRecord, "shop_id" | "id" | "client_id"> }
  | { readonly _tag: "AttemptAppended"; readonly row: AttemptRecord }
  | { readonly _tag: "NoticeAppended"; readonly row: NoticeRecord }
  | { readonly _tag: "AuditAppended"; readonly row: AuditEntry }
  | { readonly _tag: "EventRaised"; readonly row: EventRecord }
  /** Replaces an event's text. Used only during a client's erasure (`PersonalData.beginErasure`). */
  | { readonly _tag: "EventRewritten"; readonly row: EventRecord }
  /** Replaces the stored start of an attempt's response. Used only during an erasure. */
  | { readonly _tag: "AttemptRewritten"; readonly row: AttemptRecord }

/** Read-only access to rows by key. A store implements it with a map, or with the rows that it loaded. */
export interface ReadMap<K, V> {
  /** The row with this key; undefined if there is none. */
  readonly get: (key: K) => V | undefined
}

/**
 * The part of one shop's data that a command sees. The memory store keeps one per shop; another store fills one with the rows that the
 * commands of a batch ask for.
 */
export interface ShopState {
  /** The shop's settings. */
  shop: ShopRecord
  /** The shop's counters, of which every command sees the latest values. */
  head: ShopHead
  /** The shop's webhook; null if it has none. */
  webhook: Webhook | null
  /** The loaded tickets. */
  readonly tickets: Map<TicketId, TicketRecord>
  /** The relations to the loaded clients; a client without a row is not known to the shop. */
  readonly links: Map<ClientId, ClientLink>
  /** The loaded cards; a client without a row has a blank card. */
  readonly cards: Map<ClientId, CardRecord>
  /** The loaded offers. */
  readonly offers: Map<OfferId, OfferRecord>
  /** The shop's API keys, with revoked ones, if the command loads them. */
  readonly keys: Map<KeyId, ApiKeyRecord>
  /** The loaded records, by {@link idempotencyRecordKey}. */
  readonly idempotency_records: Map<string, IdempotencyRecord>
  /** The loaded deliveries; an event without a row has arrived, was given up, or never had a delivery. */
  readonly deliveries: Map<EventId, DeliveryRecord>
  /** Attempts to deliver events, oldest first. */
  readonly attempts: Map<EventId, Array<AttemptRecord>>
  /** The loaded replays that are not finished, by id. */
  readonly replays: Map<string, ReplayRecord>
  /** The loaded entries of the queue of notifications, by the id of the notification or notice. */
  readonly queuedNotifications: Map<string, QueuedNotification>
  /** The loaded counts of stamps, by {@link stampLimitKey}. */
  readonly stamp_limits: Map<string, LimitWindow>
  /** Earlier events, with their attempts. */
  readonly events: ReadMap<EventId, SentEvent> & { readonly rewrite: (event: EventRecord) => void }
  /** Returns the next events of a replay, reading no more than `max` events. */
  readonly replayable: (replay: ReplayRecord, max: number) => EventRange
  /** Accounts belong to no shop, so a command only reads them. */
  readonly accounts: ReadMap<ClientId, ClientAccount>
  /** The accounts that have a phone number, by the number. */
  readonly holders: ReadMap<Phone, ClientAccount>
}

/** The part of a shop's state that every command loads. */
export type LoadedSettings = Pick<
  ShopState,
  "shop" | "head" | "webhook" | "events" | "replayable" | "accounts" | "holders"
>

/** A shop's state with only the settings loaded. */
export const emptyShopState = (settings: LoadedSettings): ShopState => ({
  tickets: new Map(),
  links: new Map(),
  cards: new Map(),
  offers: new Map(),
  keys: new Map(),
  idempotency_records: new Map(),
  deliveries: new Map(),
  attempts: new Map(),
  replays: new Map(),
  queuedNotifications: new Map(),
  stamp_limits: new Map(),
  ...settings
})

/**
 * Logs an attempt before the attempts that began later, because the result of an overtaken attempt is recorded late and
 * must not be the last in the log. Clocks of processes differ, so among attempts with the same number an acknowledged
 * one is the last, even if another began later.
 */
const logAttempt = (attempts: ShopState["attempts"], row: AttemptRecord): void => {
  const ofEvent = attempts.get(row.event_id) ?? []
  attempts.set(row.event_id, ofEvent)
  ofEvent.splice(ofEvent.findLastIndex((attempt) => attemptOrder(attempt, row) <= 0) + 1, 0, row)
}

const attemptOrder = Order.combineAll<AttemptRecord>([
  Order.mapInput(Order.number, ({ n }) => n),
  Order.mapInput(Order.boolean, acknowledges),
  Order.mapInput(Order.number, ({ started_at }) => started_at)
])

type ChangeHandlers = {
  readonly [Tag in Change["_tag"]]: (state: ShopState, change: Extract<Change, { _tag: Tag }>) => void
}

/** Ignores a change of a row that no command loads, because only the store saves it. */
const ignoreChange = () => {}

const putDelivery: ChangeHandlers["DeliveryPut"] & ChangeHandlers["DeliveryRenewed"] = (state, { row }) =>
  state.deliveries.set(row.event_id, row)

const changeHandlers: ChangeHandlers = {
  HeadPut: (state, { row }) => (state.head = row),
  ShopPut: (state, { row }) => (state.shop = row),
  WebhookPut: (state, { row }) => (state.webhook = row),
  WebhookRemoved: (state) => (state.webhook = null),
  TicketPut: (state, { row }) => state.tickets.set(row.id, row),
  LinkPut: (state, { row }) => state.links.set(row.client_id, row),
  LinkRemoved: (state, { row }) => state.links.delete(row.client_id),
  CardPut: (state, { row }) => state.cards.set(row.client_id, row),
  OfferPut: (state, { row }) => state.offers.set(row.id, row),
  OfferRemoved: (state, { row }) => state.offers.delete(row.id),
  KeyPut: (state, { row }) => state.keys.set(row.id, row),
  IdempotencyRecordPut: ({ idempotency_records }, { row }) => {
    const key = idempotencyRecordKey(row)
    // The record moves to the end, so that the records that expire first are at the beginning.
    idempotency_records.delete(key)
    idempotency_records.set(key, row)
  },
  IdempotencyRecordRemoved: (state, { row }) => state.idempotency_records.delete(idempotencyRecordKey(row)),
  StampLimitPut: (state, { key, row }) => state.stamp_limits.set(stampLimitKey(key), row),
  DeliveryPut: putDelivery,
  DeliveryRenewed: putDelivery,
  DeliveryRemoved: (state, { row }) => state.deliveries.delete(row.event_id),
  QueuedNotificationPut: (state, { row }) => state.queuedNotifications.set(row.id, row),
  QueuedNotificationRemoved: (state, { row }) => state.queuedNotifications.delete(row.id),
  ReplayPut: (state, { row }) => state.replays.set(row.id, row),
  AttemptAppended: (state, { row }) => logAttempt(state.attempts, row),
  EventRewritten: (state, { row }) => state.events.rewrite(row),
  AttemptRewritten: ignoreChange,
  AuditAppended: ignoreChange,
  EventRaised: ignoreChange,
  LedgerAppended: ignoreChange,
  NoticeAppended: ignoreChange,
  NotificationAppended: ignoreChange,
  NotificationRemoved: ignoreChange
}

/** Applies a change, so that later commands see it. */
export const apply = (state: ShopState, change: Change): void =>
  (changeHandlers[change._tag] as (state: ShopState, change: Change) => void)(state, change)
