import { Effect } from "effect"
import type { Session } from "../src/migrate/Session.js"

/** About how many rows a table comes to. */
const ROWS = 40_000

/** How many tickets and events more the large shop gets. */
const LARGE = 50_000

/** How many times over a small table is copied at most: as many shops as there are then for each that was there. */
const MOST_COPIES = 4_000

interface Column {
  readonly table: string
  readonly name: string
  readonly type: string
  /** Whether it is text of a key that has no id in it, by which its rows would be told apart. */
  readonly is_sole: boolean
}

/** Every column that can be written, of every table that is not part of another. */
const COLUMNS = `select c.relname as table, a.attname as name, t.typname as type,
    a.atttypid = 'text'::regtype and exists (
      select from pg_index i where i.indrelid = c.oid and i.indisunique and a.attnum = any(i.indkey::int2[]) and not exists (
        select from pg_attribute k where k.attrelid = c.oid and k.attnum = any(i.indkey::int2[]) and k.atttypid = 'uuid'::regtype
      )
    ) as is_sole
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attidentity = ''
  join pg_type t on t.oid = a.atttypid
  where c.relnamespace = 'workshop'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and c.relname not in ('schema_migration', 'server_life') order by c.relname, a.attnum`

/** What a column holds in the copy \`k\`: other ids, made alike in all tables, and else the same. */
const copied = ({ name, type, is_sole }: Column): string => {
  if (type === "uuid") return `md5(r.${name}::text || k)::uuid`
  if (/phone$/.test(name)) return `'+1' || substr(r.${name}, 5) || lpad(k::text, 4, '0')`
  if (name === "hash") return "encode(sha256((r.hash || k)::bytea), 'hex')"
  return is_sole ? `r.${name} || ' ' || k` : `r.${name}`
}

/** What a column holds in the copy `k` for the same shop. */
const copiedInShop = ({ name }: Column): string => {
  if (name === "id") return "md5(r.id::text || 'large' || k)::uuid"
  if (name === "tracking_code") return "'L' || k"
  return name === "seq" || name === "change_seq" ? `r.${name} + k` : `r.${name}`
}

/** What numbers a shop's rows. */
const LAST = { ticket: "change_seq", event: "seq" }

/** Gives the shop that has the most tickets many more of them, and of events; tells its id. */
export const enlarge = (session: Session) =>
  Effect.gen(function* () {
    const columns = yield* session.run<Column>(COLUMNS)
    const [shop] = yield* session.run<{ id: string }>(
      "select shop_id as id from ticket where shop_id in (select shop_id from event) group by 1 order by count(*) desc, 1 limit 1"
    )
    for (const table of ["ticket", "event"] as const) {
      const own = columns.filter((column) => column.table === table)
      yield* session.run(`insert into ${table} (${own.map(({ name }) => name).join(", ")})
        select ${own.map(copiedInShop).join(", ")}
        from (select * from ${table} where shop_id = '${shop!.id}' order by ${LAST[table]} desc limit 1) r, generate_series(1, ${LARGE}) k`)
    }
    return shop!.id
  })

/** Copies what a database holds many times over, under other ids, so that it comes to a realistic size. */
export const multiply = (session: Session) =>
  Effect.gen(function* () {
    const columns = yield* session.run<Column>(COLUMNS)
    for (const table of new Set(columns.map((column) => column.table))) {
      const own = columns.filter((column) => column.table === table)
      const [row] = yield* session.run<{ n: number }>(`select count(*)::integer as n from ${table}`)
      const copies = Math.min(MOST_COPIES, Math.ceil(ROWS / Math.max(1, row!.n)))
      const names = own.map(({ name }) => name).join(", ")
      yield* session.run(
        `insert into ${table} (${names}) select ${own.map(copied).join(", ")} from ${table} r, generate_series(1, ${copies}) k`
      )
    }
  })
