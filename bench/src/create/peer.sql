-- The same create in one PL/pgSQL call: it takes a number, counts the limits, checks the Idempotency-Key, and writes the ticket, its event
-- with the frozen text and the stored response. The ids and the tracking code come from the server's random source.
create function create_ticket(a_shop uuid, a_key text, a_now bigint) returns text language plpgsql as $$
declare
  h shop_head;
  s shop;
  known text;
  t ticket;
  view json;
  event_id uuid := gen_random_uuid();
  code text := upper(substr(md5(random()::text), 1, 4) || '-' || substr(md5(random()::text), 1, 4));
begin
  select * into h from shop_head where shop_id = a_shop for no key update;
  select response into known from idempotency_record
    where shop_id = a_shop and caller_id = 'peer' and operation = 'tickets.create' and key = a_key;
  if known is not null then
    return known;
  end if;
  select * into s from shop where id = a_shop;
  t := null;
  t.shop_id := a_shop; t.id := gen_random_uuid(); t.number := h.next_number; t.state := 'workshop';
  t.type := 'repair'; t.service := 'Resoling'; t.item := 'Brown boots'; t.items := '[]'; t.price_minor := 45000;
  t.tracking_code := code; t.created_at := a_now; t.updated_at := a_now; t.created_via := 'api';
  t.external_ref := 'web-1001'; t.change_seq := h.change_seq; t.shop_changed_at := a_now; t.stamps_earned := false;
  t.closure_due_at := a_now + 5184000000;
  insert into ticket select t.*;
  view := json_build_object('id', t.id, 'number', t.number, 'number_label', lpad(t.number::text, 4, '0'),
    'state', t.state, 'outcome', t.outcome, 'type', t.type, 'service', t.service, 'item', t.item,
    'description', t.description, 'items', t.items, 'money', json_build_object('currency', s.currency,
    'decimals', s.decimals, 'price_minor', t.price_minor, 'deposit_minor', t.deposit_minor,
    'remaining_minor', t.price_minor, 'before_minor', t.before_minor), 'quote', t.quote, 'promised_at', null,
    'delay', t.delay, 'part', t.part, 'client', null, 'client_phone', t.client_phone,
    'tracking_code', code, 'tracking_url', s.tracking_base_url || code, 'photo_url', t.photo_url,
    'created_at', to_char(at(a_now), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'updated_at', to_char(at(a_now), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'ready_at', null, 'collected_at', null,
    'abandoned_at', null, 'abandon_reason', null, 'notified_at', null, 'created_via', t.created_via,
    'external_ref', t.external_ref);
  insert into event (shop_id, id, type, seq, ticket_id, created_at, body) values (a_shop, event_id, 'ticket.created',
    h.event_seq, t.id, a_now, json_build_object('id', event_id, 'type', 'ticket.created',
    'created_at', to_char(at(a_now), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'api_version', '1', 'shop_id', a_shop,
    'data', json_build_object('ticket', view))::text);
  insert into idempotency_record (shop_id, caller_id, operation, key, fingerprint, response, expires_at)
    values (a_shop, 'peer', 'tickets.create', a_key, 'Resoling Brown boots 45000 web-1001', view::text, a_now + 86400000);
  update shop_head set next_number = case when next_number = 9999 then 1 else next_number + 1 end,
    change_seq = change_seq + 1, event_seq = event_seq + 1, last_recorded_at = a_now,
    tickets_per_hour = row((tickets_per_hour).used + 1, a_now + 3600000)::limit_window,
    tickets_per_day = row((tickets_per_day).used + 1, a_now + 86400000)::limit_window
    where shop_id = a_shop;
  return view::text;
end $$;

create table peer_shop (n integer primary key, id uuid not null);
