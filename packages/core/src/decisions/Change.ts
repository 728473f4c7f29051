import type { ApiKeyRecord } from "../domain/ApiKey.js"
import type { AuditEntry } from "../domain/AuditEntry.js"
import type { ClientLink } from "../domain/Client.js"
import type { AttemptRecord, DeliveryRecord } from "../domain/Delivery.js"
import type { EventRecord } from "../domain/Event.js"
import type { IdempotencyRecord, IdempotencyRecordKey } from "../domain/IdempotencyRecord.js"
import type { LimitWindow } from "../domain/LimitWindow.js"
import type { CardRecord, LedgerEntry } from "../domain/LoyaltyCard.js"
import type { MessageRecord } from "../domain/Message.js"
import type { NoticeRecord } from "../domain/Notice.js"
import type { NotificationRecord } from "../domain/Notification.js"
import type { OfferRecord } from "../domain/Offer.js"
import type { ReplayRecord } from "../domain/Replay.js"
import type { ShopHead, ShopRecord } from "../domain/Shop.js"
import type { StampCountKey } from "../domain/StampCount.js"
import type { TicketRecord } from "../domain/Ticket.js"
import type { Webhook } from "../domain/Webhook.js"

/**
 * The whole vocabulary of what can happen to the data. A `Put` holds the row as it is from now on, a `Removed` names
 * the row that is gone, an `Appended` or `Raised` holds a row that is never touched again, but to erase a client.
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
  | { readonly _tag: "StampsUsedPut"; readonly key: StampCountKey; readonly row: LimitWindow }
  | { readonly _tag: "KeyPut"; readonly row: ApiKeyRecord }
  | { readonly _tag: "WebhookPut"; readonly row: Webhook }
  | { readonly _tag: "WebhookRemoved"; readonly row: Pick<Webhook, "shop_id"> }
  | { readonly _tag: "DeliveryPut"; readonly row: DeliveryRecord }
  /** A delivery that is under way gets all its attempts anew; its claim holds as before. */
  | { readonly _tag: "DeliveryRenewed"; readonly row: DeliveryRecord }
  | { readonly _tag: "DeliveryRemoved"; readonly row: Pick<DeliveryRecord, "shop_id" | "event_id"> }
  | { readonly _tag: "ReplayPut"; readonly row: ReplayRecord }
  | { readonly _tag: "MessagePut"; readonly row: MessageRecord }
  | { readonly _tag: "MessageRemoved"; readonly row: Pick<MessageRecord, "shop_id" | "id"> }
  | { readonly _tag: "RememberedPut"; readonly row: IdempotencyRecord }
  | { readonly _tag: "RememberedRemoved"; readonly row: IdempotencyRecordKey & Pick<IdempotencyRecord, "shop_id"> }
  | { readonly _tag: "LedgerAppended"; readonly row: LedgerEntry }
  | { readonly _tag: "NotificationAppended"; readonly row: NotificationRecord }
  | { readonly _tag: "NotificationRemoved"; readonly row: Pick<NotificationRecord, "shop_id" | "id" | "client_id"> }
  | { readonly _tag: "AttemptAppended"; readonly row: AttemptRecord }
  | { readonly _tag: "NoticeAppended"; readonly row: NoticeRecord }
  | { readonly _tag: "AuditAppended"; readonly row: AuditEntry }
  | { readonly _tag: "EventRaised"; readonly row: EventRecord }
  /** Only while a client's erasure is under way (`PersonalData.beginErasure`): the same event with another text. */
  | { readonly _tag: "EventRewritten"; readonly row: EventRecord }
  /** Likewise: the same attempt with another head of its answer. */
  | { readonly _tag: "AttemptRewritten"; readonly row: AttemptRecord }
