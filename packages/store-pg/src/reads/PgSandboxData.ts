import { SqlClient } from "@effect/sql/SqlClient"
import type { Change, SandboxData, Webhook } from "@workshop/core/store"
import { Clock, type Context, Effect, Schedule } from "effect"
import { putTables } from "../commands/SaveStatements.js"
import { runRead } from "../connection/Sql.js"
import { secretsUnavailable, type WebhookSecrets } from "../secrets/WebhookSecrets.js"
import { deliveryOf, type Rows, type StampLimitRow, type TableName, ticketOf, withoutSequence } from "../Tables.js"

/** The tables of a shop in the order in which an import can insert their rows, with the ORDER BY of each. */
const tablesInOrder = [
  ["shop_head", "shop_id"],
  ["webhook", "shop_id"],
  ["client_link", "client_id"],
  ["ticket", "change_seq"],
  ["loyalty_card", "client_id"],
  ["offer", "created_at, insert_order"],
  ["api_key", "created_at, insert_order"],
  ["stamp_limit", "caller_id, client_id"],
  ["idempotency_record", "expires_at"],
  ["loyalty_ledger", "id"],
  ["notification", "created_at, insert_order"],
  ["notice", "created_at, insert_order"],
  ["event", "seq"],
  ["attempt", "started_at, n"],
  ["delivery", "seq"],
  ["replay", "id"],
  ["queued_notification", "due_at, id"]
] as const satisfies ReadonlyArray<readonly [TableName, string]>

/** The tag of the change that puts a row, by table. */
const putTags = Object.fromEntries(Object.entries(putTables).map(([tag, table]) => [table, tag]))

const stampsUsedChange = ({ caller_id, client_id, used, resets_at }: StampLimitRow): Change => ({
  _tag: "StampLimitPut",
  key: { caller_id, client_id },
  row: { used, resets_at }
})

const changeOf = (table: TableName, row: never, webhook: Webhook | null): Change => {
  switch (table) {
    case "webhook":
      return { _tag: "WebhookPut", row: webhook! }
    case "ticket":
      return { _tag: "TicketPut", row: ticketOf(row) }
    case "delivery":
      return { _tag: "DeliveryPut", row: deliveryOf(row) }
    case "api_key":
      return { _tag: "KeyPut", row: withoutSequence(row) }
    case "stamp_limit":
      return stampsUsedChange(row)
    default:
      return { _tag: putTags[table], row: withoutSequence(row) } as Change
  }
}

/**
 * Retries of the statement that truncates all tables, which fails by a deadlock or by its lock timeout of a second if a
 * command has locked one table and waits for another. The retries use real time, because a sandbox's clock may be
 * frozen.
 */
const RETRIES = Schedule.upTo(Schedule.spaced("100 millis"), "8 seconds")

/** The port for all data of a shop or of a sandbox. */
export const pgSandboxData = (secrets: WebhookSecrets) =>
  Effect.map(SqlClient, (sql): Context.Tag.Service<SandboxData> => {
    const columns = sql.csv(
      tablesInOrder.map(
        ([table, order]) =>
          sql`(select coalesce(json_agg(row_to_json(t) order by ${sql.literal(order)}), '[]') from workshop.${sql(table)} t
            where t.shop_id = s.id) as ${sql(table)}`
      )
    )
    return {
      ofShop: (shop_id) =>
        sql<{ readonly [T in TableName]: ReadonlyArray<Rows[T]> }>`
          select /* workshop read whole shop */ ${columns} from workshop.shop s where s.id = ${shop_id}`.pipe(
          runRead,
          Effect.flatMap(([data]) =>
            Effect.gen(function* () {
              const [stored] = data!.webhook
              const webhook =
                stored === undefined ? null : yield* Effect.mapError(secrets.open(stored), secretsUnavailable)
              return tablesInOrder.flatMap(([table]) =>
                data![table].map((row) => changeOf(table, row as never, webhook))
              )
            })
          )
        ),
      clear: sql<{
        readonly cleared: boolean
      }>`select /* workshop clear sandbox */ workshop.clear_sandbox() as cleared`.pipe(
        Effect.map(([row]) => row!.cleared),
        runRead,
        Effect.retry(RETRIES),
        Effect.withClock(Clock.make())
      )
    }
  })
