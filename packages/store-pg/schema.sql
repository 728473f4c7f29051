-- Written by `npm run codegen` from a database that packages/store-pg/migrations made; change those instead.

create domain instant as bigint;

create type limit_window as (
  used integer,
  resets_at instant
);

CREATE OR REPLACE FUNCTION workshop.at(moment instant)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN to_timestamp((((moment)::numeric / 1000.0))::double precision);

CREATE OR REPLACE FUNCTION workshop.clear_sandbox()
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'workshop', 'pg_temp'
AS $function$
begin
  if not exists (select from database_label where name = 'sandbox') then
    return false;
  end if;
  truncate api_key, attempt, audit_entry, backlogged_queue, client_account, client_erasure, client_link, delivery, delivery_queue, event,
    idempotency_record, loyalty_card, loyalty_ledger, notice, notification, offer, queued_notification, rate_limit, replay, shop, shop_head,
    stamp_limit, ticket, webhook;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION workshop.maintain_partition(step text, parent text, month text, range_from bigint, range_until bigint)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'workshop', 'pg_temp'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION workshop.rewrite_attempts(rows json)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'workshop', 'pg_temp'
AS $function$
begin
  if not exists (select from client_erasure) then
    raise exception 'attempts are rewritten while a client is erased, and no erasure is under way' using errcode = '55000';
  end if;
  update attempt a set head = q.head from json_populate_recordset(null::attempt, rows) q
    where a.shop_id = q.shop_id and a.event_id = q.event_id and a.n = q.n and a.started_at = q.started_at;
end $function$;

CREATE OR REPLACE FUNCTION workshop.rewrite_events(rows json)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'workshop', 'pg_temp'
AS $function$
begin
  if not exists (select from client_erasure) then
    raise exception 'events are rewritten while a client is erased, and no erasure is under way' using errcode = '55000';
  end if;
  update event e set body = q.body from json_populate_recordset(null::event, rows) q
    where e.shop_id = q.shop_id and e.id = q.id and e.created_at = q.created_at;
end $function$;

create table api_key (
  id uuid not null,
  insert_order bigint generated always as identity not null,
  shop_id uuid not null,
  name text not null,
  scopes text[] not null,
  hash text not null,
  last_four text not null,
  created_at instant not null,
  revoked_at instant,
  expires_at instant,
  last_used_at instant,
  constraint api_key_hash_form CHECK ((hash ~ '^[0-9a-f]{64}$'::text)),
  constraint api_key_hash_key UNIQUE (hash),
  constraint api_key_last_four_form CHECK ((last_four ~ '^.{4}$'::text)),
  constraint api_key_pkey PRIMARY KEY (id)
);

create table api_key_cell (
  hash text not null,
  cell text not null,
  constraint api_key_cell_pkey PRIMARY KEY (hash)
);

create table attempt (
  shop_id uuid not null,
  event_id uuid not null,
  n integer not null,
  started_at instant not null,
  status integer,
  error text,
  detail text,
  address text,
  timings json not null,
  head text not null,
  constraint attempt_n_positive CHECK ((n >= 1)),
  constraint attempt_pkey PRIMARY KEY (shop_id, event_id, n, started_at),
  constraint attempt_status_range CHECK (((status >= 100) AND (status <= 999)))
) partition by RANGE (started_at);

create table attempt_rest partition of attempt DEFAULT;

create table audit_entry (
  shop_id uuid not null,
  id uuid not null,
  insert_order bigint generated always as identity not null,
  created_at instant not null,
  actor text not null,
  act text not null,
  details json not null,
  constraint audit_entry_pkey PRIMARY KEY (shop_id, id)
);

create table backlogged_queue (
  shop_id uuid not null,
  turn bigint not null,
  constraint backlogged_queue_pkey PRIMARY KEY (shop_id, turn)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000);

create table batch_receipt (
  connection uuid not null,
  batch bigint not null,
  saved_at instant not null,
  constraint batch_receipt_pkey PRIMARY KEY (connection)
) with (fillfactor=50);

create table cell (
  name text not null,
  takes_shops boolean not null,
  shops bigint not null,
  id text,
  constraint cell_pkey PRIMARY KEY (name)
);

create table client_account (
  id uuid not null,
  given_name text not null,
  family_name text not null,
  phone text not null,
  hide_name boolean not null,
  created_at instant not null,
  constraint client_account_phone_form CHECK ((phone ~ '^[+][0-9]{4,15}$'::text)),
  constraint client_account_phone_key UNIQUE (phone),
  constraint client_account_pkey PRIMARY KEY (id)
);

create table client_erasure (
  client_id uuid not null,
  given_name text not null,
  family_name text not null,
  phones text[] not null,
  constraint client_erasure_pkey PRIMARY KEY (client_id)
);

create table client_link (
  shop_id uuid not null,
  client_id uuid not null,
  known_at instant,
  blocked_at instant,
  constraint client_link_pkey PRIMARY KEY (shop_id, client_id)
);

create table database_label (
  name text not null,
  constraint database_label_pkey PRIMARY KEY (name)
);

create table delivery (
  shop_id uuid not null,
  event_id uuid not null,
  type text not null,
  ticket_id uuid,
  seq bigint not null,
  attempts_made integer not null,
  attempts_since_reset integer not null,
  due_at instant not null,
  generation integer not null,
  is_replay boolean not null,
  token bigint not null,
  lease_until instant,
  constraint delivery_attempts_counted CHECK (((attempts_since_reset >= 0) AND (attempts_since_reset <= attempts_made))),
  constraint delivery_pkey PRIMARY KEY (shop_id, event_id),
  constraint delivery_token_not_negative CHECK ((token >= 0))
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000);

create table delivery_queue (
  shop_id uuid not null,
  next_claim_at instant not null,
  turn bigint not null,
  due_from instant default 0 not null,
  constraint delivery_queue_pkey PRIMARY KEY (shop_id)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000);

create table event (
  shop_id uuid not null,
  id uuid not null,
  type text not null,
  seq bigint not null,
  ticket_id uuid,
  created_at instant not null,
  body text not null,
  constraint event_pkey PRIMARY KEY (shop_id, id, created_at),
  constraint event_seq_positive CHECK ((seq >= 1))
) partition by RANGE (created_at);

create table event_rest partition of event DEFAULT;

create table idempotency_record (
  shop_id uuid not null,
  caller_id text not null,
  operation text not null,
  key text not null,
  fingerprint text not null,
  response text not null,
  expires_at instant not null,
  constraint idempotency_record_pkey PRIMARY KEY (shop_id, caller_id, operation, key)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.02);

create table loyalty_card (
  shop_id uuid not null,
  client_id uuid not null,
  balance bigint not null,
  lifetime bigint not null,
  rewards_redeemed bigint not null,
  updated_at instant,
  constraint loyalty_card_balance_range CHECK (((balance >= 0) AND (balance <= lifetime))),
  constraint loyalty_card_pkey PRIMARY KEY (shop_id, client_id),
  constraint loyalty_card_rewards_not_negative CHECK ((rewards_redeemed >= 0))
);

create table loyalty_ledger (
  shop_id uuid not null,
  id uuid not null,
  client_id uuid not null,
  kind text not null,
  stamps integer not null,
  ticket_id uuid,
  caller_id text,
  created_at instant not null,
  constraint loyalty_ledger_kind_known CHECK ((kind = ANY (ARRAY['stamps'::text, 'ticket'::text, 'redeem'::text]))),
  constraint loyalty_ledger_pkey PRIMARY KEY (shop_id, id),
  constraint loyalty_ledger_ticket_named CHECK (((kind = 'ticket'::text) = (ticket_id IS NOT NULL)))
);

create table notice (
  shop_id uuid not null,
  id uuid not null,
  insert_order bigint generated always as identity not null,
  kind text not null,
  created_at instant not null,
  url text not null,
  off_reason text,
  failures_in_row integer not null,
  first_failure_at instant,
  constraint notice_pkey PRIMARY KEY (shop_id, id)
);

create table notification (
  shop_id uuid not null,
  id uuid not null,
  insert_order bigint generated always as identity not null,
  client_id uuid,
  type text not null,
  ticket json not null,
  ticket_id uuid not null,
  created_at instant not null,
  constraint notification_pkey PRIMARY KEY (shop_id, id)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.02);

create table offer (
  shop_id uuid not null,
  id uuid not null,
  insert_order bigint generated always as identity not null,
  ticket_id uuid not null,
  phone text not null,
  status text not null,
  created_at instant not null,
  answered_at instant,
  constraint offer_answered_whole CHECK (((status = 'open'::text) = (answered_at IS NULL))),
  constraint offer_pkey PRIMARY KEY (shop_id, id),
  constraint offer_status_known CHECK ((status = ANY (ARRAY['open'::text, 'accepted'::text, 'blocked'::text])))
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.02);

create table queued_notification (
  shop_id uuid not null,
  id uuid not null,
  receiver text not null,
  attempts_made integer not null,
  due_at instant not null,
  constraint queued_notification_attempts_not_negative CHECK ((attempts_made >= 0)),
  constraint queued_notification_pkey PRIMARY KEY (shop_id, id),
  constraint queued_notification_receiver_known CHECK ((receiver = ANY (ARRAY['client'::text, 'owner'::text])))
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000);

create unlogged table rate_limit (
  policy text not null,
  subject text not null,
  used integer not null,
  resets_at instant not null,
  constraint rate_limit_pkey PRIMARY KEY (policy, subject)
) with (fillfactor=50);

create table replay (
  shop_id uuid not null,
  id uuid not null,
  filter json not null,
  after_seq bigint not null,
  until_seq bigint not null,
  is_done boolean not null,
  created_at instant not null,
  constraint replay_pkey PRIMARY KEY (shop_id, id),
  constraint replay_range_in_order CHECK ((after_seq <= until_seq))
);

create table schema_migration (
  version integer not null,
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone not null,
  readable_from integer default 1 not null,
  constraint schema_migration_pkey PRIMARY KEY (version)
);

create table shop (
  id uuid not null,
  name text not null,
  currency text not null,
  decimals integer not null,
  time_zone text not null,
  tracking_base_url text,
  approved boolean not null,
  active boolean not null,
  api_enabled boolean not null,
  program json not null,
  forbidden_words text[] not null,
  created_at instant not null,
  allowed_words text[] default '{}'::text[] not null,
  languages text[] default '{en,fr}'::text[] not null,
  constraint shop_currency_code CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint shop_decimals_range CHECK (((decimals >= 0) AND (decimals <= 6))),
  constraint shop_pkey PRIMARY KEY (id)
);

create table shop_cell (
  shop_id uuid not null,
  cell text not null,
  constraint shop_cell_pkey PRIMARY KEY (shop_id)
);

create table shop_head (
  shop_id uuid not null,
  next_number integer not null,
  change_seq bigint not null,
  event_seq bigint not null,
  last_recorded_at instant not null,
  tickets_per_hour limit_window not null,
  tickets_per_day limit_window not null,
  id_counter bigint default 0,
  constraint shop_head_counters_not_negative CHECK (((change_seq >= 0) AND (event_seq >= 0))),
  constraint shop_head_next_number_range CHECK (((next_number >= 1) AND (next_number <= 9999))),
  constraint shop_head_pkey PRIMARY KEY (shop_id)
) with (fillfactor=50);

create table stale_account_copy (
  client_id uuid not null,
  cell text not null,
  change_number bigint generated by default as identity not null,
  constraint stale_account_copy_pkey PRIMARY KEY (client_id, cell)
);

create table stamp_limit (
  shop_id uuid not null,
  caller_id text not null,
  client_id uuid not null,
  used integer not null,
  resets_at instant not null,
  constraint stamp_limit_pkey PRIMARY KEY (shop_id, caller_id, client_id),
  constraint stamp_limit_used_not_negative CHECK ((used >= 0))
);

create table ticket (
  shop_id uuid not null,
  id uuid not null,
  number integer not null,
  state text not null,
  outcome text,
  type text not null,
  service text not null,
  item text,
  description text,
  items json not null,
  price_minor bigint,
  deposit_minor bigint,
  before_minor bigint,
  quote json,
  promised_at instant,
  delay json,
  part json,
  client_id uuid,
  client_phone text,
  tracking_code text not null,
  photo_url text,
  created_at instant not null,
  updated_at instant not null,
  ready_at instant,
  collected_at instant,
  abandoned_at instant,
  abandon_reason text,
  notified_at instant,
  created_via text not null,
  external_ref text,
  change_seq bigint not null,
  shop_changed_at instant not null,
  stamps_earned boolean not null,
  closure_due_at instant,
  moves_per_day limit_window,
  notifications_per_day limit_window,
  notified_channel text,
  history json,
  constraint ticket_abandon_reason_known CHECK ((abandon_reason = ANY (ARRAY['uncollected'::text, 'no_news'::text]))),
  constraint ticket_abandoned_whole CHECK (((state <> 'abandoned'::text) OR ((abandoned_at IS NOT NULL) AND (abandon_reason IS NOT NULL)))),
  constraint ticket_amounts_not_negative CHECK (((price_minor >= 0) AND (deposit_minor >= 0) AND (before_minor >= 0))),
  constraint ticket_collected_whole CHECK (((state <> 'collected'::text) OR ((collected_at IS NOT NULL) AND (outcome IS NOT NULL)))),
  constraint ticket_created_via_known CHECK ((created_via = ANY (ARRAY['app'::text, 'api'::text]))),
  constraint ticket_deposit_within_price CHECK ((deposit_minor <= price_minor)),
  constraint ticket_never_before_created CHECK (((updated_at)::bigint >= (created_at)::bigint)),
  constraint ticket_notified_channel_known CHECK ((notified_channel = ANY (ARRAY['app'::text, 'sms'::text, 'whatsapp'::text, 'call'::text]))),
  constraint ticket_number_range CHECK (((number >= 1) AND (number <= 9999))),
  constraint ticket_outcome_known CHECK ((outcome = ANY (ARRAY['ready'::text, 'impossible'::text]))),
  constraint ticket_pkey PRIMARY KEY (shop_id, id),
  constraint ticket_state_known CHECK ((state = ANY (ARRAY['workshop'::text, 'ready'::text, 'impossible'::text, 'collected'::text, 'abandoned'::text]))),
  constraint ticket_type_known CHECK ((type = ANY (ARRAY['repair'::text, 'prepare'::text])))
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.02, autovacuum_analyze_scale_factor=0.02);

create table webhook (
  shop_id uuid not null,
  url text not null,
  secret text not null,
  previous_secret text,
  previous_until instant,
  off_reason text,
  failures_in_row integer not null,
  first_failure_at instant,
  failure_steps_notified integer not null,
  generation integer not null,
  enabled_at instant not null,
  constraint webhook_failures_not_negative CHECK ((failures_in_row >= 0)),
  constraint webhook_generation_positive CHECK ((generation >= 1)),
  constraint webhook_pkey PRIMARY KEY (shop_id),
  constraint webhook_rotation_whole CHECK (((previous_secret IS NULL) = (previous_until IS NULL)))
);

CREATE INDEX api_key_of_shop ON workshop.api_key USING btree (shop_id, created_at, insert_order);

CREATE INDEX attempt_rest_age ON workshop.attempt_rest USING brin (started_at) WITH (autosummarize='on');

CREATE INDEX audit_entry_by_id ON workshop.audit_entry USING btree (id);

CREATE INDEX audit_entry_latest ON workshop.audit_entry USING btree (insert_order);

CREATE INDEX audit_entry_of_shop ON workshop.audit_entry USING btree (shop_id, insert_order);

CREATE INDEX backlogged_queue_order ON workshop.backlogged_queue USING btree (turn) WHERE (turn > 0);

CREATE UNIQUE INDEX client_link_seen ON workshop.client_link USING btree (shop_id, (
CASE
    WHEN ((known_at IS NOT NULL) AND (blocked_at IS NULL)) THEN client_id
    ELSE NULL::uuid
END));

CREATE INDEX delivery_due ON workshop.delivery USING btree (shop_id, is_replay, generation, due_at, seq) WHERE (lease_until IS NULL);

CREATE INDEX delivery_lease_ends ON workshop.delivery USING btree (lease_until) WHERE ((lease_until)::bigint >= 0);

CREATE INDEX delivery_leased ON workshop.delivery USING btree (shop_id, lease_until) WHERE (lease_until IS NOT NULL);

CREATE INDEX delivery_queue_due ON workshop.delivery_queue USING btree (next_claim_at, turn);

CREATE INDEX delivery_released ON workshop.delivery USING btree (shop_id, is_replay, generation, seq) WHERE (lease_until IS NULL);

CREATE INDEX event_order ON ONLY workshop.event USING btree (shop_id, seq);

CREATE INDEX event_rest_age ON workshop.event_rest USING brin (created_at) WITH (autosummarize='on');

CREATE INDEX idempotency_record_until ON workshop.idempotency_record USING btree (expires_at);

CREATE UNIQUE INDEX loyalty_ledger_earned ON workshop.loyalty_ledger USING btree (shop_id, ticket_id) WHERE (kind = 'ticket'::text);

CREATE INDEX loyalty_ledger_of_client ON workshop.loyalty_ledger USING btree (shop_id, client_id, id);

CREATE INDEX notification_age ON workshop.notification USING brin (created_at) WITH (autosummarize='on');

CREATE INDEX notification_to_client ON workshop.notification USING btree (client_id, shop_id, created_at, insert_order);

CREATE INDEX offer_by_id ON workshop.offer USING btree (id);

CREATE INDEX offer_of_phone ON workshop.offer USING btree (phone, shop_id, status, created_at, insert_order);

CREATE UNIQUE INDEX offer_open ON workshop.offer USING btree (shop_id, ticket_id) WHERE (status = 'open'::text);

CREATE INDEX queued_notification_due ON workshop.queued_notification USING btree (receiver, due_at, id);

CREATE INDEX rate_limit_until ON workshop.rate_limit USING btree (resets_at);

CREATE INDEX replay_done ON workshop.replay USING btree (created_at) WHERE is_done;

CREATE INDEX replay_open ON workshop.replay USING btree (created_at, id) WHERE (NOT is_done);

CREATE INDEX stale_account_copy_order ON workshop.stale_account_copy USING btree (change_number);

CREATE INDEX stamp_limit_until ON workshop.stamp_limit USING btree (resets_at);

CREATE INDEX ticket_by_client ON workshop.ticket USING btree (shop_id, client_id, id) WHERE (client_id IS NOT NULL);

CREATE INDEX ticket_by_id ON workshop.ticket USING btree (id);

CREATE INDEX ticket_by_number ON workshop.ticket USING btree (shop_id, number, id);

CREATE INDEX ticket_by_phone ON workshop.ticket USING btree (shop_id, client_phone, id) WHERE (client_phone IS NOT NULL);

CREATE INDEX ticket_by_ref ON workshop.ticket USING btree (shop_id, external_ref, id) WHERE (external_ref IS NOT NULL);

CREATE INDEX ticket_by_state ON workshop.ticket USING btree (shop_id, state, id);

CREATE UNIQUE INDEX ticket_change ON workshop.ticket USING btree (shop_id, change_seq);

CREATE INDEX ticket_closing ON workshop.ticket USING btree (closure_due_at, id) WHERE (closure_due_at IS NOT NULL);

CREATE UNIQUE INDEX ticket_tracking_code ON workshop.ticket USING btree (tracking_code, shop_id);

CREATE INDEX webhook_off ON workshop.webhook USING btree (shop_id) WHERE (off_reason IS NOT NULL);

comment on table api_key is 'An API key of a shop. The key''s text is not stored.';

comment on column api_key.id is 'UUID version 7, made by the program.';

comment on column api_key.insert_order is 'The order in which rows of one instant were written.';

comment on column api_key.shop_id is 'The shop to which the row belongs.';

comment on column api_key.name is 'The name that the owner gave the key.';

comment on column api_key.scopes is 'The scopes of the key.';

comment on column api_key.hash is 'SHA-256 of the key, in hex: requests are looked up by it.';

comment on column api_key.last_four is 'The last four characters, so that owners recognize it.';

comment on column api_key.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on column api_key.revoked_at is 'The instant from which the key is refused because it was revoked; null if it was not.';

comment on column api_key.expires_at is 'The instant from which the key is refused because it expired; null if it does not expire.';

comment on column api_key.last_used_at is 'The approximate instant of the last use, written at most once a minute.';

comment on table api_key_cell is 'The cell of each API key. A key without a row is in the home cell.';

comment on column api_key_cell.hash is 'The hash of the key, as in api_key.';

comment on column api_key_cell.cell is 'The name of the cell that has the key.';

comment on table attempt is 'Every attempt to deliver an event, partitioned by month of started_at. Append-only; removed after a while.';

comment on column attempt.shop_id is 'The shop to which the row belongs.';

comment on column attempt.event_id is 'The id of the event that was sent.';

comment on column attempt.n is 'The number of the attempt, from 1.';

comment on column attempt.started_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on column attempt.status is 'The receiver''s HTTP status; null if there was none.';

comment on column attempt.error is 'The name of the reason why there was no status.';

comment on column attempt.detail is 'The reason why there was no status, in words.';

comment on column attempt.address is 'The IP address that was dialled.';

comment on column attempt.timings is 'The duration of each part of the attempt, in milliseconds.';

comment on column attempt.head is 'The beginning of the receiver''s response.';

comment on table audit_entry is 'The audit log: the actions of owners and operators. Append-only.';

comment on column audit_entry.shop_id is 'The shop to which the row belongs.';

comment on column audit_entry.id is 'UUID version 7, made by the program.';

comment on column audit_entry.insert_order is 'The order in which rows were written.';

comment on column audit_entry.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on column audit_entry.actor is 'The person or program that acted.';

comment on column audit_entry.act is 'The name of the action.';

comment on column audit_entry.details is 'The parameters of the action, without secrets.';

comment on table backlogged_queue is 'The queues that were served and still have something due, one row each. Their delivery_queue has next_claim_at 1.';

comment on column backlogged_queue.shop_id is 'The shop to which the row belongs.';

comment on column backlogged_queue.turn is 'The place of the shop in the order in which shops are served, together with those of which delivery_queue has next_claim_at 0.';

comment on table batch_receipt is 'The last batch of commands that each connection committed, by which the outcome of a lost commit is found.';

comment on column batch_receipt.connection is 'The connection, by an id made for it.';

comment on column batch_receipt.batch is 'The number of its last committed batch; an odd one says that the batch before it never was, and never will be.';

comment on column batch_receipt.saved_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people. A day later the row is removed.';

comment on table cell is 'The cells of the service, in the schema of the home cell. The table is empty if the home cell is the only one.';

comment on column cell.name is 'The name of the cell in --cells; home for the home cell.';

comment on column cell.takes_shops is 'True if new shops are placed in the cell.';

comment on column cell.shops is 'The number of shops that were placed in the cell.';

comment on column cell.id is 'The id that the cell has in its own table database_label; null until workshop migrate gives it one, and for the home cell.';

comment on table client_account is 'A client''s account, known by its phone number. Directory table.';

comment on column client_account.id is 'UUID version 7, made by the program.';

comment on column client_account.given_name is 'The given name of the client. Personal data.';

comment on column client_account.family_name is 'The family name of the client. Personal data.';

comment on column client_account.phone is 'The phone number of the client, in E.164. Each number has at most one account. Personal data.';

comment on column client_account.hide_name is 'True if shops see only the given name and the initial of the family name.';

comment on column client_account.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on table client_erasure is 'The data by which a client is found while they are erased. The row is removed when that is done; one that stays was interrupted.';

comment on column client_erasure.client_id is 'The id of the account, which is already removed from client_account.';

comment on column client_erasure.given_name is 'The account''s given name.';

comment on column client_erasure.family_name is 'The account''s family name.';

comment on column client_erasure.phones is 'The phone number of the account and further numbers that belonged to the client, in E.164.';

comment on table client_link is 'The relations between clients and shops.';

comment on column client_link.shop_id is 'The shop to which the row belongs.';

comment on column client_link.client_id is 'The id of the client''s account.';

comment on column client_link.known_at is 'The instant from which the shop sees the client.';

comment on column client_link.blocked_at is 'The instant from which the client blocks the shop, which then does not see the client.';

comment on table database_label is 'Labels of the whole database. "sandbox": a sandbox created the data, so they are not real. "cell:NAME" and "cell_id:ID": the cell that the schema is.';

comment on column database_label.name is 'The label.';

comment on table delivery is 'The deliveries of events that have not arrived yet. A row in flight has a lease.';

comment on column delivery.shop_id is 'The shop to which the row belongs.';

comment on column delivery.event_id is 'The id of the event to send.';

comment on column delivery.type is 'The type of the event.';

comment on column delivery.ticket_id is 'The id of the event''s ticket, of which one delivery is sent at a time; null for a ping.';

comment on column delivery.seq is 'The event''s place in the shop''s order.';

comment on column delivery.attempts_made is 'The number of attempts.';

comment on column delivery.attempts_since_reset is 'The number of attempts since a release or a replay last made the delivery due anew. The retry schedule counts these.';

comment on column delivery.due_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on column delivery.generation is 'The generation of the webhook when the row was written.';

comment on column delivery.is_replay is 'True if the delivery belongs to a replay. It waits until no live one is due.';

comment on column delivery.token is 'The fencing token, which each claim raises. A result with an older token changes nothing.';

comment on column delivery.lease_until is 'The instant, on the database''s clock, until which a process has leased the delivery; null while it waits.';

comment on table delivery_queue is 'The queues of deliveries, one for each shop with a webhook, and the order in which they are served.';

comment on column delivery_queue.shop_id is 'The shop to which the row belongs.';

comment on column delivery_queue.next_claim_at is 'Before this instant nothing of the shop can be claimed; 0 if something can now, 1 if something can and the shop is in backlogged_queue. It may be too early, never too late.';

comment on column delivery_queue.turn is 'The place of the shop in the order in which shops are served. Each claim moves it to the end.';

comment on column delivery_queue.due_from is 'Nothing of the shop that waits, of its present generation, is due before this instant.';

comment on table event is 'Events in the order of each shop, partitioned by month. Append-only; removed after a while.';

comment on column event.shop_id is 'The shop to which the row belongs.';

comment on column event.id is 'UUID version 7; receivers drop duplicates by it.';

comment on column event.type is 'The type of the event, such as ticket.ready.';

comment on column event.seq is 'The event''s place in the shop''s order, without gaps.';

comment on column event.ticket_id is 'The id of the event''s ticket; null for a ping.';

comment on column event.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on column event.body is 'The body that is signed and sent, byte for byte.';

comment on table idempotency_record is 'The first response to each idempotency key, for 30 days.';

comment on column idempotency_record.shop_id is 'The shop to which the row belongs.';

comment on column idempotency_record.caller_id is 'The id of the caller: an API key, or an id that an embedder uses for one.';

comment on column idempotency_record.operation is 'The operation for which the key was used.';

comment on column idempotency_record.key is 'The value of Idempotency-Key.';

comment on column idempotency_record.fingerprint is 'The fingerprint of the request, by which another request with the same key is refused.';

comment on column idempotency_record.response is 'The first response, as JSON.';

comment on column idempotency_record.expires_at is 'The instant from which the row is removed.';

comment on table loyalty_card is 'A client''s card at a shop: the sum of its lines in loyalty_ledger.';

comment on column loyalty_card.shop_id is 'The shop to which the row belongs.';

comment on column loyalty_card.client_id is 'The client''s account.';

comment on column loyalty_card.balance is 'The number of stamps that were not redeemed yet.';

comment on column loyalty_card.lifetime is 'The number of stamps that were ever earned.';

comment on column loyalty_card.rewards_redeemed is 'The number of rewards that were redeemed.';

comment on column loyalty_card.updated_at is 'The instant of the last change; null for a card that was never used.';

comment on table loyalty_ledger is 'The stamps that were earned and redeemed. Append-only.';

comment on column loyalty_ledger.shop_id is 'The shop to which the row belongs.';

comment on column loyalty_ledger.id is 'UUID version 7, made by the program.';

comment on column loyalty_ledger.client_id is 'The client''s account.';

comment on column loyalty_ledger.kind is 'The kind of the entry: stamps (given by hand), ticket (earned by one) or redeem.';

comment on column loyalty_ledger.stamps is 'The number of stamps, negative if they were redeemed.';

comment on column loyalty_ledger.ticket_id is 'The id of the ticket that earned the stamps; null for other kinds.';

comment on column loyalty_ledger.caller_id is 'The id of the caller that gave or redeemed the stamps; null for a ticket.';

comment on column loyalty_ledger.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on table notice is 'The notices to owners, sent or not.';

comment on column notice.shop_id is 'The shop to which the row belongs.';

comment on column notice.id is 'UUID version 7, made by the program.';

comment on column notice.insert_order is 'The order in which rows of one instant were written.';

comment on column notice.kind is 'The kind of the notice, such as webhook_off.';

comment on column notice.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on column notice.url is 'The address of the webhook at that instant.';

comment on column notice.off_reason is 'The reason why the webhook was turned off.';

comment on column notice.failures_in_row is 'The number of failed attempts in a row until then.';

comment on column notice.first_failure_at is 'The instant of the first of these failed attempts.';

comment on table notification is 'The notifications to clients, sent or not.';

comment on column notification.shop_id is 'The shop to which the row belongs.';

comment on column notification.id is 'UUID version 7, made by the program.';

comment on column notification.insert_order is 'The order in which rows of one instant were written.';

comment on column notification.client_id is 'The id of the client; null for a client without an account, who is notified by the ticket''s phone number.';

comment on column notification.type is 'The type of the notification: ticket.ready or ticket.impossible.';

comment on column notification.ticket is 'The ticket at that instant. Personal data.';

comment on column notification.ticket_id is 'The id of the ticket.';

comment on column notification.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on table offer is 'Tickets that were offered to a phone number, with or without an account.';

comment on column offer.shop_id is 'The shop to which the row belongs.';

comment on column offer.id is 'The id of the offer. It is random because it grants the right to answer.';

comment on column offer.insert_order is 'The order in which rows of one instant were written.';

comment on column offer.ticket_id is 'The id of the ticket that is offered.';

comment on column offer.phone is 'The phone number to which the ticket is offered, in E.164. Personal data.';

comment on column offer.status is 'The status of the offer: open, accepted or blocked.';

comment on column offer.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on column offer.answered_at is 'The instant of the answer; null while the offer is open.';

comment on table queued_notification is 'Notifications and notices that still have to be sent.';

comment on column queued_notification.shop_id is 'The shop to which the row belongs.';

comment on column queued_notification.id is 'The id of the notification or notice.';

comment on column queued_notification.receiver is 'The kind of the receiver: client or owner.';

comment on column queued_notification.attempts_made is 'The number of attempts.';

comment on column queued_notification.due_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on table rate_limit is 'Uses of the limits that belong to no shop''s head. Unlogged: a crash opens the windows anew.';

comment on column rate_limit.policy is 'The name of the limit.';

comment on column rate_limit.subject is 'The key, shop or address whose uses are counted.';

comment on column rate_limit.used is 'The number of uses since the window began.';

comment on column rate_limit.resets_at is 'The instant at which the window ends.';

comment on table replay is 'Requests to send events again, a thousand events at a time.';

comment on column replay.shop_id is 'The shop to which the row belongs.';

comment on column replay.id is 'UUID version 7, made by the program.';

comment on column replay.filter is 'The filter of the events.';

comment on column replay.after_seq is 'The place of the last event that was taken up.';

comment on column replay.until_seq is 'The seq at which the replay ends: the event with this seq and later ones are not sent again.';

comment on column replay.is_done is 'True once all events are taken up.';

comment on column replay.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on table schema_migration is 'The migrations that were applied.';

comment on column schema_migration.version is 'The number of the migration.';

comment on column schema_migration.name is 'The name of the migration''s file, without its ending.';

comment on column schema_migration.checksum is 'The SHA-256 of the migration''s text.';

comment on column schema_migration.applied_at is 'The time at which the migration was applied.';

comment on column schema_migration.readable_from is 'The oldest program, by the number of its last migration, that can use the schema since then.';

comment on table shop is 'A shop''s settings. Directory table: read by every node, changed by its owner and its operator.';

comment on column shop.id is 'UUID version 7, made by the program.';

comment on column shop.name is 'The name of the shop, as its owner wrote it.';

comment on column shop.currency is 'The ISO 4217 code of the currency of all amounts of the shop.';

comment on column shop.decimals is 'The number of decimals of the currency. Amounts are integers in its smallest unit.';

comment on column shop.time_zone is 'The IANA name of the time zone, whose calendar days count for limits and stamps.';

comment on column shop.tracking_base_url is 'The beginning of the tracking_url of tickets; null if the shop has no tracking page.';

comment on column shop.approved is 'False if requests get SHOP_NOT_APPROVED.';

comment on column shop.active is 'False if requests get ACCOUNT_DEACTIVATED.';

comment on column shop.api_enabled is 'False if requests get API_DISABLED.';

comment on column shop.program is 'The loyalty programme: active, name, stamps_required, stamps_per_ticket, reward_label.';

comment on column shop.forbidden_words is 'Words refused in the shop''s texts besides the default list.';

comment on column shop.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on column shop.allowed_words is 'Words of the default list that this shop may use.';

comment on column shop.languages is 'The languages whose default lists of words are refused in the shop''s texts.';

comment on table shop_cell is 'The cell of each shop, which does not change. A shop without a row is in the home cell.';

comment on column shop_cell.shop_id is 'The id of the shop.';

comment on column shop_cell.cell is 'The name of the cell that has the shop.';

comment on table shop_head is 'One narrow row for each shop. Commands lock it, so the commands of a shop run one after another.';

comment on column shop_head.shop_id is 'The shop to which the row belongs.';

comment on column shop_head.next_number is 'The number of the next ticket, 1 to 9999, then 1 again.';

comment on column shop_head.change_seq is 'The place that the next change of a ticket takes in the shop''s sync.';

comment on column shop_head.event_seq is 'The place that the next event takes in the shop''s order.';

comment on column shop_head.last_recorded_at is 'The held time at the latest command; created_at and updated_at never go back behind it.';

comment on column shop_head.tickets_per_hour is 'The number of tickets that were created in the present window, and the end of the window.';

comment on column shop_head.tickets_per_day is 'The number of tickets that were created in the shop''s calendar day, and the end of the day.';

comment on column shop_head.id_counter is 'The number of ids that the shop''s commands made at last_recorded_at. The next ids continue from there.';

comment on table stale_account_copy is 'The cells that lack the last change of a client''s account. A row is written with the change, and removed once the cell has it.';

comment on column stale_account_copy.client_id is 'The id of the account, which is gone if it was erased.';

comment on column stale_account_copy.cell is 'The name of the cell that lacks the change.';

comment on column stale_account_copy.change_number is 'The number of the change; a later one has a greater number.';

comment on table stamp_limit is 'The number of stamps that a caller gave a client on the shop''s present day.';

comment on column stamp_limit.shop_id is 'The shop to which the row belongs.';

comment on column stamp_limit.caller_id is 'The id of the caller: an API key, or an id that an embedder uses for one.';

comment on column stamp_limit.client_id is 'The client''s account.';

comment on column stamp_limit.used is 'The number of stamps since the day began.';

comment on column stamp_limit.resets_at is 'The instant at which the day ends.';

comment on table ticket is 'The tickets in their present state. Rows are never deleted.';

comment on column ticket.shop_id is 'The shop to which the row belongs.';

comment on column ticket.id is 'UUID version 7, made by the program.';

comment on column ticket.number is 'The number of the ticket, 1 to 9999, then 1 again. Several tickets may have one number.';

comment on column ticket.state is 'The state of the ticket: workshop, ready, impossible, collected or abandoned.';

comment on column ticket.outcome is 'The outcome of a collected ticket: ready or impossible.';

comment on column ticket.type is 'The type of the ticket: repair or prepare.';

comment on column ticket.service is 'The work to do.';

comment on column ticket.item is 'The item that was dropped off.';

comment on column ticket.description is 'The note for the workshop.';

comment on column ticket.items is 'Several items of one ticket: id, label, service, price_minor, done.';

comment on column ticket.price_minor is 'The price in the currency''s smallest unit, as all amounts are.';

comment on column ticket.deposit_minor is 'The amount that was paid in advance, at most the price.';

comment on column ticket.before_minor is 'The price before the last accepted quote.';

comment on column ticket.quote is 'The last new price: status, price_minor, note, proposed_at, answered_at.';

comment on column ticket.promised_at is 'The instant for which the ticket is promised.';

comment on column ticket.delay is 'The last delay: previous_promised_at, reason, announced_at.';

comment on column ticket.part is 'The part that is waited for: label, status, ordered_at, expected_at, received_at.';

comment on column ticket.client_id is 'The id of the client who is linked to the ticket.';

comment on column ticket.client_phone is 'The phone number that was typed at the counter, in E.164. Personal data.';

comment on column ticket.tracking_code is 'Eight random characters by which a client finds the ticket.';

comment on column ticket.photo_url is 'The address of a picture.';

comment on column ticket.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on column ticket.updated_at is 'The instant of the last change. It does not decrease along change_seq.';

comment on column ticket.ready_at is 'The instant at which the ticket became ready; null unless it is ready, or was when it was collected.';

comment on column ticket.collected_at is 'The instant at which the ticket was collected; null unless it is collected.';

comment on column ticket.abandoned_at is 'The instant at which the ticket was abandoned; null unless it is abandoned.';

comment on column ticket.abandon_reason is 'The reason why the ticket was abandoned: uncollected or no_news.';

comment on column ticket.notified_at is 'The instant at which the client was last notified.';

comment on column ticket.created_via is 'The way in which the ticket was created: app or api.';

comment on column ticket.external_ref is 'The caller''s own reference.';

comment on column ticket.change_seq is 'The place of its last change in the shop''s sync; unique within a shop.';

comment on column ticket.shop_changed_at is 'The instant of the shop''s last change. 60 days later a ticket in the workshop is closed.';

comment on column ticket.stamps_earned is 'True once the ticket has earned stamps, which it does once.';

comment on column ticket.closure_due_at is 'The instant at which the ticket is closed automatically; null if it is not.';

comment on column ticket.moves_per_day is 'The number of changes of state in the shop''s present day, for the limit of the same name; null if there was none.';

comment on column ticket.notifications_per_day is 'The number of notifications of the client in the shop''s present day, for the limit of the same name; null if there was none.';

comment on column ticket.notified_channel is 'The channel by which the client was last notified: app, sms, whatsapp or call; null if it is unknown.';

comment on column ticket.history is 'The changes of the ticket with their authors, oldest first: at (milliseconds), type (the event that the change raised), changed (the fields of ticket.updated), by (caller, client or service), caller_id. Null for a ticket that an older release or an import wrote and nothing changed since.';

comment on table webhook is 'The webhooks of shops, at most one each.';

comment on column webhook.shop_id is 'The shop to which the row belongs.';

comment on column webhook.url is 'The address to which the shop''s events are sent.';

comment on column webhook.secret is 'The key that signs deliveries. Secret.';

comment on column webhook.previous_secret is 'The previous key, which also signs deliveries until previous_until. Secret.';

comment on column webhook.previous_until is 'The instant at which the previous key ends, 24 hours after a rotation.';

comment on column webhook.off_reason is 'The reason why the webhook is off; null while it is on.';

comment on column webhook.failures_in_row is 'The number of failed attempts since the last success, over all deliveries.';

comment on column webhook.first_failure_at is 'The instant of the first of these failed attempts.';

comment on column webhook.failure_steps_notified is 'The number of steps towards the switch-off of which the owner was notified.';

comment on column webhook.generation is 'The generation of the webhook, raised when it is turned on again. Deliveries of older generations are then due anew.';

comment on column webhook.enabled_at is 'The instant at which the webhook was last turned on.';
