import { type TableName, tables } from "../Tables.js"

/** A right of a role on a table. */
export type Right = "select" | "insert" | "update" | "delete"

const ALL: ReadonlyArray<Right> = ["select", "insert", "update", "delete"]

/** The tables from which commands or retention delete rows. */
const removed: ReadonlyArray<TableName> = [
  "webhook",
  "client_link",
  "offer",
  "delivery",
  "replay",
  "queued_notification",
  "stamp_limit",
  "idempotency_record",
  "notification"
]

const commandRights = Object.fromEntries(
  (Object.keys(tables) as ReadonlyArray<TableName>).map((name): [string, ReadonlyArray<Right>] => [
    name,
    [
      "select",
      "insert",
      ...(tables[name].updatedColumns.length > 0 ? (["update"] as const) : []),
      ...(removed.includes(name) ? (["delete"] as const) : [])
    ]
  ])
)

/**
 * The rights of the service's role on each table. On append-only tables the role can only read and insert; erasures and
 * retention change their rows through functions. `roles.sql` is generated from this.
 */
export const serviceRights: Readonly<Record<string, ReadonlyArray<Right>>> = {
  ...commandRights,
  client_account: ALL,
  client_erasure: ALL,
  delivery_queue: ALL,
  backlogged_queue: ALL,
  batch_receipt: ALL,
  cell: ["select", "update"],
  shop_cell: ["select", "insert"],
  api_key_cell: ["select", "insert"],
  stale_account_copy: ALL,
  rate_limit: ALL,
  database_label: ["select", "insert"],
  event_rest: ["select"],
  attempt_rest: ["select"],
  schema_migration: ["select"]
}

/** The functions through which the service's role changes rows that it may not change itself. */
export const serviceFunctions: ReadonlyArray<string> = [
  "clear_sandbox()",
  "maintain_partition(text, text, text, bigint, bigint)",
  "rewrite_events(json)",
  "rewrite_attempts(json)"
]

/**
 * The columns that the reading role cannot read: hashes of keys, webhook secrets and URLs (whose path may be a secret),
 * phone numbers, and texts that may contain these. An asterisk means the whole table.
 */
export const hiddenColumns: Readonly<Record<string, ReadonlyArray<string>>> = {
  api_key: ["hash"],
  webhook: ["url", "secret", "previous_secret"],
  notice: ["url"],
  client_account: ["phone"],
  client_erasure: ["*"],
  api_key_cell: ["*"],
  ticket: ["client_phone"],
  offer: ["phone"],
  notification: ["ticket"],
  event: ["body"],
  attempt: ["head"],
  idempotency_record: ["key", "fingerprint", "response"],
  rate_limit: ["*"],
  // The reading role reads their rows through `event` and `attempt`.
  event_rest: ["*"],
  attempt_rest: ["*"]
}
