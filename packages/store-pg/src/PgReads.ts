import { SqlClient } from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import {
  type ApiKeyRecord,
  type ClientAccount,
  type EventRecord,
  type Instant,
  type Phone,
  ServiceLimits,
  type ShopHead,
  type ShopId,
  type ShopRecord,
  type Webhook
} from "@workshop/core"
import {
  asSeen,
  blankCard,
  type CardRecord,
  type ClientLink,
  type CountedClient,
  IDENTIFIERS_PER_MS,
  type ListedTickets,
  meantFirst,
  openStates,
  type Reads,
  type TicketFilter,
  type TicketOrder
} from "@workshop/core/store"
import { type Context, Effect } from "effect"
import { VISIBLE_LINK } from "./LoadStatements.js"
import { available } from "./Sql.js"
import { type Placed, type TicketRow, ticketOf, unplaced } from "./Tables.js"
import { unopened, type WebhookSecrets } from "./WebhookSecrets.js"

/** Whether a list is best gathered state by state: where nothing else narrows it down. */
const isByState = (filter: TicketFilter, { _tag }: TicketOrder): boolean =>
  _tag === "Newest" &&
  [filter.number, filter.client_id, filter.phone, filter.external_ref].every((one) => one === undefined)

/** The conditions of a filter, each served by an index of its own that bears the order of the list too. */
const conditions = (sql: SqlClient, filter: TicketFilter): ReadonlyArray<Fragment> => {
  const { state, number, client_id, phone, external_ref, tracking_code, created_after, created_before } = filter
  return [
    ...(state === undefined ? [] : [state.length === 1 ? sql`t.state = ${state[0]!}` : sql`t.state = any(${state})`]),
    ...(number === undefined ? [] : [sql`t.number = ${number}`]),
    // By the link, so that neither the plan nor what is read depends on whom the shop does not see.
    ...(client_id === undefined ? [] : [sql`t.client_id = l.client_id`]),
    ...(phone === undefined ? [] : [sql`t.client_phone = ${phone}`]),
    ...(external_ref === undefined ? [] : [sql`t.external_ref = ${external_ref}`]),
    ...(tracking_code === undefined ? [] : [sql`t.tracking_code = ${tracking_code}`]),
    ...(created_after === undefined ? [] : [sql`t.created_at >= ${created_after}`]),
    ...(created_before === undefined ? [] : [sql`t.created_at < ${created_before}`])
  ]
}

/** The first identifier that a moment can have. */
const firstIdAt = (sql: SqlClient, ms: Fragment) =>
  sql`(lpad(to_hex(greatest(${ms}, 0)), 12, '0') || repeat('0', 20))::uuid`

/** Where a list by creation begins and ends among the identifiers. The last bounds are those of a list that has no other. */
const bounds = (
  sql: SqlClient,
  shop_id: ShopId,
  { created_after, created_before }: TicketFilter,
  after: string | null
) => {
  const from =
    created_after === undefined
      ? sql`'00000000-0000-0000-0000-000000000000'::uuid`
      : firstIdAt(sql, sql`${created_after}::bigint`)
  const last = after === null ? sql`'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid` : sql`${after}::uuid`
  if (created_before === undefined) return { from, until: last }
  // Identifiers are never earlier than the instants at which they were made, and may be so much later: see `identifiersAhead` in core.
  const ahead = sql`(select coalesce(h.ids_made, 0) / ${sql.literal(String(IDENTIFIERS_PER_MS))} from shop_head h where h.shop_id = ${shop_id})`
  return { from, until: sql`least(${last}, ${firstIdAt(sql, sql`${created_before}::bigint + ${ahead}`)})` }
}

/**
 * The last change before an instant. As `updated_at` never falls along the changes, halving finds it in as many looks as the number
 * of changes has binary digits, and no index of `updated_at` has to be kept.
 */
const lastBefore = (sql: SqlClient, shop_id: ShopId, since: Instant) =>
  sql`(with recursive halving (low, high) as (
          select 0::bigint, coalesce((select t.change_seq from ticket t where t.shop_id = ${shop_id} order by t.change_seq desc limit 1), 0)
          union all
          select case when t.updated_at < ${since} then t.change_seq else h.low end,
            case when t.updated_at < ${since} then h.high else (h.low + h.high) / 2 end
          from halving h cross join lateral (
            select t.change_seq, t.updated_at from ticket t
            where t.shop_id = ${shop_id} and t.change_seq > (h.low + h.high) / 2 order by t.change_seq limit 1
          ) t where h.low < h.high
        ) select low from halving where low >= high)`

/** The tickets of a list, and its order, which of a tracking code's one ticket is not asked. */
const listed = (sql: SqlClient, shop_id: ShopId, filter: TicketFilter, order: TicketOrder, limit: number) => {
  const by = order._tag === "Newest" ? sql`t.id desc` : sql`t.change_seq`
  const { state, tracking_code, ...others } = filter
  // Asked for the order of one ticket, Postgres would rather read the whole index that has the order.
  const inOrder = (by: Fragment) => (tracking_code === undefined ? sql`order by ${by}` : sql.literal(""))
  const matching = (given: TicketFilter, ...more: ReadonlyArray<Fragment>) =>
    sql`select * from ticket t where ${sql.and([sql`t.shop_id = ${shop_id}`, ...conditions(sql, given), ...more])}`
  const each = (of: Fragment, found: Fragment, by: Fragment) =>
    sql`select t.* from ${of} cross join lateral (${found} ${inOrder(by)} limit ${limit}) t`
  const rows = () => {
    if (order._tag === "Changes") {
      const after = order.after === null ? lastBefore(sql, shop_id, order.since) : sql`${order.after}`
      return matching(filter, sql`t.updated_at >= ${order.since}`, sql`t.change_seq > ${after}`)
    }
    const { from, until } = bounds(sql, shop_id, filter, order.after)
    if (state === undefined || tracking_code !== undefined || !isByState(filter, order))
      return matching(filter, sql`t.id >= ${from}`, sql`t.id < ${until}`)
    // Each state's in their order, as no index has those of several in one: rare ones would be looked for among all others. The
    // order names the state, which is one and the same, so that the index of all tickets cannot take the place of theirs.
    const ofState = [sql`(t.state, t.id) >= (s.state, ${from})`, sql`(t.state, t.id) < (s.state, ${until})`]
    return each(
      sql`unnest(${[...new Set(state)]}::text[]) s (state)`,
      matching(others, ...ofState),
      sql`t.state desc, t.id desc`
    )
  }
  const found = () => {
    if (filter.client_id === undefined) return rows()
    const one = sql`(select ${shop_id}::uuid as shop_id, ${filter.client_id}::uuid as id) q join ${sql.literal(VISIBLE_LINK)}`
    return each(one, rows(), by)
  }
  return { rows: sql`${found()} ${inOrder(by)} limit ${limit}`, by: tracking_code === undefined ? by : undefined }
}

interface FoundTicket {
  readonly ticket: TicketRow
  readonly account: ClientAccount | null
  readonly link: ClientLink | null
}

interface FoundTickets {
  readonly shop: ShopRecord
  readonly tickets: ReadonlyArray<FoundTicket> | null
  readonly last_change_at: Instant | null
}

interface FoundClient {
  readonly shop: ShopRecord
  readonly account: ClientAccount
  readonly link: ClientLink
  readonly card: CardRecord | null
  readonly tickets_open: number
  readonly tickets_total: number
}

/** Ids come from the directory, so a shop that is not there is a bug of the caller. */
const theShop = <Row>(rows: ReadonlyArray<Row>, shop_id: ShopId): Effect.Effect<Row> =>
  rows[0] === undefined ? Effect.dieMessage(`No shop ${shop_id}`) : Effect.succeed(rows[0])

const seenTickets = ({ shop, tickets, last_change_at }: FoundTickets): ListedTickets => ({
  shop,
  last_change_at,
  tickets: (tickets ?? []).map(({ ticket, account, link }) => ({
    record: ticketOf(ticket),
    client: asSeen(account ?? undefined, link ?? undefined)
  }))
})

const seenClient = ({ shop, account, link, card, ...counts }: FoundClient): CountedClient | null => {
  const client = asSeen(account, link)
  return client === null ? null : { client, card: card ?? blankCard(shop.id, client.id), shop, ...counts }
}

/** When a ticket of the shop last changed: read in the statement of the list, since a change between two reads would be in neither. */
const lastChange = (sql: SqlClient, shop_id: ShopId): Fragment =>
  sql`(select t.updated_at::double precision from ticket t where t.shop_id = ${shop_id} order by t.change_seq desc limit 1)`

/**
 * Whoever holds a number; for a number that nobody holds, an id that no client has. The next number's account is read either
 * way, so that both take the same steps.
 */
const holderOf = (sql: SqlClient, shop_id: ShopId, phone: Phone) =>
  sql`coalesce((select case when n.phone = ${phone} then n.id end from client_account n
      where n.phone >= ${phone} order by n.phone limit 1), ${shop_id})`

/** The shop's reads, one statement each. */
export const pgReads = (secrets: WebhookSecrets) =>
  Effect.map(SqlClient, (sql): Context.Tag.Service<Reads> => {
    const newestFirst = sql`t.id desc`

    /**
     * The shop with the tickets that a subquery yields, with their clients; in an order, where it may yield several. For one
     * none is asked: from 16 on Postgres would rather read the whole index that has it than sort the one.
     */
    const withClients = (
      title: string,
      shop_id: ShopId,
      tickets: Fragment,
      by?: Fragment,
      last_change_at: Fragment = sql`null`
    ) =>
      sql<FoundTickets>`select ${sql.literal(`/* workshop ${title} */`)} row_to_json(s) as shop, (
        select json_agg(json_build_object('ticket', t, 'account', a, 'link', l)${by === undefined ? sql.literal("") : sql` order by ${by}`})
        from (${tickets}) t
        left join client_account a on a.id = t.client_id
        left join client_link l on l.shop_id = t.shop_id and l.client_id = t.client_id
      ) as tickets, ${last_change_at} as last_change_at
      from shop s where s.id = ${shop_id}`.pipe(
        Effect.flatMap((rows) => theShop(rows, shop_id)),
        Effect.map(seenTickets),
        available
      )

    const visibleLink = sql.literal(VISIBLE_LINK)

    return {
      shop: (shop_id) =>
        sql<{ readonly shop: ShopRecord; readonly head: ShopHead; readonly webhook: Webhook | null }>`
        select /* workshop read shop */ row_to_json(s) as shop, row_to_json(h) as head, row_to_json(w) as webhook
        from shop s join shop_head h on h.shop_id = s.id left join webhook w on w.shop_id = s.id
        where s.id = ${shop_id}`.pipe(
          available,
          Effect.flatMap(([found]) => {
            if (found?.webhook == null) return Effect.succeed(found ?? null)
            return Effect.mapBoth(secrets.open(found.webhook), {
              onFailure: unopened,
              onSuccess: (webhook) => ({ ...found, webhook })
            })
          })
        ),
      ticket: (shop_id, id) =>
        withClients("read ticket", shop_id, sql`select * from ticket t where t.shop_id = ${shop_id} and t.id = ${id}`),
      tickets: (shop_id, filter, order, limit) => {
        const { rows, by } = listed(sql, shop_id, filter, order, limit)
        const changed = order._tag === "Changes" ? lastChange(sql, shop_id) : undefined
        return withClients("list tickets", shop_id, rows, by, changed)
      },
      ticketsOfNumber: (shop_id, number, limit) => {
        // With `offset 0` the few are found before they are put in order; else all tickets would be read in that order for them.
        const ofNumber = sql`t.shop_id = ${shop_id} and t.number = ${number}`
        return withClients(
          "read tickets of number",
          shop_id,
          sql`select * from ticket t where t.shop_id = ${shop_id} and t.id in (
            (select t.id from ticket t where ${ofNumber} and t.state = any(${openStates}) order by ${newestFirst} limit 1)
            union (select t.id from ticket t where ${ofNumber} order by ${newestFirst} limit ${limit + 1})) offset 0`,
          newestFirst
        ).pipe(
          Effect.map((seen) => ({ ...seen, tickets: meantFirst(seen.tickets, ({ record }) => record.state, limit) }))
        )
      },
      client: (shop_id, by) =>
        sql<FoundClient>`select /* workshop read client */ row_to_json(s) as shop, row_to_json(a) as account, row_to_json(l) as link,
          row_to_json(c) as card,
          (select count(*)::integer from ticket t where t.shop_id = l.shop_id and t.client_id = l.client_id
            and t.state = any(${openStates})) as tickets_open,
          (select count(*)::integer from ticket t where t.shop_id = l.shop_id and t.client_id = l.client_id) as tickets_total
        from (select ${shop_id}::uuid as shop_id, ${"id" in by ? sql`${by.id}` : holderOf(sql, shop_id, by.phone)}::uuid as id) q
        join ${visibleLink}
        join client_account a on a.id = l.client_id
        join shop s on s.id = l.shop_id
        left join loyalty_card c on c.shop_id = l.shop_id and c.client_id = l.client_id`.pipe(
          Effect.map(([found]) => (found === undefined ? null : seenClient(found))),
          available
        ),
      keys: (shop_id) =>
        sql<{ readonly key: Placed<ApiKeyRecord> }>`select /* workshop read keys */ row_to_json(k) as key from api_key k
        where k.shop_id = ${shop_id} order by k.created_at desc, k.place desc limit ${ServiceLimits.list_max}`.pipe(
          Effect.map((rows) => rows.map(({ key }) => unplaced<ApiKeyRecord>(key)).reverse()),
          available
        ),
      events: (shop_id, { before = Number.MAX_SAFE_INTEGER, limit = ServiceLimits.list_max } = {}) =>
        sql<{ readonly event: EventRecord }>`select /* workshop read events */ row_to_json(e) as event from event e
        where e.shop_id = ${shop_id} and e.seq < ${before} order by e.seq desc limit ${limit}`.pipe(
          Effect.map((rows) => rows.map(({ event }) => event).reverse()),
          available
        )
    }
  })
