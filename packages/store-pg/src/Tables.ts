import type {
  ApiKeyRecord,
  AuditEntry,
  EventRecord,
  Instant,
  NoticeRecord,
  NotificationRecord,
  OfferRecord,
  ShopId,
  ShopRecord
} from "@workshop/core"
import type {
  AttemptRecord,
  CardRecord,
  ClientLink,
  DeliveryRecord,
  IdempotencyRecord,
  LedgerEntry,
  LimitWindow,
  QueuedNotification,
  ReplayRecord,
  ShopHead,
  StampLimitKey,
  TicketRecord,
  Webhook
} from "@workshop/core/store"

/** A ticket as its table stores it, with the instant at which it closes automatically. */
export type TicketRow = TicketRecord & { readonly closure_due_at: Instant | null }

/** The ticket without the columns that only its table has. */
export const ticketOf = ({ closure_due_at: _, ...ticket }: TicketRow): TicketRecord => ticket

/** A delivery as its table stores it, with the lease of its attempt. */
export type DeliveryRow = DeliveryRecord & { readonly lease_until: Instant | null }

/** The delivery without the columns that only its table has. */
export const deliveryOf = ({ lease_until: _, ...delivery }: DeliveryRow): DeliveryRecord => delivery

/** A row of a table whose sequence number `insert_order` orders the rows of the same instant. */
export type WithSequence<Row> = Row & { readonly insert_order: number }

/** The row without its sequence number. */
export const withoutSequence = <Row extends object>({ insert_order: _, ...row }: WithSequence<Row>): Row =>
  row as unknown as Row

/** A count of stamps as its table stores it. */
export type StampLimitRow = StampLimitKey & LimitWindow & { readonly shop_id: ShopId }

/** The type of each table's rows. */
export interface Rows {
  readonly shop: ShopRecord
  readonly shop_head: ShopHead
  readonly webhook: Webhook
  readonly ticket: TicketRow
  readonly client_link: ClientLink
  readonly loyalty_card: CardRecord
  readonly offer: OfferRecord
  readonly api_key: ApiKeyRecord
  readonly stamp_limit: StampLimitRow
  readonly delivery: DeliveryRow
  readonly replay: ReplayRecord
  readonly queued_notification: QueuedNotification
  readonly idempotency_record: IdempotencyRecord
  readonly loyalty_ledger: LedgerEntry
  readonly notification: NotificationRecord
  readonly attempt: AttemptRecord
  readonly notice: NoticeRecord
  readonly audit_entry: AuditEntry
  readonly event: EventRecord
}

/** The name of a table that commands write. */
export type TableName = keyof Rows

interface Table<Row> {
  /** The columns that identify a row. */
  readonly key: ReadonlyArray<keyof Row & string>
  /** Columns that keep their first value. */
  readonly immutableColumns: ReadonlyArray<keyof Row & string>
  /** Columns that a later row with the same key replaces; empty for an append-only table. */
  readonly updatedColumns: ReadonlyArray<keyof Row & string>
}

/** The tables that commands write, with how a new row replaces an old one. */
// biome-ignore format: with one column per line, the tables would be hard to find
export const tables: { readonly [Name in TableName]: Table<Rows[Name]> } = {
  shop: {
    key: ["id"],
    immutableColumns: ["created_at"],
    updatedColumns: [
      "name", "currency", "decimals", "time_zone", "tracking_base_url", "approved", "active", "api_enabled",
      "program", "forbidden_words", "allowed_words", "languages"
    ]
  },
  shop_head: {
    key: ["shop_id"],
    immutableColumns: [],
    updatedColumns: [
      "next_number", "change_seq", "event_seq", "last_recorded_at", "id_counter", "tickets_per_hour",
      "tickets_per_day"
    ]
  },
  webhook: {
    key: ["shop_id"],
    immutableColumns: [],
    updatedColumns: [
      "url", "secret", "previous_secret", "previous_until", "off_reason", "failures_in_row", "first_failure_at",
      "failure_steps_notified", "generation", "enabled_at"
    ]
  },
  ticket: {
    key: ["shop_id", "id"],
    // These columns never change. Leaving them out of the statement keeps Postgres from writing to their indexes.
    immutableColumns: ["number", "tracking_code", "created_via"],
    updatedColumns: [
      "state", "outcome", "type", "service", "item", "description", "items", "price_minor", "deposit_minor",
      "before_minor", "quote", "promised_at", "delay", "part", "client_id", "client_phone", "photo_url",
      "created_at", "updated_at", "ready_at", "collected_at", "abandoned_at", "abandon_reason", "notified_at",
      "notified_channel",
      "external_ref", "change_seq", "shop_changed_at", "stamps_earned", "moves_per_day",
      "notifications_per_day", "closure_due_at", "history"
    ]
  },
  client_link: { key: ["shop_id", "client_id"], immutableColumns: [], updatedColumns: ["known_at", "blocked_at"] },
  loyalty_card: {
    key: ["shop_id", "client_id"],
    immutableColumns: [],
    updatedColumns: ["balance", "lifetime", "rewards_redeemed", "updated_at"]
  },
  offer: { key: ["shop_id", "id"], immutableColumns: ["ticket_id", "phone", "created_at"], updatedColumns: ["status", "answered_at"] },
  api_key: {
    key: ["id"],
    // PgDirectory writes last_used_at, because a command may have loaded an older value.
    immutableColumns: ["shop_id", "hash", "last_four", "created_at", "expires_at", "last_used_at"],
    updatedColumns: ["name", "scopes", "revoked_at"]
  },
  stamp_limit: { key: ["shop_id", "caller_id", "client_id"], immutableColumns: [], updatedColumns: ["used", "resets_at"] },
  delivery: {
    key: ["shop_id", "event_id"],
    immutableColumns: ["type", "ticket_id", "seq"],
    updatedColumns: ["attempts_made", "attempts_since_reset", "due_at", "generation", "is_replay", "token", "lease_until"]
  },
  replay: { key: ["shop_id", "id"], immutableColumns: ["filter", "until_seq", "created_at"], updatedColumns: ["after_seq", "is_done"] },
  queued_notification: { key: ["shop_id", "id"], immutableColumns: ["receiver"], updatedColumns: ["attempts_made", "due_at"] },
  idempotency_record: {
    key: ["shop_id", "caller_id", "operation", "key"],
    immutableColumns: [],
    updatedColumns: ["fingerprint", "response", "expires_at"]
  },
  loyalty_ledger: {
    key: ["shop_id", "id"],
    immutableColumns: ["client_id", "kind", "stamps", "ticket_id", "caller_id", "created_at"],
    updatedColumns: []
  },
  notification: {
    key: ["shop_id", "id"],
    immutableColumns: ["client_id", "type", "ticket", "ticket_id", "created_at"],
    updatedColumns: []
  },
  attempt: {
    key: ["shop_id", "event_id", "n"],
    immutableColumns: ["started_at", "status", "error", "detail", "address", "timings", "head"],
    updatedColumns: []
  },
  notice: {
    key: ["shop_id", "id"],
    immutableColumns: ["kind", "created_at", "url", "off_reason", "failures_in_row", "first_failure_at"],
    updatedColumns: []
  },
  audit_entry: { key: ["shop_id", "id"], immutableColumns: ["created_at", "actor", "act", "details"], updatedColumns: [] },
  event: { key: ["shop_id", "id"], immutableColumns: ["type", "seq", "ticket_id", "created_at", "body"], updatedColumns: [] }
}
