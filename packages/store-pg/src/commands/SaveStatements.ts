import type { Instant, ShopId } from "@workshop/core"
import { type Change, closure } from "@workshop/core/store"
import type { Statement } from "../connection/Statement.js"
import {
  lockWebhooks,
  type QueueTimes,
  READY,
  removeQueues,
  scheduleQueues,
  wakeQueues
} from "../deliveries/ClaimStatements.js"
import { unencryptedSecrets, type WebhookSecrets } from "../secrets/WebhookSecrets.js"
import { type Rows, type TableName, tables } from "../Tables.js"

/** The table of each kind of change that inserts or replaces a row. */
export const putTables = {
  HeadPut: "shop_head",
  LinkPut: "client_link",
  OfferPut: "offer",
  CardPut: "loyalty_card",
  ReplayPut: "replay",
  IdempotencyRecordPut: "idempotency_record",
  LedgerAppended: "loyalty_ledger",
  NotificationAppended: "notification",
  AttemptAppended: "attempt",
  NoticeAppended: "notice",
  AuditAppended: "audit_entry",
  EventRaised: "event",
  QueuedNotificationPut: "queued_notification"
} as const satisfies { readonly [Tag in Change["_tag"]]?: TableName }

/** The table of each kind of change that removes a row. */
const removeTables = {
  DeliveryRemoved: "delivery",
  QueuedNotificationRemoved: "queued_notification",
  WebhookRemoved: "webhook",
  LinkRemoved: "client_link",
  OfferRemoved: "offer",
  NotificationRemoved: "notification",
  IdempotencyRecordRemoved: "idempotency_record"
} as const satisfies { readonly [Tag in Change["_tag"]]?: TableName }

/** The table of each kind of change that rewrites a row, which only erasures make. */
const rewriteTables = { EventRewritten: "event", AttemptRewritten: "attempt" } as const

type Row = Readonly<Record<string, unknown>>
type RowsByKey = Map<string, object>

interface RowsStatement {
  readonly name: string
  readonly text: string
  readonly values: (rows: ReadonlyArray<Row>) => ReadonlyArray<unknown>
}

const rowsAsJson = (rows: ReadonlyArray<Row>) => [JSON.stringify(rows)]
const rowsByColumn =
  (...names: ReadonlyArray<string>) =>
  (rows: ReadonlyArray<Row>) =>
    names.map((name) => rows.map((row) => row[name]))

/** Inserts rows, or replaces the changeable columns of rows with the same keys. */
const putStatement = (table: TableName): RowsStatement => {
  const { key, immutableColumns, updatedColumns } = tables[table] as Readonly<
    Record<"key" | "immutableColumns" | "updatedColumns", ReadonlyArray<string>>
  >
  const columnList = [...key, ...immutableColumns, ...updatedColumns].join(", ")
  const insert = `insert into workshop.${table} (${columnList}) select ${columnList} from json_populate_recordset(null::workshop.${table}, $1)`
  const update = updatedColumns.map((column) => `${column} = excluded.${column}`).join(", ")
  const text = update === "" ? insert : `${insert} on conflict (${key.join(", ")}) do update set ${update}`
  return { name: `put ${table}`, text, values: rowsAsJson }
}

/** Deletes rows, each looked up by its key, because a plan with a join, made while the table was small, may scan the whole table. */
const removeStatement = (table: TableName): RowsStatement => ({
  name: `remove ${table}`,
  text: `delete from workshop.${table} t using (
      select r.shop_id, r.place from json_populate_recordset(null::workshop.${table}, $1) q cross join lateral (
        select r.shop_id, r.ctid as place from workshop.${table} r
        where ${tables[table].key.map((column) => `r.${column} = q.${column}`).join(" and ")} limit 1
      ) r
    ) f where t.ctid = f.place and t.shop_id = f.shop_id`,
  values: rowsAsJson
})

const putStatements = (Object.keys(tables) as ReadonlyArray<TableName>).map(
  (table) => [table, putStatement(table)] as const
)

const removeStatements: ReadonlyArray<readonly [TableName, RowsStatement]> = [
  [
    "delivery",
    {
      name: "remove delivery",
      text: `delete from workshop.delivery d using unnest($1::uuid[], $2::uuid[]) q (shop_id, event_id)
           where d.shop_id = q.shop_id and d.event_id = q.event_id`,
      values: rowsByColumn("shop_id", "event_id")
    }
  ],
  [
    "queued_notification",
    {
      name: "remove queued_notification",
      text: `delete from workshop.queued_notification m using unnest($1::uuid[], $2::uuid[]) q (shop_id, id)
           where m.shop_id = q.shop_id and m.id = q.id`,
      values: rowsByColumn("shop_id", "id")
    }
  ],
  [
    "webhook",
    {
      name: "remove webhook",
      text: "delete from workshop.webhook w using unnest($1::uuid[]) q (shop_id) where w.shop_id = q.shop_id",
      values: rowsByColumn("shop_id")
    }
  ],
  ...(["client_link", "offer", "notification", "idempotency_record"] as const).map(
    (table) => [table, removeStatement(table)] as const
  )
]

/** Resets the attempts of deliveries in flight, and keeps their leases, so that the claims remain valid. */
const RENEW_DELIVERIES: RowsStatement = {
  name: "renew delivery",
  text: `update workshop.delivery d set attempts_since_reset = 0 from unnest($1::uuid[], $2::uuid[]) q (shop_id, event_id)
         where d.shop_id = q.shop_id and d.event_id = q.event_id`,
  values: rowsByColumn("shop_id", "event_id")
}

/** The statements that rewrite rows. They call functions, because the service's role may not update these tables. */
const rewriteStatements: ReadonlyArray<readonly [TableName, RowsStatement]> = [
  ["event", { name: "rewrite event", text: "select workshop.rewrite_events($1)", values: rowsAsJson }],
  ["attempt", { name: "rewrite attempt", text: "select workshop.rewrite_attempts($1)", values: rowsAsJson }]
]

/** Every statement that saves changes, for tests of their plans and rights. */
export const saveStatements: ReadonlyArray<Omit<Statement, "values">> = [
  ...[...putStatements, ...removeStatements, ...rewriteStatements].map(([, statement]) => statement),
  RENEW_DELIVERIES,
  scheduleQueues(new Map()),
  wakeQueues(new Set()),
  ...removeQueues(new Set()),
  lockWebhooks(new Set())
]

const keyOf = (table: TableName, row: object): string => {
  let key = ""
  for (const column of tables[table].key) key += `${(row as Row)[column]} `
  return key
}

const setRow = (rowsByTable: Map<TableName, RowsByKey>, table: TableName, key: string, row: object): void => {
  const rows = rowsByTable.get(table)
  if (rows === undefined) rowsByTable.set(table, new Map([[key, row]]))
  else rows.set(key, row)
}

/** The statement with the rows, or none if there are no rows. */
const statementFor = ({ name, text, values }: RowsStatement, rows: RowsByKey | undefined): ReadonlyArray<Statement> =>
  rows?.size ? [{ name, text, values: values([...rows.values()] as ReadonlyArray<Row>) }] : []

const statementsOf = (
  statements: ReadonlyArray<readonly [TableName, RowsStatement]>,
  rowsByTable: Map<TableName, RowsByKey>
) => statements.flatMap(([table, statement]) => statementFor(statement, rowsByTable.get(table)))

/**
 * The changes of a batch, merged to one final row per key, because a statement with two rows of one key would fail or
 * lose a change.
 */
export class BatchChanges {
  readonly #put = new Map<TableName, RowsByKey>()
  readonly #removed = new Map<TableName, RowsByKey>()
  readonly #rewritten = new Map<TableName, RowsByKey>()
  readonly #renewed: RowsByKey = new Map()
  readonly #queues = new Map<ShopId, QueueTimes>()
  readonly #woken = new Set<ShopId>()
  readonly #changedShops = new Set<ShopId>()
  readonly #secrets: WebhookSecrets
  #bytes = 0

  constructor(secrets: WebhookSecrets = unencryptedSecrets) {
    this.#secrets = secrets
  }

  /** The approximate length of the rows' text. */
  get bytes(): number {
    return this.#bytes
  }

  get isEmpty(): boolean {
    return [this.#put, this.#removed, this.#rewritten, this.#renewed].every(({ size }) => size === 0)
  }

  /** Whether a delivery may have become due. */
  get wakesDispatchers(): boolean {
    return this.#queues.size > 0 || this.#woken.size > 0 || this.#put.has("replay")
  }

  /** The shops whose settings or keys changed. */
  get changedShops(): ReadonlySet<ShopId> {
    return this.#changedShops
  }

  add(change: Change, shop_id: ShopId): void {
    switch (change._tag) {
      case "ShopPut":
        this.#changedShops.add(shop_id)
        this.#putRow("shop", change.row)
        break
      case "TicketPut":
        this.#putRow("ticket", { closure_due_at: closure(change.row)?.due_at ?? null, ...change.row })
        break
      case "StampLimitPut":
        this.#putRow("stamp_limit", { ...change.key, ...change.row, shop_id })
        break
      case "KeyPut":
        this.#changedShops.add(shop_id)
        this.#putRow("api_key", change.row)
        break
      case "WebhookPut":
        this.#schedule(shop_id, { next_claim_at: READY, due_from: 0 })
        this.#putRow("webhook", this.#secrets.seal(change.row))
        break
      case "DeliveryPut": {
        const { due_at, attempts_since_reset } = change.row
        this.#schedule(shop_id, { next_claim_at: attempts_since_reset === 0 ? READY : due_at, due_from: due_at })
        this.#renewed.delete(keyOf("delivery", change.row))
        this.#putRow("delivery", { lease_until: null, ...change.row })
        break
      }
      case "DeliveryRenewed": {
        const key = keyOf("delivery", change.row)
        // A delivery that this batch has written or removed is no longer in flight.
        const isWritten = this.#put.get("delivery")?.has(key) || this.#removed.get("delivery")?.has(key)
        if (!isWritten) this.#renewed.set(key, change.row)
        break
      }
      case "DeliveryRemoved":
        this.#woken.add(shop_id)
        this.#renewed.delete(keyOf("delivery", change.row))
        this.#remove("delivery", change.row)
        break
      case "WebhookRemoved":
      case "QueuedNotificationRemoved":
        this.#remove(removeTables[change._tag], change.row)
        break
      case "LinkRemoved":
      case "OfferRemoved":
      case "NotificationRemoved":
      case "IdempotencyRecordRemoved":
        this.#bytes += 1_000
        this.#remove(removeTables[change._tag], change.row)
        break
      case "EventRewritten":
      case "AttemptRewritten":
        this.#bytes += 1_000
        setRow(this.#rewritten, rewriteTables[change._tag], keyOf(rewriteTables[change._tag], change.row), change.row)
        break
      default:
        this.#putRow(putTables[change._tag], change.row)
    }
  }

  /** The statements that lock rows. They run before the statements that save. */
  locks(): ReadonlyArray<Statement> {
    const shopsWithoutWebhook = this.#shopsWithoutWebhook()
    return shopsWithoutWebhook.size > 0 ? [lockWebhooks(shopsWithoutWebhook)] : []
  }

  /**
   * The statements that save the changes, always in the same order, because a connection would prepare each order
   * separately.
   */
  statements(): ReadonlyArray<Statement> {
    return [
      ...statementsOf(putStatements, this.#put),
      ...statementsOf(removeStatements, this.#removed),
      ...statementFor(RENEW_DELIVERIES, this.#renewed),
      ...this.#turnStatements()
    ]
  }

  /**
   * The statements that rewrite events and attempts. Each calls a function, so they cannot be combined into one
   * statement.
   */
  rewrites(): ReadonlyArray<Statement> {
    return statementsOf(rewriteStatements, this.#rewritten)
  }

  /**
   * Exactly one statement schedules, wakes or removes the queue of each shop, because a statement that changes a row
   * twice loses one change. A shop without a webhook has no queue: no claim would move it, and shops with due
   * deliveries would wait behind it.
   */
  #turnStatements(): ReadonlyArray<Statement> {
    const shopsWithoutWebhook = this.#shopsWithoutWebhook()
    const queues = [...this.#queues].filter(([shop_id]) => !shopsWithoutWebhook.has(shop_id))
    const scheduled = new Map(
      queues.map(([shop_id, times]) => [shop_id, this.#woken.has(shop_id) ? { ...times, next_claim_at: READY } : times])
    )
    const woken = new Set(
      [...this.#woken].filter((shop_id) => !scheduled.has(shop_id) && !shopsWithoutWebhook.has(shop_id))
    )
    return [
      ...(scheduled.size > 0 ? [scheduleQueues(scheduled)] : []),
      ...(woken.size > 0 ? [wakeQueues(woken)] : []),
      ...(shopsWithoutWebhook.size > 0 ? removeQueues(shopsWithoutWebhook) : [])
    ]
  }

  #shopsWithoutWebhook(): ReadonlySet<ShopId> {
    return new Set([...(this.#removed.get("webhook")?.values() ?? [])].map((row) => (row as Rows["webhook"]).shop_id))
  }

  #putRow<Name extends TableName>(table: Name, row: Rows[Name]): void {
    const key = keyOf(table, row)
    this.#removed.get(table)?.delete(key)
    setRow(this.#put, table, key, row)
    this.#bytes += table === "event" ? 2_500 : table === "ticket" ? 1_000 : 300
  }

  #remove(table: TableName, row: object): void {
    const key = keyOf(table, row)
    this.#put.get(table)?.delete(key)
    setRow(this.#removed, table, key, row)
  }

  #schedule(
    shop_id: ShopId,
    { next_claim_at, due_from }: { readonly next_claim_at: Instant; readonly due_from: Instant }
  ): void {
    const scheduled = this.#queues.get(shop_id) ?? { next_claim_at, due_from }
    this.#queues.set(shop_id, {
      next_claim_at: Math.min(next_claim_at, scheduled.next_claim_at),
      due_from: Math.min(due_from, scheduled.due_from)
    })
  }
}
