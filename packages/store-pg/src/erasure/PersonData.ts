import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { ClientId, NotificationRecord, OfferRecord, Phone, ShopId, TicketId } from "@workshop/core"
import { type Person, type PersonShopData, ServiceLimits, type TicketRecord } from "@workshop/core/store"
import { Effect } from "effect"
import { OFFER_STATUSES } from "../reads/PgDirectory.js"
import { type TicketRow, ticketOf, type WithSequence, withoutSequence } from "../Tables.js"

const { personal_data_page: PAGE } = ServiceLimits

/** The number of notifications without an account that one statement reads. */
const NOTIFICATIONS_PER_STATEMENT = 5_000

const FIRST_ID = "00000000-0000-0000-0000-000000000000"
const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff"

type Read<A> = Effect.Effect<A, SqlError>

/** The position of a row among the offers or notifications of a client or a phone number in a shop. */
type Position = Pick<WithSequence<NotificationRecord>, "created_at" | "insert_order">

const FIRST_POSITION: Position = { created_at: 0, insert_order: 0 }

interface NotificationPage {
  readonly notifications: ReadonlyArray<WithSequence<NotificationRecord>>
  readonly last: Position | null
}

const byPosition = (a: Position, b: Position) => a.created_at - b.created_at || a.insert_order - b.insert_order

/** Reads all rows of a list, page by page. `page` reads the rows after a given row. */
const readPages = <Row>(page: (after: Row | undefined) => Read<ReadonlyArray<{ readonly row: Row }>>) =>
  Effect.gen(function* () {
    const collected: Array<Row> = []
    for (;;) {
      const rows = yield* page(collected.at(-1))
      for (const { row } of rows) collected.push(row)
      if (rows.length < PAGE) return collected
    }
  })

/** Reads all data that a shop has about a person, page by page, because a client may have any number of tickets. */
export const readPersonData = (
  sql: SqlClient,
  shop_id: ShopId,
  { client_id, phones }: Person
): Read<PersonShopData> => {
  const linkAndCard = sql<Pick<PersonShopData, "link" | "card">>`
    select /* workshop client of person */
      (select row_to_json(l) from workshop.client_link l where l.shop_id = ${shop_id} and l.client_id = ${client_id}) as link,
      (select row_to_json(c) from workshop.loyalty_card c where c.shop_id = ${shop_id} and c.client_id = ${client_id}) as card`

  const ledger = readPages<PersonShopData["ledger"][number]>(
    (after) => sql`select /* workshop ledger of person */ row_to_json(x) as row from workshop.loyalty_ledger x
      where x.shop_id = ${shop_id} and x.client_id = ${client_id} and x.id > ${after?.id ?? FIRST_ID} order by x.id limit ${PAGE}`
  )

  /**
   * The ORDER BY includes the column, although it is constant, because Postgres would otherwise read all tickets of the
   * shop.
   */
  const ticketsOf = (column: "client_id" | "client_phone", value: ClientId | Phone) => {
    const by = sql(`t.${column}`)
    return readPages<TicketRow>(
      (after) => sql`select /* workshop tickets of person */ row_to_json(t) as row from workshop.ticket t
        where t.shop_id = ${shop_id} and ${by} is not null
          and (${by}, t.id) > (${value}, ${after?.id ?? FIRST_ID}) and (${by}, t.id) <= (${value}, ${LAST_ID})
        order by ${by}, t.id limit ${PAGE}`
    )
  }

  /** Reads tickets by id, each with its own look-up. */
  const ticketsById = (ids: ReadonlyArray<TicketId>) =>
    sql<{ readonly row: TicketRow }>`select /* workshop tickets named of person */ row_to_json(t) as row
      from unnest(${[...ids]}::uuid[]) q (id)
      cross join lateral (select * from workshop.ticket t where t.shop_id = ${shop_id} and t.id = q.id limit 1) t`

  const offersOf = (phone: Phone, status: OfferRecord["status"]) =>
    readPages<WithSequence<OfferRecord>>(
      ({
        created_at,
        insert_order
      }: Position = FIRST_POSITION) => sql`select /* workshop offers of person */ row_to_json(o) as row from workshop.offer o
        where o.phone = ${phone} and o.shop_id = ${shop_id} and o.status = ${status}
          and (o.created_at, o.insert_order) > (${created_at}, ${insert_order}) order by o.created_at, o.insert_order limit ${PAGE}`
    )

  const notifications = readPages<WithSequence<NotificationRecord>>(
    ({
      created_at,
      insert_order
    }: Position = FIRST_POSITION) => sql`select /* workshop notifications of person */ row_to_json(n) as row from workshop.notification n
      where n.client_id = ${client_id} and n.shop_id = ${shop_id}
        and (n.created_at, n.insert_order) > (${created_at}, ${insert_order}) order by n.created_at, n.insert_order limit ${PAGE}`
  )

  /**
   * Reads the notifications about tickets to phone numbers without an account. Scans all such notifications of the
   * shop, because no index has their ticket.
   */
  const notificationsToNumbers = (tickets: ReadonlyArray<TicketId>) =>
    Effect.gen(function* () {
      const notifications: Array<WithSequence<NotificationRecord>> = []
      for (let after: Position | null = FIRST_POSITION; after !== null; ) {
        const [page]: ReadonlyArray<NotificationPage> = yield* sql<NotificationPage>`
          with /* workshop notifications to numbers */ page as materialized (
            select * from workshop.notification n where n.client_id is null and n.shop_id = ${shop_id}
              and (n.created_at, n.insert_order) > (${after.created_at}, ${after.insert_order})
            order by n.client_id, n.created_at, n.insert_order limit ${NOTIFICATIONS_PER_STATEMENT}
          )
          select (select json_build_object('created_at', created_at, 'insert_order', insert_order) from page
              order by created_at, insert_order offset ${NOTIFICATIONS_PER_STATEMENT - 1}) as last,
            coalesce((select json_agg(n) from page n where n.ticket_id = any(${[...tickets]}::uuid[])), '[]') as notifications`
        notifications.push(...page!.notifications)
        after = page!.last
      }
      return notifications
    })

  return Effect.gen(function* () {
    const [linkedClient] = yield* linkAndCard
    const lines = yield* ledger
    // Open offers are read first, because an offer that is accepted meanwhile is then read twice instead of being
    // missed.
    const offers = new Map<string, WithSequence<OfferRecord>>()
    for (const phone of phones)
      for (const status of OFFER_STATUSES) for (const row of yield* offersOf(phone, status)) offers.set(row.id, row)
    const inbox = yield* notifications
    const tickets = new Map<TicketId, TicketRecord>()
    const addTickets = (rows: ReadonlyArray<TicketRow>) => {
      for (const row of rows) tickets.set(row.id, ticketOf(row))
    }
    addTickets(yield* ticketsOf("client_id", client_id))
    for (const phone of phones) addTickets(yield* ticketsOf("client_phone", phone))
    const ticketIds = new Set<TicketId>()
    for (const { ticket_id } of [...lines, ...offers.values(), ...inbox])
      if (ticket_id !== null && !tickets.has(ticket_id)) ticketIds.add(ticket_id)
    for (let from = 0; from < ticketIds.size; from += PAGE)
      addTickets((yield* ticketsById([...ticketIds].slice(from, from + PAGE))).map(({ row }) => row))
    const others = yield* notificationsToNumbers([...tickets.keys()])
    return {
      ...linkedClient!,
      ledger: lines.sort((a, b) => a.created_at - b.created_at),
      offers: [...offers.values()].sort(byPosition).map((row) => withoutSequence<OfferRecord>(row)),
      notifications: [...inbox, ...others].sort(byPosition).map((row) => withoutSequence<NotificationRecord>(row)),
      tickets: [...tickets.values()].sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1))
    }
  })
}
