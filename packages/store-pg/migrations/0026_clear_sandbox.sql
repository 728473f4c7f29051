-- Empties the tables of a sandbox, for a tester who begins anew. With the rights of the tables' owner, because the service's role removes
-- nothing from most of them; and only where a sandbox made the data, so that nobody empties a service in earnest.
create function clear_sandbox() returns boolean
  language plpgsql security definer as $body$
begin
  if not exists (select from mark where name = 'sandbox') then
    return false;
  end if;
  truncate api_key, attempt, audit_entry, client_account, client_erasure, client_link, delivery, delivery_round, delivery_turn, event,
    loyalty_card, loyalty_ledger, message, notice, notification, offer, rate_limit, remembered, replay, shop, shop_head, stamps_used, ticket,
    webhook;
  return true;
end $body$;

do $body$
begin
  execute format('alter function clear_sandbox() set search_path = %I, pg_temp', current_schema());
  revoke execute on function clear_sandbox() from public;
end $body$;
