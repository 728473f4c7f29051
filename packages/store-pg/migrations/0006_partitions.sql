-- Partitions can be made and removed by a role that does not own the tables: this function runs with the rights of its owner, and
-- does nothing else. `step` names one act, so that the caller decides which of them share a transaction.
create function keep_partition(step text, parent text, month text, range_from bigint, range_until bigint) returns integer
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
  end case;
  return coalesce(moved, 0);
end $body$;
do $body$ begin
  execute format('alter function keep_partition(text, text, text, bigint, bigint) set search_path = %I, pg_temp', current_schema());
end $body$;
revoke execute on function keep_partition(text, text, text, bigint, bigint) from public;

-- Removed with the events of their age.
create index notification_age on notification using brin (created_at) with (autosummarize = on);
create index replay_done on replay (created_at) where is_done;
