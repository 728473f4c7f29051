// The text of packages/store-pg/roles.sql with the rights of the roles, from the store's tables of rights.
import { Effect } from "effect"
import { hiddenColumns, serviceFunctions, serviceRights } from "../packages/store-pg/dist/migrate/Rights.js"

const HEAD = `-- Written by \`npm run codegen\` from packages/store-pg/src/migrate/Rights.ts; change that instead.
-- The rights of the service's roles. Run this file as the owner of the tables or as a superuser after each migration, with
-- workshop migrate --roles or, if the schema is workshop, with psql -v ON_ERROR_STOP=1 -f roles.sql. It can run repeatedly, and revokes
-- all rights that it does not grant.
--   workshop_service: workshop serve and workshop dispatch, with --no-migrate. It cannot change rows of tables that only grow.
--   workshop_reader: people who query the data. It cannot read hashes of keys, webhook secrets or phone numbers.

begin;

-- The search path has no schema of ours, so that Citus sends qualified names to its workers, whose search path differs.
set local search_path = pg_catalog, pg_temp;

do $body$
declare
  owner constant text := (select pg_get_userbyid(relowner) from pg_class where oid = 'workshop.ticket'::regclass);
  schema constant text := (select nspname from pg_class c join pg_namespace n on n.oid = relnamespace where c.oid = 'workshop.ticket'::regclass);
  role text;
  what text;
begin
  foreach role in array array['workshop_service', 'workshop_reader'] loop
    if role = owner then
      raise exception 'the role % owns the tables. Make another role their owner, so that the rights of % can be limited', role, role;
    end if;
    if not exists (select from pg_roles where rolname = role) then
      begin
        execute format('create role %I nologin', role);
      exception when insufficient_privilege then
        raise exception 'the role % does not exist, and % may not create it. As a superuser, run "create role %"', role, current_user, role
          using errcode = '42501';
      end;
    end if;
    foreach what in array array['tables', 'sequences', 'functions'] loop
      execute format('revoke all on all %s in schema %I from %I', what, schema, role);
      -- Without this, each new partition would get the default rights.
      execute format('alter default privileges for role %I revoke all on %s from %I', owner, what, role);
      execute format('alter default privileges for role %I in schema %I revoke all on %s from %I', owner, schema, what, role);
    end loop;
    execute format('grant usage on schema %I to %I', schema, role);
  end loop;
end $body$;`

const TABLES = `select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relnamespace = 'workshop'::regnamespace and c.relkind in ('r', 'p') group by 1 order by 1`

/** @typedef {{ readonly name: string, readonly columns: ReadonlyArray<string> }} Table */

const forService = (/** @type {Table} */ { name }) => {
  const rights = serviceRights[name]
  if (rights === undefined)
    throw new Error(`Rights.ts does not say what the service may do with the table ${name}: add it.`)
  return rights.length === 0 ? [] : [`grant ${rights.join(", ")} on workshop.${name} to workshop_service;`]
}

const forReader = (/** @type {Table} */ { name, columns }) => {
  const hidden = hiddenColumns[name] ?? []
  const unknown = hidden.find((column) => column !== "*" && !columns.includes(column))
  if (unknown !== undefined) throw new Error(`Rights.ts hides ${name}.${unknown}, which does not exist: remove it.`)
  if (hidden.includes("*")) return []
  const readable = columns.filter((column) => !hidden.includes(column))
  return [
    `grant select${hidden.length === 0 ? "" : ` (${readable.join(", ")})`} on workshop.${name} to workshop_reader;`
  ]
}

/** @param {import("../packages/store-pg/dist/migrate/Session.js").Session} session */
export const roles = (session) =>
  Effect.map(/** @type {typeof session.run<Table>} */ (session.run)(TABLES), (tables) =>
    [
      HEAD,
      tables.flatMap(forService).join("\n"),
      serviceFunctions
        .map(
          (name) =>
            `revoke execute on function workshop.${name} from public;\ngrant execute on function workshop.${name} to workshop_service;`
        )
        .join("\n"),
      tables.flatMap(forReader).join("\n"),
      "commit;\n"
    ].join("\n\n")
  )
