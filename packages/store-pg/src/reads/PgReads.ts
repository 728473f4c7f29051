import { createHash } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import {
  type ApiKeyRecord,
  type ClientAccount,
  type EventRecord,
  type Instant,
  Limits,
  type Phone,
  type ShopId,
  ShopNotFound,
  type ShopRecord
} from "@workshop/core"
import {
  blankCard,
  type CardRecord,
  type ClientLink,
  type CountedClient,
  isUuid,
  type ListedTickets,
  openStates,
  preferredByNumber,
  type Reads,
  ServiceLimits,
  type ShopHead,
  visibleClient,
  type Webhook
} from "@workshop/core/store"
import { type Context, Effect } from "effect"
import { VISIBLE_LINK } from "../commands/LoadStatements.js"
import { runRead } from "../connection/Sql.js"
import { secretsUnavailable, type WebhookSecrets } from "../secrets/WebhookSecrets.js"
import { type TicketRow, ticketOf, type WithSequence, withoutSequence } from "../Tables.js"
import { statementNameOf, type TicketList, ticketList } from "./TicketList.js"

interface FoundTicket {
  readonly ticket: TicketRow
  readonly account: ClientAccount | null
  readonly link: ClientLink | null
}

interface FoundTickets {
  readonly shop: ShopRecord
  readonly tickets: ReadonlyArray<FoundTicket> | null
  readonly last_change_at: Instant | null
  readonly unread_from: ListedTickets["unread_from"]
}

interface FoundClient {
  readonly shop: ShopRecord
  readonly account: ClientAccount
  readonly link: ClientLink
  readonly card: CardRecord | null
  readonly tickets_open: number
  readonly tickets_total: number
}

const oneShop = <Row>([row]: ReadonlyArray<Row>): Effect.Effect<Row, ShopNotFound> =>
  row === undefined ? Effect.fail(new ShopNotFound()) : Effect.succeed(row)

const listedTickets = ({ shop, tickets, last_change_at, unread_from }: FoundTickets): ListedTickets => ({
  shop,
  last_change_at,
  unread_from,
  tickets: (tickets ?? []).map(({ ticket, account, link }) => ({
    record: ticketOf(ticket),
    client: visibleClient(account ?? undefined, link ?? undefined)
  }))
})

const countedClient = ({ shop, account, link, card, ...counts }: FoundClient): CountedClient | null => {
  const client = visibleClient(account, link)
  return client === null ? null : { client, card: card ?? blankCard(shop.id, client.id), shop, ...counts }
}

/**
 * An id that no client has, because its UUID version is 8. It differs for each phone number, because the look-up of a
 * constant id would be faster than the look-up of a client: its index page would always be in the database's cache.
 */
const unusedIdOf = (phone: Phone) => {
  const hash = createHash("sha256").update(phone).digest("hex")
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}

/**
 * The id of the client with a phone number, or an id that no client has. In both cases the account with the same or the
 * next number is read, so that the response time does not reveal whether the number has an account.
 */
const clientIdByPhone = (sql: SqlClient, phone: Phone) => {
  const unusedClient = unusedIdOf(phone)
  return sql`coalesce((select case when n.phone = ${phone} then n.id else ${unusedClient} end from workshop.client_account n
      where n.phone >= ${phone} order by n.phone limit 1), ${unusedClient})`
}

/**
 * Each reference is looked up by its own subquery, because a plan with a join, made while the table was small, may scan
 * the whole table.
 */
const externalRefReads = (sql: SqlClient): Pick<Context.Tag.Service<Reads>, "externalRefs"> => ({
  externalRefs: (shop_id, refs) =>
    sql<{
      readonly ref: string
    }>`select /* workshop read external refs */ q.ref from unnest(${[...refs]}::text[]) q (ref)
    cross join lateral (select from workshop.ticket t where t.shop_id = ${shop_id} and t.external_ref = q.ref limit 1) f
    union all select q.id::text from unnest(${refs.filter(isUuid)}::uuid[]) q (id)
    cross join lateral (select from workshop.ticket t where t.shop_id = ${shop_id} and t.id = q.id limit 1) f`.pipe(
      Effect.map((rows) => new Set(rows.map(({ ref }) => ref))),
      runRead
    )
})

const stateOf = ({ record }: ListedTickets["tickets"][number]) => record.state

/** The port for reads of a shop. Each read is one statement. */
export const pgReads = (secrets: WebhookSecrets) =>
  Effect.map(SqlClient, (sql): Context.Tag.Service<Reads> => {
    const newestFirst = sql`t.id desc`

    /** Reads the shop with the tickets of a list and their clients, in one statement with the name `name`. */
    const readTickets = (
      name: string,
      shop_id: ShopId,
      { rows, orderBy, ctes, lastChangeAt = sql`null`, unreadFrom = sql`null::json` }: TicketList
    ) => {
      const nameComment = sql.literal(`/* workshop ${name} */`)
      const select = ctes === undefined ? sql`select ${nameComment}` : sql`with ${nameComment} ${ctes} select`
      return sql<FoundTickets>`${select} row_to_json(s) as shop, (
        select json_agg(json_build_object('ticket', t, 'account', a, 'link', l)${orderBy === undefined ? sql.literal("") : sql` order by ${orderBy}`})
        from (${rows}) t
        left join workshop.client_account a on a.id = t.client_id
        left join workshop.client_link l on l.shop_id = t.shop_id and l.client_id = t.client_id
      ) as tickets, ${lastChangeAt} as last_change_at, ${unreadFrom} as unread_from
      from workshop.shop s where s.id = ${shop_id}`.pipe(runRead, Effect.flatMap(oneShop), Effect.map(listedTickets))
    }

    return {
      shop: (shop_id) =>
        sql<{ readonly shop: ShopRecord; readonly head: ShopHead; readonly webhook: Webhook | null }>`
        select /* workshop read shop */ row_to_json(s) as shop, row_to_json(h) as head, row_to_json(w) as webhook
        from workshop.shop s join workshop.shop_head h on h.shop_id = s.id left join workshop.webhook w on w.shop_id = s.id
        where s.id = ${shop_id}`.pipe(
          runRead,
          Effect.flatMap(([row]) => {
            if (row?.webhook == null) return Effect.succeed(row ?? null)
            return Effect.mapBoth(secrets.open(row.webhook), {
              onFailure: secretsUnavailable,
              onSuccess: (webhook) => ({ ...row, webhook })
            })
          })
        ),
      ticket: (shop_id, id) =>
        readTickets("read ticket", shop_id, {
          rows: sql`select * from workshop.ticket t where t.shop_id = ${shop_id} and t.id = ${id}`
        }),
      tickets: (shop_id, filter, order, limit) =>
        readTickets(statementNameOf(filter), shop_id, ticketList(sql, shop_id, filter, order, limit)),
      ticketsOfNumber: (shop_id, number, limit) => {
        // Selects the newest open ticket and the newest `others_max + 1` of all, so that few rows are read. `preferredByNumber` alone decides
        // which of them is returned first. `offset 0` makes Postgres find the few tickets before it sorts them; otherwise it would read all
        // tickets in that order.
        const ofNumber = sql`t.shop_id = ${shop_id} and t.number = ${number}`
        // The limit is a literal in the text, because with a parameter Postgres would not know that few tickets are
        // needed, and would plan the read of a large shop each time.
        const max = sql.literal(String(Limits.others_max + 1))
        return readTickets("read tickets of number", shop_id, {
          rows: sql`select * from workshop.ticket t where t.shop_id = ${shop_id} and t.id in (
            (select t.id from workshop.ticket t where ${ofNumber} and t.state = any(${openStates}) order by ${newestFirst} limit 1)
            union (select t.id from workshop.ticket t where ${ofNumber} order by ${newestFirst} limit ${max})) offset 0`,
          orderBy: newestFirst
        }).pipe(Effect.map((seen) => ({ ...seen, tickets: preferredByNumber(seen.tickets, stateOf, limit) })))
      },
      client: (shop_id, by) =>
        sql<FoundClient>`select /* workshop read client */ row_to_json(s) as shop, row_to_json(a) as account, row_to_json(l) as link,
          row_to_json(c) as card,
          (select count(*)::integer from workshop.ticket t where t.shop_id = l.shop_id and t.client_id = l.client_id
            and t.state = any(${openStates})) as tickets_open,
          (select count(*)::integer from workshop.ticket t where t.shop_id = l.shop_id and t.client_id = l.client_id) as tickets_total
        from (select ${shop_id}::uuid as shop_id, ${"id" in by ? sql`${by.id}` : clientIdByPhone(sql, by.phone)}::uuid as id) q
        join ${sql.literal(VISIBLE_LINK)}
        join workshop.client_account a on a.id = l.client_id
        join workshop.shop s on s.id = l.shop_id
        left join workshop.loyalty_card c on c.shop_id = l.shop_id and c.client_id = l.client_id`.pipe(
          Effect.map(([row]) => (row === undefined ? null : countedClient(row))),
          runRead
        ),
      keys: (shop_id) =>
        sql<{
          readonly key: WithSequence<ApiKeyRecord>
        }>`select /* workshop read keys */ row_to_json(k) as key from workshop.api_key k
        where k.shop_id = ${shop_id} order by k.created_at desc, k.insert_order desc limit ${ServiceLimits.list_max}`.pipe(
          Effect.map((rows) => rows.map(({ key }) => withoutSequence<ApiKeyRecord>(key)).reverse()),
          runRead
        ),
      ...externalRefReads(sql),
      events: (shop_id, { before = Number.MAX_SAFE_INTEGER, limit = ServiceLimits.list_max } = {}) =>
        sql<{
          readonly event: EventRecord
        }>`select /* workshop read events */ row_to_json(e) as event from workshop.event e
        where e.shop_id = ${shop_id} and e.seq < ${before} order by e.seq desc limit ${limit}`.pipe(
          Effect.map((rows) => rows.map(({ event }) => event).reverse()),
          runRead
        )
    }
  })
