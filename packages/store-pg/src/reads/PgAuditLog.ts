import { SqlClient } from "@effect/sql/SqlClient"
import type { AuditEntry } from "@workshop/core"
import type { AuditLog } from "@workshop/core/store"
import { type Context, Effect } from "effect"
import { runRead } from "../connection/Sql.js"
import { type WithSequence, withoutSequence } from "../Tables.js"

/** The port for the audit log of all shops. */
export const pgAuditLog = Effect.map(
  SqlClient,
  (sql): Context.Tag.Service<AuditLog> => ({
    append: (entry) =>
      sql`insert /* workshop append audit entry */ into workshop.audit_entry (shop_id, id, created_at, actor, act, details)
      select shop_id, id, created_at, actor, act, details
      from json_populate_record(null::workshop.audit_entry, ${JSON.stringify(entry)})`.pipe(Effect.asVoid, runRead),
    list: (shop_id, before, limit) =>
      sql<{
        readonly entry: WithSequence<AuditEntry>
      }>`select /* workshop list audit entries */ row_to_json(e) as entry from workshop.audit_entry e
      where ${shop_id === null ? sql`true` : sql`e.shop_id = ${shop_id}`}
        and ${before === null ? sql`true` : sql`e.insert_order < (select insert_order from workshop.audit_entry where id = ${before})`}
      order by e.insert_order desc limit ${limit}`.pipe(
        Effect.map((rows) => rows.map(({ entry }) => withoutSequence<AuditEntry>(entry))),
        runRead
      )
  })
)
