-- Written by `npm run codegen`: every statement of the store as it is sent, by its name; change packages/store-pg/src instead.
-- A name stands in the text, so pg_stat_statements and the server's log show it. A batch of commands sends what it saves, the
-- puts, removals and calls below, as the parts of one statement, under all their names.

-- answers of person (workshop reads)

      with /* workshop answers of person */ page as materialized (
        select * from workshop.idempotency_record where shop_id = $1
          and (caller_id, operation, key) > ($2, $3, $4)
        order by caller_id, operation, key limit $5
      )
      select (select count(*)::integer from page) as n,
        (select json_build_object('caller_id', caller_id, 'operation', operation, 'key', key) from page
          order by caller_id desc, operation desc, key desc limit 1) as last,
        coalesce((select json_agg(r) from page r where r.response::json->>'id' = any($6::text[]) or exists (
          select from unnest($7::text[]) w (word)
          where strpos(concat_ws(' ', r.key, r.fingerprint, r.response), w.word) > 0)), '[]') as records;

-- append audit entry (workshop reads)
insert /* workshop append audit entry */ into workshop.audit_entry (shop_id, id, created_at, actor, act, details)
      select shop_id, id, created_at, actor, act, details
      from json_populate_record(null::workshop.audit_entry, $1);

-- ask batch_receipt (workshop lane)
insert /* workshop ask batch_receipt */ into workshop.batch_receipt (connection, batch, saved_at) values ($1, $2::bigint + 1, $3)
    on conflict (connection) do update set saved_at = excluded.saved_at,
      batch = case when batch_receipt.batch = $2 then $2 else excluded.batch end
    returning batch::double precision as batch;

-- begin erasure (workshop reads)
with /* workshop begin erasure */ gone as (delete from workshop.client_account where id = $1 returning *),
      people as (
        select id as client_id, given_name, family_name, array[phone] as phones from gone
        union all select client_id, given_name, family_name, phones from workshop.client_erasure where client_id = $2
        limit 1
      ), changed as (select id from gone), noted as (
    insert into workshop.stale_account_copy (client_id, cell) select a.id, c.name from changed a cross join workshop.cell c
    where c.name <> 'home' on conflict (client_id, cell) do update set change_number = excluded.change_number
  ), begun as (
        insert into workshop.client_erasure (client_id, given_name, family_name, phones)
        select client_id, given_name, family_name, array(select distinct unnest(phones || $3::text[])) from people
        on conflict (client_id) do update set phones = excluded.phones
        returning *
      ) select row_to_json(b) as person from begun b;

-- cells (workshop reads)
select /* workshop cells */ name, to_jsonb(c) ->> 'id' as id, shops from workshop.cell c order by name;

-- change client (workshop reads)
with /* workshop change client */ changed as (
      update workshop.client_account a set given_name = n.given_name, family_name = n.family_name, phone = n.phone,
        hide_name = n.hide_name
      from json_populate_record(null::workshop.client_account, $1) n
      where a.id = n.id and not exists (select from workshop.client_account o where o.phone = n.phone and o.id <> n.id)
      returning a.id
      ), noted as (
    insert into workshop.stale_account_copy (client_id, cell) select a.id, c.name from changed a cross join workshop.cell c
    where c.name <> 'home' on conflict (client_id, cell) do update set change_number = excluded.change_number
  ) select id from changed;

-- claim (workshop deliveries)
with /* workshop claim */ open as (select s.shop_id, s.queue_ctid, s.place, s.due_from, s.backlog_ctid, s.turn, w.generation, w.enabled_at,
    case when w.off_reason is null then greatest(4 - f.in_flight, 0) else 0 end as room, f.busy, f.served
  from unnest(current_setting('workshop_claim.shops')::uuid[], current_setting('workshop_claim.queue_ctids')::tid[], current_setting('workshop_claim.due_from')::bigint[],
    current_setting('workshop_claim.backlog_ctids')::tid[], current_setting('workshop_claim.turns')::bigint[])
    with ordinality s (shop_id, queue_ctid, due_from, backlog_ctid, turn, place)
  join workshop.webhook w on w.shop_id = s.shop_id
  cross join lateral (
    select count(*)::integer as in_flight, coalesce(array_agg(d.ticket_id) filter (where d.ticket_id is not null), '{}') as busy,
      count(*) filter (where d.xmin = pg_current_xact_id()::xid) as served
    from workshop.delivery d where d.shop_id = s.shop_id and d.lease_until > coalesce($3::bigint, (extract(epoch from statement_timestamp()) * 1000)::bigint) - 30000
  ) f), claimable as (
    select open.shop_id, open.place, open.turn, d.event_id, d.rank
    from open cross join lateral (
      select one.*, row_number() over (order by one.is_replay, one.due_at, one.seq) as rank from (
        select distinct on (coalesce(c.ticket_id, c.event_id)) c.*
        from (values (false), (true)) k (is_replay) cross join lateral ((
    select d.event_id, d.ticket_id, d.seq, open.enabled_at as due_at, k.is_replay
    from generate_series(1, open.generation - 1) g (generation)
    cross join lateral (
      select * from workshop.delivery d where d.shop_id = open.shop_id and d.lease_until is null
  and (d.ticket_id is null or d.ticket_id <> all (open.busy)) and d.is_replay = k.is_replay and d.generation = g.generation
      order by d.seq limit 4 * open.room
    ) d where open.enabled_at <= $1) union all (
    select d.event_id, d.ticket_id, d.seq, d.due_at, k.is_replay
    from workshop.delivery d where d.shop_id = open.shop_id and d.lease_until is null
  and (d.ticket_id is null or d.ticket_id <> all (open.busy)) and d.is_replay = k.is_replay and d.generation = open.generation
      and d.due_at >= open.due_from and d.due_at <= $1
    order by d.due_at, d.seq limit 4 * open.room)) c
        order by coalesce(c.ticket_id, c.event_id), c.is_replay, c.due_at, c.seq
      ) one
    ) d where d.rank <= open.room
  ), picked as (
    select c.*, row_number() over (order by c.rank, c.place) as n from claimable c order by c.rank, c.place limit $2
  ), free as (
    select p.shop_id, p.event_id, p.n, coalesce($3::bigint, (extract(epoch from statement_timestamp()) * 1000)::bigint) as leased_at from picked p cross join lateral (
      select from workshop.delivery d where d.shop_id = p.shop_id and d.event_id = p.event_id and coalesce(d.lease_until, 0) = 0 for update skip locked
    ) d
  ), leased as (
    update workshop.delivery d set token = d.token + 1, lease_until = f.leased_at + 15000
    from free f where d.shop_id = f.shop_id and d.event_id = f.event_id
    returning d.shop_id, d.event_id, d.token, f.n
  )
  select l.shop_id, l.event_id, l.token::double precision as token, row_to_json(w) as webhook, e.body
  from leased l join workshop.webhook w on w.shop_id = l.shop_id
  join workshop.event e on e.shop_id = l.shop_id and e.id = l.event_id
  order by l.n;

-- claim first shop (workshop reads)

    insert /* workshop claim first shop */ into workshop.database_label (name) values ('first_shop') on conflict do nothing returning name;

-- clear sandbox (workshop reads)
select /* workshop clear sandbox */ workshop.clear_sandbox() as cleared;

-- client of person (workshop reads)

    select /* workshop client of person */
      (select row_to_json(l) from workshop.client_link l where l.shop_id = $1 and l.client_id = $2) as link,
      (select row_to_json(c) from workshop.loyalty_card c where c.shop_id = $3 and c.client_id = $4) as card;

-- count deliveries (workshop reads)
select /* workshop count deliveries */ read.range
  from (select h.shop_id, $2::bigint as after_seq, h.event_seq as until_seq, $3::json as filter from workshop.shop_head h
    where h.shop_id = $1 and h.event_seq > $2::bigint + 1) r
  cross join (select $4::integer as max) q
  cross join lateral (select case when r.filter->'event_ids' is not null then r.until_seq - 1 else least(r.until_seq - 1, (
      select e.seq from workshop.event e where e.shop_id = r.shop_id and e.seq > r.after_seq and e.seq < r.until_seq
      order by e.seq limit 1
    ) + 4999) end as last_seq offset 0) extent
  cross join lateral (
    select json_build_object('last_seq', extent.last_seq, 'max', q.max, 'events', json_agg(row_to_json(c) order by c.seq)) as range
    from (select e.id, e.type, e.ticket_id, e.seq, e.created_at, row_to_json(d) as delivery,
    greatest(a.n, d.attempts_made, 0) as attempts_made, a.status as last_status from ((
      select * from workshop.event e
      where e.shop_id = r.shop_id and e.id = any(array(select json_array_elements_text(r.filter->'event_ids'))::uuid[])
        and e.seq + 0 > r.after_seq and e.seq + 0 < r.until_seq
    ) union all (
      select * from workshop.event e
      where r.filter->'event_ids' is null and e.shop_id = r.shop_id and e.seq > r.after_seq and e.seq <= extent.last_seq
        and (r.filter->>'since' is null or e.created_at >= (r.filter->>'since')::bigint)
        and (r.filter->>'until' is null or e.created_at < (r.filter->>'until')::bigint)
      order by e.seq limit q.max
    )) e left join workshop.delivery d on d.shop_id = e.shop_id and d.event_id = e.id left join lateral (
    select a.n, a.status from workshop.attempt a where a.shop_id = e.shop_id and a.event_id = e.id 
    order by a.n desc, coalesce(a.status between 200 and 299, false) desc, a.started_at desc limit 1
  ) a on true) c
  ) read;

-- create client (workshop reads)
with /* workshop create client */ changed as (
        insert into workshop."client_account" ("id", "given_name", "family_name", "phone", "hide_name", "created_at")
    select "id", "given_name", "family_name", "phone", "hide_name", "created_at" from json_populate_record(null::workshop."client_account", $1) on conflict (phone) do nothing returning id
      ), noted as (
    insert into workshop.stale_account_copy (client_id, cell) select a.id, c.name from changed a cross join workshop.cell c
    where c.name <> 'home' on conflict (client_id, cell) do update set change_number = excluded.change_number
  ) select id from changed;

-- create shop (workshop reads)
with /* workshop create shop */ opened as (insert into workshop."shop" ("id", "name", "currency", "decimals", "time_zone", "tracking_base_url", "approved", "active", "api_enabled", "program", "forbidden_words", "allowed_words", "languages", "created_at")
    select "id", "name", "currency", "decimals", "time_zone", "tracking_base_url", "approved", "active", "api_enabled", "program", "forbidden_words", "allowed_words", "languages", "created_at" from json_populate_record(null::workshop."shop", $1)) insert into workshop."shop_head" ("shop_id", "next_number", "change_seq", "event_seq", "last_recorded_at", "id_counter", "tickets_per_hour", "tickets_per_day")
    select "shop_id", "next_number", "change_seq", "event_seq", "last_recorded_at", "id_counter", "tickets_per_hour", "tickets_per_day" from json_populate_record(null::workshop."shop_head", $2);

-- database time (workshop retention)
select /* workshop database time */ (extract(epoch from clock_timestamp()) * 1000)::double precision as ms;

-- due closures (workshop reads)

        select /* workshop due closures */ json_build_object('shop_id', t.shop_id, 'id', t.id, 'due_at', t.closure_due_at) as due
        from workshop.ticket t where t.closure_due_at <= $1 order by t.closure_due_at, t.id limit $2;

-- due notifications (workshop reads)

        select /* workshop due notifications */ row_to_json(m) as message, coalesce(row_to_json(t), row_to_json(n)) as payload,
          (select a.phone from workshop.client_account a where a.id = t.client_id) as account_phone,
          case when t.client_id is null then (
            select json_build_object('ticket_phone', k.client_phone, 'holder_link', (
              select row_to_json(l) from workshop.client_link l where l.shop_id = k.shop_id
                and l.client_id = (select b.id from workshop.client_account b where b.phone = k.client_phone)
            )) from workshop.ticket k where k.shop_id = t.shop_id and k.id = t.ticket_id
          ) end as ticket
        from (select * from ((select * from workshop.queued_notification where receiver = $1 and due_at <= $2 order by due_at, id limit $3) union all (select * from workshop.queued_notification where receiver = $4 and due_at <= $5 order by due_at, id limit $6)) a
            order by due_at, id limit $7) m
        left join workshop.notification t on t.shop_id = m.shop_id and t.id = m.id
        left join workshop.notice n on n.shop_id = m.shop_id and n.id = m.id
        order by m.due_at, m.id;

-- due notifications (workshop reads)

        select /* workshop due notifications */ row_to_json(m) as message, coalesce(row_to_json(t), row_to_json(n)) as payload,
          (select a.phone from workshop.client_account a where a.id = t.client_id) as account_phone,
          case when t.client_id is null then (
            select json_build_object('ticket_phone', k.client_phone, 'holder_link', (
              select row_to_json(l) from workshop.client_link l where l.shop_id = k.shop_id
                and l.client_id = (select b.id from workshop.client_account b where b.phone = k.client_phone)
            )) from workshop.ticket k where k.shop_id = t.shop_id and k.id = t.ticket_id
          ) end as ticket
        from (select * from workshop.queued_notification where receiver = $1 and due_at <= $2 order by due_at, id limit $3) m
        left join workshop.notification t on t.shop_id = m.shop_id and t.id = m.id
        left join workshop.notice n on n.shop_id = m.shop_id and n.id = m.id
        order by m.due_at, m.id;

-- due notifications (workshop reads)

        select /* workshop due notifications */ row_to_json(m) as message, coalesce(row_to_json(t), row_to_json(n)) as payload,
          (select a.phone from workshop.client_account a where a.id = t.client_id) as account_phone,
          case when t.client_id is null then (
            select json_build_object('ticket_phone', k.client_phone, 'holder_link', (
              select row_to_json(l) from workshop.client_link l where l.shop_id = k.shop_id
                and l.client_id = (select b.id from workshop.client_account b where b.phone = k.client_phone)
            )) from workshop.ticket k where k.shop_id = t.shop_id and k.id = t.ticket_id
          ) end as ticket
        from (select * from workshop.queued_notification where shop_id = $1 and due_at > $2 order by due_at, id limit $3) m
        left join workshop.notification t on t.shop_id = m.shop_id and t.id = m.id
        left join workshop.notice n on n.shop_id = m.shop_id and n.id = m.id
        order by m.due_at, m.id;

-- encoding (workshop reads)
select /* workshop encoding */ current_setting('server_encoding') as server_encoding;

-- end backlogged_queue (workshop lane)
delete /* workshop end backlogged_queue */ from workshop.backlogged_queue where shop_id = any($1::uuid[]);

-- end delivery_queue (workshop lane)
delete /* workshop end delivery_queue */ from workshop.delivery_queue where shop_id = any($1::uuid[]);

-- end erasure (workshop reads)
delete /* workshop end erasure */ from workshop.client_erasure where client_id = $1;

-- events of person (workshop reads)
select /* workshop events of person */ json_build_object('event', e, 'attempts', coalesce((
          select json_agg(a order by a.n) from workshop.attempt a where a.shop_id = e.shop_id and a.event_id = e.id), '[]')) as sent
      from workshop.event e
      where e.shop_id = $1 and e.seq >= $2 and e.seq < $3
        and (e.ticket_id = any($4::uuid[]) or exists (
          select from unnest($5::text[]) w (word) where strpos(e.body, w.word) > 0))
      order by e.seq;

-- expire batch_receipt (workshop retention)
with /* workshop expire batch_receipt */ gone as (
      delete from workshop.batch_receipt where (connection) in (
        select connection from workshop.batch_receipt where saved_at <= $1 order by saved_at limit 1000 for update skip locked
      ) returning 1
    ) select count(*)::integer as n from gone;

-- expire idempotency_record (workshop retention)
with /* workshop expire idempotency_record */ gone as (
      delete from workshop.idempotency_record where (shop_id, caller_id, operation, key) in (
        select shop_id, caller_id, operation, key from workshop.idempotency_record where expires_at <= $1 order by expires_at limit 1000 for update skip locked
      ) returning 1
    ) select count(*)::integer as n from gone;

-- expire rate_limit (workshop retention)
with /* workshop expire rate_limit */ gone as (
      delete from workshop.rate_limit where (policy, subject) in (
        select policy, subject from workshop.rate_limit where resets_at <= $1 order by resets_at limit 1000 for update skip locked
      ) returning 1
    ) select count(*)::integer as n from gone;

-- expire stamp_limit (workshop retention)
with /* workshop expire stamp_limit */ gone as (
      delete from workshop.stamp_limit where (shop_id, caller_id, client_id) in (
        select shop_id, caller_id, client_id from workshop.stamp_limit where resets_at <= $1 order by resets_at limit 1000 for update skip locked
      ) returning 1
    ) select count(*)::integer as n from gone;

-- find missing key (workshop reads)
select /* workshop find missing key */ split_part(s.secret, ':', 2) as key_id
  from workshop.webhook w cross join lateral (values (w.secret), (w.previous_secret)) s (secret)
  where s.secret like 'sealed:%' and split_part(s.secret, ':', 2) <> all ($1::text[]) limit 1;

-- find partitions (workshop retention)
select /* workshop find partitions */ c.relname as name, c.relispartition as is_attached from pg_class c
    where c.relnamespace = (select relnamespace from pg_class where oid = 'workshop.event'::regclass)
      and c.relkind = 'r' and c.relname ~ ('^' || $1 || '_[0-9]{4}_[0-9]{2}$') order by 1;

-- first queue (workshop deliveries)
select /* workshop first queue */ next_claim_at::double precision as due_at, shop_id = any (current_setting('workshop_claim.shops')::uuid[]) as is_locked
  from workshop.delivery_queue where next_claim_at <= $1 order by next_claim_at, turn limit 1;

-- has shops (workshop reads)

    select /* workshop has shops */ exists (select from workshop.shop) as has;

-- is sandbox made (workshop reads)

    select /* workshop is sandbox made */ exists (select from workshop.database_label where name = 'sandbox') as marked;

-- key by hash (workshop reads)

      select /* workshop key by hash */ row_to_json(k) as key, row_to_json(s) as shop
      from workshop.api_key k join workshop.shop s on s.id = k.shop_id where k.hash = $1;

-- latest instant (workshop reads)

      select /* workshop latest instant */ coalesce(max(last_recorded_at), 0)::double precision as latest,
        (array_agg(shop_id))[10000] as last
      from (select shop_id, last_recorded_at from workshop.shop_head where shop_id > $1 order by shop_id limit $2) h;

-- ledger of person (workshop reads)
select /* workshop ledger of person */ row_to_json(x) as row from workshop.loyalty_ledger x
      where x.shop_id = $1 and x.client_id = $2 and x.id > $3 order by x.id limit $4;

-- list audit entries (workshop reads)
select /* workshop list audit entries */ row_to_json(e) as entry from workshop.audit_entry e
      where e.shop_id = $1
        and e.insert_order < (select insert_order from workshop.audit_entry where id = $2)
      order by e.insert_order desc limit $3;

-- list audit entries (workshop reads)
select /* workshop list audit entries */ row_to_json(e) as entry from workshop.audit_entry e
      where true
        and true
      order by e.insert_order desc limit $1;

-- list clients (workshop reads)
select /* workshop list clients */ row_to_json(a) as account from workshop.client_account a
      where a.id > $1 order by a.id limit $2;

-- list shops (workshop reads)
select /* workshop list shops */ row_to_json(s) as shop from workshop.shop s
      where s.id > $1 order by s.id limit $2;

-- list tickets (workshop reads)
select /* workshop list tickets */ row_to_json(s) as shop, (
        select json_agg(json_build_object('ticket', t, 'account', a, 'link', l) order by t.change_seq)
        from (select t.shop_id, t.id, t.number, t.tracking_code, t.created_via, t.state, t.outcome, t.type, t.service, t.item, t.description, t.items, t.price_minor, t.deposit_minor, t.before_minor, t.quote, t.promised_at, t.delay, t.part, t.client_id, t.client_phone, t.photo_url, t.created_at, t.updated_at, t.ready_at, t.collected_at, t.abandoned_at, t.abandon_reason, t.notified_at, t.notified_channel, t.external_ref, t.change_seq, t.shop_changed_at, t.stamps_earned, t.moves_per_day, t.notifications_per_day, t.closure_due_at from workshop.ticket t where (t.shop_id = $1 AND t.updated_at + 0 >= $2 AND t.change_seq > $3) order by t.change_seq limit $4) t
        left join workshop.client_account a on a.id = t.client_id
        left join workshop.client_link l on l.shop_id = t.shop_id and l.client_id = t.client_id
      ) as tickets, (select t.updated_at::double precision from workshop.ticket t where t.shop_id = $5 order by t.change_seq desc limit 1) as last_change_at, null::json as unread_from
      from workshop.shop s where s.id = $6;

-- list tickets (workshop reads)
select /* workshop list tickets */ row_to_json(s) as shop, (
        select json_agg(json_build_object('ticket', t, 'account', a, 'link', l) order by t.id desc)
        from (select t.* from (values ($1::text), ($2::text)) s (state) cross join lateral (select t.shop_id, t.id, t.number, t.tracking_code, t.created_via, t.state, t.outcome, t.type, t.service, t.item, t.description, t.items, t.price_minor, t.deposit_minor, t.before_minor, t.quote, t.promised_at, t.delay, t.part, t.client_id, t.client_phone, t.photo_url, t.created_at, t.updated_at, t.ready_at, t.collected_at, t.abandoned_at, t.abandon_reason, t.notified_at, t.notified_channel, t.external_ref, t.change_seq, t.shop_changed_at, t.stamps_earned, t.moves_per_day, t.notifications_per_day, t.closure_due_at from workshop.ticket t where (t.shop_id = $3 AND (t.state, t.id) >= (s.state, '00000000-0000-0000-0000-000000000000'::uuid) AND (t.state, t.id) < (s.state, $4::uuid)) order by t.state desc, t.id desc limit $5) t order by t.id desc limit $6) t
        left join workshop.client_account a on a.id = t.client_id
        left join workshop.client_link l on l.shop_id = t.shop_id and l.client_id = t.client_id
      ) as tickets, null as last_change_at, null::json as unread_from
      from workshop.shop s where s.id = $7;

-- load Attempts (workshop lane)
select /* workshop load Attempts */ row_to_json(a) as attempt from unnest($1::uuid[], $2::uuid[]) q (shop_id, event_id)
      cross join lateral (
        select * from workshop.attempt a where a.shop_id = q.shop_id and a.event_id = q.event_id order by a.n desc limit 100
      ) a;

-- load Client (workshop lane)
select /* workshop load Client */ q.shop_id, row_to_json(a) as account, row_to_json(l) as link, row_to_json(c) as card from unnest($1::uuid[], $2::uuid[]) q (shop_id, id) 
  left join workshop.client_account a on a.id = q.id
  left join workshop.client_link l on l.shop_id = q.shop_id and l.client_id = q.id
  left join workshop.loyalty_card c on c.shop_id = q.shop_id and c.client_id = q.id;

-- load Deliveries (workshop lane)
select /* workshop load Deliveries */ json_agg(d) as deliveries from unnest($1::uuid[], $2::integer[]) q (shop_id, max)
      cross join lateral (select * from workshop.delivery d where d.shop_id = q.shop_id limit q.max) d;

-- load Delivery (workshop lane)
select /* workshop load Delivery */ json_agg(f.delivery) as deliveries from (
        select row_to_json(d) as delivery from unnest($1::uuid[], $2::uuid[]) q (shop_id, event_id)
        cross join lateral (
          select * from workshop.delivery d where d.shop_id = q.shop_id and d.event_id = q.event_id for no key update
        ) d
      ) f;

-- load Event (workshop lane)
select /* workshop load Event */ row_to_json(e) as event, coalesce((
        select json_agg(a) from workshop.attempt a where a.shop_id = e.shop_id and a.event_id = e.id), '[]') as attempts
      from unnest($1::uuid[], $2::uuid[]) q (shop_id, id) join workshop.event e on e.shop_id = q.shop_id and e.id = q.id;

-- load IdempotencyRecord (workshop lane)
select /* workshop load IdempotencyRecord */ row_to_json(r) as record
      from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) q (shop_id, caller_id, operation, key)
      cross join lateral (
        select * from workshop.idempotency_record r where r.shop_id = q.shop_id and r.caller_id = q.caller_id
          and r.operation = q.operation and r.key = q.key limit 1
      ) r;

-- load Keys (workshop lane)
select /* workshop load Keys */ row_to_json(k) as key from workshop.api_key k where k.shop_id = any($1::uuid[]) order by k.created_at, k.insert_order;

-- load Offer (workshop lane)
select /* workshop load Offer */ q.shop_id, row_to_json(o) as offer, row_to_json(t) as ticket, row_to_json(a) as account, row_to_json(l) as link, row_to_json(c) as card,
        row_to_json(h) as holder, row_to_json(hl) as holder_link
      from unnest($1::uuid[], $2::uuid[]) q (shop_id, id)
      join workshop.offer o on o.shop_id = q.shop_id and o.id = q.id
      join workshop.ticket t on t.shop_id = q.shop_id and t.id = o.ticket_id 
  left join workshop.client_account a on a.id = t.client_id
  left join workshop.client_link l on l.shop_id = q.shop_id and l.client_id = t.client_id
  left join workshop.loyalty_card c on c.shop_id = q.shop_id and c.client_id = t.client_id
      left join workshop.client_account h on h.phone = o.phone
      left join workshop.client_link hl on hl.shop_id = q.shop_id and hl.client_id = h.id;

-- load QueuedNotification (workshop lane)
select /* workshop load QueuedNotification */ row_to_json(m) as queued from unnest($1::uuid[], $2::uuid[]) q (shop_id, id)
      join workshop.queued_notification m on m.shop_id = q.shop_id and m.id = q.id;

-- load Replay (workshop lane)
select /* workshop load Replay */ row_to_json(r) as replay, read.range
      from unnest($1::uuid[], $2::uuid[], $3::integer[]) q (shop_id, id, max)
      join workshop.replay r on r.shop_id = q.shop_id and r.id = q.id
      cross join lateral (select case when r.filter->'event_ids' is not null then r.until_seq - 1 else least(r.until_seq - 1, (
      select e.seq from workshop.event e where e.shop_id = r.shop_id and e.seq > r.after_seq and e.seq < r.until_seq
      order by e.seq limit 1
    ) + 4999) end as last_seq offset 0) extent
  cross join lateral (
    select json_build_object('last_seq', extent.last_seq, 'max', q.max, 'events', json_agg(row_to_json(c) order by c.seq)) as range
    from (select e.id, e.type, e.ticket_id, e.seq, e.created_at, row_to_json(d) as delivery,
    greatest(a.n, d.attempts_made, 0) as attempts_made, a.status as last_status from ((
      select * from workshop.event e
      where e.shop_id = r.shop_id and e.id = any(array(select json_array_elements_text(r.filter->'event_ids'))::uuid[])
        and e.seq + 0 > r.after_seq and e.seq + 0 < r.until_seq
    ) union all (
      select * from workshop.event e
      where r.filter->'event_ids' is null and e.shop_id = r.shop_id and e.seq > r.after_seq and e.seq <= extent.last_seq
        and (r.filter->>'since' is null or e.created_at >= (r.filter->>'since')::bigint)
        and (r.filter->>'until' is null or e.created_at < (r.filter->>'until')::bigint)
      order by e.seq limit q.max
    )) e left join lateral (select * from workshop.delivery d where d.shop_id = e.shop_id and d.event_id = e.id for no key update) d on true left join lateral (
    select a.n, a.status from workshop.attempt a where a.shop_id = e.shop_id and a.event_id = e.id 
    order by a.n desc, coalesce(a.status between 200 and 299, false) desc, a.started_at desc limit 1
  ) a on true) c
  ) read;

-- load StampLimit (workshop lane)
select /* workshop load StampLimit */ row_to_json(s) as stamps
      from unnest($1::uuid[], $2::text[], $3::uuid[]) q (shop_id, caller_id, client_id)
      cross join lateral (
        select * from workshop.stamp_limit s
        where s.shop_id = q.shop_id and s.caller_id = q.caller_id and s.client_id = q.client_id limit 1
      ) s;

-- load Ticket (workshop lane)
select /* workshop load Ticket */ q.shop_id, row_to_json(t) as ticket, row_to_json(a) as account, row_to_json(l) as link, row_to_json(c) as card
      from unnest($1::uuid[], $2::uuid[]) q (shop_id, id)
      join workshop.ticket t on t.shop_id = q.shop_id and t.id = q.id 
  left join workshop.client_account a on a.id = t.client_id
  left join workshop.client_link l on l.shop_id = q.shop_id and l.client_id = t.client_id
  left join workshop.loyalty_card c on c.shop_id = q.shop_id and c.client_id = t.client_id;

-- load VisibleClient (workshop lane)
select /* workshop load VisibleClient */ q.shop_id, row_to_json(a) as account, row_to_json(l) as link, row_to_json(c) as card from unnest($1::uuid[], $2::uuid[]) q (shop_id, id)
      join workshop.client_link l on l.shop_id = q.shop_id
  and (case when l.known_at is not null and l.blocked_at is null then l.client_id end) = q.id
      join workshop.client_account a on a.id = l.client_id
      left join workshop.loyalty_card c on c.shop_id = l.shop_id and c.client_id = l.client_id;

-- load shops (workshop lane)
select /* workshop load shops */ row_to_json(s) as shop, row_to_json(w) as webhook
    from unnest($1::uuid[]) q (id) join workshop.shop s on s.id = q.id left join workshop.webhook w on w.shop_id = q.id;

-- lock first queues (workshop deliveries)
select /* workshop lock first queues */ set_config('workshop_claim.shops', coalesce(array_agg(l.shop_id)::text, '{}'), true), set_config('workshop_claim.queue_ctids', coalesce(array_agg(l.queue_ctid)::text, '{}'), true), set_config('workshop_claim.due_from', coalesce(array_agg(l.due_from)::text, '{}'), true), set_config('workshop_claim.backlog_ctids', coalesce(array_agg(l.backlog_ctid)::text, '{}'), true), set_config('workshop_claim.turns', coalesce(array_agg(l.turn)::text, '{}'), true) from (select t.shop_id, t.ctid as queue_ctid, t.due_from, r.backlog_ctid, coalesce(r.turn, t.turn) as turn from workshop.delivery_queue t
    left join lateral (
      select r.ctid as backlog_ctid, r.turn from workshop.backlogged_queue r where r.shop_id = t.shop_id and t.next_claim_at = 1 limit 1
    ) r on true
    where t.next_claim_at <= $1 order by t.next_claim_at, t.turn limit $2 for update of t skip locked) l;

-- lock free heads (workshop lane)
select /* workshop lock free heads */ (
    select json_agg(row_to_json(h)) from (
      select * from workshop.shop_head where shop_id = any($1::uuid[]) order by shop_id for no key update skip locked) h) as heads;

-- lock heads (workshop lane)
select /* workshop lock heads */ (
    select json_agg(row_to_json(h)) from (
      select * from workshop.shop_head where shop_id = any($1::uuid[]) order by shop_id for no key update) h) as heads;

-- lock queues (workshop deliveries)
select /* workshop lock queues */ set_config('workshop_claim.shops', coalesce(array_agg(l.shop_id)::text, '{}'), true), set_config('workshop_claim.queue_ctids', coalesce(array_agg(l.queue_ctid)::text, '{}'), true), set_config('workshop_claim.due_from', coalesce(array_agg(l.due_from)::text, '{}'), true), set_config('workshop_claim.backlog_ctids', coalesce(array_agg(l.backlog_ctid)::text, '{}'), true), set_config('workshop_claim.turns', coalesce(array_agg(l.turn)::text, '{}'), true) from (select t.shop_id, t.ctid as queue_ctid, t.due_from, s.backlog_ctid, s.turn from unnest(current_setting('workshop_claim.shops')::uuid[], current_setting('workshop_claim.queue_ctids')::tid[], current_setting('workshop_claim.due_from')::bigint[],
    current_setting('workshop_claim.backlog_ctids')::tid[], current_setting('workshop_claim.turns')::bigint[])
    with ordinality s (shop_id, queue_ctid, due_from, backlog_ctid, turn, place)
    join workshop.delivery_queue t on t.ctid = s.queue_ctid and t.shop_id is not distinct from s.shop_id order by s.place for update of t skip locked) l;

-- lock rate_limit (workshop limits)
select /* workshop lock rate_limit */ r.policy, r.subject, r.used, r.resets_at::double precision as resets_at from unnest($1::text[], $2::text[]) q (policy, subject) cross join lateral (
        select * from workshop.rate_limit l where l.policy = q.policy and l.subject = q.subject for update
      ) r;

-- lock retention (workshop retention)
select /* workshop lock retention */ pg_try_advisory_lock(7305809, 35762567) as is_true;

-- lock shops (workshop deliveries)
with /* workshop lock shops */ waiting as (
    select t.shop_id, t.ctid as queue_ctid, t.due_from, null::tid as backlog_ctid, t.turn
    from workshop.delivery_queue t join workshop.webhook w on w.shop_id = t.shop_id
    where t.next_claim_at = 0 order by t.next_claim_at, t.turn limit $1 for no key update of w skip locked
  ), backlogged as (
    select t.shop_id, t.ctid as queue_ctid, t.due_from, r.ctid as backlog_ctid, r.turn
    from workshop.backlogged_queue r join workshop.delivery_queue t on t.shop_id = r.shop_id and t.next_claim_at = 1 join workshop.webhook w on w.shop_id = r.shop_id
    where r.turn > 0 order by r.turn limit $1 for no key update of w skip locked
  ) select set_config('workshop_claim.shops', coalesce(array_agg(l.shop_id)::text, '{}'), true), set_config('workshop_claim.queue_ctids', coalesce(array_agg(l.queue_ctid)::text, '{}'), true), set_config('workshop_claim.due_from', coalesce(array_agg(l.due_from)::text, '{}'), true), set_config('workshop_claim.backlog_ctids', coalesce(array_agg(l.backlog_ctid)::text, '{}'), true), set_config('workshop_claim.turns', coalesce(array_agg(l.turn)::text, '{}'), true), set_config('workshop_claim.number', greatest((extract(epoch from statement_timestamp()) * 1000)::bigint, $2::bigint)::text, true)::double precision as number from (select * from waiting union all select * from backlogged order by turn) l;

-- lock webhook (workshop lane)
select /* workshop lock webhook */ from workshop.webhook where shop_id = any($1::uuid[]) order by shop_id for update;

-- look at clock (workshop reads)
select /* workshop look at clock */ (extract(epoch from clock_timestamp()) * 1000)::double precision as ms;

-- look at commits (workshop reads)
select /* workshop look at commits */
    pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as only_reads,
    exists (select from pg_stat_activity where wait_event = 'SyncRep' and usename = session_user
      and query_start < clock_timestamp() - $1 * interval '1 millisecond') as waits;

-- look at notifications (workshop reads)

    with /* workshop look at notifications */ client as (select m.due_at from workshop.queued_notification m
    where m.receiver = $1 and m.due_at <= $2 order by m.due_at limit $3), owner as (select m.due_at from workshop.queued_notification m
    where m.receiver = $4 and m.due_at <= $5 order by m.due_at limit $6)
    select (select count(*)::integer from client) as client,
      (select min(due_at)::double precision from client) as client_due_at,
      (select count(*)::integer from owner) as owner,
      (select min(due_at)::double precision from owner) as owner_due_at;

-- look at queue (workshop reads)

  with /* workshop look at queue */ shops as (
    select t.shop_id, w.generation, w.enabled_at from workshop.delivery_queue t
    join workshop.webhook w on w.shop_id = t.shop_id and w.off_reason is null
    where t.next_claim_at <= $1 order by t.next_claim_at, t.turn limit $2
  ), due as (
    select d.due_at from shops s cross join lateral ((select d.due_at from workshop.delivery d where d.shop_id = s.shop_id and d.lease_until is null and d.is_replay = false and d.generation = s.generation
      and d.due_at <= $3 order by d.due_at limit $4) union all (select d.due_at from workshop.delivery d where d.shop_id = s.shop_id and d.lease_until is null and d.is_replay = true and d.generation = s.generation
      and d.due_at <= $5 order by d.due_at limit $6) union all (select s.enabled_at as due_at from workshop.delivery d where d.shop_id = s.shop_id and d.lease_until is null and d.is_replay = false
      and d.generation < s.generation limit $7) union all (select s.enabled_at as due_at from workshop.delivery d where d.shop_id = s.shop_id and d.lease_until is null and d.is_replay = true
      and d.generation < s.generation limit $8)) d limit $9
  ), oldest as (
    select min(d.due_at) as due_at from shops s cross join lateral ((select d.due_at from workshop.delivery d where d.shop_id = s.shop_id and d.lease_until is null and d.is_replay = false and d.generation = s.generation
      and d.due_at <= $10 order by d.due_at limit $11) union all (select d.due_at from workshop.delivery d where d.shop_id = s.shop_id and d.lease_until is null and d.is_replay = true and d.generation = s.generation
      and d.due_at <= $12 order by d.due_at limit $13) union all (select s.enabled_at as due_at from workshop.delivery d where d.shop_id = s.shop_id and d.lease_until is null and d.is_replay = false
      and d.generation < s.generation limit $14) union all (select s.enabled_at as due_at from workshop.delivery d where d.shop_id = s.shop_id and d.lease_until is null and d.is_replay = true
      and d.generation < s.generation limit $15)) d
  )
  select (select count(*)::integer from due) as due,
    (select due_at::double precision from oldest) as oldest_due_at,
    (select count(*)::integer from workshop.webhook w where not (w.off_reason is null)) as webhooks_off;

-- look at snapshots (workshop reads)

  select /* workshop look at snapshots */
    (select coalesce(max(age(held.xid)), 0) from (
      select backend_xmin as xid from pg_stat_activity where pid <> pg_backend_pid()
      union all select xmin from pg_replication_slots
      union all select transaction from pg_prepared_xacts
    ) held) as snapshot,
    (select max(age(datfrozenxid)) from pg_database) as xid_age;

-- look by age (workshop retention)
set /* workshop look by age */ local enable_bitmapscan = on;

-- maintain partition (workshop retention)
select /* workshop maintain partition */ workshop.maintain_partition($1, $2, $3, $4, $5) as n;

-- make ready (workshop deliveries)
update /* workshop make ready */ workshop.delivery_queue t set next_claim_at = 0 from (
    select shop_id from workshop.delivery_queue where next_claim_at > 1 and next_claim_at <= $1
    order by next_claim_at limit 10000 for update skip locked
  ) d where t.shop_id = d.shop_id;

-- mark sandbox made (workshop reads)
insert /* workshop mark sandbox made */ into workshop.database_label (name) values ('sandbox') on conflict do nothing;

-- name of cell (workshop reads)
select /* workshop name of cell */ name from workshop.database_label where name like 'cell:%';

-- note key uses (workshop reads)
update /* workshop note key uses */ workshop.api_key k set last_used_at = greatest(coalesce(k.last_used_at, q.at), q.at)
      from unnest($1::uuid[], $2::bigint[]) q (id, at) where k.id = q.id;

-- notifications of person (workshop reads)
select /* workshop notifications of person */ row_to_json(n) as row from workshop.notification n
      where n.client_id = $1 and n.shop_id = $2
        and (n.created_at, n.insert_order) > ($3, $4) order by n.created_at, n.insert_order limit $5;

-- notifications to numbers (workshop reads)

          with /* workshop notifications to numbers */ page as materialized (
            select * from workshop.notification n where n.client_id is null and n.shop_id = $1
              and (n.created_at, n.insert_order) > ($2, $3)
            order by n.client_id, n.created_at, n.insert_order limit $4
          )
          select (select json_build_object('created_at', created_at, 'insert_order', insert_order) from page
              order by created_at, insert_order offset $5) as last,
            coalesce((select json_agg(n) from page n where n.ticket_id = any($6::uuid[])), '[]') as notifications;

-- notify (workshop notifier)
select /* workshop notify */ pg_notify($2, word) from unnest($1::text[]) word;

-- offers of person (workshop reads)
select /* workshop offers of person */ row_to_json(o) as row from workshop.offer o
        where o.phone = $1 and o.shop_id = $2 and o.status = $3
          and (o.created_at, o.insert_order) > ($4, $5) order by o.created_at, o.insert_order limit $6;

-- open rate_limit (workshop limits)
insert /* workshop open rate_limit */ into workshop.rate_limit (policy, subject, used, resets_at) select policy, subject, 0, 0 from unnest($1::text[], $2::text[]) q (policy, subject) on conflict do nothing;

-- open replays (workshop deliveries)
select /* workshop open replays */ shop_id, id from workshop.replay where not is_done order by created_at, id limit $1;

-- put api_key (workshop lane)
insert /* workshop put api_key */ into workshop.api_key (id, shop_id, hash, last_four, created_at, expires_at, last_used_at, name, scopes, revoked_at) select id, shop_id, hash, last_four, created_at, expires_at, last_used_at, name, scopes, revoked_at from json_populate_recordset(null::workshop.api_key, $1) on conflict (id) do update set name = excluded.name, scopes = excluded.scopes, revoked_at = excluded.revoked_at;

-- put attempt (workshop lane)
insert /* workshop put attempt */ into workshop.attempt (shop_id, event_id, n, started_at, status, error, detail, address, timings, head) select shop_id, event_id, n, started_at, status, error, detail, address, timings, head from json_populate_recordset(null::workshop.attempt, $1);

-- put audit_entry (workshop lane)
insert /* workshop put audit_entry */ into workshop.audit_entry (shop_id, id, created_at, actor, act, details) select shop_id, id, created_at, actor, act, details from json_populate_recordset(null::workshop.audit_entry, $1);

-- put batch_receipt (workshop lane)
insert /* workshop put batch_receipt */ into workshop.batch_receipt (connection, batch, saved_at) values ($1, $2, $3)
    on conflict (connection) do update set saved_at = excluded.saved_at,
      batch = excluded.batch / (batch_receipt.batch < excluded.batch)::integer;

-- put client_link (workshop lane)
insert /* workshop put client_link */ into workshop.client_link (shop_id, client_id, known_at, blocked_at) select shop_id, client_id, known_at, blocked_at from json_populate_recordset(null::workshop.client_link, $1) on conflict (shop_id, client_id) do update set known_at = excluded.known_at, blocked_at = excluded.blocked_at;

-- put delivery (workshop lane)
insert /* workshop put delivery */ into workshop.delivery (shop_id, event_id, type, ticket_id, seq, attempts_made, attempts_since_reset, due_at, generation, is_replay, token, lease_until) select shop_id, event_id, type, ticket_id, seq, attempts_made, attempts_since_reset, due_at, generation, is_replay, token, lease_until from json_populate_recordset(null::workshop.delivery, $1) on conflict (shop_id, event_id) do update set attempts_made = excluded.attempts_made, attempts_since_reset = excluded.attempts_since_reset, due_at = excluded.due_at, generation = excluded.generation, is_replay = excluded.is_replay, token = excluded.token, lease_until = excluded.lease_until;

-- put delivery_queue (workshop lane)
insert /* workshop put delivery_queue */ into workshop.delivery_queue (shop_id, next_claim_at, due_from, turn)
    select * from (select * from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[]) u (shop_id, next_claim_at, due_from, turn) order by 1) q
    on conflict (shop_id) do update set
      next_claim_at = case when delivery_queue.next_claim_at = 1 then 1 else least(delivery_queue.next_claim_at, excluded.next_claim_at) end,
      due_from = least(delivery_queue.due_from, excluded.due_from)
    where delivery_queue.next_claim_at > greatest(excluded.next_claim_at, 1) or delivery_queue.due_from > excluded.due_from;

-- put event (workshop lane)
insert /* workshop put event */ into workshop.event (shop_id, id, type, seq, ticket_id, created_at, body) select shop_id, id, type, seq, ticket_id, created_at, body from json_populate_recordset(null::workshop.event, $1);

-- put idempotency_record (workshop lane)
insert /* workshop put idempotency_record */ into workshop.idempotency_record (shop_id, caller_id, operation, key, fingerprint, response, expires_at) select shop_id, caller_id, operation, key, fingerprint, response, expires_at from json_populate_recordset(null::workshop.idempotency_record, $1) on conflict (shop_id, caller_id, operation, key) do update set fingerprint = excluded.fingerprint, response = excluded.response, expires_at = excluded.expires_at;

-- put loyalty_card (workshop lane)
insert /* workshop put loyalty_card */ into workshop.loyalty_card (shop_id, client_id, balance, lifetime, rewards_redeemed, updated_at) select shop_id, client_id, balance, lifetime, rewards_redeemed, updated_at from json_populate_recordset(null::workshop.loyalty_card, $1) on conflict (shop_id, client_id) do update set balance = excluded.balance, lifetime = excluded.lifetime, rewards_redeemed = excluded.rewards_redeemed, updated_at = excluded.updated_at;

-- put loyalty_ledger (workshop lane)
insert /* workshop put loyalty_ledger */ into workshop.loyalty_ledger (shop_id, id, client_id, kind, stamps, ticket_id, caller_id, created_at) select shop_id, id, client_id, kind, stamps, ticket_id, caller_id, created_at from json_populate_recordset(null::workshop.loyalty_ledger, $1);

-- put notice (workshop lane)
insert /* workshop put notice */ into workshop.notice (shop_id, id, kind, created_at, url, off_reason, failures_in_row, first_failure_at) select shop_id, id, kind, created_at, url, off_reason, failures_in_row, first_failure_at from json_populate_recordset(null::workshop.notice, $1);

-- put notification (workshop lane)
insert /* workshop put notification */ into workshop.notification (shop_id, id, client_id, type, ticket, ticket_id, created_at) select shop_id, id, client_id, type, ticket, ticket_id, created_at from json_populate_recordset(null::workshop.notification, $1);

-- put offer (workshop lane)
insert /* workshop put offer */ into workshop.offer (shop_id, id, ticket_id, phone, created_at, status, answered_at) select shop_id, id, ticket_id, phone, created_at, status, answered_at from json_populate_recordset(null::workshop.offer, $1) on conflict (shop_id, id) do update set status = excluded.status, answered_at = excluded.answered_at;

-- put offer, put batch_receipt (workshop lane)
with /* workshop put offer, put batch_receipt */ part_0 as (insert into workshop.offer (shop_id, id, ticket_id, phone, created_at, status, answered_at) select shop_id, id, ticket_id, phone, created_at, status, answered_at from json_populate_recordset(null::workshop.offer, $1) on conflict (shop_id, id) do update set status = excluded.status, answered_at = excluded.answered_at),
part_1 as (insert into workshop.batch_receipt (connection, batch, saved_at) values ($2, $3, $4)
    on conflict (connection) do update set saved_at = excluded.saved_at,
      batch = excluded.batch / (batch_receipt.batch < excluded.batch)::integer)
select where false;

-- put queued_notification (workshop lane)
insert /* workshop put queued_notification */ into workshop.queued_notification (shop_id, id, receiver, attempts_made, due_at) select shop_id, id, receiver, attempts_made, due_at from json_populate_recordset(null::workshop.queued_notification, $1) on conflict (shop_id, id) do update set attempts_made = excluded.attempts_made, due_at = excluded.due_at;

-- put rate_limit (workshop limits)
insert /* workshop put rate_limit */ into workshop.rate_limit (policy, subject, used, resets_at)
    select * from unnest($1::text[], $2::text[], $3::integer[], $4::bigint[])
    on conflict (policy, subject) do update set used = excluded.used, resets_at = excluded.resets_at;

-- put replay (workshop lane)
insert /* workshop put replay */ into workshop.replay (shop_id, id, filter, until_seq, created_at, after_seq, is_done) select shop_id, id, filter, until_seq, created_at, after_seq, is_done from json_populate_recordset(null::workshop.replay, $1) on conflict (shop_id, id) do update set after_seq = excluded.after_seq, is_done = excluded.is_done;

-- put shop (workshop lane)
insert /* workshop put shop */ into workshop.shop (id, created_at, name, currency, decimals, time_zone, tracking_base_url, approved, active, api_enabled, program, forbidden_words, allowed_words, languages) select id, created_at, name, currency, decimals, time_zone, tracking_base_url, approved, active, api_enabled, program, forbidden_words, allowed_words, languages from json_populate_recordset(null::workshop.shop, $1) on conflict (id) do update set name = excluded.name, currency = excluded.currency, decimals = excluded.decimals, time_zone = excluded.time_zone, tracking_base_url = excluded.tracking_base_url, approved = excluded.approved, active = excluded.active, api_enabled = excluded.api_enabled, program = excluded.program, forbidden_words = excluded.forbidden_words, allowed_words = excluded.allowed_words, languages = excluded.languages;

-- put shop_head (workshop lane)
insert /* workshop put shop_head */ into workshop.shop_head (shop_id, next_number, change_seq, event_seq, last_recorded_at, id_counter, tickets_per_hour, tickets_per_day) select shop_id, next_number, change_seq, event_seq, last_recorded_at, id_counter, tickets_per_hour, tickets_per_day from json_populate_recordset(null::workshop.shop_head, $1) on conflict (shop_id) do update set next_number = excluded.next_number, change_seq = excluded.change_seq, event_seq = excluded.event_seq, last_recorded_at = excluded.last_recorded_at, id_counter = excluded.id_counter, tickets_per_hour = excluded.tickets_per_hour, tickets_per_day = excluded.tickets_per_day;

-- put stamp_limit (workshop lane)
insert /* workshop put stamp_limit */ into workshop.stamp_limit (shop_id, caller_id, client_id, used, resets_at) select shop_id, caller_id, client_id, used, resets_at from json_populate_recordset(null::workshop.stamp_limit, $1) on conflict (shop_id, caller_id, client_id) do update set used = excluded.used, resets_at = excluded.resets_at;

-- put ticket (workshop lane)
insert /* workshop put ticket */ into workshop.ticket (shop_id, id, number, tracking_code, created_via, state, outcome, type, service, item, description, items, price_minor, deposit_minor, before_minor, quote, promised_at, delay, part, client_id, client_phone, photo_url, created_at, updated_at, ready_at, collected_at, abandoned_at, abandon_reason, notified_at, notified_channel, external_ref, change_seq, shop_changed_at, stamps_earned, moves_per_day, notifications_per_day, closure_due_at, history) select shop_id, id, number, tracking_code, created_via, state, outcome, type, service, item, description, items, price_minor, deposit_minor, before_minor, quote, promised_at, delay, part, client_id, client_phone, photo_url, created_at, updated_at, ready_at, collected_at, abandoned_at, abandon_reason, notified_at, notified_channel, external_ref, change_seq, shop_changed_at, stamps_earned, moves_per_day, notifications_per_day, closure_due_at, history from json_populate_recordset(null::workshop.ticket, $1) on conflict (shop_id, id) do update set state = excluded.state, outcome = excluded.outcome, type = excluded.type, service = excluded.service, item = excluded.item, description = excluded.description, items = excluded.items, price_minor = excluded.price_minor, deposit_minor = excluded.deposit_minor, before_minor = excluded.before_minor, quote = excluded.quote, promised_at = excluded.promised_at, delay = excluded.delay, part = excluded.part, client_id = excluded.client_id, client_phone = excluded.client_phone, photo_url = excluded.photo_url, created_at = excluded.created_at, updated_at = excluded.updated_at, ready_at = excluded.ready_at, collected_at = excluded.collected_at, abandoned_at = excluded.abandoned_at, abandon_reason = excluded.abandon_reason, notified_at = excluded.notified_at, notified_channel = excluded.notified_channel, external_ref = excluded.external_ref, change_seq = excluded.change_seq, shop_changed_at = excluded.shop_changed_at, stamps_earned = excluded.stamps_earned, moves_per_day = excluded.moves_per_day, notifications_per_day = excluded.notifications_per_day, closure_due_at = excluded.closure_due_at, history = excluded.history;

-- put webhook (workshop lane)
insert /* workshop put webhook */ into workshop.webhook (shop_id, url, secret, previous_secret, previous_until, off_reason, failures_in_row, first_failure_at, failure_steps_notified, generation, enabled_at) select shop_id, url, secret, previous_secret, previous_until, off_reason, failures_in_row, first_failure_at, failure_steps_notified, generation, enabled_at from json_populate_recordset(null::workshop.webhook, $1) on conflict (shop_id) do update set url = excluded.url, secret = excluded.secret, previous_secret = excluded.previous_secret, previous_until = excluded.previous_until, off_reason = excluded.off_reason, failures_in_row = excluded.failures_in_row, first_failure_at = excluded.first_failure_at, failure_steps_notified = excluded.failure_steps_notified, generation = excluded.generation, enabled_at = excluded.enabled_at;

-- read account (workshop reads)

      select /* workshop read account */ row_to_json(a) as account from workshop.client_account a where a.id = $1;

-- read attempts (workshop reads)

            select /* workshop read attempts */ a.event_id, json_agg(a.attempt order by a.n, a.is_ok, a.started_at) as attempts from (
              select a.event_id, a.n, coalesce(a.status between 200 and 299, false) as is_ok, a.started_at, row_to_json(a) as attempt
              from unnest($1::uuid[]) q (event_id) cross join lateral (
                select * from workshop.attempt a where a.shop_id = $2 and a.event_id = q.event_id
                order by a.n desc, a.started_at desc limit $3
              ) a
            ) a group by a.event_id;

-- read client (workshop reads)
select /* workshop read client */ row_to_json(s) as shop, row_to_json(a) as account, row_to_json(l) as link,
          row_to_json(c) as card,
          (select count(*)::integer from workshop.ticket t where t.shop_id = l.shop_id and t.client_id = l.client_id
            and t.state = any($1)) as tickets_open,
          (select count(*)::integer from workshop.ticket t where t.shop_id = l.shop_id and t.client_id = l.client_id) as tickets_total
        from (select $2::uuid as shop_id, $3::uuid as id) q
        join workshop.client_link l on l.shop_id = q.shop_id
  and (case when l.known_at is not null and l.blocked_at is null then l.client_id end) = q.id
        join workshop.client_account a on a.id = l.client_id
        join workshop.shop s on s.id = l.shop_id
        left join workshop.loyalty_card c on c.shop_id = l.shop_id and c.client_id = l.client_id;

-- read deliveries (workshop reads)
select /* workshop read deliveries */ row_to_json(c) as event from (select e.id, e.type, e.ticket_id, e.seq, e.created_at, row_to_json(d) as delivery,
    greatest(a.n, d.attempts_made, 0) as attempts_made, a.status as last_status
  from (select e.* from workshop.event e where e.shop_id = $1 and e.seq < $2 order by e.seq desc limit $3) e
  left join workshop.delivery d on d.shop_id = e.shop_id and d.event_id = e.id left join lateral (
    select a.n, a.status from workshop.attempt a where a.shop_id = e.shop_id and a.event_id = e.id 
    order by a.n desc, coalesce(a.status between 200 and 299, false) desc, a.started_at desc limit 1
  ) a on true order by e.seq desc) c;

-- read events (workshop reads)
select /* workshop read events */ row_to_json(e) as event from workshop.event e
        where e.shop_id = $1 and e.seq < $2 order by e.seq desc limit $3;

-- read external refs (workshop reads)
select /* workshop read external refs */ q.ref from unnest($1::text[]) q (ref)
    cross join lateral (select from workshop.ticket t where t.shop_id = $2 and t.external_ref = q.ref limit 1) f
    union all select q.id::text from unnest($3::uuid[]) q (id)
    cross join lateral (select from workshop.ticket t where t.shop_id = $4 and t.id = q.id limit 1) f;

-- read holders (workshop reads)

      select /* workshop read holders */ row_to_json(a) as account
      from unnest($1::text[]) q (phone)
      cross join lateral (select * from workshop.client_account a where a.phone = q.phone limit 1) a;

-- read inbox (workshop reads)

        with /* workshop read inbox */ recursive shops as (select c.whom, (select x.shop_id from workshop."notification" x where x.client_id = c.whom order by x.shop_id limit 1) as shop_id, 1 as nth from (select $1::uuid) c (whom)
      union all select c.whom, (select x.shop_id from workshop."notification" x where x.client_id = c.whom and x.shop_id > c.shop_id order by x.shop_id limit 1), c.nth + 1 from shops c
        where c.shop_id is not null and c.nth < $2)
        select row_to_json(n) as notification from shops c
        cross join lateral (select * from workshop.notification x where x.client_id = c.whom and x.shop_id = c.shop_id order by created_at desc, insert_order desc limit $3) n
        order by n.created_at, n.insert_order;

-- read keys (workshop reads)
select /* workshop read keys */ row_to_json(k) as key from workshop.api_key k
        where k.shop_id = $1 order by k.created_at desc, k.insert_order desc limit $2;

-- read notices (workshop reads)
select /* workshop read notices */ row_to_json(n) as notice from workshop.notice n
        where n.shop_id = $1 order by n.created_at desc, n.insert_order desc limit $2;

-- read offers (workshop reads)

        with /* workshop read offers */ recursive shops as (select c.whom, (select x.shop_id from workshop."offer" x where x.phone = c.whom order by x.shop_id limit 1) as shop_id, 1 as nth from (select a.phone from workshop.client_account a where a.id = $1) c (whom)
      union all select c.whom, (select x.shop_id from workshop."offer" x where x.phone = c.whom and x.shop_id > c.shop_id order by x.shop_id limit 1), c.nth + 1 from shops c
        where c.shop_id is not null and c.nth < $2) select row_to_json(o) as offer from shops c
        left join lateral (select * from workshop.client_link l where l.shop_id = c.shop_id and l.client_id = $3 limit 1) l on true
        cross join lateral (select * from (select o.* from unnest($4::text[]) s (status) cross join lateral (select * from workshop.offer x
        where x.phone = c.whom and x.shop_id = c.shop_id and x.status = s.status and (s.status = any($5) or l.blocked_at is null) order by created_at desc, insert_order desc limit $6) o) x order by created_at desc, insert_order desc limit $7) o
        order by o.created_at, o.insert_order;

-- read shop (workshop reads)

        select /* workshop read shop */ row_to_json(s) as shop, row_to_json(h) as head, row_to_json(w) as webhook
        from workshop.shop s join workshop.shop_head h on h.shop_id = s.id left join workshop.webhook w on w.shop_id = s.id
        where s.id = $1;

-- read ticket (workshop reads)
select /* workshop read ticket */ row_to_json(s) as shop, (
        select json_agg(json_build_object('ticket', t, 'account', a, 'link', l))
        from (select * from workshop.ticket t where t.shop_id = $1 and t.id = $2) t
        left join workshop.client_account a on a.id = t.client_id
        left join workshop.client_link l on l.shop_id = t.shop_id and l.client_id = t.client_id
      ) as tickets, null as last_change_at, null::json as unread_from
      from workshop.shop s where s.id = $3;

-- read tickets of number (workshop reads)
select /* workshop read tickets of number */ row_to_json(s) as shop, (
        select json_agg(json_build_object('ticket', t, 'account', a, 'link', l) order by t.id desc)
        from (select * from workshop.ticket t where t.shop_id = $1 and t.id in (
            (select t.id from workshop.ticket t where t.shop_id = $2 and t.number = $3 and t.state = any($4) order by t.id desc limit 1)
            union (select t.id from workshop.ticket t where t.shop_id = $5 and t.number = $6 order by t.id desc limit 101)) offset 0) t
        left join workshop.client_account a on a.id = t.client_id
        left join workshop.client_link l on l.shop_id = t.shop_id and l.client_id = t.client_id
      ) as tickets, null as last_change_at, null::json as unread_from
      from workshop.shop s where s.id = $7;

-- read tracked tickets (workshop reads)
select /* workshop read tracked tickets */ row_to_json(x) as ticket, row_to_json(y) as shop
        from workshop.ticket t join workshop.shop s on s.id = t.shop_id
        cross join lateral (select "t"."number", "t"."state", "t"."type", "t"."service", "t"."item", "t"."items", "t"."price_minor", "t"."deposit_minor", "t"."promised_at", "t"."delay", "t"."part", "t"."tracking_code", "t"."created_at", "t"."updated_at", "t"."ready_at", "t"."collected_at", "t"."abandoned_at", "t"."abandon_reason", "t"."notified_at", "t"."notified_channel") x cross join lateral (select "s"."id", "s"."name", "s"."currency", "s"."decimals", "s"."time_zone", "s"."tracking_base_url", "s"."approved", "s"."active") y
        where t.tracking_code = $1 limit $2;

-- read webhook (workshop reads)
select /* workshop read webhook */ row_to_json(w) as webhook from workshop.webhook w where w.shop_id = $1;

-- read whole shop (workshop reads)

          select /* workshop read whole shop */ (select coalesce(json_agg(row_to_json(t) order by shop_id), '[]') from workshop."shop_head" t
            where t.shop_id = s.id) as "shop_head", (select coalesce(json_agg(row_to_json(t) order by shop_id), '[]') from workshop."webhook" t
            where t.shop_id = s.id) as "webhook", (select coalesce(json_agg(row_to_json(t) order by client_id), '[]') from workshop."client_link" t
            where t.shop_id = s.id) as "client_link", (select coalesce(json_agg(row_to_json(t) order by change_seq), '[]') from workshop."ticket" t
            where t.shop_id = s.id) as "ticket", (select coalesce(json_agg(row_to_json(t) order by client_id), '[]') from workshop."loyalty_card" t
            where t.shop_id = s.id) as "loyalty_card", (select coalesce(json_agg(row_to_json(t) order by created_at, insert_order), '[]') from workshop."offer" t
            where t.shop_id = s.id) as "offer", (select coalesce(json_agg(row_to_json(t) order by created_at, insert_order), '[]') from workshop."api_key" t
            where t.shop_id = s.id) as "api_key", (select coalesce(json_agg(row_to_json(t) order by caller_id, client_id), '[]') from workshop."stamp_limit" t
            where t.shop_id = s.id) as "stamp_limit", (select coalesce(json_agg(row_to_json(t) order by expires_at), '[]') from workshop."idempotency_record" t
            where t.shop_id = s.id) as "idempotency_record", (select coalesce(json_agg(row_to_json(t) order by id), '[]') from workshop."loyalty_ledger" t
            where t.shop_id = s.id) as "loyalty_ledger", (select coalesce(json_agg(row_to_json(t) order by created_at, insert_order), '[]') from workshop."notification" t
            where t.shop_id = s.id) as "notification", (select coalesce(json_agg(row_to_json(t) order by created_at, insert_order), '[]') from workshop."notice" t
            where t.shop_id = s.id) as "notice", (select coalesce(json_agg(row_to_json(t) order by seq), '[]') from workshop."event" t
            where t.shop_id = s.id) as "event", (select coalesce(json_agg(row_to_json(t) order by started_at, n), '[]') from workshop."attempt" t
            where t.shop_id = s.id) as "attempt", (select coalesce(json_agg(row_to_json(t) order by seq), '[]') from workshop."delivery" t
            where t.shop_id = s.id) as "delivery", (select coalesce(json_agg(row_to_json(t) order by id), '[]') from workshop."replay" t
            where t.shop_id = s.id) as "replay", (select coalesce(json_agg(row_to_json(t) order by due_at, id), '[]') from workshop."queued_notification" t
            where t.shop_id = s.id) as "queued_notification" from workshop.shop s where s.id = $1;

-- reclaim (workshop deliveries)
update /* workshop reclaim */ workshop.delivery d set lease_until = null from (
    select shop_id, event_id from workshop.delivery where lease_until >= 0 and lease_until <= coalesce($1::bigint, (extract(epoch from statement_timestamp()) * 1000)::bigint) limit $2 for update skip locked
  ) e where d.shop_id = e.shop_id and d.event_id = e.event_id
  returning d.shop_id;

-- remove client_link (workshop lane)
delete /* workshop remove client_link */ from workshop.client_link t using (
      select r.shop_id, r.place from json_populate_recordset(null::workshop.client_link, $1) q cross join lateral (
        select r.shop_id, r.ctid as place from workshop.client_link r
        where r.shop_id = q.shop_id and r.client_id = q.client_id limit 1
      ) r
    ) f where t.ctid = f.place and t.shop_id = f.shop_id;

-- remove delivery (workshop lane)
delete /* workshop remove delivery */ from workshop.delivery d using unnest($1::uuid[], $2::uuid[]) q (shop_id, event_id)
           where d.shop_id = q.shop_id and d.event_id = q.event_id;

-- remove idempotency_record (workshop lane)
delete /* workshop remove idempotency_record */ from workshop.idempotency_record t using (
      select r.shop_id, r.place from json_populate_recordset(null::workshop.idempotency_record, $1) q cross join lateral (
        select r.shop_id, r.ctid as place from workshop.idempotency_record r
        where r.shop_id = q.shop_id and r.caller_id = q.caller_id and r.operation = q.operation and r.key = q.key limit 1
      ) r
    ) f where t.ctid = f.place and t.shop_id = f.shop_id;

-- remove notification (workshop lane)
delete /* workshop remove notification */ from workshop.notification t using (
      select r.shop_id, r.place from json_populate_recordset(null::workshop.notification, $1) q cross join lateral (
        select r.shop_id, r.ctid as place from workshop.notification r
        where r.shop_id = q.shop_id and r.id = q.id limit 1
      ) r
    ) f where t.ctid = f.place and t.shop_id = f.shop_id;

-- remove offer (workshop lane)
delete /* workshop remove offer */ from workshop.offer t using (
      select r.shop_id, r.place from json_populate_recordset(null::workshop.offer, $1) q cross join lateral (
        select r.shop_id, r.ctid as place from workshop.offer r
        where r.shop_id = q.shop_id and r.id = q.id limit 1
      ) r
    ) f where t.ctid = f.place and t.shop_id = f.shop_id;

-- remove old notification (workshop retention)
with /* workshop remove old notification */ gone as (
        delete from workshop.notification where ctid = any (array(
          select n.ctid from workshop.notification n where n.created_at < $1
            and not exists (select from workshop.queued_notification m where m.shop_id = n.shop_id and m.id = n.id) limit 1000
        )) returning 1
      ) select count(*)::integer as n from gone;

-- remove old replay (workshop retention)
with /* workshop remove old replay */ gone as (
        delete from workshop.replay where ctid = any (array(
          select ctid from workshop.replay where is_done and created_at < $1 order by created_at limit 1000
        )) returning 1
      ) select count(*)::integer as n from gone;

-- remove queued_notification (workshop lane)
delete /* workshop remove queued_notification */ from workshop.queued_notification m using unnest($1::uuid[], $2::uuid[]) q (shop_id, id)
           where m.shop_id = q.shop_id and m.id = q.id;

-- remove webhook (workshop lane)
delete /* workshop remove webhook */ from workshop.webhook w using unnest($1::uuid[]) q (shop_id) where w.shop_id = q.shop_id;

-- renew delivery (workshop lane)
update /* workshop renew delivery */ workshop.delivery d set attempts_since_reset = 0 from unnest($1::uuid[], $2::uuid[]) q (shop_id, event_id)
         where d.shop_id = q.shop_id and d.event_id = q.event_id;

-- reschedule shops (workshop deliveries)
with /* workshop reschedule shops */ rescheduled as (
    select shop.*,
      case when shop.served > 0 then nullif(current_setting('workshop_claim.number', true), '')::bigint * 4096 + (shop.served - 1) * 1024 + shop.place else shop.turn end as new_turn,
      case when shop.is_written and $1::bigint >= 0 then least((select d.due_at from workshop.delivery d where d.shop_id = shop.shop_id and d.lease_until is null
      and d.is_replay = false and d.generation = shop.generation and d.due_at >= shop.due_from order by d.due_at limit 1), (select d.due_at from workshop.delivery d where d.shop_id = shop.shop_id and d.lease_until is null
      and d.is_replay = true and d.generation = shop.generation and d.due_at >= shop.due_from order by d.due_at limit 1), $1::bigint - 60000) end as earliest
    from (
      select with_readiness.*, not is_ready or (backlog_ctid is null and served > 0) or (backlog_ctid is not null and $3::boolean) as is_written
      from (
        select with_next.*, next <= $1 is true as is_ready
        from (select open.*, case when open.room > 0 then least(
    case when open.generation > 1 then (
      select open.enabled_at from workshop.delivery d where d.shop_id = open.shop_id and d.lease_until is null
  and (d.ticket_id is null or d.ticket_id <> all (open.busy)) and d.is_replay in (false, true)
        and d.generation < open.generation limit 1
    ) end,
    (select d.due_at from workshop.delivery d where d.shop_id = open.shop_id and d.lease_until is null
  and (d.ticket_id is null or d.ticket_id <> all (open.busy)) and not d.is_replay and d.generation = open.generation
      and d.due_at >= open.due_from order by d.due_at limit 1),
    (select d.due_at from workshop.delivery d where d.shop_id = open.shop_id and d.lease_until is null
  and (d.ticket_id is null or d.ticket_id <> all (open.busy)) and d.is_replay and d.generation = open.generation
      and d.due_at >= open.due_from order by d.due_at limit 1)
  ) end as next from (select s.shop_id, s.queue_ctid, s.place, s.due_from, s.backlog_ctid, s.turn, w.generation, w.enabled_at,
    case when w.off_reason is null then greatest(4 - f.in_flight, 0) else 0 end as room, f.busy, f.served
  from unnest(current_setting('workshop_claim.shops')::uuid[], current_setting('workshop_claim.queue_ctids')::tid[], current_setting('workshop_claim.due_from')::bigint[],
    current_setting('workshop_claim.backlog_ctids')::tid[], current_setting('workshop_claim.turns')::bigint[])
    with ordinality s (shop_id, queue_ctid, due_from, backlog_ctid, turn, place)
  join workshop.webhook w on w.shop_id = s.shop_id
  cross join lateral (
    select count(*)::integer as in_flight, coalesce(array_agg(d.ticket_id) filter (where d.ticket_id is not null), '{}') as busy,
      count(*) filter (where d.xmin = pg_current_xact_id()::xid) as served
    from workshop.delivery d where d.shop_id = s.shop_id and d.lease_until > coalesce($2::bigint, (extract(epoch from statement_timestamp()) * 1000)::bigint) - 30000
  ) f) open offset 0) with_next
      ) with_readiness
    ) shop
  ), moved as (
    update workshop.backlogged_queue r set turn = s.new_turn from rescheduled s
    where r.ctid = s.backlog_ctid and r.shop_id is not distinct from s.shop_id and s.is_ready and s.served > 0
  ), ended as (
    delete from workshop.backlogged_queue r using (
      select d.shop_id, d.ctid as backlog_ctid from rescheduled s
      cross join lateral (select d.shop_id, d.ctid from workshop.backlogged_queue d where d.shop_id = s.shop_id for update) d
      where (s.backlog_ctid is null) = s.is_ready and (s.served > 0 or not s.is_ready)
    ) g where r.ctid = g.backlog_ctid and r.shop_id is not distinct from g.shop_id
  ), begun as (insert into workshop.backlogged_queue (shop_id, turn)
  select s.shop_id, s.new_turn from rescheduled s where s.backlog_ctid is null and s.is_ready and s.served > 0)
  update workshop.delivery_queue t set
    next_claim_at = case when s.is_ready then 1 else coalesce(s.next, 253402300799999) end,
    turn = s.new_turn,
    due_from = coalesce(s.earliest, t.due_from)
  from rescheduled s where t.ctid = s.queue_ctid and t.shop_id is not distinct from s.shop_id and s.is_written;

-- reset delivery_queue (workshop deliveries)
update /* workshop reset delivery_queue */ workshop.delivery_queue t set next_claim_at = case when t.next_claim_at = 1 then 1 else 0 end, due_from = 0
    from (select * from unnest($1::uuid[]) u (shop_id) order by 1) q
    where t.shop_id = q.shop_id;

-- rest of attempt (workshop retention)
select /* workshop rest of attempt */ pg_relation_size('workshop.attempt_rest') < 67108864 as is_small,
          exists (select from workshop.attempt_rest where started_at >= $1 and started_at < $2) as has_rows;

-- rest of event (workshop retention)
select /* workshop rest of event */ pg_relation_size('workshop.event_rest') < 67108864 as is_small,
          exists (select from workshop.event_rest where created_at >= $1 and created_at < $2) as has_rows;

-- rewrite attempt (workshop lane)
select /* workshop rewrite attempt */ workshop.rewrite_attempts($1);

-- rewrite event (workshop lane)
select /* workshop rewrite event */ workshop.rewrite_events($1);

-- schema version (workshop reads)
select /* workshop schema version */ version, name, checksum, coalesce((to_jsonb(m) ->> 'readable_from')::integer, 1) as readable_from
      from workshop.schema_migration m order by version;

-- search tickets (workshop reads)
select /* workshop search tickets */ row_to_json(s) as shop, (
        select json_agg(json_build_object('ticket', t, 'account', a, 'link', l) order by t.id desc)
        from (select t.* from (select $1::uuid as shop_id, $2::uuid as id) q join workshop.client_link l on l.shop_id = q.shop_id
  and (case when l.known_at is not null and l.blocked_at is null then l.client_id end) = q.id cross join lateral (select t.shop_id, t.id, t.number, t.tracking_code, t.created_via, t.state, t.outcome, t.type, t.service, t.item, t.description, t.items, t.price_minor, t.deposit_minor, t.before_minor, t.quote, t.promised_at, t.delay, t.part, t.client_id, t.client_phone, t.photo_url, t.created_at, t.updated_at, t.ready_at, t.collected_at, t.abandoned_at, t.abandon_reason, t.notified_at, t.notified_channel, t.external_ref, t.change_seq, t.shop_changed_at, t.stamps_earned, t.moves_per_day, t.notifications_per_day, t.closure_due_at from workshop.ticket t where (t.shop_id = $3 AND t.number = $4 AND t.client_id is not distinct from l.client_id AND t.client_phone = $5 AND t.external_ref = $6 AND t.created_at >= $7 AND t.created_at < $8 AND t.id >= (lpad(to_hex(greatest($9::bigint, 0)), 12, '0') || repeat('0', 20))::uuid AND t.id < least($10::uuid, (lpad(to_hex(greatest($11::bigint + (select coalesce(h.id_counter, 0) / 4096 from workshop.shop_head h where h.shop_id = $12), 0)), 12, '0') || repeat('0', 20))::uuid)) order by t.id desc limit $13) t order by t.id desc limit $14) t
        left join workshop.client_account a on a.id = t.client_id
        left join workshop.client_link l on l.shop_id = t.shop_id and l.client_id = t.client_id
      ) as tickets, null as last_change_at, null::json as unread_from
      from workshop.shop s where s.id = $15;

-- shop of (workshop reads)
select /* workshop shop of */ shop_id from workshop."api_key" where id = $1 limit 1;

-- shop of (workshop reads)
select /* workshop shop of */ shop_id from workshop."offer" where id = $1 limit 1;

-- shop of (workshop reads)
select /* workshop shop of */ shop_id from workshop."ticket" where id = $1 limit 1;

-- shops ahead (workshop reads)

      select /* workshop shops ahead */ json_agg(shop_id) filter (where last_recorded_at > $1) as ahead,
        (array_agg(shop_id))[10000] as last
      from (select shop_id, last_recorded_at from workshop.shop_head where shop_id > $2 order by shop_id limit $3) h;

-- shops of person (workshop reads)

        with /* workshop shops of person */ page as materialized (
          select id from workshop.shop where id > $1 order by id limit $2
        )
        select (select id from page order by id offset $3) as last, array(
          select s.id from page s where coalesce(
            (select true from workshop.client_link l where l.shop_id = s.id and l.client_id = $4 limit 1),
            (select true from workshop.ticket t where t.shop_id = s.id and t.client_id = $5 limit 1),
            (select true from workshop.ticket t where t.shop_id = s.id and t.client_phone = any($6::text[]) limit 1),
            (select true from workshop.offer o where o.shop_id = s.id and o.phone = any($7::text[]) limit 1),
            (select true from workshop.loyalty_card c where c.shop_id = s.id and c.client_id = $8 limit 1),
            (select true from workshop.notification n where n.shop_id = s.id and n.client_id = $9 limit 1))
          order by s.id) as shops;

-- tickets named of person (workshop reads)
select /* workshop tickets named of person */ row_to_json(t) as row
      from unnest($1::uuid[]) q (id)
      cross join lateral (select * from workshop.ticket t where t.shop_id = $2 and t.id = q.id limit 1) t;

-- tickets of person (workshop reads)
select /* workshop tickets of person */ row_to_json(t) as row from workshop.ticket t
        where t.shop_id = $1 and "t"."client_id" is not null
          and ("t"."client_id", t.id) > ($2, $3) and ("t"."client_id", t.id) <= ($4, $5)
        order by "t"."client_id", t.id limit $6;

-- tickets of person (workshop reads)
select /* workshop tickets of person */ row_to_json(t) as row from workshop.ticket t
        where t.shop_id = $1 and "t"."client_phone" is not null
          and ("t"."client_phone", t.id) > ($2, $3) and ("t"."client_phone", t.id) <= ($4, $5)
        order by "t"."client_phone", t.id limit $6;

-- unlock retention (workshop retention)
select /* workshop unlock retention */ pg_advisory_unlock(7305809, 35762567);

-- wait briefly (workshop retention)
set /* workshop wait briefly */ local lock_timeout = 200;

-- wake delivery_queue (workshop lane)
update /* workshop wake delivery_queue */ workshop.delivery_queue t set next_claim_at = 0 from (
      select l.shop_id, l.next_claim_at from (select * from unnest($1::uuid[]) u (shop_id) order by 1) q
      cross join lateral (select * from workshop.delivery_queue d where d.shop_id = q.shop_id offset 0 for no key update) l
    ) q where t.shop_id = q.shop_id and q.next_claim_at > 1;

-- work briefly (workshop retention)
set /* workshop work briefly */ local statement_timeout = 1000;
