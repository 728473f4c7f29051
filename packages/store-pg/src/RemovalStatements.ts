import { type TableName, tables } from "./Tables.js"

/** Removes rows by their ids, as often as they are written. */
export const removing = {
  delivery: {
    name: "remove delivery",
    text: `delete from delivery d using unnest($1::uuid[], $2::uuid[]) q (shop_id, event_id)
           where d.shop_id = q.shop_id and d.event_id = q.event_id`
  },
  message: {
    name: "remove message",
    text: `delete from message m using unnest($1::uuid[], $2::uuid[]) q (shop_id, id)
           where m.shop_id = q.shop_id and m.id = q.id`
  },
  webhook: {
    name: "remove webhook",
    text: "delete from webhook w using unnest($1::uuid[], $2::uuid[]) q (shop_id, id) where w.shop_id = q.shop_id"
  }
} as const

/** Rows of other tables go rarely, by their whole key. Looked up one by one, see the loading of remembered answers. */
const removal = <Name extends TableName>(table: Name) => ({
  name: `remove ${table}`,
  text: `delete from ${table} t using (
      select r.shop_id, r.place from json_populate_recordset(null::${table}, $1) q cross join lateral (
        select r.shop_id, r.ctid as place from ${table} r
        where ${tables[table].key.map((column) => `r.${column} = q.${column}`).join(" and ")} limit 1
      ) r
    ) f where t.ctid = f.place and t.shop_id = f.shop_id`
})

/** Removes rows by their whole key. */
export const rarelyRemoving = {
  client_link: removal("client_link"),
  offer: removal("offer"),
  notification: removal("notification"),
  remembered: removal("remembered")
} as const

/** What is never changed but to erase a client: by functions, as the service's role may not update these tables. */
export const rewriting = {
  event: {
    name: "rewrite event",
    text: "select rewrite_events($1)"
  },
  attempt: {
    name: "rewrite attempt",
    text: "select rewrite_attempts($1)"
  }
} as const
