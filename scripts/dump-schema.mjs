// Migrates an empty database and writes three files to packages/store-pg, so that a review shows their changes:
// schema.sql with the schema, which is read from the catalogue because the embedded Postgres has no pg_dump;
// statements.sql with the statements of the store; and roles.sql with the rights of the roles.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { startServer, THROWAWAY_SETTINGS } from "../packages/store-pg/dist/embedded/EmbeddedPostgres.js"
import { openMigrationSession } from "../packages/store-pg/dist/migrate/Session.js"
import { migrate } from "../packages/store-pg/dist/migrate.js"
import { roles } from "./roles.mjs"
import { statements } from "./statements.mjs"

const OURS = "= 'workshop'::regnamespace"
const MINE = (/** @type {string} */ oid) =>
  `not exists (select from pg_depend d where d.objid = ${oid} and d.deptype = 'e')`
const options = "coalesce(' with (' || array_to_string(c.reloptions, ', ') || ')', '')"

/** The declaration of a column. */
const column = `format('  %I %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
  (select format(' collate %I', l.collname) from pg_collation l, pg_type t
    where l.oid = a.attcollation and t.oid = a.atttypid and l.oid <> t.typcollation),
  case when a.attidentity <> '' then format(' generated %s as identity', case a.attidentity when 'a' then 'always' else 'by default' end)
       when a.attgenerated <> '' then format(' generated always as (%s) %s', pg_get_expr(f.adbin, f.adrelid), case a.attgenerated when 's' then 'stored' else 'virtual' end)
       else ' default ' || pg_get_expr(f.adbin, f.adrelid) end,
  case when a.attnotnull then ' not null' end)`

const columns = `select string_agg(${column}, E',\\n' order by a.attnum) from pg_attribute a
  left join pg_attrdef f on f.adrelid = a.attrelid and f.adnum = a.attnum
  where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped`

/**
 * The constraints of a table, without `not null`, which is a constraint in Postgres 18 but is shown with its column.
 */
const constraints = `select string_agg(format(E',\\n  constraint %I %s', k.conname, pg_get_constraintdef(k.oid)), '' order by k.conname)
  from pg_constraint k where k.conrelid = c.oid and k.contype in ('p', 'u', 'f', 'c', 'x') and k.coninhcount = 0`

const body = `case when c.relispartition
  then (select format(' partition of %s %s', i.inhparent::regclass, pg_get_expr(c.relpartbound, c.oid)) from pg_inherits i where i.inhrelid = c.oid)
  else format(E' (\\n%s%s\\n)', (${columns}), (${constraints})) end`

/**
 * A query for each kind of object. Its rows have the name by which they are sorted, and the statement that creates the
 * object.
 */
const kinds = {
  extensions: `select extname as name, format('create extension %I;', extname) as text from pg_extension where extname <> 'plpgsql'`,
  enums: `select t.typname as name, format('create type %I as enum (%s);', t.typname, string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder)) as text
    from pg_type t join pg_enum e on e.enumtypid = t.oid where t.typnamespace ${OURS} and ${MINE("t.oid")} group by t.typname`,
  domains: `select t.typname as name, format('create domain %I as %s%s%s%s;', t.typname, format_type(t.typbasetype, t.typtypmod),
      ' default ' || t.typdefault, case when t.typnotnull then ' not null' end,
      (select string_agg(format(' constraint %I %s', k.conname, pg_get_constraintdef(k.oid)), '' order by k.conname) from pg_constraint k where k.contypid = t.oid and k.contype = 'c')) as text
    from pg_type t where t.typtype = 'd' and t.typnamespace ${OURS} and ${MINE("t.oid")}`,
  composites: `select c.relname as name, format(E'create type %I as (\\n%s\\n);', c.relname, (${columns})) as text
    from pg_class c where c.relkind = 'c' and c.relnamespace ${OURS} and ${MINE("c.oid")}`,
  functions: `select p.oid::regprocedure::text as name, rtrim(pg_get_functiondef(p.oid), E' \\n') || ';' as text
    from pg_proc p where p.prokind in ('f', 'p') and p.pronamespace ${OURS} and ${MINE("p.oid")}`,
  sequences: `select c.relname as name, format('create sequence %I as %s start %s increment %s;', c.relname, s.seqtypid::regtype, s.seqstart, s.seqincrement) as text
    from pg_class c join pg_sequence s on s.seqrelid = c.oid
    where c.relnamespace ${OURS} and not exists (select from pg_depend d where d.objid = c.oid and d.deptype in ('e', 'i'))`,
  tables: `select c.relname as name, format('create %stable %I%s%s%s;', case c.relpersistence when 'u' then 'unlogged ' end, c.relname, ${body},
      ' partition by ' || pg_get_partkeydef(c.oid), ${options}) as text
    from pg_class c where c.relkind in ('r', 'p') and c.relnamespace ${OURS} and ${MINE("c.oid")}`,
  indexes: `select c.relname as name, pg_get_indexdef(c.oid) || ';' as text
    from pg_class c join pg_index i on i.indexrelid = c.oid where c.relnamespace ${OURS} and not c.relispartition
      and not exists (select from pg_constraint k where k.conindid = c.oid and k.contype in ('p', 'u', 'x'))`,
  comments: `select format('%s %s', c.oid::regclass, lpad(d.objsubid::text, 4, '0')) as name,
      format('comment on %s is %L;', case d.objsubid when 0 then 'table ' || c.oid::regclass else format('column %s.%I', c.oid::regclass,
        (select attname from pg_attribute a where a.attrelid = c.oid and a.attnum = d.objsubid)) end, d.description) as text
    from pg_description d join pg_class c on c.oid = d.objoid and d.classoid = 'pg_class'::regclass
    where c.relkind in ('r', 'p') and c.relnamespace ${OURS}`,
  statistics: `select stxname as name, pg_get_statisticsobjdef(oid) || ';' as text from pg_statistic_ext where stxnamespace ${OURS}`,
  views: `select c.relname as name, format(E'create %sview %I as\\n%s', case c.relkind when 'm' then 'materialized ' end, c.relname, pg_get_viewdef(c.oid)) as text
    from pg_class c where c.relkind in ('v', 'm') and c.relnamespace ${OURS} and ${MINE("c.oid")}`,
  triggers: `select format('%s %s', t.tgrelid::regclass, t.tgname) as name, pg_get_triggerdef(t.oid) || ';' as text
    from pg_trigger t join pg_class c on c.oid = t.tgrelid where not t.tgisinternal and c.relnamespace ${OURS}`,
  policies: `select format('%s %s', polrelid::regclass, polname) as name,
      format('create policy %I on %s using (%s) with check (%s);', polname, polrelid::regclass, pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)) as text from pg_policy`
}

/** @param {import("../packages/store-pg/dist/migrate/Session.js").Session} session */
const dumped = (session) =>
  Effect.forEach(Object.values(kinds), (sql) =>
    /** @type {typeof session.run<{ text: string }>} */ (session.run)(
      `select text from (${sql}) made order by name collate "C"`
    )
  ).pipe(Effect.map((kinds) => kinds.flat().map(({ text }) => text)))

const SENT = `-- Written by \`npm run codegen\`: every statement of the store as it is sent, by its name; change packages/store-pg/src instead.
-- A name stands in the text, so pg_stat_statements and the server's log show it. A batch of commands sends what it saves, the
-- puts, removals and calls below, as the parts of one statement, under all their names.`

/** @param {ReadonlyArray<import("./statements.mjs").SentStatement>} statements */
const shown = (statements) => {
  const order = statements.map(({ title, by, text }) => [title, by.replace(/ \d+$/, ""), text])
  const lines = order.map(([title, by, text]) => `-- ${title} (${by})\n${text};`)
  return [...new Set(lines)].sort()
}

const written = Effect.gen(function* () {
  const folder = () => mkdtempSync(join(tmpdir(), "workshop-schema-"))
  const dataDir = yield* Effect.acquireRelease(Effect.sync(folder), (path) =>
    Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const { url } = yield* startServer({ dataDir, settings: THROWAWAY_SETTINGS })
  yield* migrate(url)
  const session = yield* openMigrationSession(url)
  const made = yield* dumped(session)
  writeFileSync("packages/store-pg/roles.sql", yield* roles(session))
  const note =
    "-- Written by `npm run codegen` from a database that packages/store-pg/migrations made; change those instead."
  writeFileSync("packages/store-pg/schema.sql", `${[note, ...made].join("\n\n")}\n`)
  writeFileSync("packages/store-pg/statements.sql", `${[SENT, ...shown(yield* statements(url))].join("\n\n")}\n`)
})

await Effect.runPromise(Effect.scoped(written)).catch((error) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
