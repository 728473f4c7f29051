import type { SqlClient } from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { type ClientId, Limits, type NotificationRecord, type OfferRecord } from "@workshop/core"
import { type Directory, shownWhileBlocked } from "@workshop/core/store"
import { type Context, Effect } from "effect"
import { available } from "./Sql.js"
import { type Placed, unplaced } from "./Tables.js"

const STATUSES = Object.keys(shownWhileBlocked)
/** The statuses of offers that a client sees although they block the shop. */
const SHOWN = STATUSES.filter((status) => shownWhileBlocked[status as OfferRecord["status"]])

/** What a client sees of all shops. Each shop costs a look into the index, and the rows of it that are shown. */
export const clientLists = (sql: SqlClient): Pick<Context.Tag.Service<Directory>, "offers" | "inbox"> => {
  const latest = (rows: Fragment) =>
    sql`select * from ${rows} order by created_at desc, place desc limit ${Limits.client_list_of_shop_max}`

  /** The shops of the rows that a condition means, one after another: Postgres would otherwise read all of the rows. */
  const shopsOf = (table: "offer" | "notification", isMeant: Fragment, whom: Fragment) => {
    const next = (isAfter: Fragment) =>
      sql`(select x.shop_id from ${sql(table)} x where ${isMeant}${isAfter} order by x.shop_id limit 1)`
    return sql`select c.whom, ${next(sql``)} as shop_id from (${whom}) c (whom)
      union all select c.whom, ${next(sql` and x.shop_id > c.shop_id`)} from shops c where c.shop_id is not null`
  }

  return {
    offers: (id: ClientId) => {
      const shops = shopsOf(
        "offer",
        sql`x.phone = c.whom`,
        sql`select a.phone from client_account a where a.id = ${id}`
      )
      const inStatus = latest(sql`offer x
        where x.phone = c.whom and x.shop_id = c.shop_id and x.status = s.status and (s.status = any(${SHOWN}) or l.blocked_at is null)`)
      return sql<{ readonly offer: Placed<OfferRecord> }>`
        with /* workshop read offers */ recursive shops as (${shops}) select row_to_json(o) as offer from shops c
        left join client_link l on l.shop_id = c.shop_id and l.client_id = ${id}
        cross join lateral (${latest(sql`(select o.* from unnest(${STATUSES}::text[]) s (status) cross join lateral (${inStatus}) o) x`)}) o
        order by o.created_at, o.place`.pipe(
        Effect.map((rows) => rows.map(({ offer }) => unplaced<OfferRecord>(offer))),
        available
      )
    },
    inbox: (id: ClientId) =>
      sql<{ readonly notification: Placed<NotificationRecord> }>`
        with /* workshop read inbox */ recursive shops as (${shopsOf("notification", sql`x.client_id = c.whom`, sql`select ${id}::uuid`)})
        select row_to_json(n) as notification from shops c
        cross join lateral (${latest(sql`notification x where x.client_id = c.whom and x.shop_id = c.shop_id`)}) n
        order by n.created_at, n.place`.pipe(
        Effect.map((rows) => rows.map(({ notification }) => unplaced<NotificationRecord>(notification))),
        available
      )
  }
}
