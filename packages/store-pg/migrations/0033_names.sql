-- Renames tables and columns to the names that the JSON, the TypeScript and the documentation use, while nothing is released.
-- A program of an earlier version cannot use these tables, so it is refused, and it is stopped before. Therefore one file may lock them all.
-- readable from 33

-- Citus does not rename the constraints of distributed tables. It renames indexes, and with them primary keys; checks are made again.
alter table remembered rename to idempotency_record;
alter table idempotency_record rename column answer to response;
alter index remembered_pkey rename to idempotency_record_pkey;
alter index remembered_until rename to idempotency_record_until;
comment on table idempotency_record is 'The first response to each idempotency key, for 30 days.';

alter table message rename to queued_notification;
alter index message_pkey rename to queued_notification_pkey;
alter index message_due rename to queued_notification_due;
alter table queued_notification drop constraint message_attempts_not_negative;
alter table queued_notification add constraint queued_notification_attempts_not_negative check (attempts_made >= 0);
alter table queued_notification drop constraint message_receiver_known;
alter table queued_notification add constraint queued_notification_receiver_known check (receiver in ('client', 'owner'));

alter table mark rename to database_label;
alter index mark_pkey rename to database_label_pkey;
comment on table database_label is 'Labels of the whole database. "sandbox": a sandbox created the data, so they are not real. "cell:NAME" and "cell_id:ID": the cell that the schema is.';
comment on column database_label.name is 'The label.';
comment on column cell.id is 'The id that the cell has in its own table database_label; null until workshop migrate gives it one, and for the home cell.';

alter table stamps_used rename to stamp_limit;
alter index stamps_used_pkey rename to stamp_limit_pkey;
alter index stamps_used_until rename to stamp_limit_until;
alter table stamp_limit drop constraint stamps_used_used_not_negative;
alter table stamp_limit add constraint stamp_limit_used_not_negative check (used >= 0);

alter table key_cell rename to api_key_cell;
alter index key_cell_pkey rename to api_key_cell_pkey;

alter table account_copy rename to stale_account_copy;
alter table stale_account_copy rename column n to change_number;
alter index account_copy_pkey rename to stale_account_copy_pkey;
alter index account_copy_order rename to stale_account_copy_order;
alter sequence account_copy_n_seq rename to stale_account_copy_change_number_seq;

alter table delivery_turn rename to delivery_queue;
alter table delivery_queue rename column look_at to next_claim_at;
alter index delivery_turn_pkey rename to delivery_queue_pkey;
alter index delivery_turn_due rename to delivery_queue_due;
comment on table delivery_queue is 'The queues of deliveries, one for each shop with a webhook, and the order in which they are served.';
comment on column delivery_queue.next_claim_at is 'Before this instant nothing of the shop can be claimed; 0 if something can now, 1 if something can and the shop is in backlogged_queue. It may be too early, never too late.';

alter table delivery_round rename to backlogged_queue;
alter index delivery_round_pkey rename to backlogged_queue_pkey;
alter index delivery_round_order rename to backlogged_queue_order;
comment on table backlogged_queue is 'The queues that were served and still have something due, one row each. Their delivery_queue has next_claim_at 1.';
comment on column backlogged_queue.turn is 'The place of the shop in the order in which shops are served, together with those of which delivery_queue has next_claim_at 0.';

alter table delivery rename column attempts_in_round to attempts_since_reset;
comment on column delivery.attempts_since_reset is 'The number of attempts since a release or a replay last made the delivery due anew. The retry schedule counts these.';

alter table webhook rename column steps_told to failure_steps_notified;
alter table webhook rename column released_at to enabled_at;

alter table shop_head rename column last_instant to last_recorded_at;
alter table shop_head rename column ids_made to id_counter;
comment on column shop_head.last_recorded_at is 'The held time at the latest command; created_at and updated_at never go back behind it.';
comment on column shop_head.id_counter is 'The number of ids that the shop''s commands made at last_recorded_at. The next ids continue from there.';

comment on column replay.until_seq is 'The seq at which the replay ends: the event with this seq and later ones are not sent again.';

alter table api_key rename column place to insert_order;
alter sequence api_key_place_seq rename to api_key_insert_order_seq;
alter table audit_entry rename column place to insert_order;
alter sequence audit_entry_place_seq rename to audit_entry_insert_order_seq;
alter table notice rename column place to insert_order;
alter sequence notice_place_seq rename to notice_insert_order_seq;
alter table notification rename column place to insert_order;
alter sequence notification_place_seq rename to notification_insert_order_seq;
alter table offer rename column place to insert_order;
alter sequence offer_place_seq rename to offer_insert_order_seq;

-- Only releases that can no longer use the schema needed these.
drop table server_life;
drop sequence delivery_turns;

-- As before, with the new names of the tables.
create or replace function clear_sandbox() returns boolean
  language plpgsql security definer as $body$
begin
  if not exists (select from database_label where name = 'sandbox') then
    return false;
  end if;
  truncate api_key, attempt, audit_entry, backlogged_queue, client_account, client_erasure, client_link, delivery, delivery_queue, event,
    idempotency_record, loyalty_card, loyalty_ledger, notice, notification, offer, queued_notification, rate_limit, replay, shop, shop_head,
    stamp_limit, ticket, webhook;
  return true;
end $body$;

-- As before, with names of the steps that say what they do.
alter function keep_partition(text, text, text, bigint, bigint) rename to maintain_partition;
create or replace function maintain_partition(step text, parent text, month text, range_from bigint, range_until bigint) returns integer
  language plpgsql security definer as $body$
declare
  dated constant text := case parent when 'event' then 'created_at' when 'attempt' then 'started_at' end;
  part constant text := parent || '_' || month;
  rest constant text := parent || '_rest';
  moved integer := 0;
begin
  if dated is null or month !~ '^[0-9]{4}_[0-9]{2}$' then
    raise exception 'maintain_partition knows event and attempt, by months such as 2026_11' using errcode = '22023';
  end if;
  case step
    -- While this constraint is there, attaching need not look through the default partition, which may be large.
    when 'add_constraint' then
      execute format('alter table %I add constraint excluded check (%I < %s or %I >= %s) not valid', rest, dated, range_from, dated, range_until);
    when 'validate_constraint' then
      execute format('alter table %I validate constraint excluded', rest);
    when 'drop_constraint' then
      execute format('alter table %I drop constraint if exists excluded', rest);
    when 'attach' then
      -- Made apart and attached, the table as a whole stays free meanwhile.
      execute format('create table if not exists %I (like %I including all)', part, parent);
      execute format('alter table %I attach partition %I for values from (%s) to (%s)', parent, part, range_from, range_until);
    when 'detach' then
      execute format('alter table %I detach partition %I', parent, part);
    -- What a delivery still needs moves to the default partition, a thousand rows at a time.
    when 'move_needed' then
      execute format(case parent
        when 'event' then 'with taken as (delete from %1$I where ctid = any (array(select e.ctid from %1$I e
            where exists (select from delivery d where d.shop_id = e.shop_id and d.event_id = e.id) limit 1000)) returning *),
          kept as (insert into event select * from taken on conflict do nothing)
          select count(*)::integer from taken'
        else 'select 0 from %1$I limit 1' end, part) into moved;
    when 'drop' then
      execute format('drop table %I', part);
    when 'delete_old' then
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
  foreach called in array array['clear_sandbox()', 'maintain_partition(text, text, text, bigint, bigint)']::regprocedure[] loop
    execute format('alter function %s set search_path = %I, pg_temp', called, current_schema());
  end loop;
end $body$;
