/**
 * A statement that reads all tables and indexes into the server's memory, as in a database that has run for a while.
 */
export const WARM_UP = `do $$ begin
  if exists (select from pg_available_extensions where name = 'pg_prewarm') then
    create extension if not exists pg_prewarm;
    perform pg_prewarm(c.oid) from pg_class c where c.relnamespace = 'workshop'::regnamespace and c.relkind in ('r', 'i');
  end if;
end $$`
