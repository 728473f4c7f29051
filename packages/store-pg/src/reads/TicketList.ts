import type { SqlClient } from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { type Instant, Limits, type ShopId } from "@workshop/core"
import {
  IDENTIFIERS_PER_MS,
  narrowestFilter,
  ServiceLimits,
  type TicketFilter,
  type TicketOrder
} from "@workshop/core/store"
import { VISIBLE_LINK } from "../commands/LoadStatements.js"
import { tables } from "../Tables.js"

const { key, immutableColumns, updatedColumns } = tables.ticket

/** The columns of a ticket in a list: all except the history, which no list shows and which would make pages larger. */
const LIST_COLUMNS = [...key, ...immutableColumns, ...updatedColumns.filter((column) => column !== "history")]
  .map((name) => `t.${name}`)
  .join(", ")

/** Whether a list is read state by state, which is fastest if there is no other filter. */
const isByState = (filter: TicketFilter, { _tag }: TicketOrder): boolean =>
  _tag === "Newest" &&
  [filter.number, filter.client_id, filter.phone, filter.external_ref].every((filterValue) => filterValue === undefined)

/**
 * Whether a list is read by the index of phone numbers. Its ORDER BY then includes the number, although it is constant,
 * because otherwise, for a number with many tickets, Postgres would scan the shop's newest tickets until it has found
 * enough with that number.
 */
const isByPhone = ({ phone, ...others }: TicketFilter): boolean =>
  phone !== undefined &&
  [others.number, others.client_id, others.external_ref].every((filterValue) => filterValue === undefined)

/**
 * The condition that a ticket belongs to a client. With a reference or a ticket number its form prevents an index,
 * because Postgres knows only the average number of tickets per client, and would read all tickets of a client who has
 * many.
 */
const hasClient = (sql: SqlClient, { external_ref, number }: TicketFilter, client: Fragment) =>
  external_ref === undefined && number === undefined
    ? sql`t.client_id = ${client}`
    : sql`t.client_id is not distinct from ${client}`

/** The conditions of a filter. Each has its own index, which also has the order of the list. */
const conditions = (sql: SqlClient, filter: TicketFilter, client = sql`l.client_id`): ReadonlyArray<Fragment> => {
  const { state, number, client_id, phone, external_ref, tracking_code, created_after, created_before } = filter
  return [
    ...(state === undefined ? [] : [state.length === 1 ? sql`t.state = ${state[0]!}` : sql`t.state = any(${state})`]),
    ...(number === undefined ? [] : [sql`t.number = ${number}`]),
    // Joins the link, so that neither the plan nor the rows that are read depend on clients whom the shop may not see.
    ...(client_id === undefined ? [] : [hasClient(sql, filter, client)]),
    ...(phone === undefined ? [] : [sql`t.client_phone = ${phone}`]),
    ...(external_ref === undefined ? [] : [sql`t.external_ref = ${external_ref}`]),
    ...(tracking_code === undefined ? [] : [sql`t.tracking_code = ${tracking_code}`]),
    ...(created_after === undefined ? [] : [sql`t.created_at >= ${created_after}`]),
    ...(created_before === undefined ? [] : [sql`t.created_at < ${created_before}`])
  ]
}

/** SQL of the first id that can be made at an instant. */
const firstIdAt = (sql: SqlClient, ms: Fragment) =>
  sql`(lpad(to_hex(greatest(${ms}, 0)), 12, '0') || repeat('0', 20))::uuid`

/**
 * The bounds of the ids in a list by creation, from the filters and the cursor. Without these, the bounds cover all
 * ids.
 */
const idBounds = (
  sql: SqlClient,
  shop_id: ShopId,
  { created_after, created_before }: TicketFilter,
  after: string | null
) => {
  const from =
    created_after === undefined
      ? sql`'00000000-0000-0000-0000-000000000000'::uuid`
      : firstIdAt(sql, sql`${created_after}::bigint`)
  const lastId = after === null ? sql`'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid` : sql`${after}::uuid`
  if (created_before === undefined) return { from, until: lastId }
  // The time in an id is never before the instant at which the id was made, and may be after it by `identifiersAhead_ms`
  // of core.
  const counterInstant = sql`(select coalesce(h.id_counter, 0) / ${sql.literal(String(IDENTIFIERS_PER_MS))} from workshop.shop_head h where h.shop_id = ${shop_id})`
  return { from, until: sql`least(${lastId}, ${firstIdAt(sql, sql`${created_before}::bigint + ${counterInstant}`)})` }
}

/**
 * The last change before an instant. It is found by binary search, because `updated_at` never decreases along
 * `change_seq`, so no index on `updated_at` is needed.
 */
const lastChangeBefore = (sql: SqlClient, shop_id: ShopId, since: Instant) =>
  sql`(with recursive halving (low, high) as (
          select 0::bigint, coalesce((select t.change_seq from workshop.ticket t where t.shop_id = ${shop_id} order by t.change_seq desc limit 1), 0)
          union all
          select case when t.updated_at < ${since} then t.change_seq else h.low end,
            case when t.updated_at < ${since} then h.high else (h.low + h.high) / 2 end
          from halving h cross join lateral (
            select t.change_seq, t.updated_at from workshop.ticket t
            where t.shop_id = ${shop_id} and t.change_seq > (h.low + h.high) / 2 order by t.change_seq limit 1
          ) t where h.low < h.high
        ) select low from halving where low >= high)`

/**
 * The condition that a ticket changed at or after an instant. The condition on `change_seq` selects the same rows. The
 * sum keeps the planner from estimating that few rows are later than a recent instant, because it would then read all
 * tickets of the shop.
 */
const changedFrom = (sql: SqlClient, since: Instant) => sql`t.updated_at + 0 >= ${since}`

/** The join of a filter's client, if the shop may see the client. */
const visibleClient = (sql: SqlClient, shop_id: ShopId, { client_id }: TicketFilter) =>
  sql`(select ${shop_id}::uuid as shop_id, ${client_id}::uuid as id) q join ${sql.literal(VISIBLE_LINK)}`

/**
 * The name of a list's statement. Several indexes are possible for a search, and the values decide which is best, so
 * Postgres plans a search for its values each time (`DEPENDS_ON_VALUES`).
 */
export const statementNameOf = (filter: TicketFilter): "list tickets" | "search tickets" =>
  filter.client_id !== undefined || Object.values(filter).filter((filterValue) => filterValue !== undefined).length > 1
    ? "search tickets"
    : "list tickets"

/** The distinct states; for a filter without states a null, because `values` needs a row. */
const statesOf = (state: ReadonlyArray<string>): ReadonlyArray<string | null> =>
  state.length === 0 ? [null] : [...new Set(state)]

/**
 * The limits for a page of the default and of the maximum size, plus one row that shows whether there is a next page.
 */
const PAGE_LIMITS: ReadonlySet<number> = new Set([Limits.page_default + 1, Limits.page_max + 1])

/**
 * The limit of a list. Usual limits are literals in the text, because with a parameter Postgres would not know that few
 * tickets are needed, and would plan each list of a large shop again. Other limits are parameters, so that the number
 * of statements stays below the maximum that a connection prepares.
 */
const limitOf = (sql: SqlClient, limit: number): Fragment =>
  PAGE_LIMITS.has(limit) ? sql.literal(String(limit)) : sql`${limit}`

/**
 * The time of the shop's last change. The list's own statement reads it, because a separate statement could miss a
 * change in between.
 */
const lastChange = (sql: SqlClient, shop_id: ShopId): Fragment =>
  sql`(select t.updated_at::double precision from workshop.ticket t where t.shop_id = ${shop_id} order by t.change_seq desc limit 1)`

/** The parts of a statement that reads tickets. */
export interface TicketList {
  /** The query of the tickets. */
  readonly rows: Fragment
  /**
   * The order of the tickets. Omitted for a single ticket, because Postgres 16 and later would scan a whole index in
   * that order.
   */
  readonly orderBy?: Fragment | undefined
  /** The CTEs that `rows` reads. */
  readonly ctes?: Fragment
  /** `ListedTickets.unread_from`. */
  readonly unreadFrom?: Fragment
  /** `ListedTickets.last_change_at`. */
  readonly lastChangeAt?: Fragment
}

/**
 * Selects the changes that match a filter. If at most `max` changes are left, it reads them in order. Otherwise, if
 * the filter's index has at most `max` tickets, it reads and sorts these. Otherwise it reads the next `max` changes.
 */
const filteredChanges = (
  sql: SqlClient,
  shop_id: ShopId,
  filter: TicketFilter,
  part: TicketFilter,
  { since, after, max = ServiceLimits.changes_read_max }: Extract<TicketOrder, { readonly _tag: "Changes" }>,
  count: number
): TicketList => {
  const changeSeq = sql`t.change_seq`
  const limit = limitOf(sql, count)
  const client = sql`(select l.client_id from ${visibleClient(sql, shop_id, filter)})`
  const isMeant = sql.and([
    ...conditions(sql, filter, client),
    changedFrom(sql, since),
    sql`t.change_seq > (select place from began)`
  ])
  const selectedTickets = ticketList(sql, shop_id, part, { _tag: "Newest", after: null }, max + 1)
  const ctes = sql`began as materialized (
      select ${after === null ? lastChangeBefore(sql, shop_id, since) : sql`${after}::bigint`} as place
    ), rest as materialized (
      select t.change_seq, t.updated_at from workshop.ticket t where t.shop_id = ${shop_id} and t.change_seq > (select place from began)
      order by ${changeSeq} offset ${max} limit 1
    ), few as materialized (${selectedTickets.rows}), unread as materialized (
      select r.* from rest r where (select count(*) from few) > ${max}
    ), by_filter as materialized (
      select exists (select from rest) and not exists (select from unread) as chosen
    )`
  const rows = sql`select * from (
      (select ${sql.literal(LIST_COLUMNS)} from few t where (select chosen from by_filter) and ${isMeant} order by ${changeSeq} limit ${limit})
      union all
      (select ${sql.literal(LIST_COLUMNS)} from workshop.ticket t where not (select chosen from by_filter) and t.shop_id = ${shop_id} and ${isMeant}
        and t.change_seq < coalesce((select change_seq from unread), ${Number.MAX_SAFE_INTEGER}) order by ${changeSeq} limit ${limit})
    ) t`
  const unreadFrom = sql`(select row_to_json(u) from unread u)`
  return { rows, orderBy: changeSeq, ctes, unreadFrom, lastChangeAt: lastChange(sql, shop_id) }
}

/** Selects the tickets that match a filter and further conditions. */
const selectMatching = (
  sql: SqlClient,
  shop_id: ShopId,
  filter: TicketFilter,
  ...extraConditions: ReadonlyArray<Fragment>
) =>
  sql`select ${sql.literal(LIST_COLUMNS)} from workshop.ticket t where ${sql.and([sql`t.shop_id = ${shop_id}`, ...conditions(sql, filter), ...extraConditions])}`

/** Selects tickets for each row of `of`, with an order and a limit for each row. */
const forEach = (sql: SqlClient, of: Fragment, rows: Fragment, orderAndLimit: Fragment) =>
  sql`select t.* from ${of} cross join lateral (${rows} ${orderAndLimit}) t`

const inOrderOfChanges = (
  sql: SqlClient,
  shop_id: ShopId,
  filter: TicketFilter,
  { since, after }: Extract<TicketOrder, { readonly _tag: "Changes" }>
): Fragment => {
  const place = after === null ? lastChangeBefore(sql, shop_id, since) : sql`${after}`
  return selectMatching(sql, shop_id, filter, changedFrom(sql, since), sql`t.change_seq > ${place}`)
}

const newestFirst = (
  sql: SqlClient,
  shop_id: ShopId,
  filter: TicketFilter,
  order: Extract<TicketOrder, { readonly _tag: "Newest" }>,
  limit: Fragment
): Fragment => {
  const { from, until } = idBounds(sql, shop_id, filter, order.after)
  const { state, ...others } = filter
  if (filter.tracking_code === undefined && isByPhone(filter)) {
    const { phone, ...more } = filter
    return sql`${selectMatching(sql, shop_id, more, sql`t.client_phone is not null`)}
        and (t.client_phone, t.id) >= (${phone}, ${from}) and (t.client_phone, t.id) < (${phone}, ${until})`
  }
  if (filter.tracking_code !== undefined || state === undefined || !isByState(filter, order))
    return selectMatching(sql, shop_id, filter, sql`t.id >= ${from}`, sql`t.id < ${until}`)
  // Each state is read separately, because no index has several states in one order, and a rare state would be searched
  // in all tickets. The ORDER BY includes the state, although it is constant, because Postgres would otherwise use the
  // index of all tickets.
  return forEach(
    sql,
    // The states are rows and not an array, because then the planner knows their number and does not plan each list
    // again.
    sql`(values ${sql.csv(statesOf(state).map((stateName) => sql`(${stateName}::text)`))}) s (state)`,
    selectMatching(
      sql,
      shop_id,
      others,
      sql`(t.state, t.id) >= (s.state, ${from})`,
      sql`(t.state, t.id) < (s.state, ${until})`
    ),
    sql`order by t.state desc, t.id desc limit ${limit}`
  )
}

const orderOf = (sql: SqlClient, filter: TicketFilter, { _tag }: TicketOrder): Fragment | undefined => {
  if (filter.tracking_code !== undefined) return undefined
  if (_tag === "Changes") return sql`t.change_seq`
  return isByPhone(filter) ? sql`t.client_phone desc, t.id desc` : sql`t.id desc`
}

/** The parts of the statement that reads a list of tickets. */
export const ticketList = (
  sql: SqlClient,
  shop_id: ShopId,
  filter: TicketFilter,
  order: TicketOrder,
  count: number
): TicketList => {
  const limit = limitOf(sql, count)
  const part = filter.tracking_code === undefined ? narrowestFilter(filter) : null
  if (order._tag === "Changes" && part !== null) return filteredChanges(sql, shop_id, filter, part, order, count)
  const orderBy = orderOf(sql, filter, order)
  const orderAndLimit = sql`${orderBy === undefined ? sql.literal("") : sql`order by ${orderBy}`} limit ${limit}`
  const tickets =
    order._tag === "Changes"
      ? inOrderOfChanges(sql, shop_id, filter, order)
      : newestFirst(sql, shop_id, filter, order, limit)
  const rows =
    filter.client_id === undefined ? tickets : forEach(sql, visibleClient(sql, shop_id, filter), tickets, orderAndLimit)
  const list = { rows: sql`${rows} ${orderAndLimit}`, orderBy }
  return order._tag === "Changes" ? { lastChangeAt: lastChange(sql, shop_id), ...list } : list
}
