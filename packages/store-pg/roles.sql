-- Written by `npm run codegen` from packages/store-pg/src/migrate/Rights.ts; change that instead.
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
end $body$;

grant select, insert, update on workshop.api_key to workshop_service;
grant select, insert on workshop.api_key_cell to workshop_service;
grant select, insert on workshop.attempt to workshop_service;
grant select on workshop.attempt_rest to workshop_service;
grant select, insert on workshop.audit_entry to workshop_service;
grant select, insert, update, delete on workshop.backlogged_queue to workshop_service;
grant select, insert, update, delete on workshop.batch_receipt to workshop_service;
grant select, update on workshop.cell to workshop_service;
grant select, insert, update, delete on workshop.client_account to workshop_service;
grant select, insert, update, delete on workshop.client_erasure to workshop_service;
grant select, insert, update, delete on workshop.client_link to workshop_service;
grant select, insert on workshop.database_label to workshop_service;
grant select, insert, update, delete on workshop.delivery to workshop_service;
grant select, insert, update, delete on workshop.delivery_queue to workshop_service;
grant select, insert on workshop.event to workshop_service;
grant select on workshop.event_rest to workshop_service;
grant select, insert, update, delete on workshop.idempotency_record to workshop_service;
grant select, insert, update on workshop.loyalty_card to workshop_service;
grant select, insert on workshop.loyalty_ledger to workshop_service;
grant select, insert on workshop.notice to workshop_service;
grant select, insert, delete on workshop.notification to workshop_service;
grant select, insert, update, delete on workshop.offer to workshop_service;
grant select, insert, update, delete on workshop.queued_notification to workshop_service;
grant select, insert, update, delete on workshop.rate_limit to workshop_service;
grant select, insert, update, delete on workshop.replay to workshop_service;
grant select on workshop.schema_migration to workshop_service;
grant select, insert, update on workshop.shop to workshop_service;
grant select, insert on workshop.shop_cell to workshop_service;
grant select, insert, update on workshop.shop_head to workshop_service;
grant select, insert, update, delete on workshop.stale_account_copy to workshop_service;
grant select, insert, update, delete on workshop.stamp_limit to workshop_service;
grant select, insert, update on workshop.ticket to workshop_service;
grant select, insert, update, delete on workshop.webhook to workshop_service;

revoke execute on function workshop.clear_sandbox() from public;
grant execute on function workshop.clear_sandbox() to workshop_service;
revoke execute on function workshop.maintain_partition(text, text, text, bigint, bigint) from public;
grant execute on function workshop.maintain_partition(text, text, text, bigint, bigint) to workshop_service;
revoke execute on function workshop.rewrite_events(json) from public;
grant execute on function workshop.rewrite_events(json) to workshop_service;
revoke execute on function workshop.rewrite_attempts(json) from public;
grant execute on function workshop.rewrite_attempts(json) to workshop_service;

grant select (id, insert_order, shop_id, name, scopes, last_four, created_at, revoked_at, expires_at, last_used_at) on workshop.api_key to workshop_reader;
grant select (shop_id, event_id, n, started_at, status, error, detail, address, timings) on workshop.attempt to workshop_reader;
grant select on workshop.audit_entry to workshop_reader;
grant select on workshop.backlogged_queue to workshop_reader;
grant select on workshop.batch_receipt to workshop_reader;
grant select on workshop.cell to workshop_reader;
grant select (id, given_name, family_name, hide_name, created_at) on workshop.client_account to workshop_reader;
grant select on workshop.client_link to workshop_reader;
grant select on workshop.database_label to workshop_reader;
grant select on workshop.delivery to workshop_reader;
grant select on workshop.delivery_queue to workshop_reader;
grant select (shop_id, id, type, seq, ticket_id, created_at) on workshop.event to workshop_reader;
grant select (shop_id, caller_id, operation, expires_at) on workshop.idempotency_record to workshop_reader;
grant select on workshop.loyalty_card to workshop_reader;
grant select on workshop.loyalty_ledger to workshop_reader;
grant select (shop_id, id, insert_order, kind, created_at, off_reason, failures_in_row, first_failure_at) on workshop.notice to workshop_reader;
grant select (shop_id, id, insert_order, client_id, type, ticket_id, created_at) on workshop.notification to workshop_reader;
grant select (shop_id, id, insert_order, ticket_id, status, created_at, answered_at) on workshop.offer to workshop_reader;
grant select on workshop.queued_notification to workshop_reader;
grant select on workshop.replay to workshop_reader;
grant select on workshop.schema_migration to workshop_reader;
grant select on workshop.shop to workshop_reader;
grant select on workshop.shop_cell to workshop_reader;
grant select on workshop.shop_head to workshop_reader;
grant select on workshop.stale_account_copy to workshop_reader;
grant select on workshop.stamp_limit to workshop_reader;
grant select (shop_id, id, number, state, outcome, type, service, item, description, items, price_minor, deposit_minor, before_minor, quote, promised_at, delay, part, client_id, tracking_code, photo_url, created_at, updated_at, ready_at, collected_at, abandoned_at, abandon_reason, notified_at, created_via, external_ref, change_seq, shop_changed_at, stamps_earned, closure_due_at, moves_per_day, notifications_per_day, notified_channel, history) on workshop.ticket to workshop_reader;
grant select (shop_id, previous_until, off_reason, failures_in_row, first_failure_at, failure_steps_notified, generation, enabled_at) on workshop.webhook to workshop_reader;

commit;
