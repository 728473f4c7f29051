import { SqlClient } from "@effect/sql/SqlClient"
import type { ClientId, Phone, ShopId } from "@workshop/core"
import {
  type IdempotencyRecord,
  type IdempotencyRecordKey,
  type Person,
  type PersonalData,
  type SentEvent,
  ServiceLimits
} from "@workshop/core/store"
import { type Context, Effect } from "effect"
import { runRead } from "../connection/Sql.js"
import { RECORD_STALE_COPIES } from "../reads/PgDirectory.js"
import { readPersonData } from "./PersonData.js"

interface FoundPerson {
  readonly client_id: ClientId
  readonly given_name: string
  readonly family_name: string
  readonly phones: ReadonlyArray<Phone>
}

/** The number of idempotency records that one call reads. */
const ANSWERS_AT_ONCE = 5_000

/** The number of shops in which one statement looks for a person. */
const SHOPS_AT_ONCE = 1_000

const NO_SHOP = "00000000-0000-0000-0000-000000000000"

/** The port for a person's data in all shops. */
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
      ), changed as (select id from gone), ${sql.literal(RECORD_STALE_COPIES)}, begun as (
        insert into workshop.client_erasure (client_id, given_name, family_name, phones)
        select client_id, given_name, family_name, array(select distinct unnest(phones || ${[...phones]}::text[])) from people
        on conflict (client_id) do update set phones = excluded.phones
        returning *
      ) select row_to_json(b) as person from begun b`.pipe(
        Effect.map(([row]) => {
          if (row === undefined) return null
          const { client_id, given_name, family_name, phones } = row.person
          return { client_id, names: [given_name, family_name], phones }
        }),
        runRead
      ),
    endErasure: (id) =>
      sql`delete /* workshop end erasure */ from workshop.client_erasure where client_id = ${id}`.pipe(
        Effect.asVoid,
        runRead
      ),
    shops: (person) => {
      // Each subquery has a limit, because with `exists` Postgres may read all of the person's rows in a table and
      // search the shops in them.
      const readPage = (after: string) =>
        sql<{ readonly shops: ReadonlyArray<ShopId>; readonly last: ShopId | null }>`
        with /* workshop shops of person */ page as materialized (
          select id from workshop.shop where id > ${after} order by id limit ${SHOPS_AT_ONCE}
        )
        select (select id from page order by id offset ${SHOPS_AT_ONCE - 1}) as last, array(
          select s.id from page s where coalesce(
            (select true from workshop.client_link l where l.shop_id = s.id and l.client_id = ${person.client_id} limit 1),
            (select true from workshop.ticket t where t.shop_id = s.id and t.client_id = ${person.client_id} limit 1),
            (select true from workshop.ticket t where t.shop_id = s.id and t.client_phone = any(${numbers(person)}) limit 1),
            (select true from workshop.offer o where o.shop_id = s.id and o.phone = any(${numbers(person)}) limit 1),
            (select true from workshop.loyalty_card c where c.shop_id = s.id and c.client_id = ${person.client_id} limit 1),
            (select true from workshop.notification n where n.shop_id = s.id and n.client_id = ${person.client_id} limit 1))
          order by s.id) as shops`
      return Effect.gen(function* () {
        const shops: Array<ShopId> = []
        for (let after: string | null = NO_SHOP; after !== null; ) {
          const [page]: ReadonlyArray<{ readonly shops: ReadonlyArray<ShopId>; readonly last: ShopId | null }> =
            yield* readPage(after)
          shops.push(...page!.shops)
          after = page!.last
        }
        return shops
      }).pipe(runRead)
    },
    readShopData: (shop_id, person) => runRead(readPersonData(sql, shop_id, person)),
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
        runRead
      ),
    idempotencyRecords: (shop_id, person, tickets, after) =>
      sql<{
        readonly records: ReadonlyArray<IdempotencyRecord>
        readonly last: IdempotencyRecordKey | null
        readonly n: number
      }>`
      with /* workshop answers of person */ page as materialized (
        select * from workshop.idempotency_record where shop_id = ${shop_id}
          and (caller_id, operation, key) > (${after?.caller_id ?? ""}, ${after?.operation ?? ""}, ${after?.key ?? ""})
        order by caller_id, operation, key limit ${ANSWERS_AT_ONCE}
      )
      select (select count(*)::integer from page) as n,
        (select json_build_object('caller_id', caller_id, 'operation', operation, 'key', key) from page
          order by caller_id desc, operation desc, key desc limit 1) as last,
        coalesce((select json_agg(r) from page r where r.response::json->>'id' = any(${[...tickets]}::text[]) or exists (
          select from unnest(${[person.client_id, ...person.phones]}::text[]) w (word)
          where strpos(concat_ws(' ', r.key, r.fingerprint, r.response), w.word) > 0)), '[]') as records`.pipe(
        Effect.map(([page]) => ({
          records: page!.records,
          next: page!.n < ANSWERS_AT_ONCE ? null : page!.last
        })),
        runRead
      )
  }
})
