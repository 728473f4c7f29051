-- Written by `npm run codegen` from a database that packages/store-pg/migrations made; change those instead.

create domain instant as bigint;

create type limit_window as (
  used integer,
  resets_at instant
);

CREATE OR REPLACE FUNCTION public.at(moment instant)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN to_timestamp((((moment)::numeric / 1000.0))::double precision);

CREATE OR REPLACE FUNCTION public.keep_partition(step text, parent text, month text, range_from bigint, range_until bigint)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
end $function$;

create sequence delivery_turns as bigint start 1 increment 1;

create table api_key (
  id uuid not null,
  place bigint generated always as identity not null,
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
  place bigint generated always as identity not null,
  created_at instant not null,
  actor text not null,
  act text not null,
  details json not null,
  constraint audit_entry_pkey PRIMARY KEY (shop_id, id)
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

create table client_link (
  shop_id uuid not null,
  client_id uuid not null,
  known_at instant,
  blocked_at instant,
  constraint client_link_pkey PRIMARY KEY (shop_id, client_id)
);

create table delivery (
  shop_id uuid not null,
  event_id uuid not null,
  type text not null,
  ticket_id uuid,
  seq bigint not null,
  attempts_made integer not null,
  attempts_in_round integer not null,
  due_at instant not null,
  generation integer not null,
  is_replay boolean not null,
  token bigint not null,
  lease_until instant,
  constraint delivery_attempts_counted CHECK (((attempts_in_round >= 0) AND (attempts_in_round <= attempts_made))),
  constraint delivery_pkey PRIMARY KEY (shop_id, event_id),
  constraint delivery_token_not_negative CHECK ((token >= 0))
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000);

create table delivery_turn (
  shop_id uuid not null,
  look_at instant not null,
  turn bigint not null,
  constraint delivery_turn_pkey PRIMARY KEY (shop_id)
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

create table message (
  shop_id uuid not null,
  id uuid not null,
  receiver text not null,
  attempts_made integer not null,
  due_at instant not null,
  constraint message_attempts_not_negative CHECK ((attempts_made >= 0)),
  constraint message_pkey PRIMARY KEY (shop_id, id),
  constraint message_receiver_known CHECK ((receiver = ANY (ARRAY['client'::text, 'owner'::text])))
);

create table notice (
  shop_id uuid not null,
  id uuid not null,
  place bigint generated always as identity not null,
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
  place bigint generated always as identity not null,
  client_id uuid not null,
  type text not null,
  ticket json not null,
  ticket_id uuid not null,
  created_at instant not null,
  constraint notification_pkey PRIMARY KEY (shop_id, id)
);

create table offer (
  shop_id uuid not null,
  id uuid not null,
  place bigint generated always as identity not null,
  ticket_id uuid not null,
  phone text not null,
  status text not null,
  created_at instant not null,
  answered_at instant,
  constraint offer_answered_whole CHECK (((status = 'open'::text) = (answered_at IS NULL))),
  constraint offer_pkey PRIMARY KEY (shop_id, id),
  constraint offer_status_known CHECK ((status = ANY (ARRAY['open'::text, 'accepted'::text, 'blocked'::text])))
);

create unlogged table rate_limit (
  policy text not null,
  subject text not null,
  used integer not null,
  resets_at instant not null,
  constraint rate_limit_pkey PRIMARY KEY (policy, subject)
) with (fillfactor=50);

create table remembered (
  shop_id uuid not null,
  caller_id text not null,
  operation text not null,
  key text not null,
  fingerprint text not null,
  answer text not null,
  expires_at instant not null,
  constraint remembered_pkey PRIMARY KEY (shop_id, caller_id, operation, key)
);

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

create unlogged table server_life (
  is_one boolean default true not null,
  id uuid not null,
  constraint server_life_is_one_check CHECK (is_one),
  constraint server_life_pkey PRIMARY KEY (is_one)
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

create table shop_head (
  shop_id uuid not null,
  next_number integer not null,
  change_seq bigint not null,
  event_seq bigint not null,
  last_instant instant not null,
  tickets_per_hour limit_window not null,
  tickets_per_day limit_window not null,
  constraint shop_head_counters_not_negative CHECK (((change_seq >= 0) AND (event_seq >= 0))),
  constraint shop_head_next_number_range CHECK (((next_number >= 1) AND (next_number <= 9999))),
  constraint shop_head_pkey PRIMARY KEY (shop_id)
) with (fillfactor=50);

create table stamps_used (
  shop_id uuid not null,
  caller_id text not null,
  client_id uuid not null,
  used integer not null,
  resets_at instant not null,
  constraint stamps_used_pkey PRIMARY KEY (shop_id, caller_id, client_id),
  constraint stamps_used_used_not_negative CHECK ((used >= 0))
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
  constraint ticket_abandon_reason_known CHECK ((abandon_reason = ANY (ARRAY['uncollected'::text, 'no_news'::text]))),
  constraint ticket_abandoned_whole CHECK (((state <> 'abandoned'::text) OR ((abandoned_at IS NOT NULL) AND (abandon_reason IS NOT NULL)))),
  constraint ticket_amounts_not_negative CHECK (((price_minor >= 0) AND (deposit_minor >= 0) AND (before_minor >= 0))),
  constraint ticket_collected_whole CHECK (((state <> 'collected'::text) OR ((collected_at IS NOT NULL) AND (outcome IS NOT NULL)))),
  constraint ticket_created_via_known CHECK ((created_via = ANY (ARRAY['app'::text, 'api'::text]))),
  constraint ticket_deposit_within_price CHECK ((deposit_minor <= price_minor)),
  constraint ticket_never_before_created CHECK (((updated_at)::bigint >= (created_at)::bigint)),
  constraint ticket_number_range CHECK (((number >= 1) AND (number <= 9999))),
  constraint ticket_outcome_known CHECK ((outcome = ANY (ARRAY['ready'::text, 'impossible'::text]))),
  constraint ticket_pkey PRIMARY KEY (shop_id, id),
  constraint ticket_state_known CHECK ((state = ANY (ARRAY['workshop'::text, 'ready'::text, 'impossible'::text, 'collected'::text, 'abandoned'::text]))),
  constraint ticket_tracking_code UNIQUE (shop_id, tracking_code),
  constraint ticket_type_known CHECK ((type = ANY (ARRAY['repair'::text, 'prepare'::text])))
) with (fillfactor=85);

create table webhook (
  shop_id uuid not null,
  url text not null,
  secret text not null,
  previous_secret text,
  previous_until instant,
  off_reason text,
  failures_in_row integer not null,
  first_failure_at instant,
  steps_told integer not null,
  generation integer not null,
  released_at instant not null,
  constraint webhook_failures_not_negative CHECK ((failures_in_row >= 0)),
  constraint webhook_generation_positive CHECK ((generation >= 1)),
  constraint webhook_pkey PRIMARY KEY (shop_id),
  constraint webhook_rotation_whole CHECK (((previous_secret IS NULL) = (previous_until IS NULL)))
);

CREATE INDEX api_key_of_shop ON public.api_key USING btree (shop_id, created_at, place);

CREATE INDEX attempt_rest_age ON public.attempt_rest USING brin (started_at) WITH (autosummarize='on');

CREATE INDEX audit_entry_by_id ON public.audit_entry USING btree (id);

CREATE INDEX audit_entry_latest ON public.audit_entry USING btree (place);

CREATE INDEX audit_entry_of_shop ON public.audit_entry USING btree (shop_id, place);

CREATE UNIQUE INDEX client_link_seen ON public.client_link USING btree (shop_id, (
CASE
    WHEN ((known_at IS NOT NULL) AND (blocked_at IS NULL)) THEN client_id
    ELSE NULL::uuid
END));

CREATE INDEX delivery_due ON public.delivery USING btree (shop_id, is_replay, generation, due_at, seq) WHERE (lease_until IS NULL);

CREATE INDEX delivery_leased ON public.delivery USING btree (shop_id, lease_until) WHERE (lease_until IS NOT NULL);

CREATE INDEX delivery_leases ON public.delivery USING btree (lease_until) WHERE (lease_until IS NOT NULL);

CREATE INDEX delivery_released ON public.delivery USING btree (shop_id, is_replay, generation, seq) WHERE (lease_until IS NULL);

CREATE INDEX delivery_turn_due ON public.delivery_turn USING btree (look_at, turn);

CREATE INDEX event_order ON ONLY public.event USING btree (shop_id, seq);

CREATE INDEX event_rest_age ON public.event_rest USING brin (created_at) WITH (autosummarize='on');

CREATE UNIQUE INDEX loyalty_ledger_earned ON public.loyalty_ledger USING btree (shop_id, ticket_id) WHERE (kind = 'ticket'::text);

CREATE INDEX loyalty_ledger_of_client ON public.loyalty_ledger USING btree (shop_id, client_id, id);

CREATE INDEX message_due ON public.message USING btree (due_at);

CREATE INDEX notification_age ON public.notification USING brin (created_at) WITH (autosummarize='on');

CREATE INDEX notification_of_client ON public.notification USING btree (client_id, created_at, place);

CREATE INDEX offer_by_id ON public.offer USING btree (id);

CREATE UNIQUE INDEX offer_open ON public.offer USING btree (shop_id, ticket_id) WHERE (status = 'open'::text);

CREATE INDEX offer_to_phone ON public.offer USING btree (phone, created_at, place);

CREATE INDEX rate_limit_until ON public.rate_limit USING btree (resets_at);

CREATE INDEX remembered_until ON public.remembered USING btree (expires_at);

CREATE INDEX replay_done ON public.replay USING btree (created_at) WHERE is_done;

CREATE INDEX replay_open ON public.replay USING btree (created_at, id) WHERE (NOT is_done);

CREATE INDEX stamps_used_until ON public.stamps_used USING btree (resets_at);

CREATE INDEX ticket_by_id ON public.ticket USING btree (id);

CREATE UNIQUE INDEX ticket_change ON public.ticket USING btree (shop_id, change_seq);

CREATE INDEX ticket_changes_since ON public.ticket USING btree (shop_id, updated_at, change_seq);

CREATE INDEX ticket_closures ON public.ticket USING btree (closure_due_at) WHERE (closure_due_at IS NOT NULL);

CREATE INDEX ticket_for_phone ON public.ticket USING btree (shop_id, client_phone, created_at DESC, id DESC) WHERE (client_phone IS NOT NULL);

CREATE INDEX ticket_in_state ON public.ticket USING btree (shop_id, state, created_at DESC, id DESC);

CREATE INDEX ticket_newest ON public.ticket USING btree (shop_id, created_at DESC, id DESC);

CREATE INDEX ticket_of_client ON public.ticket USING btree (shop_id, client_id, created_at DESC, id DESC) WHERE (client_id IS NOT NULL);

CREATE INDEX ticket_with_number ON public.ticket USING btree (shop_id, number, created_at DESC, id DESC);

CREATE INDEX ticket_with_ref ON public.ticket USING btree (shop_id, external_ref, created_at DESC, id DESC) WHERE (external_ref IS NOT NULL);
