import { SqlClient } from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import type { ApiKeyRecord } from "@workshop/core/domain/ApiKey"
import { asSeen, type ClientAccount, type ClientLink } from "@workshop/core/domain/Client"
import type { EventRecord } from "@workshop/core/domain/Event"
import type { ShopId } from "@workshop/core/domain/Identifier"
import type { Instant } from "@workshop/core/domain/Instant"
import { blankCard, type CardRecord } from "@workshop/core/domain/LoyaltyCard"
import type { Phone } from "@workshop/core/domain/Phone"
import type { ShopHead, ShopRecord } from "@workshop/core/domain/Shop"
import { isOpen, openStates } from "@workshop/core/domain/TicketLifecycle"
import type { Webhook } from "@workshop/core/domain/Webhook"
import type { CountedClient, ListedTickets, Reads, TicketFilter, TicketOrder } from "@workshop/core/ports/Reads"
import { type Context, Effect } from "effect"
import { available } from "./Sql.js"
import { type Placed, type TicketRow, ticketOf, unplaced } from "./Tables.js"
import { VISIBLE_LINK } from "./VisibleClient.js"
import { unopened, type WebhookSecrets } from "./WebhookSecrets.js"

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

/** Where a list goes on, and in which order. The two orders by change agree; each has the index that finds its beginning. */
const place = (
  sql: SqlClient,
  order: TicketOrder
): { readonly from: ReadonlyArray<Fragment>; readonly by: Fragment } => {
  if (order._tag === "Newest") {
    const { after } = order
    const from = after === null ? [] : [sql`(t.created_at, t.id) < (${after.created_at}::bigint, ${after.id}::uuid)`]
    return { from, by: sql`t.created_at desc, t.id desc` }
  }
  const since = sql`t.updated_at >= ${order.since}`
  return order.after === null
    ? { from: [since], by: sql`t.updated_at, t.change_seq` }
    : { from: [since, sql`t.change_seq > ${order.after}`], by: sql`t.change_seq` }
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

/** The ticket that `by-number` means, then at most `limit` others. */
const meantFirst = ({ tickets, ...seen }: ListedTickets, limit: number): ListedTickets => {
  const meant = tickets.find(({ record }) => isOpen(record.state)) ?? tickets[0]
  const others = tickets.filter((ticket) => ticket !== meant).slice(0, limit)
  return { ...seen, tickets: meant === undefined ? [] : [meant, ...others] }
}

/** The tickets of a list, and its order, which of a tracking code's one ticket is not asked. */
const listed = (sql: SqlClient, shop_id: ShopId, filter: TicketFilter, order: TicketOrder, limit: number) => {
  const { from, by } = place(sql, order)
  const { state, tracking_code, ...others } = filter
  // Asked for the order of one ticket, Postgres would rather read the whole index that has the order.
  const inOrder = tracking_code === undefined ? sql`order by ${by}` : sql.literal("")
  const matching = (given: TicketFilter, ...more: ReadonlyArray<Fragment>) =>
    sql`select * from ticket t where ${sql.and([sql`t.shop_id = ${shop_id}`, ...conditions(sql, given), ...from, ...more])}`
  const each = (of: Fragment, found: Fragment) =>
    sql`select t.* from ${of} cross join lateral (${found} ${inOrder} limit ${limit}) t`
  const rows = () => {
    if (filter.client_id !== undefined) {
      const one = sql`(select ${shop_id}::uuid as shop_id, ${filter.client_id}::uuid as id) q join ${sql.literal(VISIBLE_LINK)}`
      return each(one, matching(filter))
    }
    if (state === undefined || tracking_code !== undefined || !isByState(filter, order)) return matching(filter)
    // Each state's in their order, as no index has those of several in one: rare ones would be looked for among all others.
    return each(sql`unnest(${[...new Set(state)]}::text[]) s (state)`, matching(others, sql`t.state = s.state`))
  }
  return { rows: sql`${rows()} ${inOrder} limit ${limit}`, by: tracking_code === undefined ? by : undefined }
}

/** The shop's reads, one statement each. */
export const pgReads = (secrets: WebhookSecrets) =>
  Effect.map(SqlClient, (sql): Context.Tag.Service<Reads> => {
    const newestFirst = sql`t.created_at desc, t.id desc`

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
        ).pipe(Effect.map((seen) => meantFirst(seen, limit)))
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
        where k.shop_id = ${shop_id} order by k.created_at, k.place`.pipe(
          Effect.map((rows) => rows.map(({ key }) => unplaced<ApiKeyRecord>(key))),
          available
        ),
      events: (shop_id) =>
        sql<{ readonly event: EventRecord }>`select /* workshop read events */ row_to_json(e) as event from event e
        where e.shop_id = ${shop_id} order by e.seq`.pipe(
          Effect.map((rows) => rows.map(({ event }) => event)),
          available
        )
    }
  })
