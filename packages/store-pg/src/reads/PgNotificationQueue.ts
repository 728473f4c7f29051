import { SqlClient } from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import type { Instant, NotificationRecord, Phone } from "@workshop/core"
import {
  type DueNotification,
  type NotificationContacts,
  type NotificationQueue,
  type NotificationReceiver,
  type QueuedNotification,
  withChannel
} from "@workshop/core/store"
import { type Context, Effect } from "effect"
import { runRead } from "../connection/Sql.js"
import { type WithSequence, withoutSequence } from "../Tables.js"

interface DueRow {
  readonly message: QueuedNotification
  readonly payload: WithSequence<object>
  readonly account_phone: Phone | null
  readonly ticket: Omit<NotificationContacts, "account_phone"> | null
}

/** The contacts of a row. The ticket of a client with an account was not read, because it decides nothing. */
const contactsOf = ({ account_phone, ticket }: DueRow): NotificationContacts => ({
  account_phone,
  ...(ticket ?? { ticket_phone: null, holder_link: null })
})

/** The port for notifications to clients and notices to owners that wait to be sent. */
export const pgNotificationQueue = Effect.map(SqlClient, (sql): Context.Tag.Service<NotificationQueue> => {
  const read = (selected: Fragment): ReturnType<Context.Tag.Service<NotificationQueue>["due"]> =>
    sql<DueRow>`
        select /* workshop due notifications */ row_to_json(m) as message, coalesce(row_to_json(t), row_to_json(n)) as payload,
          (select a.phone from workshop.client_account a where a.id = t.client_id) as account_phone,
          case when t.client_id is null then (
            select json_build_object('ticket_phone', k.client_phone, 'holder_link', (
              select row_to_json(l) from workshop.client_link l where l.shop_id = k.shop_id
                and l.client_id = (select b.id from workshop.client_account b where b.phone = k.client_phone)
            )) from workshop.ticket k where k.shop_id = t.shop_id and k.id = t.ticket_id
          ) end as ticket
        from (${selected}) m
        left join workshop.notification t on t.shop_id = m.shop_id and t.id = m.id
        left join workshop.notice n on n.shop_id = m.shop_id and n.id = m.id
        order by m.due_at, m.id`.pipe(
      Effect.map((rows) =>
        rows.map((row) => {
          const { message } = row
          const record = withoutSequence(row.payload)
          const notification =
            message.receiver === "client" ? withChannel(record as NotificationRecord, contactsOf(row)) : record
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
