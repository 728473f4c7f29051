import { Limits } from "@workshop/core"
import { closureMoves } from "@workshop/core/store"
import { isWebhookOn, presentDueAt } from "../deliveries/webhookConditions.js"
import { type TableName, tables } from "../Tables.js"

/** An invariant of the stored data, which the program's decisions maintain. */
export interface Invariant {
  readonly name: string
  /** A sentence about what is wrong with the rows that `sql` selects. */
  readonly finds: string
  /** Selects the rows that violate the invariant, with their shop_id if there is one. */
  readonly sql: string
}

const CARD_TOTALS = `select coalesce(c.shop_id, l.shop_id) as shop_id, coalesce(c.client_id, l.client_id) as client_id,
    c.balance, c.lifetime, c.rewards_redeemed,
    l.balance as ledger_balance, l.lifetime as ledger_lifetime, l.redeemed as ledger_redeemed
  from loyalty_card c full join (
    select shop_id, client_id, sum(stamps)::bigint as balance, sum(greatest(stamps, 0))::bigint as lifetime,
      count(*) filter (where kind = 'redeem') as redeemed
    from loyalty_ledger group by shop_id, client_id
  ) l on l.shop_id = c.shop_id and l.client_id = c.client_id
  where coalesce(c.balance, 0) <> coalesce(l.balance, 0) or coalesce(c.lifetime, 0) <> coalesce(l.lifetime, 0)
    or coalesce(c.rewards_redeemed, 0) <> coalesce(l.redeemed, 0)`

/**
 * In the default partition, a gap after an event from before `kept_since` is no error, because retention deletes old
 * events there but keeps undelivered ones.
 */
const eventOrder = (kept_since: number) => `select shop_id, seq, next_seq from (
    select e.shop_id, e.seq, e.created_at >= ${kept_since} or e.tableoid <> 'event_rest'::regclass as is_certain,
      coalesce(lead(e.seq) over (partition by e.shop_id order by e.seq), h.event_seq) as next_seq
    from event e left join shop_head h on h.shop_id = e.shop_id
  ) e where next_seq <= seq or (next_seq > seq + 1 and is_certain)`

const CLOSURE_DUE_AT = `case t.state ${closureMoves.map((move) => `when '${move.from}' then t.${move.counts_from} + ${move.after_ms}`).join(" ")} end`

/**
 * The tables whose rows all belong to a shop. The audit log is left out, because entries about the installation have no
 * shop.
 */
const shopTables = (Object.keys(tables) as ReadonlyArray<TableName>).filter(
  (name) => name !== "shop" && name !== "audit_entry"
)
const TABLES_WITHOUT_SHOP = [...shopTables, "delivery_queue", "backlogged_queue"]
  .map(
    (table) => `select x.shop_id, '${table}' as table, count(*) as rows from ${table} x
      where not exists (select from shop s where s.id = x.shop_id) group by x.shop_id`
  )
  .join(" union all ")

const { ticket_number_max } = Limits

const ticketInvariants: ReadonlyArray<Invariant> = [
  {
    name: "ticket-number",
    finds: `Ticket numbers, or the next number of a shop, are not from 1 to ${ticket_number_max}`,
    sql: `select shop_id, id as ticket_id, number from ticket where number not between 1 and ${ticket_number_max}
      union all select shop_id, null, next_number from shop_head where next_number not between 1 and ${ticket_number_max}`
  },
  {
    name: "change-place",
    finds:
      "Tickets are ahead of their shop's counters, so the next change would get a position that is already used, or an earlier time than these tickets",
    sql: `select t.shop_id, t.id as ticket_id, t.change_seq, h.change_seq as next_change_seq, t.updated_at, h.last_recorded_at
      from ticket t join shop_head h on h.shop_id = t.shop_id
      where t.change_seq >= h.change_seq or t.updated_at > h.last_recorded_at`
  },
  {
    name: "change-order",
    finds:
      "Tickets share a position in the order of changes, or have an earlier time than the change before, so a sync skips some of them",
    sql: `select shop_id, ticket_id, change_seq, updated_at from (
        select shop_id, id as ticket_id, change_seq, updated_at, lag(updated_at) over earlier as previous_at,
          lag(change_seq) over earlier as previous_seq
        from ticket window earlier as (partition by shop_id order by change_seq)
      ) t where previous_at > updated_at or previous_seq = change_seq`
  },
  {
    name: "ticket-closure",
    finds: "Tickets have a closing time that does not follow from their state",
    sql: `select t.shop_id, t.id as ticket_id, t.state, t.closure_due_at from ticket t
      where t.closure_due_at is distinct from ${CLOSURE_DUE_AT}`
  },
  {
    name: "ticket-quote",
    finds: "Proposed prices are neither open nor answered",
    sql: `select shop_id, id as ticket_id, quote ->> 'status' as status from ticket where quote is not null and not coalesce(
      quote ->> 'status' in ('proposed', 'accepted', 'refused') and (quote ->> 'price_minor')::bigint >= 0
        and quote ->> 'proposed_at' is not null and (quote ->> 'status' = 'proposed') = (quote ->> 'answered_at' is null), false)`
  },
  {
    name: "offer-ticket",
    finds: "Offers have no ticket, or a ticket has several open offers",
    sql: `select o.shop_id, o.id as offer_id, o.ticket_id from offer o
      where not exists (select from ticket t where t.shop_id = o.shop_id and t.id = o.ticket_id)
        or (o.status = 'open' and exists (select from offer p
          where p.shop_id = o.shop_id and p.ticket_id = o.ticket_id and p.status = 'open' and p.id <> o.id))`
  }
]

const clientInvariants: ReadonlyArray<Invariant> = [
  { name: "card-ledger", finds: "Loyalty cards differ from the sum of their ledger", sql: CARD_TOTALS },
  {
    name: "ledger-ticket",
    finds: "The ledger has stamps for tickets that earned no stamps or do not exist",
    sql: `select l.shop_id, l.id as entry_id, l.ticket_id from loyalty_ledger l
      left join ticket t on t.shop_id = l.shop_id and t.id = l.ticket_id
      where l.kind = 'ticket' and t.stamps_earned is distinct from true`
  },
  {
    name: "link-client",
    finds: "Shops have links to clients who have no account",
    sql: `select l.shop_id, l.client_id from client_link l
      where not exists (select from client_account a where a.id = l.client_id)
        and not exists (select from client_erasure e where e.client_id = l.client_id)`
  },
  {
    name: "notification-content",
    finds: "Queued notifications have no content",
    sql: `select m.shop_id, m.id, m.receiver from queued_notification m where not case m.receiver
      when 'client' then exists (select from notification n where n.shop_id = m.shop_id and n.id = m.id)
      else exists (select from notice n where n.shop_id = m.shop_id and n.id = m.id) end`
  }
]

const deliveryInvariants = (kept_since: number): ReadonlyArray<Invariant> => [
  {
    name: "event-order",
    finds: "Event numbers (seq) are missing, or are used twice",
    sql: eventOrder(kept_since)
  },
  {
    name: "delivery-event",
    finds: "Deliveries have no event, or an event that does not match, so they cannot be sent",
    sql: `select d.shop_id, d.event_id, d.seq from delivery d left join event e on e.shop_id = d.shop_id and e.id = d.event_id
      where (e.seq, e.type, e.ticket_id) is distinct from (d.seq, d.type, d.ticket_id)`
  },
  {
    name: "delivery-webhook",
    finds: "Deliveries have no webhook, or have a later generation number than their webhook, so they are never sent",
    sql: `select d.shop_id, d.event_id from delivery d left join webhook w on w.shop_id = d.shop_id
      where d.generation <= w.generation is not true`
  },
  {
    name: "delivery-queue",
    finds:
      "Shops have deliveries but no delivery queue, or a queue with too late a due time, so the deliveries are sent late or never",
    sql: `select d.shop_id, d.due_at, t.next_claim_at from (
        select d.shop_id, min(${presentDueAt("d", "w")}) as due_at
        from delivery d join webhook w on w.shop_id = d.shop_id and ${isWebhookOn("w")}
        group by d.shop_id having not bool_or(d.lease_until is not null)
      ) d left join delivery_queue t on t.shop_id = d.shop_id where t.next_claim_at <= d.due_at is not true`
  },
  {
    name: "queue-webhook",
    finds: "Shops have a delivery queue but no webhook",
    sql: `select t.shop_id from delivery_queue t where not exists (select from webhook w where w.shop_id = t.shop_id)`
  },
  {
    name: "replay-range",
    finds: "Replays include events that their shop does not have",
    sql: `select r.shop_id, r.id as replay_id, r.until_seq, h.event_seq from replay r join shop_head h on h.shop_id = r.shop_id
      where r.until_seq > h.event_seq or r.after_seq > r.until_seq`
  }
]

const ofShopsAndSchema: ReadonlyArray<Invariant> = [
  {
    name: "shop-head",
    finds: "Shops have no row in shop_head, or rows in shop_head have no shop",
    sql: `select coalesce(s.id, h.shop_id) as shop_id from shop s full join shop_head h on h.shop_id = s.id
      where s.id is null or h.shop_id is null`
  },
  { name: "shop-rows", finds: "Rows belong to a shop that does not exist", sql: TABLES_WITHOUT_SHOP },
  {
    name: "schema-rules",
    finds: "Constraints or indexes of the schema are not valid, so the database does not enforce them",
    sql: `select null::uuid as shop_id, conrelid::regclass::text as table, conname::text as name from pg_constraint
        where connamespace = quote_ident(current_schema())::regnamespace and not convalidated
      union all select null, i.indrelid::regclass::text, c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
        where c.relnamespace = quote_ident(current_schema())::regnamespace and not i.indisvalid`
  }
]

/** All invariants. `kept_since` is an instant from which on retention has deleted no events. */
export const invariants = (kept_since: number): ReadonlyArray<Invariant> => [
  ...ofShopsAndSchema,
  ...ticketInvariants,
  ...clientInvariants,
  ...deliveryInvariants(kept_since)
]
