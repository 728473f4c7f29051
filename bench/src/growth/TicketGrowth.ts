import { Effect } from "effect"
import { saveStatements } from "../../../packages/store-pg/dist/commands/SaveStatements.js"
import { openMigrationSession, type Session } from "../../../packages/store-pg/dist/migrate/Session.js"
import { tables } from "../../../packages/store-pg/dist/Tables.js"
import type { Cluster } from "../pg/Cluster.js"

const SHOPS = 1_000
const T0 = 1_790_000_000_000
/** The milliseconds between two tickets. */
const APART = 137
/** The number of tickets that a statement creates. */
const AT_ONCE = 500
/** The number of tickets after which a vacuum may run. */
const STEP = 4_000

const { key, immutableColumns, updatedColumns } = tables.ticket
const COLUMNS = [...key, ...immutableColumns, ...updatedColumns]

/** The part of the store's own statement that updates an existing row. */
const UPDATE = saveStatements.find(({ name }) => name === "put ticket")!.text.replace(/^.* on conflict/s, "on conflict")

const CREATE = `with m as (
    insert into made select n, md5('shop ' || (hashint4(n) & 2147483647) % ${SHOPS})::uuid,
      (lpad(to_hex((${T0} + n * ${APART})::bigint), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8' || substr(md5(n::text), 1, 15))::uuid
    from generate_series($1::integer, $2::integer) n returning *)
  insert into ticket (shop_id, id, number, state, type, service, item, items, price_minor, client_id, client_phone, tracking_code,
    created_at, updated_at, created_via, external_ref, change_seq, shop_changed_at, stamps_earned, closure_due_at)
  select shop_id, id, n / ${SHOPS} % 9999 + 1, 'workshop', 'repair', 'Resoling', 'Brown boots', '[]', 45000,
    case when n % 4 = 0 then md5((n % 5000)::text)::uuid end, case when n % 2 = 0 then '+2162' || lpad((n % 10000000)::text, 7, '0') end,
    upper(substr(md5('c' || n), 1, 8)), at, at, 'api', 'web-' || n, nextval('growth'), at, false, at + 5184000000
  from (select *, ${T0} + n * ${APART}::bigint as at from m) m order by n`

/**
 * The SQL that moves the tickets numbered from $1 to $2 to a state, as the store saves it. Of ten
 * ready tickets, seven are collected.
 */
const changing = (state: "ready" | "collected") => {
  const changed: Readonly<Record<string, string>> = {
    state: `'${state}'`,
    updated_at: "$3::bigint",
    shop_changed_at: "$3::bigint",
    change_seq: "nextval('growth')",
    closure_due_at: state === "ready" ? "$3::bigint + 5184000000" : "null",
    ...(state === "ready" ? { ready_at: "$3::bigint" } : { collected_at: "$3::bigint", outcome: "'ready'" })
  }
  const values = COLUMNS.map((column) => changed[column] ?? `t.${column}`).join(", ")
  return `insert into ticket (${COLUMNS.join(", ")}) select ${values} from made m join ticket t on t.shop_id = m.shop_id and t.id = m.id
    where m.n between $1::integer and $2::integer and (${state === "ready"} or m.n % 10 < 7) order by hashint4(m.n) ${UPDATE}`
}

const MAKE_READY = changing("ready")
const COLLECT = changing("collected")

/**
 * Vacuums by the rule and the settings of autovacuum, but after a number of dead rows, so that the speed of the machine
 * does not matter.
 */
const autovacuum = (session: Session) =>
  Effect.gen(function* () {
    const [row] = yield* session.run<{ scale: number }>(
      `select coalesce((select option_value::float from pg_class c, pg_options_to_table(c.reloptions)
        where c.oid = 'ticket'::regclass and option_name = 'autovacuum_vacuum_scale_factor'), 0.2) as scale`
    )
    yield* session.run("alter table ticket set (autovacuum_enabled = off)")
    let dead = 0
    return (died: number, rows: number) =>
      Effect.suspend(() => {
        dead += died
        if (dead <= 50 + row!.scale * rows) return Effect.void
        dead = 0
        return session.run("vacuum (analyze) ticket")
      })
  })

/**
 * Measures the bytes per ticket of the table and of each index, after creating tickets and changing each 1.7 times, as
 * shops do.
 */
export const ticketGrowth = (database: Cluster["database"], tickets: number) =>
  Effect.gen(function* () {
    const session = yield* openMigrationSession(yield* database("tickets"))
    yield* session.run("create temp table made (n integer primary key, shop_id uuid, id uuid); create sequence growth")
    yield* session.run("set synchronous_commit = off")
    const vacuum = yield* autovacuum(session)
    for (let first = 1; first <= tickets + 5 * STEP; first += STEP) {
      const now = T0 + (first + STEP) * APART
      for (let from = first; from < first + STEP; from += AT_ONCE) {
        const until = from + AT_ONCE - 1
        if (from <= tickets) yield* session.run(CREATE, [from, until])
        for (const [sql, later] of [
          [MAKE_READY, 2],
          [COLLECT, 5]
        ] as const) {
          const begun = from - later * STEP
          if (begun > 0 && begun <= tickets) yield* session.run(sql, [begun, until - later * STEP, now])
        }
      }
      yield* vacuum(1.7 * STEP, Math.min(first + STEP, tickets))
    }
    const rows = yield* session.run<{ name: string; bytes: number }>(
      `select c.relname as name, round(pg_relation_size(c.oid) / $1::numeric)::integer as bytes from pg_class c
      where c.oid = 'ticket'::regclass or c.oid in (select indexrelid from pg_index where indrelid = 'ticket'::regclass) order by 2 desc`,
      [tickets]
    )
    const indexes = rows.filter(({ name }) => name !== "ticket")
    return { rows, index: indexes.reduce((sum, { bytes }) => sum + bytes, 0) }
  }).pipe(Effect.scoped)
