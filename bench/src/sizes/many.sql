-- Fills the one shop with $1 tickets and a due delivery for each. Numbers repeat after 90, so that at every size more tickets have a number
-- than a response lists. At every size a phone number has four tickets, far apart, so that the compared responses are equally long.
insert into ticket (shop_id, id, number, state, type, service, items, tracking_code, created_at, updated_at, created_via,
    external_ref, change_seq, shop_changed_at, stamps_earned, closure_due_at, client_phone,
    collected_at, outcome, abandoned_at, abandon_reason)
  select s.id, ('018f0000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, (n - 1) % 90 + 1,
    (array['workshop', 'ready', 'collected', 'abandoned'])[n % 4 + 1], 'repair', 'Resoling', '[]', 'C' || n::text,
    1700000000000 + n * 60, 1700000000000 + n * 60, 'api', 'ref ' || n::text, n, 1700000000000 + n * 60, false,
    case when n % 4 < 2 then 1905184000000 + n end, '+2162' || lpad((n % greatest($1::integer / 4, 1))::text, 7, '0'),
    case when n % 4 = 2 then 1700000000000 + n * 60 end, case when n % 4 = 2 then 'ready' end,
    case when n % 4 = 3 then 1700000000000 + n * 60 end, case when n % 4 = 3 then 'no_news' end
  from shop s, generate_series(1, $1::integer) n;
insert into event (shop_id, id, type, seq, ticket_id, created_at, body)
  select t.shop_id, t.id, 'ticket.created', t.change_seq, t.id, t.created_at, '{"type":"ticket.created"}' from ticket t;
insert into delivery (shop_id, event_id, type, ticket_id, seq, attempts_made, attempts_since_reset, due_at, generation,
    is_replay, token)
  select t.shop_id, t.id, 'ticket.created', t.id, t.change_seq, 0, 0, t.created_at, 1, false, 0 from ticket t;
update shop_head set change_seq = $1 + 1, event_seq = $1 + 1;
vacuum analyze;
