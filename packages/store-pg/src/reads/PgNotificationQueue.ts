import { SqlClient } from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import type { Instant, NotificationRecord, Phone } from "@workshop/core"
import {
  type DueNotification,
  type NotificationQueue,
  type NotificationReceiver,
  type QueuedNotification,
  withChannel
} from "@workshop/core/store"
import { type Context, Effect } from "effect"
import { runRead } from "../connection/Sql.js"
import { type WithSequence, withoutSequence } from "../Tables.js"

/** The port for notifications to clients and notices to owners that wait to be sent. */
export const pgNotificationQueue = Effect.map(SqlClient, (sql): Context.Tag.Service<NotificationQueue> => {
  const read = (selected: Fragment): ReturnType<Context.Tag.Service<NotificationQueue>["due"]> =>
    sql<{ readonly message: QueuedNotification; readonly payload: WithSequence<object>; readonly phone: Phone | null }>`
        select /* workshop due notifications */ row_to_json(m) as message, coalesce(row_to_json(t), row_to_json(n)) as payload,
          case when t.client_id is null then (
            select k.client_phone from workshop.ticket k where k.shop_id = t.shop_id and k.id = t.ticket_id
              and not exists (select from workshop.client_account b join workshop.client_link l on l.shop_id = k.shop_id and l.client_id = b.id
                where b.phone = k.client_phone and l.blocked_at is not null)
          ) else (select a.phone from workshop.client_account a where a.id = t.client_id) end as phone
        from (${selected}) m
        left join workshop.notification t on t.shop_id = m.shop_id and t.id = m.id
        left join workshop.notice n on n.shop_id = m.shop_id and n.id = m.id
        order by m.due_at, m.id`.pipe(
      Effect.map((rows) =>
        rows.map(({ message, payload, phone }) => {
          const record = withoutSequence(payload)
          const notification = message.receiver === "client" ? withChannel(record as NotificationRecord, phone) : record
          return { ...message, payload: notification } as DueNotification
        })
      ),
      runRead
    )
  const firstDue = (waits: Fragment, limit: number) =>
    sql`select * from workshop.queued_notification where ${waits} order by due_at, id limit ${limit}`
  const dueTo = (receiver: NotificationReceiver, until: Instant, limit: number) =>
    firstDue(sql`receiver = ${receiver} and due_at <= ${until}`, limit)
  return {
    due: (until, limit, receiver) =>
      read(
        receiver === undefined
          ? sql`select * from ((${dueTo("client", until, limit)}) union all (${dueTo("owner", until, limit)})) a
            order by due_at, id limit ${limit}`
          : dueTo(receiver, until, limit)
      ),
    dueAfter: (shop_id, after, limit) => read(firstDue(sql`shop_id = ${shop_id} and due_at > ${after}`, limit))
  }
})
