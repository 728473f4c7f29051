-- Creates $1 accounts, all of which the shop knows. Every tenth ticket is linked to the account with its number, so that an account has
-- one ticket or none at every size.
insert into client_account (id, given_name, family_name, phone, hide_name, created_at)
  select ('018f0000-0000-7000-9000-' || lpad(to_hex(n), 12, '0'))::uuid, 'Amel', 'Ben ' || n, '+2167' || lpad(n::text, 8, '0'), false,
    1690000000000 + n
  from generate_series(1, $1::integer) n;
insert into client_link (shop_id, client_id, known_at)
  select s.id, a.id, 1700000000000 from shop s, client_account a;
update ticket set client_id = ('018f0000-0000-7000-9000-' || lpad(to_hex(change_seq), 12, '0'))::uuid where change_seq % 10 = 0;
vacuum analyze;
