import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import {
  type ApiKeyRecord,
  type ClientAccount,
  type ClientId,
  Limits,
  type NotificationRecord,
  type OfferRecord,
  type ShopId,
  type ShopRecord
} from "@workshop/core"
import {
  type Directory,
  newShopHead,
  type OwnedRef,
  ServiceLimits,
  type ShopsAhead,
  type TrackedTicket,
  trackedFields,
  trackedShopFields,
  visibleWhileBlocked
} from "@workshop/core/store"
import { type Context, Effect } from "effect"
import { HOME_CELL } from "../cells/CellLocations.js"
import { NOT_BLOCKED } from "../commands/LoadStatements.js"
import { failureOf } from "../connection/PgFailure.js"
import { runRead } from "../connection/Sql.js"
import { type WithSequence, withoutSequence } from "../Tables.js"

/**
 * The statuses of an offer, with open first, because an offer that was read as open may be read again with a later
 * status.
 */
export const OFFER_STATUSES = Object.keys(visibleWhileBlocked) as ReadonlyArray<OfferRecord["status"]>
/** The statuses of offers that a client who blocks the shop can still see. */
const SHOWN_WHILE_BLOCKED = OFFER_STATUSES.filter((status) => visibleWhileBlocked[status])

/**
 * The reads of a client's offers and notifications in all shops. Each shop costs one index look-up and the returned
 * rows.
 */
const clientLists = (sql: SqlClient): Pick<Context.Tag.Service<Directory>, "offers" | "inbox"> => {
  const latestOf = (rows: Fragment) =>
    sql`select * from ${rows} order by created_at desc, insert_order desc limit ${Limits.client_list_of_shop_max}`

  /**
   * Selects the shops with rows of a client. It looks up the next shop id repeatedly, because `distinct` would read all
   * rows.
   */
  const shopsOf = (table: "offer" | "notification", isClients: Fragment, whom: Fragment) => {
    const nextRows = (isAfter: Fragment) =>
      sql`(select x.shop_id from workshop.${sql(table)} x where ${isClients}${isAfter} order by x.shop_id limit 1)`
    return sql`select c.whom, ${nextRows(sql``)} as shop_id, 1 as nth from (${whom}) c (whom)
      union all select c.whom, ${nextRows(sql` and x.shop_id > c.shop_id`)}, c.nth + 1 from shops c
        where c.shop_id is not null and c.nth < ${Limits.client_list_shops_max}`
  }

  return {
    offers: (id: ClientId) => {
      const shops = shopsOf(
        "offer",
        sql`x.phone = c.whom`,
        sql`select a.phone from workshop.client_account a where a.id = ${id}`
      )
      // The subquery has `limit 1`, because Postgres would otherwise scan the links of all shops.
      const link = sql`select * from workshop.client_link l where l.shop_id = c.shop_id and l.client_id = ${id} limit 1`
      const inStatus = latestOf(sql`workshop.offer x
        where x.phone = c.whom and x.shop_id = c.shop_id and x.status = s.status and (s.status = any(${SHOWN_WHILE_BLOCKED}) or ${sql.literal(NOT_BLOCKED)})`)
      return sql<{ readonly offer: WithSequence<OfferRecord> }>`
        with /* workshop read offers */ recursive shops as (${shops}) select row_to_json(o) as offer from shops c
        left join lateral (${link}) l on true
        cross join lateral (${latestOf(sql`(select o.* from unnest(${[...OFFER_STATUSES]}::text[]) s (status) cross join lateral (${inStatus}) o) x`)}) o
        order by o.created_at, o.insert_order`.pipe(
        Effect.map((rows) => rows.map(({ offer }) => withoutSequence<OfferRecord>(offer))),
        runRead
      )
    },
    inbox: (id: ClientId) =>
      sql<{ readonly notification: WithSequence<NotificationRecord> }>`
        with /* workshop read inbox */ recursive shops as (${shopsOf("notification", sql`x.client_id = c.whom`, sql`select ${id}::uuid`)})
        select row_to_json(n) as notification from shops c
        cross join lateral (${latestOf(sql`workshop.notification x where x.client_id = c.whom and x.shop_id = c.shop_id`)}) n
        order by n.created_at, n.insert_order`.pipe(
        Effect.map((rows) => rows.map(({ notification }) => withoutSequence<NotificationRecord>(notification))),
        runRead
      )
  }
}

const tableOf = { Ticket: "ticket", Offer: "offer", Key: "api_key" } as const satisfies Record<OwnedRef["_tag"], string>

/** Inserts a row with explicit column names, so that a column that a later release adds gets its default. */
export const insertRow = (sql: SqlClient, table: string, row: object) => {
  const columns = sql.csv(Object.keys(row).map((column) => sql`${sql(column)}`))
  return sql`insert into workshop.${sql(table)} (${columns})
    select ${columns} from json_populate_record(null::workshop.${sql(table)}, ${JSON.stringify(row)})`
}

/** The reads and writes of the table `mark`, which stores facts about the whole database. */
const databaseLabels = (sql: SqlClient) => ({
  hasShops: sql<{ readonly has: boolean }>`
    select /* workshop has shops */ exists (select from workshop.shop) as has`.pipe(
    Effect.map(([row]) => row!.has),
    runRead
  ),
  claimFirstShop: sql`
    insert /* workshop claim first shop */ into workshop.database_label (name) values ('first_shop') on conflict do nothing returning name`.pipe(
    Effect.map(({ length }) => length > 0),
    runRead
  ),
  isSandboxMade: sql<{ readonly marked: boolean }>`
    select /* workshop is sandbox made */ exists (select from workshop.database_label where name = 'sandbox') as marked`.pipe(
    Effect.map(([row]) => row!.marked),
    runRead
  ),
  markSandboxMade:
    sql`insert /* workshop mark sandbox made */ into workshop.database_label (name) values ('sandbox') on conflict do nothing`.pipe(
      Effect.asVoid,
      runRead
    )
})

/** An id that sorts before the id of every shop. */
const BEFORE_ALL_SHOPS = "00000000-0000-0000-0000-000000000000" as ShopId

/** The number of heads that one statement reads. */
const HEADS_AT_ONCE = 10_000

/**
 * The latest instant of all shops with ids after `after`. Reads 10,000 heads at a time. There is no index on it,
 * because every command would have to update the index.
 */
const latestInstantAfter = (sql: SqlClient, after: ShopId): Effect.Effect<number, SqlError> =>
  Effect.flatMap(
    sql<{ readonly latest: number; readonly last: ShopId | null }>`
      select /* workshop latest instant */ coalesce(max(last_recorded_at), 0)::double precision as latest,
        (array_agg(shop_id))[${sql.literal(String(HEADS_AT_ONCE))}] as last
      from (select shop_id, last_recorded_at from workshop.shop_head where shop_id > ${after} order by shop_id limit ${HEADS_AT_ONCE}) h`,
    ([row]) => {
      const { latest, last } = row!
      return last === null
        ? Effect.succeed(latest)
        : Effect.map(latestInstantAfter(sql, last), (later) => Math.max(latest, later))
    }
  )

const NONE_AHEAD: ShopsAhead = { count: 0, first: [] }

/** The shops with ids after `after` whose last instant is later than `of`. Reads 10,000 heads at a time. */
const shopsAheadAfter = (
  sql: SqlClient,
  of: number,
  after: ShopId,
  { count, first }: ShopsAhead = NONE_AHEAD
): Effect.Effect<ShopsAhead, SqlError> =>
  Effect.flatMap(
    sql<{ readonly ahead: ReadonlyArray<ShopId> | null; readonly last: ShopId | null }>`
      select /* workshop shops ahead */ json_agg(shop_id) filter (where last_recorded_at > ${of}) as ahead,
        (array_agg(shop_id))[${sql.literal(String(HEADS_AT_ONCE))}] as last
      from (select shop_id, last_recorded_at from workshop.shop_head where shop_id > ${after} order by shop_id limit ${HEADS_AT_ONCE}) h`,
    ([row]) => {
      const { ahead, last } = row!
      const ids = ahead ?? []
      const so_far = { count: count + ids.length, first: [...first, ...ids].slice(0, ServiceLimits.data_ahead_named) }
      return last === null ? Effect.succeed(so_far) : shopsAheadAfter(sql, of, last, so_far)
    }
  )

/**
 * A CTE that records the cells whose copies of the accounts in `changed` are outdated, in the statement that changes
 * the accounts.
 */
export const RECORD_STALE_COPIES = `noted as (
    insert into workshop.stale_account_copy (client_id, cell) select a.id, c.name from changed a cross join workshop.cell c
    where c.name <> '${HOME_CELL}' on conflict (client_id, cell) do update set change_number = excluded.change_number
  )`

/** The port for shops, their API keys and the accounts of clients. */
export const pgDirectory = Effect.map(
  SqlClient,
  (sql): Omit<Context.Tag.Service<Directory>, "changedShops"> => ({
    createShop: (shop) =>
      // One statement inserts both rows, so that none can exist without the other.
      sql`with /* workshop create shop */ opened as (${insertRow(sql, "shop", shop)}) ${insertRow(sql, "shop_head", newShopHead(shop.id))}`.pipe(
        Effect.asVoid,
        runRead
      ),
    listShops: (after, limit) =>
      sql<{ readonly shop: ShopRecord }>`select /* workshop list shops */ row_to_json(s) as shop from workshop.shop s
      where ${after === null ? sql`true` : sql`s.id > ${after}`} order by s.id limit ${limit}`.pipe(
        Effect.map((rows) => rows.map(({ shop }) => shop)),
        runRead
      ),
    listClients: (after, limit) =>
      sql<{
        readonly account: ClientAccount
      }>`select /* workshop list clients */ row_to_json(a) as account from workshop.client_account a
      where ${after === null ? sql`true` : sql`a.id > ${after}`} order by a.id limit ${limit}`.pipe(
        Effect.map((rows) => rows.map(({ account }) => account)),
        runRead
      ),
    ...databaseLabels(sql),
    latest: runRead(latestInstantAfter(sql, BEFORE_ALL_SHOPS)),
    shopsAhead: (of) => runRead(shopsAheadAfter(sql, of, BEFORE_ALL_SHOPS)),
    createClient: (account) =>
      sql`with /* workshop create client */ changed as (
        ${insertRow(sql, "client_account", account)} on conflict (phone) do nothing returning id
      ), ${sql.literal(RECORD_STALE_COPIES)} select id from changed`.pipe(
        Effect.map((rows) => rows.length > 0),
        runRead
      ),
    changeClient: (account) =>
      sql`with /* workshop change client */ changed as (
      update workshop.client_account a set given_name = n.given_name, family_name = n.family_name, phone = n.phone,
        hide_name = n.hide_name
      from json_populate_record(null::workshop.client_account, ${JSON.stringify(account)}) n
      where a.id = n.id and not exists (select from workshop.client_account o where o.phone = n.phone and o.id <> n.id)
      returning a.id
      ), ${sql.literal(RECORD_STALE_COPIES)} select id from changed`.pipe(
        Effect.map((rows) => rows.length > 0),
        // A concurrent change may have given the number to another account.
        Effect.catchIf(
          ({ cause }) => failureOf(cause).code === "23505",
          () => Effect.succeed(false)
        ),
        runRead
      ),
    keyByHash: (hash) =>
      sql<{ readonly key: WithSequence<ApiKeyRecord>; readonly shop: ShopRecord }>`
      select /* workshop key by hash */ row_to_json(k) as key, row_to_json(s) as shop
      from workshop.api_key k join workshop.shop s on s.id = k.shop_id where k.hash = ${hash}`.pipe(
        Effect.map(([row]) =>
          row === undefined ? null : { key: withoutSequence<ApiKeyRecord>(row.key), shop: row.shop }
        ),
        runRead
      ),
    keysUsed: (uses) =>
      sql`update /* workshop note key uses */ workshop.api_key k set last_used_at = greatest(coalesce(k.last_used_at, q.at), q.at)
      from unnest(${[...uses.keys()]}::uuid[], ${[...uses.values()]}::bigint[]) q (id, at) where k.id = q.id`.pipe(
        Effect.asVoid,
        runRead
      ),
    shopOf: ({ _tag, id }) =>
      sql<{
        readonly shop_id: ShopId
      }>`select /* workshop shop of */ shop_id from workshop.${sql(tableOf[_tag])} where id = ${id} limit 1`.pipe(
        Effect.map(([row]) => row?.shop_id ?? null),
        runRead
      ),
    tracked: (tracking_code) => {
      // Selects columns, because the whole row contains data that a tracking page must not show.
      const columns = (alias: string, fields: ReadonlyArray<string>) =>
        sql.csv(fields.map((field) => sql`${sql(`${alias}.${field}`)}`))
      return sql<TrackedTicket>`select /* workshop read tracked tickets */ row_to_json(x) as ticket, row_to_json(y) as shop
        from workshop.ticket t join workshop.shop s on s.id = t.shop_id
        cross join lateral (select ${columns("t", trackedFields)}) x cross join lateral (select ${columns("s", trackedShopFields)}) y
        where t.tracking_code = ${tracking_code} limit ${ServiceLimits.tracked_max}`.pipe(runRead)
    },
    holders: (phones) =>
      sql<{ readonly account: ClientAccount }>`
      select /* workshop read holders */ row_to_json(a) as account
      from unnest(${[...phones]}::text[]) q (phone)
      cross join lateral (select * from workshop.client_account a where a.phone = q.phone limit 1) a`.pipe(
        Effect.map((rows) => rows.map(({ account }) => account)),
        runRead
      ),
    account: (id) =>
      sql<{ readonly account: ClientAccount }>`
      select /* workshop read account */ row_to_json(a) as account from workshop.client_account a where a.id = ${id}`.pipe(
        Effect.map(([row]) => row?.account ?? null),
        runRead
      ),
    ...clientLists(sql)
  })
)
