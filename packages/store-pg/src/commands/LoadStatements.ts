import type { ApiKeyRecord, ClientAccount, ClientId, EventId, OfferRecord, Phone, ShopId } from "@workshop/core"
import {
  type AttemptRecord,
  type CardRecord,
  type ClientLink,
  type EventRange,
  type IdempotencyRecord,
  idempotencyRecordKey,
  type LoadRequest,
  type QueuedNotification,
  type ReplayRecord,
  type SentEvent,
  ServiceLimits,
  type ShopState,
  stampLimitKey,
  visibleLink
} from "@workshop/core/store"
import type { Statement } from "../connection/Statement.js"
import { eventRangeOf, type ReadRange, rangeOfReplay } from "../deliveries/ReplayStatements.js"
import {
  type DeliveryRow,
  deliveryOf,
  type StampLimitRow,
  type TicketRow,
  ticketOf,
  type WithSequence,
  withoutSequence
} from "../Tables.js"

const linkCondition = (field: keyof typeof visibleLink) => `l.${field} is ${visibleLink[field] ? "not null" : "null"}`

/** The condition that the link `l` of a client does not block its shop, or that there is no link. */
export const NOT_BLOCKED = linkCondition("blocked_at")

const visibleSql = (Object.keys(visibleLink) as Array<keyof typeof visibleLink>).map(linkCondition).join(" and ")

/**
 * Joins the link `l` of a client whom a shop may see to `q (shop_id, id)`. The condition is the same as in the index
 * `client_link_seen`, which contains only visible clients. A look-up begins with this join and reads other tables only
 * for a visible client. So a look-up of a client who does not exist, whom the shop does not know or who blocks the shop
 * costs the same, and the response time does not reveal who has an account (Specification, Endpoints; Clients and
 * loyalty).
 */
export const VISIBLE_LINK = `workshop.client_link l on l.shop_id = q.shop_id
  and (case when ${visibleSql} then l.client_id end) = q.id`

/** A load that a command of a batch requests. */
export interface RequestedLoad<A extends LoadRequest = LoadRequest> {
  readonly shop_id: ShopId
  readonly request: A
}

/**
 * The states of the shops of a batch, to which loads add rows. Accounts belong to no shop, so all states share them.
 */
export interface BatchStates {
  readonly ofShop: (shop_id: ShopId) => ShopState | undefined
  readonly accounts: Map<ClientId, ClientAccount>
  readonly holders: Map<Phone, ClientAccount>
  readonly ranges: Map<string, EventRange>
  readonly events: Map<EventId, SentEvent>
}

interface ClientRows {
  readonly shop_id: ShopId
  readonly account: ClientAccount | null
  readonly link: ClientLink | null
  readonly card: CardRecord | null
}

interface OfferRow extends ClientRows {
  readonly ticket: TicketRow
  readonly offer: WithSequence<OfferRecord>
  readonly holder: ClientAccount | null
  readonly holder_link: ClientLink | null
}

/**
 * Loads the rows that commands request into the states. Every statement reads only rows of the shops in its parameters.
 */
interface Loader<A extends LoadRequest, Row> {
  readonly text: string
  readonly values: (requestedLoads: ReadonlyArray<RequestedLoad<A>>) => ReadonlyArray<unknown>
  readonly addRow: (states: BatchStates, row: Row) => void
}

type RequestOf<Tag extends LoadRequest["_tag"]> = Extract<LoadRequest, { readonly _tag: Tag }>

const loader = <Tag extends LoadRequest["_tag"], Row>(
  _tag: Tag,
  loader: Loader<RequestOf<Tag>, Row>
): Loader<LoadRequest, Row> => loader as unknown as Loader<LoadRequest, Row>

const shopIds = (requestedLoads: ReadonlyArray<RequestedLoad>) => requestedLoads.map(({ shop_id }) => shop_id)

const lockOrderOf = ({ shop_id, request }: RequestedLoad<RequestOf<"Delivery">>) => `${shop_id} ${request.event_id}`

const addClient = (states: BatchStates, { shop_id, account, link, card }: ClientRows): void => {
  const state = states.ofShop(shop_id)
  if (account !== null) states.accounts.set(account.id, account)
  if (link !== null) state?.links.set(link.client_id, link)
  if (card !== null) state?.cards.set(card.client_id, card)
}

const addDeliveries = (
  states: BatchStates,
  { deliveries }: { readonly deliveries: ReadonlyArray<DeliveryRow> | null }
) => {
  for (const row of deliveries ?? []) states.ofShop(row.shop_id)?.deliveries.set(row.event_id, deliveryOf(row))
}

const CLIENT_COLUMNS = `row_to_json(a) as account, row_to_json(l) as link, row_to_json(c) as card`

const joinClient = (client_id: string) => `
  left join workshop.client_account a on a.id = ${client_id}
  left join workshop.client_link l on l.shop_id = q.shop_id and l.client_id = ${client_id}
  left join workshop.loyalty_card c on c.shop_id = q.shop_id and c.client_id = ${client_id}`

const loaders: { readonly [Tag in LoadRequest["_tag"]]: Loader<LoadRequest, never> } = {
  Ticket: loader("Ticket", {
    text: `select q.shop_id, row_to_json(t) as ticket, ${CLIENT_COLUMNS}
      from unnest($1::uuid[], $2::uuid[]) q (shop_id, id)
      join workshop.ticket t on t.shop_id = q.shop_id and t.id = q.id ${joinClient("t.client_id")}`,
    values: (requestedLoads) => [shopIds(requestedLoads), requestedLoads.map(({ request }) => request.id)],
    addRow: (states, row: ClientRows & { readonly ticket: TicketRow }) => {
      states.ofShop(row.shop_id)?.tickets.set(row.ticket.id, ticketOf(row.ticket))
      addClient(states, row)
    }
  }),
  Client: loader("Client", {
    text: `select q.shop_id, ${CLIENT_COLUMNS} from unnest($1::uuid[], $2::uuid[]) q (shop_id, id) ${joinClient("q.id")}`,
    values: (requestedLoads) => [shopIds(requestedLoads), requestedLoads.map(({ request }) => request.id)],
    addRow: addClient
  }),
  VisibleClient: loader("VisibleClient", {
    text: `select q.shop_id, ${CLIENT_COLUMNS} from unnest($1::uuid[], $2::uuid[]) q (shop_id, id)
      join ${VISIBLE_LINK}
      join workshop.client_account a on a.id = l.client_id
      left join workshop.loyalty_card c on c.shop_id = l.shop_id and c.client_id = l.client_id`,
    values: (requestedLoads) => [shopIds(requestedLoads), requestedLoads.map(({ request }) => request.id)],
    addRow: addClient
  }),
  Offer: loader("Offer", {
    text: `select q.shop_id, row_to_json(o) as offer, row_to_json(t) as ticket, ${CLIENT_COLUMNS},
        row_to_json(h) as holder, row_to_json(hl) as holder_link
      from unnest($1::uuid[], $2::uuid[]) q (shop_id, id)
      join workshop.offer o on o.shop_id = q.shop_id and o.id = q.id
      join workshop.ticket t on t.shop_id = q.shop_id and t.id = o.ticket_id ${joinClient("t.client_id")}
      left join workshop.client_account h on h.phone = o.phone
      left join workshop.client_link hl on hl.shop_id = q.shop_id and hl.client_id = h.id`,
    values: (requestedLoads) => [shopIds(requestedLoads), requestedLoads.map(({ request }) => request.id)],
    addRow: (states, row: OfferRow) => {
      const state = states.ofShop(row.shop_id)
      state?.tickets.set(row.ticket.id, ticketOf(row.ticket))
      state?.offers.set(row.offer.id, withoutSequence<OfferRecord>(row.offer))
      addClient(states, row)
      addClient(states, { shop_id: row.shop_id, account: row.holder, link: row.holder_link, card: null })
      if (row.holder !== null) states.holders.set(row.holder.phone, row.holder)
    }
  }),
  IdempotencyRecord: loader("IdempotencyRecord", {
    // Each row is looked up by its own subquery, because a plan with a join, made while the table was small, may scan
    // the whole table.
    text: `select row_to_json(r) as record
      from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) q (shop_id, caller_id, operation, key)
      cross join lateral (
        select * from workshop.idempotency_record r where r.shop_id = q.shop_id and r.caller_id = q.caller_id
          and r.operation = q.operation and r.key = q.key limit 1
      ) r`,
    values: (requestedLoads) => [
      shopIds(requestedLoads),
      requestedLoads.map(({ request }) => request.key.caller_id),
      requestedLoads.map(({ request }) => request.key.operation),
      requestedLoads.map(({ request }) => request.key.key)
    ],
    addRow: (states, { record }: { readonly record: IdempotencyRecord }) => {
      states.ofShop(record.shop_id)?.idempotency_records.set(idempotencyRecordKey(record), record)
    }
  }),
  StampLimit: loader("StampLimit", {
    // Each row is looked up by its own subquery, like idempotency records.
    text: `select row_to_json(s) as stamps
      from unnest($1::uuid[], $2::text[], $3::uuid[]) q (shop_id, caller_id, client_id)
      cross join lateral (
        select * from workshop.stamp_limit s
        where s.shop_id = q.shop_id and s.caller_id = q.caller_id and s.client_id = q.client_id limit 1
      ) s`,
    values: (requestedLoads) => [
      shopIds(requestedLoads),
      requestedLoads.map(({ request }) => request.key.caller_id),
      requestedLoads.map(({ request }) => request.key.client_id)
    ],
    addRow: (states, { stamps }: { readonly stamps: StampLimitRow }) => {
      const { used, resets_at } = stamps
      states.ofShop(stamps.shop_id)?.stamp_limits.set(stampLimitKey(stamps), { used, resets_at })
    }
  }),
  Keys: loader("Keys", {
    text: `select row_to_json(k) as key from workshop.api_key k where k.shop_id = any($1::uuid[]) order by k.created_at, k.insert_order`,
    values: (requestedLoads) => [shopIds(requestedLoads)],
    addRow: (states, { key }: { readonly key: WithSequence<ApiKeyRecord> }) => {
      states.ofShop(key.shop_id)?.keys.set(key.id, withoutSequence<ApiKeyRecord>(key))
    }
  }),
  Delivery: loader("Delivery", {
    // Locks the rows, because a claim increases the token without locking the shop's head. Each row is looked up by its
    // own subquery, in order, because the planner would scan the whole table to sort the result of a join.
    text: `select json_agg(f.delivery) as deliveries from (
        select row_to_json(d) as delivery from unnest($1::uuid[], $2::uuid[]) q (shop_id, event_id)
        cross join lateral (
          select * from workshop.delivery d where d.shop_id = q.shop_id and d.event_id = q.event_id for no key update
        ) d
      ) f`,
    values: (requestedLoads) => {
      const inOrder = requestedLoads.toSorted((a, b) => (lockOrderOf(a) < lockOrderOf(b) ? -1 : 1))
      return [shopIds(inOrder), inOrder.map(({ request }) => request.event_id)]
    },
    addRow: addDeliveries
  }),
  Deliveries: loader("Deliveries", {
    text: `select json_agg(d) as deliveries from unnest($1::uuid[], $2::integer[]) q (shop_id, max)
      cross join lateral (select * from workshop.delivery d where d.shop_id = q.shop_id limit q.max) d`,
    values: (requestedLoads) => [shopIds(requestedLoads), requestedLoads.map(({ request }) => request.max)],
    addRow: addDeliveries
  }),
  Event: loader("Event", {
    text: `select row_to_json(e) as event, coalesce((
        select json_agg(a) from workshop.attempt a where a.shop_id = e.shop_id and a.event_id = e.id), '[]') as attempts
      from unnest($1::uuid[], $2::uuid[]) q (shop_id, id) join workshop.event e on e.shop_id = q.shop_id and e.id = q.id`,
    values: (requestedLoads) => [shopIds(requestedLoads), requestedLoads.map(({ request }) => request.id)],
    addRow: (states, row: SentEvent) => states.events.set(row.event.id, row)
  }),
  Attempts: loader("Attempts", {
    text: `select row_to_json(a) as attempt from unnest($1::uuid[], $2::uuid[]) q (shop_id, event_id)
      cross join lateral (
        select * from workshop.attempt a where a.shop_id = q.shop_id and a.event_id = q.event_id order by a.n desc limit ${ServiceLimits.attempts_read_max}
      ) a`,
    values: (requestedLoads) => [shopIds(requestedLoads), requestedLoads.map(({ request }) => request.event_id)],
    addRow: (states, { attempt }: { readonly attempt: AttemptRecord }) => {
      const attempts = states.ofShop(attempt.shop_id)?.attempts
      attempts?.set(attempt.event_id, [attempt, ...(attempts.get(attempt.event_id) ?? [])])
    }
  }),
  QueuedNotification: loader("QueuedNotification", {
    text: `select row_to_json(m) as queued from unnest($1::uuid[], $2::uuid[]) q (shop_id, id)
      join workshop.queued_notification m on m.shop_id = q.shop_id and m.id = q.id`,
    values: (requestedLoads) => [shopIds(requestedLoads), requestedLoads.map(({ request }) => request.id)],
    addRow: (states, { queued }: { readonly queued: QueuedNotification }) => {
      states.ofShop(queued.shop_id)?.queuedNotifications.set(queued.id, queued)
    }
  }),
  Replay: loader("Replay", {
    text: `select row_to_json(r) as replay, read.range
      from unnest($1::uuid[], $2::uuid[], $3::integer[]) q (shop_id, id, max)
      join workshop.replay r on r.shop_id = q.shop_id and r.id = q.id
      ${rangeOfReplay}`,
    values: (requestedLoads) => [
      shopIds(requestedLoads),
      requestedLoads.map(({ request }) => request.id),
      requestedLoads.map(({ request }) => request.max)
    ],
    addRow: (states, row: { readonly replay: ReplayRecord; readonly range: ReadRange }) => {
      const state = states.ofShop(row.replay.shop_id)
      if (state === undefined) return
      state.replays.set(row.replay.id, row.replay)
      states.ranges.set(row.replay.id, eventRangeOf(row.replay.filter, row.range, state.webhook))
    }
  })
}

/** Every statement that loads rows for commands, for tests of their plans and rights. */
export const loadStatementTexts: ReadonlyArray<Omit<Statement, "values">> = Object.entries(loaders).map(
  ([tag, { text }]) => ({
    name: `load ${tag}`,
    text
  })
)

/** The statements that load the requested rows, each with the function that puts a row of its result into the states. */
export const loadStatements = (
  requestedLoads: ReadonlyArray<RequestedLoad>
): ReadonlyArray<{ readonly statement: Statement; readonly addRow: (states: BatchStates, row: never) => void }> => {
  const byTag = new Map<LoadRequest["_tag"], Array<RequestedLoad>>()
  for (const loadRequest of requestedLoads) {
    const requests = byTag.get(loadRequest.request._tag)
    if (requests === undefined) byTag.set(loadRequest.request._tag, [loadRequest])
    else requests.push(loadRequest)
  }
  return [...byTag].map(([tag, taggedLoads]) => {
    const { text, values, addRow } = loaders[tag]
    return { statement: { name: `load ${tag}`, text, values: values(taggedLoads) }, addRow }
  })
}
