import { SqlClient } from "@effect/sql/SqlClient"
import {
  type ClientId,
  type NotificationRecord,
  type OfferRecord,
  type Phone,
  type SentEvent,
  ServiceLimits,
  type ShopId
} from "@workshop/core"
import type { HeldData, IdempotencyRecord, IdempotencyRecordKey, Person, PersonalData } from "@workshop/core/store"
import { type Context, Effect } from "effect"
import { NOTE_COPIES } from "./PgDirectory.js"
import { available } from "./Sql.js"
import { type Placed, type TicketRow, ticketOf, unplaced } from "./Tables.js"

interface FoundPerson {
  readonly client_id: ClientId
  readonly given_name: string
  readonly family_name: string
  readonly phones: ReadonlyArray<Phone>
}

interface FoundData extends Omit<HeldData, "offers" | "notifications" | "tickets"> {
  readonly offers: ReadonlyArray<Placed<OfferRecord>>
  readonly notifications: ReadonlyArray<Placed<NotificationRecord>>
  readonly tickets: ReadonlyArray<TicketRow>
}

/** How many idempotency records one call looks at. */
const ANSWERS_AT_ONCE = 5_000

/** The data of one person in all shops. */
export const pgPersonalData = Effect.map(SqlClient, (sql): Context.Tag.Service<PersonalData> => {
  const numbers = ({ phones }: Person) => sql`${[...phones]}::text[]`

  return {
    beginErasure: (id, phones) =>
      sql<{
        readonly person: FoundPerson
      }>`with /* workshop begin erasure */ gone as (delete from workshop.client_account where id = ${id} returning *),
      people as (
        select id as client_id, given_name, family_name, array[phone] as phones from gone
        union all select client_id, given_name, family_name, phones from workshop.client_erasure where client_id = ${id}
        limit 1
      ), changed as (select id from gone), ${sql.literal(NOTE_COPIES)}, begun as (
        insert into workshop.client_erasure (client_id, given_name, family_name, phones)
        select client_id, given_name, family_name, array(select distinct unnest(phones || ${[...phones]}::text[])) from people
        on conflict (client_id) do update set phones = excluded.phones
        returning *
      ) select row_to_json(b) as person from begun b`.pipe(
        Effect.map(([found]) => {
          if (found === undefined) return null
          const { client_id, given_name, family_name, phones } = found.person
          return { client_id, names: [given_name, family_name], phones }
        }),
        available
      ),
    endErasure: (id) =>
      sql`delete /* workshop end erasure */ from workshop.client_erasure where client_id = ${id}`.pipe(
        Effect.asVoid,
        available
      ),
    shops: (person) =>
      sql<{ readonly id: ShopId }>`select /* workshop shops of person */ s.id from workshop.shop s
      where exists (select from workshop.client_link l where l.shop_id = s.id and l.client_id = ${person.client_id})
        or exists (select from workshop.ticket t where t.shop_id = s.id and t.client_id = ${person.client_id})
        or exists (select from workshop.ticket t where t.shop_id = s.id and t.client_phone = any(${numbers(person)}))
        or exists (select from workshop.offer o where o.shop_id = s.id and o.phone = any(${numbers(person)}))
        or exists (select from workshop.loyalty_card c where c.shop_id = s.id and c.client_id = ${person.client_id})
        or exists (select from workshop.notification n where n.shop_id = s.id and n.client_id = ${person.client_id})
      order by s.id`.pipe(
        Effect.map((rows) => rows.map(({ id }) => id)),
        available
      ),
    held: (shop_id, person) =>
      sql<FoundData>`with /* workshop data of person */ lines as materialized (
        select * from workshop.loyalty_ledger where shop_id = ${shop_id} and client_id = ${person.client_id}
      ), offers as materialized (
        select * from workshop.offer where shop_id = ${shop_id} and phone = any(${numbers(person)})
      ), told as materialized (
        select * from workshop.notification where shop_id = ${shop_id} and client_id = ${person.client_id}
      ), named as (
        select id from workshop.ticket where shop_id = ${shop_id} and client_id = ${person.client_id}
        union select id from workshop.ticket where shop_id = ${shop_id} and client_phone = any(${numbers(person)})
        union select ticket_id from lines union select ticket_id from offers union select ticket_id from told
      )
      select
        (select row_to_json(l) from workshop.client_link l where l.shop_id = ${shop_id} and l.client_id = ${person.client_id}) as link,
        (select row_to_json(c) from workshop.loyalty_card c where c.shop_id = ${shop_id} and c.client_id = ${person.client_id}) as card,
        coalesce((select json_agg(x order by x.created_at, x.id) from lines x), '[]') as ledger,
        coalesce((select json_agg(x order by x.created_at, x.place) from offers x), '[]') as offers,
        coalesce((select json_agg(x order by x.created_at, x.place) from (
          select * from told union all
          select * from workshop.notification n where n.shop_id = ${shop_id} and n.client_id is null
            and n.ticket_id in (select id from named)
        ) x), '[]') as notifications,
        coalesce((select json_agg(t order by t.created_at, t.id) from workshop.ticket t
          where t.shop_id = ${shop_id} and t.id in (select id from named)), '[]') as tickets`.pipe(
        Effect.map(([found]) => ({
          ...found!,
          offers: found!.offers.map((row) => unplaced<OfferRecord>(row)),
          notifications: found!.notifications.map((row) => unplaced<NotificationRecord>(row)),
          tickets: found!.tickets.map(ticketOf)
        })),
        available
      ),
    events: (shop_id, person, tickets, from_seq) =>
      sql<{
        readonly sent: SentEvent
      }>`select /* workshop events of person */ json_build_object('event', e, 'attempts', coalesce((
          select json_agg(a order by a.n) from workshop.attempt a where a.shop_id = e.shop_id and a.event_id = e.id), '[]')) as sent
      from workshop.event e
      where e.shop_id = ${shop_id} and e.seq >= ${from_seq} and e.seq < ${from_seq + ServiceLimits.erasure_batch_events}
        and (e.ticket_id = any(${[...tickets]}::uuid[]) or exists (
          select from unnest(${[person.client_id, ...person.phones]}::text[]) w (word) where strpos(e.body, w.word) > 0))
      order by e.seq`.pipe(
        Effect.map((rows) => rows.map(({ sent }) => sent)),
        available
      ),
    answers: (shop_id, person, tickets, after) =>
      sql<{
        readonly found: ReadonlyArray<IdempotencyRecord>
        readonly last: IdempotencyRecordKey | null
        readonly n: number
      }>`
      with /* workshop answers of person */ looked as materialized (
        select * from workshop.remembered where shop_id = ${shop_id}
          and (caller_id, operation, key) > (${after?.caller_id ?? ""}, ${after?.operation ?? ""}, ${after?.key ?? ""})
        order by caller_id, operation, key limit ${ANSWERS_AT_ONCE}
      )
      select (select count(*)::integer from looked) as n,
        (select json_build_object('caller_id', caller_id, 'operation', operation, 'key', key) from looked
          order by caller_id desc, operation desc, key desc limit 1) as last,
        coalesce((select json_agg(r) from looked r where r.answer::json->>'id' = any(${[...tickets]}::text[]) or exists (
          select from unnest(${[person.client_id, ...person.phones]}::text[]) w (word)
          where strpos(concat_ws(' ', r.key, r.fingerprint, r.answer), w.word) > 0)), '[]') as found`.pipe(
        Effect.map(([looked]) => ({
          found: looked!.found,
          next: looked!.n < ANSWERS_AT_ONCE ? null : looked!.last
        })),
        available
      )
  }
})
