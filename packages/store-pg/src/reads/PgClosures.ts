import { SqlClient } from "@effect/sql/SqlClient"
import type { Closures, DueClosure } from "@workshop/core/store"
import { type Context, Effect } from "effect"
import { runRead } from "../connection/Sql.js"

/** The port for tickets that are due to close automatically. */
export const pgClosures = Effect.map(
  SqlClient,
  (sql): Context.Tag.Service<Closures> => ({
    due: (until, limit) =>
      sql<{ readonly due: DueClosure }>`
        select /* workshop due closures */ json_build_object('shop_id', t.shop_id, 'id', t.id, 'due_at', t.closure_due_at) as due
        from workshop.ticket t where t.closure_due_at <= ${until} order by t.closure_due_at, t.id limit ${limit}`.pipe(
        Effect.map((rows) => rows.map(({ due }) => due)),
        runRead
      )
  })
)
