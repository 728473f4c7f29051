-- Events and attempts are changed in two ways only: an erasure takes a person out of their text, and retention removes them with
-- their time. These functions do so with the rights of the tables' owner, so that the service's role needs neither update nor delete.
create function rewrite_events(rows json) returns void
  language plpgsql security definer as $body$
begin
  if not exists (select from client_erasure) then
    raise exception 'events are rewritten while a client is erased, and no erasure is under way' using errcode = '55000';
  end if;
  update event e set body = q.body from json_populate_recordset(null::event, rows) q
    where e.shop_id = q.shop_id and e.id = q.id and e.created_at = q.created_at;
end $body$;

create function rewrite_attempts(rows json) returns void
  language plpgsql security definer as $body$
begin
  if not exists (select from client_erasure) then
    raise exception 'attempts are rewritten while a client is erased, and no erasure is under way' using errcode = '55000';
  end if;
  update attempt a set head = q.head from json_populate_recordset(null::attempt, rows) q
    where a.shop_id = q.shop_id and a.event_id = q.event_id and a.n = q.n and a.started_at = q.started_at;
end $body$;

-- As before, with the step 'remove': at most a thousand rows of the default partition that are older than range_until.
-- A delivery sends its event's text, and a replay goes on with the numbers of an event's attempts, so these stay.
create or replace function keep_partition(step text, parent text, month text, range_from bigint, range_until bigint) returns integer
  language plpgsql security definer as $body$
declare
  dated constant text := case parent when 'event' then 'created_at' when 'attempt' then 'started_at' end;
  part constant text := parent || '_' || month;
  rest constant text := parent || '_rest';
  moved integer := 0;
begin
  if dated is null or month !~ '^[0-9]{4}_[0-9]{2}$' then
    raise exception 'keep_partition knows event and attempt, by months such as 2026_11' using errcode = '22023';
  end if;
  case step
    -- While this constraint is there, attaching need not look through the default partition, which may be large.
    when 'exclude' then
      execute format('alter table %I add constraint excluded check (%I < %s or %I >= %s) not valid', rest, dated, range_from, dated, range_until);
    when 'validate' then
      execute format('alter table %I validate constraint excluded', rest);
    when 'include' then
      execute format('alter table %I drop constraint if exists excluded', rest);
    when 'attach' then
      -- Made apart and attached, the table as a whole stays free meanwhile.
      execute format('create table if not exists %I (like %I including all)', part, parent);
      execute format('alter table %I attach partition %I for values from (%s) to (%s)', parent, part, range_from, range_until);
    when 'detach' then
      execute format('alter table %I detach partition %I', parent, part);
    -- What a delivery still needs moves to the default partition, a thousand rows at a time.
    when 'rescue' then
      execute format(case parent
        when 'event' then 'with taken as (delete from %1$I where ctid = any (array(select e.ctid from %1$I e
            where exists (select from delivery d where d.shop_id = e.shop_id and d.event_id = e.id) limit 1000)) returning *),
          kept as (insert into event select * from taken on conflict do nothing)
          select count(*)::integer from taken'
        else 'select 0 from %1$I limit 1' end, part) into moved;
    when 'drop' then
      execute format('drop table %I', part);
    when 'remove' then
      execute format('with gone as (delete from %1$I where ctid = any (array(select e.ctid from %1$I e where e.%2$I < %3$s and not exists ('
        || case parent when 'event' then 'select from delivery d where d.shop_id = e.shop_id and d.event_id = e.id'
          else 'select from event v where v.shop_id = e.shop_id and v.id = e.event_id' end
        || ') limit 1000)) returning 1) select count(*)::integer from gone', rest, dated, range_until) into moved;
  end case;
  return coalesce(moved, 0);
end $body$;

do $body$
declare
  called regprocedure;
begin
  foreach called in array array['rewrite_events(json)', 'rewrite_attempts(json)', 'keep_partition(text, text, text, bigint, bigint)']::regprocedure[] loop
    execute format('alter function %s set search_path = %I, pg_temp', called, current_schema());
    execute format('revoke execute on function %s from public', called);
  end loop;
end $body$;
