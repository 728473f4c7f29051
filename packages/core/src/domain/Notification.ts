import { type ClientLink, isBlocked } from "./Client.js"
import type { ClientId, ShopId, TicketId } from "./Identifier.js"
import type { Instant } from "./Instant.js"
import type { Phone } from "./Phone.js"
import type { Ticket } from "./Ticket.js"
import { statusMoves, type TicketState } from "./TicketLifecycle.js"
import type { NoticeRecord } from "./Webhook.js"

/** A notification to a client: their ticket is ready, or it cannot be done (Specification, States). */
export interface NotificationRecord {
  /** The id of the notification. Repetitions have the same id. */
  readonly id: string
  /** The ticket's shop. */
  readonly shop_id: ShopId
  /** The client with the notification in their inbox; null for a client without an account. */
  readonly client_id: ClientId | null
  /** The type of the ticket's news. */
  readonly type: "ticket.ready" | "ticket.impossible"
  /** The ticket at the time of the notification. */
  readonly ticket: Ticket
  /** The ticket's id. */
  readonly ticket_id: TicketId
  /** When it happened, in milliseconds since 1970. */
  readonly created_at: Instant
}

/** A notification in the form that the embedder's notifier gets. */
export interface ClientNotification extends NotificationRecord {
  /** `app` for a client with an account; `phone` for a walk-in, of whom only the number on the ticket is known. */
  readonly channel: "app" | "phone"
  /** The client's current number in E.164, such as `+33612345678`; null if the account was erased. */
  readonly phone: Phone | null
}

/**
 * Whether the ticket is still in the state that a notification reports. Otherwise the client might come to the shop in
 * vain.
 */
export const isCurrent = ({ type }: Pick<NotificationRecord, "type">, state: TicketState): boolean =>
  statusMoves.some(({ event, to }) => event === type && to === state)

/** The data at present that decide to which number a notification goes. A store loads them with the notification. */
export interface NotificationContacts {
  /** The number of the notification's client; null if they have no account, or if it was erased. */
  readonly account_phone: Phone | null
  /** The number on the ticket; null if it has none, or if it was erased. Needed only without a client. */
  readonly ticket_phone: Phone | null
  /**
   * The relation to the shop of the account that has the ticket's number; null if there is none. Needed only without a
   * client.
   */
  readonly holder_link: ClientLink | null
}

/**
 * The number to which a notification goes: the client's, or the number on the ticket of a client without an account,
 * unless the account that has this number blocks the shop. Null if there is none (Specification, States).
 */
export const notificationPhone = (
  { client_id }: Pick<NotificationRecord, "client_id">,
  { account_phone, ticket_phone, holder_link }: NotificationContacts
): Phone | null => {
  if (client_id !== null) return account_phone
  return isBlocked(holder_link) ? null : ticket_phone
}

/** The notification with its channel and number. Null if it must not be sent, because a client without an account has no number. */
export const withChannel = (record: NotificationRecord, contacts: NotificationContacts): ClientNotification | null => {
  const phone = notificationPhone(record, contacts)
  if (record.client_id !== null) return { ...record, channel: "app", phone }
  return phone === null ? null : { ...record, channel: "phone", phone }
}

/** The receiver of an entry of the queue: a client gets a notification, and an owner gets a notice. */
export type NotificationReceiver = "client" | "owner"

/**
 * An entry of the queue: a notification or a notice that waits for the embedder's notifiers. The row exists until it is delivered or given
 * up; its content is stored separately and permanently, under the same id.
 */
export interface QueuedNotification {
  /** The shop of the ticket or of the webhook that the entry is about. */
  readonly shop_id: ShopId
  /** The id of the notification or the notice. */
  readonly id: string
  /** `client` for a notification of the client, `owner` for a notice about the webhook. */
  readonly receiver: NotificationReceiver
  /** How many attempts were begun. They are counted before they are made, so that an attempt that crashes its process counts. */
  readonly attempts_made: number
  /** When the next attempt is made, in milliseconds since 1970. */
  readonly due_at: Instant
}

/** An entry of the queue with its content. */
export type DueNotification =
  | (QueuedNotification & { readonly receiver: "client"; readonly payload: ClientNotification | null })
  | (QueuedNotification & { readonly receiver: "owner"; readonly payload: NoticeRecord })
