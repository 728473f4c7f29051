import { Effect } from "effect"
import type { DatabaseFailed } from "../src/connection/DatabaseFailed.js"
import type { Session } from "../src/migrate/Session.js"

/** The approximate number of rows of each table afterwards. */
const ROWS = 25_000

/** The number of tickets, and of events, that are added to the large shop. */
const LARGE = 25_000

/** The most copies of each row of a small table; each original shop gets this many copies. */
const MAX_COPIES = 4_000

interface Column {
  readonly table: string
  readonly name: string
  readonly type: string
  /** Whether this is a text column in a unique key without an id, so that each copy needs its own text to be unique. */
  readonly is_sole: boolean
}

/** Every writable column of every table; partitions are left out, because their parent has the same columns. */
const COLUMNS = `select c.relname as table, a.attname as name, t.typname as type,
    a.atttypid = 'text'::regtype and exists (
      select from pg_index i where i.indrelid = c.oid and i.indisunique and a.attnum = any(i.indkey::int2[]) and not exists (
        select from pg_attribute k where k.attrelid = c.oid and k.attnum = any(i.indkey::int2[]) and k.atttypid = 'uuid'::regtype
      )
    ) as is_sole
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attidentity = ''
  join pg_type t on t.oid = a.atttypid
  where c.relnamespace = 'workshop'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and c.relname <> 'schema_migration' order by c.relname, a.attnum`

/** The SQL of a column's value in copy `k` of the rows. An id becomes the same new id in every table, so that references stay valid. */
const copied = ({ name, type, is_sole }: Column): string => {
  if (type === "uuid") return `md5(r.${name}::text || k)::uuid`
  if (/phone$/.test(name)) return `'+1' || substr(r.${name}, 5) || lpad(k::text, 4, '0')`
  if (name === "hash") return "encode(sha256((r.hash || k)::bytea), 'hex')"
  return is_sole ? `r.${name} || ' ' || k` : `r.${name}`
}

/**
 * The client with most rows in the large shop, and how many: rows of each table, shops that know the client, attempts
 * of one event, and API keys.
 */
const CLIENT = "018f0000-0000-7000-9000-00000000c1e7"
const PHONE = "+216999999999"
const OF_CLIENT = 10_000
const SHOPS_OF_CLIENT = 15_000
const ATTEMPTS = 25_000
const KEYS = 15_000

/**
 * SQL of the new value of each named column, for the copy `k` of a row `r`. The other columns have the row's values.
 */
type Held = Readonly<Record<string, string>>

const literal = (text: string) => `'${text}'`

/** SQL of the id of a ticket or event that is made at `instant`. As in the service, ids increase with time. */
const idAt = (instant: number, n = "k") =>
  `(lpad(to_hex(${instant} + ${n}), 12, '0') || '70008000' || lpad(to_hex(${n}), 12, '0'))::uuid`

interface Copies {
  readonly table: string
  /** The clause that selects the row to copy; any row by default. */
  readonly of?: string
  readonly copies: number
  readonly held: Held
}

/** The rows to add to the large shop, the first of them made at `at`. */
const rowsOfShop = (shop: string, at: number): ReadonlyArray<Copies> => {
  const shop_id = literal(shop)
  const dated = { shop_id, id: idAt(at), created_at: `${at} + k` }
  const latest = (by: string) => `where shop_id = ${shop_id} order by ${by} desc`
  // The first OF_CLIENT tickets have the client's id, the next OF_CLIENT the client's phone number, and the rest no
  // client.
  const ticket = {
    ...dated,
    tracking_code: "'L' || k",
    number: "k % 9999 + 1",
    external_ref: "'R' || k",
    change_seq: "r.change_seq + k",
    updated_at: dated.created_at,
    client_id: `case when k <= ${OF_CLIENT} then ${literal(CLIENT)}::uuid end`,
    client_phone: `case when k between ${OF_CLIENT + 1} and ${2 * OF_CLIENT} then ${literal(PHONE)} end`
  }
  const line = { ...dated, kind: "'stamps'", ticket_id: "null", client_id: literal(CLIENT) }
  const offer = {
    ...dated,
    ticket_id: idAt(at),
    phone: literal(PHONE),
    status: "case when k % 2 = 0 then 'accepted' else 'blocked' end",
    answered_at: dated.created_at
  }
  const notification = { ...dated, ticket_id: idAt(at), client_id: literal(CLIENT) }
  const walkIn = {
    ...dated,
    id: idAt(at, `(k + ${OF_CLIENT})`),
    ticket_id: idAt(at, `(k + ${OF_CLIENT})`),
    client_id: "null"
  }
  const inOther = { shop_id: "o.id" }
  const event = { id: idAt(at), seq: "r.seq + k", created_at: "r.created_at + k" }
  const attempt = { shop_id, event_id: idAt(at, String(LARGE)), n: "k", started_at: dated.created_at }
  const account = { id: literal(CLIENT), phone: literal(PHONE) }
  const known = { shop_id, client_id: literal(CLIENT), known_at: "1", blocked_at: "null" }
  const key = { ...dated, hash: "encode(sha256(('large' || k)::bytea), 'hex')", revoked_at: dated.created_at }
  return [
    { table: "ticket", of: latest("change_seq"), copies: LARGE, held: ticket },
    { table: "event", of: latest("seq"), copies: LARGE, held: event },
    { table: "client_account", copies: 1, held: account },
    { table: "client_link", copies: 1, held: known },
    { table: "loyalty_card", copies: 1, held: { shop_id, client_id: literal(CLIENT) } },
    { table: "loyalty_ledger", copies: OF_CLIENT, held: line },
    { table: "offer", copies: OF_CLIENT, held: offer },
    { table: "offer", copies: SHOPS_OF_CLIENT, held: { ...offer, ...inOther } },
    { table: "notification", copies: OF_CLIENT, held: notification },
    { table: "notification", copies: OF_CLIENT, held: walkIn },
    { table: "notification", copies: SHOPS_OF_CLIENT, held: { ...notification, ...inOther } },
    { table: "attempt", copies: ATTEMPTS, held: attempt },
    { table: "api_key", copies: KEYS, held: key }
  ]
}

/** A shop and a client with many rows in every table. */
export interface Large {
  readonly shop_id: string
  readonly client_id: string
  readonly phone: string
  readonly event_id: string
}

/** Adds many tickets and events to the shop with most tickets, and a client with many rows in every table. */
export const enlarge = (session: Session): Effect.Effect<Large, DatabaseFailed> =>
  Effect.gen(function* () {
    const columns = yield* session.run<Column>(COLUMNS)
    const [shop] = yield* session.run<{ id: string; at: string }>(
      `select shop_id as id, max(updated_at) as at from ticket
        where shop_id in (select shop_id from event) group by 1 order by count(*) desc, 1 limit 1`
    )
    const at = Number(shop!.at)
    // The contract left the shop's ids ahead of its clock, which would widen the id range that a list by date scans.
    yield* session.run(`update shop_head set id_counter = 0 where shop_id = '${shop!.id}'`)
    for (const { table, of = "", copies, held } of rowsOfShop(shop!.id, at)) {
      const own = columns.filter((column) => column.table === table).map(({ name }) => name)
      yield* session.run(`insert into ${table} (${own.join(", ")})
        select ${own.map((name) => held[name] ?? `r.${name}`).join(", ")}
        from (select * from ${table} ${of} limit 1) r cross join generate_series(1, ${copies}) k
        left join (select id, row_number() over (order by id) as n from shop where id <> '${shop!.id}') o on o.n = k`)
    }
    const [event] = yield* session.run<{ id: string }>(`select ${idAt(at, String(LARGE))} as id`)
    return { shop_id: shop!.id, client_id: CLIENT, phone: PHONE, event_id: event!.id }
  })

/** Copies a database's rows many times, under other ids, so that it has a realistic size. */
export const multiply = (session: Session) =>
  Effect.gen(function* () {
    const columns = yield* session.run<Column>(COLUMNS)
    for (const table of new Set(columns.map((column) => column.table))) {
      const own = columns.filter((column) => column.table === table)
      const [row] = yield* session.run<{ n: number }>(`select count(*)::integer as n from ${table}`)
      const copies = Math.min(MAX_COPIES, Math.ceil(ROWS / Math.max(1, row!.n)))
      const names = own.map(({ name }) => name).join(", ")
      yield* session.run(
        `insert into ${table} (${names}) select ${own.map(copied).join(", ")} from ${table} r, generate_series(1, ${copies}) k`
      )
    }
  })
