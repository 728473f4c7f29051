// Written by `npm run codegen` from packages/store-pg/migrations and roles.sql; change those instead.

/** The texts of the migrations, by the names of their files. */
export const migrations: Readonly<Record<string, string>> = {
  "0001_first.sql": `-- The first schema. A column has the name of its field in the specification, in JSON and in TypeScript, and rows are read
-- and written as JSON, so no mapping stands between. What belongs to a shop leads its keys with shop_id: a distributed
-- Postgres can then keep each shop on one of its machines (docs/scaling.md).

-- Milliseconds since 1970-01-01T00:00:00Z, as everywhere in the program: nothing is rounded, no time zone is involved.
create domain instant as bigint;

-- An instant as people read it: select at(created_at) from ticket.
create function at(moment instant) returns timestamptz
  language sql immutable parallel safe
  return to_timestamp(moment / 1000.0);

-- How often a limit was used in its window, and when that window ends.
create type limit_window as (used integer, resets_at instant);

-- Directory: small tables, copied to every machine of a distributed Postgres.

create table shop (
  id uuid primary key,
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
  created_at instant not null
);

create table client_account (
  id uuid primary key,
  given_name text not null,
  family_name text not null,
  phone text not null unique,
  hide_name boolean not null,
  created_at instant not null
);

create table api_key (
  id uuid primary key,
  -- The order in which rows of one instant were written.
  place bigint generated always as identity,
  shop_id uuid not null,
  name text not null,
  scopes text[] not null,
  hash text not null unique,
  last_four text not null,
  created_at instant not null,
  revoked_at instant
);
create index api_key_of_shop on api_key (shop_id, created_at, place);

-- Shop data.

-- The one row under whose lock the commands of a shop run one after another. Half of each page stays free, so that an
-- update finds room beside the old row and touches no index.
create table shop_head (
  shop_id uuid primary key,
  next_number integer not null,
  change_seq bigint not null,
  event_seq bigint not null,
  last_instant instant not null,
  tickets_per_hour limit_window not null,
  tickets_per_day limit_window not null
) with (fillfactor = 50);

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
  -- When the ticket closes by itself, as the transition table tells; null where it does not.
  closure_due_at instant,
  primary key (shop_id, id),
  constraint ticket_tracking_code unique (shop_id, tracking_code)
) with (fillfactor = 85);
create index ticket_newest on ticket (shop_id, created_at desc, id desc);
create index ticket_in_state on ticket (shop_id, state, created_at desc, id desc);
create index ticket_with_number on ticket (shop_id, number, created_at desc, id desc);
create index ticket_of_client on ticket (shop_id, client_id, created_at desc, id desc) where client_id is not null;
create index ticket_for_phone on ticket (shop_id, client_phone, created_at desc, id desc) where client_phone is not null;
create index ticket_with_ref on ticket (shop_id, external_ref, created_at desc, id desc) where external_ref is not null;
create index ticket_changes on ticket (shop_id, change_seq);
create index ticket_changes_since on ticket (shop_id, updated_at, change_seq);
create index ticket_closures on ticket (closure_due_at) where closure_due_at is not null;
create index ticket_by_id on ticket (id);

create table client_link (
  shop_id uuid not null,
  client_id uuid not null,
  known_at instant,
  blocked_at instant,
  primary key (shop_id, client_id)
);

create table offer (
  shop_id uuid not null,
  id uuid not null,
  place bigint generated always as identity,
  ticket_id uuid not null,
  phone text not null,
  status text not null,
  created_at instant not null,
  answered_at instant,
  primary key (shop_id, id)
);
create index offer_to_phone on offer (phone, created_at, place);
create index offer_by_id on offer (id);

create table loyalty_card (
  shop_id uuid not null,
  client_id uuid not null,
  balance bigint not null,
  lifetime bigint not null,
  rewards_redeemed bigint not null,
  updated_at instant,
  primary key (shop_id, client_id)
);

-- Append-only: the card is always its sum.
create table loyalty_ledger (
  shop_id uuid not null,
  id uuid not null,
  client_id uuid not null,
  kind text not null,
  stamps integer not null,
  ticket_id uuid,
  caller_id text,
  created_at instant not null,
  primary key (shop_id, id)
);
create index loyalty_ledger_of_client on loyalty_ledger (shop_id, client_id, id);

create table stamps_used (
  shop_id uuid not null,
  caller_id text not null,
  client_id uuid not null,
  used integer not null,
  resets_at instant not null,
  primary key (shop_id, caller_id, client_id)
);
create index stamps_used_until on stamps_used (resets_at);

-- The first answer to each idempotency key, as text so that a replay is what it was.
create table remembered (
  shop_id uuid not null,
  caller_id text not null,
  operation text not null,
  key text not null,
  fingerprint text not null,
  answer text not null,
  expires_at instant not null,
  primary key (shop_id, caller_id, operation, key)
);
create index remembered_until on remembered (expires_at);

-- Events, in the order of each shop. \`body\` is the very text that is signed and sent.
create table event (
  shop_id uuid not null,
  id uuid not null,
  type text not null,
  seq bigint not null,
  ticket_id uuid,
  created_at instant not null,
  body text not null,
  primary key (shop_id, id, created_at)
) partition by range (created_at);
create index event_order on event (shop_id, seq);
-- Months have partitions of their own, made ahead by retention; here is what has none.
create table event_rest partition of event default;
create index event_rest_age on event_rest using brin (created_at) with (autosummarize = on);

-- Every attempt to deliver, for good. \`created_at\` is the instant of its event, so that both age together.
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
  primary key (shop_id, event_id, n, started_at)
) partition by range (started_at);
create table attempt_rest partition of attempt default;
create index attempt_rest_age on attempt_rest using brin (started_at) with (autosummarize = on);

create table webhook (
  shop_id uuid primary key,
  url text not null,
  secret text not null,
  previous_secret text,
  previous_until instant,
  off_reason text,
  failures_in_row integer not null,
  first_failure_at instant,
  steps_told integer not null,
  generation integer not null,
  released_at instant not null
);

-- Events that still have to arrive. Rows come and go, and are leased while they are on their way.
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
  -- On the database's own clock: until then the delivery is somebody's to make. Null while it waits.
  lease_until instant,
  primary key (shop_id, event_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index delivery_due on delivery (shop_id, is_replay, generation, due_at, seq) where lease_until is null;
-- A webhook turned on again makes what is older than its generation due at once, in the order of the events.
create index delivery_released on delivery (shop_id, is_replay, generation, seq) where lease_until is null;
create index delivery_leased on delivery (shop_id, lease_until) where lease_until is not null;
create index delivery_leases on delivery (lease_until) where lease_until is not null;

-- One row a shop with a webhook: whose turn it is to have deliveries claimed.
create table delivery_turn (
  shop_id uuid primary key,
  -- Before this instant nothing of the shop can be claimed; it may be too early, and never is too late.
  look_at instant not null,
  -- Shops are served in this order, and go to its end with each claim.
  turn bigint not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index delivery_turn_due on delivery_turn (look_at, shop_id);
create sequence delivery_turns;

create table replay (
  shop_id uuid not null,
  id uuid not null,
  filter json not null,
  after_seq bigint not null,
  until_seq bigint not null,
  is_done boolean not null,
  created_at instant not null,
  primary key (shop_id, id)
);
create index replay_open on replay (created_at, id) where not is_done;

create table notification (
  shop_id uuid not null,
  id uuid not null,
  place bigint generated always as identity,
  client_id uuid not null,
  type text not null,
  ticket json not null,
  ticket_id uuid not null,
  created_at instant not null,
  primary key (shop_id, id)
);
create index notification_of_client on notification (client_id, created_at, place);

create table notice (
  shop_id uuid not null,
  id uuid not null,
  place bigint generated always as identity,
  kind text not null,
  created_at instant not null,
  url text not null,
  off_reason text,
  failures_in_row integer not null,
  first_failure_at instant,
  primary key (shop_id, id)
);

-- Notifications and notices that still have to be told.
create table message (
  shop_id uuid not null,
  id uuid not null,
  receiver text not null,
  attempts_made integer not null,
  due_at instant not null,
  primary key (shop_id, id)
);
create index message_due on message (due_at);

-- Uses of the limits that belong to no shop's head. Unlogged: a crash opens the windows anew, at most a minute early.
create unlogged table rate_limit (
  policy text not null,
  subject text not null,
  used integer not null,
  resets_at instant not null,
  primary key (policy, subject)
) with (fillfactor = 50);
create index rate_limit_until on rate_limit (resets_at);

-- One row while the server lives: unlogged, so a crash takes it away. See ServerLife.ts.
create unlogged table server_life (
  is_one boolean primary key default true check (is_one),
  id uuid not null
);
`,
  "0002_turns.sql": `-- Ready shops have look_at 0, so one index gives them in the order of their turns: the shop that was served longest ago first.
drop index delivery_turn_due;
create index delivery_turn_due on delivery_turn (look_at, turn);
`,
  "0003_seen_clients.sql": `-- Whom a shop sees: a client who is known to it and does not block it. A client who blocks the shop has no entry here, like
-- one it never met, so a look-up finds nothing in the same number of steps for both.
create unique index client_link_seen on client_link
  (shop_id, (case when known_at is not null and blocked_at is null then client_id end));
`,
  "0004_keys.sql": `-- Keys may expire, and show when they were last used.
alter table api_key add expires_at instant, add last_used_at instant;
`,
  "0005_shop_words.sql": `-- The words that a shop may use although the default list forbids them, and the languages of that list. Shops that were
-- opened before keep the English and French words; the defaults let programs of the version before open shops still.
alter table shop
  add column allowed_words text[] not null default '{}',
  add column languages text[] not null default '{en,fr}';
`,
  "0006_partitions.sql": `-- Partitions can be made and removed by a role that does not own the tables: this function runs with the rights of its owner, and
-- does nothing else. \`step\` names one act, so that the caller decides which of them share a transaction.
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
`,
  "0007_audit.sql": `-- What owners and operators did: rows are only ever added.
create table audit_entry (
  shop_id uuid not null,
  id uuid not null,
  place bigint generated always as identity,
  created_at instant not null,
  actor text not null,
  act text not null,
  details json not null,
  primary key (shop_id, id)
);
create index audit_entry_latest on audit_entry (place);
create index audit_entry_of_shop on audit_entry (shop_id, place);
create index audit_entry_by_id on audit_entry (id);
`,
  "0008_constraints.sql": `-- no transaction
-- A second wall: what the decisions never write, the database refuses. Each constraint is added without looking at the rows there
-- are, which needs a lock for a moment, and validated while others write. Each statement can run again.

alter table shop drop constraint if exists shop_currency_code, drop constraint if exists shop_decimals_range;
alter table shop
  add constraint shop_currency_code check (currency ~ '^[A-Z]{3}$') not valid,
  add constraint shop_decimals_range check (decimals between 0 and 6) not valid;
alter table shop validate constraint shop_currency_code;
alter table shop validate constraint shop_decimals_range;

alter table shop_head drop constraint if exists shop_head_next_number_range, drop constraint if exists shop_head_counters_not_negative;
alter table shop_head
  add constraint shop_head_next_number_range check (next_number between 1 and 9999) not valid,
  add constraint shop_head_counters_not_negative check (change_seq >= 0 and event_seq >= 0) not valid;
alter table shop_head validate constraint shop_head_next_number_range;
alter table shop_head validate constraint shop_head_counters_not_negative;

alter table api_key drop constraint if exists api_key_hash_form, drop constraint if exists api_key_last_four_form;
alter table api_key
  add constraint api_key_hash_form check (hash ~ '^[0-9a-f]{64}$') not valid,
  add constraint api_key_last_four_form check (last_four ~ '^.{4}$') not valid;
alter table api_key validate constraint api_key_hash_form;
alter table api_key validate constraint api_key_last_four_form;

alter table client_account drop constraint if exists client_account_phone_form;
alter table client_account
  add constraint client_account_phone_form check (phone ~ '^[+][0-9]{4,15}$') not valid;
alter table client_account validate constraint client_account_phone_form;

alter table ticket drop constraint if exists ticket_number_range, drop constraint if exists ticket_state_known, drop constraint if exists ticket_outcome_known, drop constraint if exists ticket_type_known, drop constraint if exists ticket_created_via_known, drop constraint if exists ticket_abandon_reason_known, drop constraint if exists ticket_abandoned_whole, drop constraint if exists ticket_collected_whole, drop constraint if exists ticket_amounts_not_negative, drop constraint if exists ticket_deposit_within_price, drop constraint if exists ticket_never_before_created;
alter table ticket
  add constraint ticket_number_range check (number between 1 and 9999) not valid,
  add constraint ticket_state_known check (state in ('workshop', 'ready', 'impossible', 'collected', 'abandoned')) not valid,
  add constraint ticket_outcome_known check (outcome in ('ready', 'impossible')) not valid,
  add constraint ticket_type_known check (type in ('repair', 'prepare')) not valid,
  add constraint ticket_created_via_known check (created_via in ('app', 'api')) not valid,
  add constraint ticket_abandon_reason_known check (abandon_reason in ('uncollected', 'no_news')) not valid,
  add constraint ticket_abandoned_whole check (state <> 'abandoned' or (abandoned_at is not null and abandon_reason is not null)) not valid,
  add constraint ticket_collected_whole check (state <> 'collected' or (collected_at is not null and outcome is not null)) not valid,
  add constraint ticket_amounts_not_negative check (price_minor >= 0 and deposit_minor >= 0 and before_minor >= 0) not valid,
  add constraint ticket_deposit_within_price check (deposit_minor <= price_minor) not valid,
  add constraint ticket_never_before_created check (updated_at >= created_at) not valid;
alter table ticket validate constraint ticket_number_range;
alter table ticket validate constraint ticket_state_known;
alter table ticket validate constraint ticket_outcome_known;
alter table ticket validate constraint ticket_type_known;
alter table ticket validate constraint ticket_created_via_known;
alter table ticket validate constraint ticket_abandon_reason_known;
alter table ticket validate constraint ticket_abandoned_whole;
alter table ticket validate constraint ticket_collected_whole;
alter table ticket validate constraint ticket_amounts_not_negative;
alter table ticket validate constraint ticket_deposit_within_price;
alter table ticket validate constraint ticket_never_before_created;

alter table offer drop constraint if exists offer_status_known, drop constraint if exists offer_answered_whole;
alter table offer
  add constraint offer_status_known check (status in ('open', 'accepted', 'blocked')) not valid,
  add constraint offer_answered_whole check ((status = 'open') = (answered_at is null)) not valid;
alter table offer validate constraint offer_status_known;
alter table offer validate constraint offer_answered_whole;

alter table loyalty_card drop constraint if exists loyalty_card_balance_range, drop constraint if exists loyalty_card_rewards_not_negative;
alter table loyalty_card
  add constraint loyalty_card_balance_range check (balance between 0 and lifetime) not valid,
  add constraint loyalty_card_rewards_not_negative check (rewards_redeemed >= 0) not valid;
alter table loyalty_card validate constraint loyalty_card_balance_range;
alter table loyalty_card validate constraint loyalty_card_rewards_not_negative;

alter table loyalty_ledger drop constraint if exists loyalty_ledger_kind_known, drop constraint if exists loyalty_ledger_ticket_named;
alter table loyalty_ledger
  add constraint loyalty_ledger_kind_known check (kind in ('stamps', 'ticket', 'redeem')) not valid,
  add constraint loyalty_ledger_ticket_named check ((kind = 'ticket') = (ticket_id is not null)) not valid;
alter table loyalty_ledger validate constraint loyalty_ledger_kind_known;
alter table loyalty_ledger validate constraint loyalty_ledger_ticket_named;

alter table stamps_used drop constraint if exists stamps_used_used_not_negative;
alter table stamps_used
  add constraint stamps_used_used_not_negative check (used >= 0) not valid;
alter table stamps_used validate constraint stamps_used_used_not_negative;

alter table webhook drop constraint if exists webhook_failures_not_negative, drop constraint if exists webhook_generation_positive, drop constraint if exists webhook_rotation_whole;
alter table webhook
  add constraint webhook_failures_not_negative check (failures_in_row >= 0) not valid,
  add constraint webhook_generation_positive check (generation >= 1) not valid,
  add constraint webhook_rotation_whole check ((previous_secret is null) = (previous_until is null)) not valid;
alter table webhook validate constraint webhook_failures_not_negative;
alter table webhook validate constraint webhook_generation_positive;
alter table webhook validate constraint webhook_rotation_whole;

alter table delivery drop constraint if exists delivery_attempts_counted, drop constraint if exists delivery_token_not_negative;
alter table delivery
  add constraint delivery_attempts_counted check (attempts_in_round between 0 and attempts_made) not valid,
  add constraint delivery_token_not_negative check (token >= 0) not valid;
alter table delivery validate constraint delivery_attempts_counted;
alter table delivery validate constraint delivery_token_not_negative;

alter table attempt drop constraint if exists attempt_n_positive, drop constraint if exists attempt_status_range;
alter table attempt
  add constraint attempt_n_positive check (n >= 1) not valid,
  add constraint attempt_status_range check (status between 100 and 999) not valid;
alter table attempt validate constraint attempt_n_positive;
alter table attempt validate constraint attempt_status_range;

alter table event drop constraint if exists event_seq_positive;
alter table event
  add constraint event_seq_positive check (seq >= 1) not valid;
alter table event validate constraint event_seq_positive;

alter table message drop constraint if exists message_receiver_known, drop constraint if exists message_attempts_not_negative;
alter table message
  add constraint message_receiver_known check (receiver in ('client', 'owner')) not valid,
  add constraint message_attempts_not_negative check (attempts_made >= 0) not valid;
alter table message validate constraint message_receiver_known;
alter table message validate constraint message_attempts_not_negative;

alter table replay drop constraint if exists replay_range_in_order;
alter table replay
  add constraint replay_range_in_order check (after_seq <= until_seq) not valid;
alter table replay validate constraint replay_range_in_order;

-- The place of a change in its shop's sync: a lock that was lost would show here at once.
drop index concurrently if exists ticket_change;
create unique index concurrently ticket_change on ticket (shop_id, change_seq);
drop index concurrently if exists ticket_changes;
-- A ticket earns stamps once.
drop index concurrently if exists loyalty_ledger_earned;
create unique index concurrently loyalty_ledger_earned on loyalty_ledger (shop_id, ticket_id) where kind = 'ticket';
-- A ticket is offered to one phone at a time.
drop index concurrently if exists offer_open;
create unique index concurrently offer_open on offer (shop_id, ticket_id) where status = 'open';
`,
  "0009_comments.sql": `-- What each table and column holds, for whoever looks with psql or a data catalogue.

comment on table shop is 'A shop''s settings. Directory table: read by every node, changed by its owner and its operator.';
comment on column shop.id is 'UUID version 7, made by the program.';
comment on column shop.name is 'As the owner wrote it.';
comment on column shop.currency is 'ISO 4217 code of all amounts of the shop.';
comment on column shop.decimals is 'How many decimals the currency has: amounts are integers in its smallest unit.';
comment on column shop.time_zone is 'IANA name; days of limits and stamps are this zone''s calendar days.';
comment on column shop.tracking_base_url is 'What tracking_url of a ticket begins with; null if the shop has no such page.';
comment on column shop.approved is 'False: requests get SHOP_NOT_APPROVED.';
comment on column shop.active is 'False: requests get ACCOUNT_DEACTIVATED.';
comment on column shop.api_enabled is 'False: requests get API_DISABLED.';
comment on column shop.program is 'The loyalty programme: active, name, stamps_required, stamps_per_ticket, reward_label.';
comment on column shop.forbidden_words is 'Words refused in the shop''s texts besides the default list.';
comment on column shop.allowed_words is 'Words of the default list that this shop may use.';
comment on column shop.languages is 'Languages whose default lists of words are refused in the shop''s texts.';
comment on column shop.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on table shop_head is 'One narrow row a shop: commands lock it, so the commands of a shop run one after another.';
comment on column shop_head.shop_id is 'The shop to which the row belongs.';
comment on column shop_head.next_number is 'The number of the next ticket, 1 to 9999, then 1 again.';
comment on column shop_head.change_seq is 'The place that the next change of a ticket takes in the shop''s sync.';
comment on column shop_head.event_seq is 'The place that the next event takes.';
comment on column shop_head.last_instant is 'The instant of the latest command; created_at and updated_at never go back behind it.';
comment on column shop_head.tickets_per_hour is 'How many tickets were created in the present window, and when it ends.';
comment on column shop_head.tickets_per_day is 'The same for the shop''s calendar day.';

comment on table client_account is 'A client''s account, known by its phone number. Directory table.';
comment on column client_account.id is 'UUID version 7, made by the program.';
comment on column client_account.given_name is 'Personal data.';
comment on column client_account.family_name is 'Personal data.';
comment on column client_account.phone is 'E.164. Personal data; one account a number.';
comment on column client_account.hide_name is 'True: shops see the given name and the initial of the family name.';
comment on column client_account.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on table api_key is 'An API key of a shop. The key''s text is not stored.';
comment on column api_key.id is 'UUID version 7, made by the program.';
comment on column api_key.place is 'The order in which rows of one instant were written.';
comment on column api_key.shop_id is 'The shop to which the row belongs.';
comment on column api_key.name is 'What its owner calls it.';
comment on column api_key.scopes is 'What it may do.';
comment on column api_key.hash is 'SHA-256 of the key, in hex: requests are looked up by it.';
comment on column api_key.last_four is 'The last four characters, so that owners recognize it.';
comment on column api_key.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';
comment on column api_key.revoked_at is 'Since when it is refused; null while it works.';
comment on column api_key.expires_at is 'From when on it is refused; null if it does not expire.';
comment on column api_key.last_used_at is 'About when it was last used: written at most once a minute.';

comment on table ticket is 'Tickets as they are now. Rows are never deleted.';
comment on column ticket.shop_id is 'The shop to which the row belongs.';
comment on column ticket.id is 'UUID version 7, made by the program.';
comment on column ticket.number is '1 to 9999, then 1 again: several tickets may have one number.';
comment on column ticket.state is 'workshop, ready, impossible, collected or abandoned.';
comment on column ticket.outcome is 'Of a collected ticket: ready or impossible.';
comment on column ticket.type is 'repair or prepare.';
comment on column ticket.service is 'What is to be done.';
comment on column ticket.item is 'What was dropped off.';
comment on column ticket.description is 'The note for the workshop.';
comment on column ticket.items is 'Several items of one ticket: id, label, service, price_minor, done.';
comment on column ticket.price_minor is 'In the currency''s smallest unit, as are all amounts.';
comment on column ticket.deposit_minor is 'Paid in advance; at most the price.';
comment on column ticket.before_minor is 'The price before the last accepted quote.';
comment on column ticket.quote is 'The last new price: status, price_minor, note, proposed_at, answered_at.';
comment on column ticket.promised_at is 'When the client was told to expect it.';
comment on column ticket.delay is 'The last delay: previous_promised_at, reason, announced_at.';
comment on column ticket.part is 'The part that is waited for: label, status, ordered_at, expected_at, received_at.';
comment on column ticket.client_id is 'The client who is linked to the ticket.';
comment on column ticket.client_phone is 'The number typed at the counter, E.164. Personal data.';
comment on column ticket.tracking_code is 'Eight random characters by which a client finds the ticket.';
comment on column ticket.photo_url is 'The address of a picture.';
comment on column ticket.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';
comment on column ticket.updated_at is 'Never goes back along change_seq.';
comment on column ticket.ready_at is 'Null unless it is, or was when collected, ready.';
comment on column ticket.collected_at is 'Null unless it is collected.';
comment on column ticket.abandoned_at is 'Null unless it is abandoned.';
comment on column ticket.abandon_reason is 'uncollected or no_news.';
comment on column ticket.notified_at is 'When the client was last notified.';
comment on column ticket.created_via is 'app or api.';
comment on column ticket.external_ref is 'The caller''s own reference.';
comment on column ticket.change_seq is 'The place of its last change in the shop''s sync; unique within a shop.';
comment on column ticket.shop_changed_at is 'The shop''s last change: 60 days later a ticket in the workshop is closed.';
comment on column ticket.stamps_earned is 'True once the ticket has earned stamps, which it does once.';
comment on column ticket.closure_due_at is 'When it closes by itself; null where it does not.';

comment on table client_link is 'How a client and a shop stand to each other.';
comment on column client_link.shop_id is 'The shop to which the row belongs.';
comment on column client_link.client_id is 'The client''s account.';
comment on column client_link.known_at is 'Since when the shop sees the client.';
comment on column client_link.blocked_at is 'Since when the client blocks the shop, which then sees no client.';

comment on table offer is 'Tickets offered to a phone number, whoever holds it.';
comment on column offer.shop_id is 'The shop to which the row belongs.';
comment on column offer.id is 'Random: it grants the right to answer.';
comment on column offer.place is 'The order in which rows of one instant were written.';
comment on column offer.ticket_id is 'What is offered.';
comment on column offer.phone is 'E.164. Personal data.';
comment on column offer.status is 'open, accepted or blocked.';
comment on column offer.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';
comment on column offer.answered_at is 'Null while it is open.';

comment on table loyalty_card is 'A client''s card at a shop: the sum of its lines in loyalty_ledger.';
comment on column loyalty_card.shop_id is 'The shop to which the row belongs.';
comment on column loyalty_card.client_id is 'The client''s account.';
comment on column loyalty_card.balance is 'Stamps not yet spent.';
comment on column loyalty_card.lifetime is 'Stamps ever earned; never falls.';
comment on column loyalty_card.rewards_redeemed is 'How many rewards were used.';
comment on column loyalty_card.updated_at is 'Null for a card that was never used.';

comment on table loyalty_ledger is 'Append-only: every earning and every spending of stamps.';
comment on column loyalty_ledger.shop_id is 'The shop to which the row belongs.';
comment on column loyalty_ledger.id is 'UUID version 7, made by the program.';
comment on column loyalty_ledger.client_id is 'The client''s account.';
comment on column loyalty_ledger.kind is 'stamps (given by hand), ticket (earned by one) or redeem (spent).';
comment on column loyalty_ledger.stamps is 'How many; negative where they are spent.';
comment on column loyalty_ledger.ticket_id is 'Of kind ticket: which earned them, once.';
comment on column loyalty_ledger.caller_id is 'Who gave or spent them; null for a ticket.';
comment on column loyalty_ledger.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on table stamps_used is 'How many stamps a caller gave a client on the shop''s present day.';
comment on column stamps_used.shop_id is 'The shop to which the row belongs.';
comment on column stamps_used.caller_id is 'The API key, or what an embedder uses for one.';
comment on column stamps_used.client_id is 'The client''s account.';
comment on column stamps_used.used is 'Since the window began.';
comment on column stamps_used.resets_at is 'When the day ends.';

comment on table remembered is 'The first answer to each idempotency key, for 30 days.';
comment on column remembered.shop_id is 'The shop to which the row belongs.';
comment on column remembered.caller_id is 'The API key, or what an embedder uses for one.';
comment on column remembered.operation is 'Which operation the key was used for.';
comment on column remembered.key is 'The Idempotency-Key.';
comment on column remembered.fingerprint is 'What was asked for, so that another request under the same key is refused.';
comment on column remembered.answer is 'The answer as JSON text, as it was.';
comment on column remembered.expires_at is 'Removed from then on.';

comment on table event is 'Events in the order of each shop, partitioned by month. Append-only; removed after a while.';
comment on column event.shop_id is 'The shop to which the row belongs.';
comment on column event.id is 'UUID version 7; receivers drop duplicates by it.';
comment on column event.type is 'Such as ticket.ready.';
comment on column event.seq is 'The event''s place in the shop''s order, without gaps.';
comment on column event.ticket_id is 'Null for a ping.';
comment on column event.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';
comment on column event.body is 'The text that is signed and sent, byte for byte.';

comment on table attempt is 'Every attempt to deliver an event, partitioned by month of started_at. Append-only; removed after a while.';
comment on column attempt.shop_id is 'The shop to which the row belongs.';
comment on column attempt.event_id is 'What was sent.';
comment on column attempt.n is 'The number of the attempt, from 1.';
comment on column attempt.started_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';
comment on column attempt.status is 'The receiver''s HTTP status; null if there was none.';
comment on column attempt.error is 'Why there was no status, by name.';
comment on column attempt.detail is 'The same in words.';
comment on column attempt.address is 'The IP address that was dialled.';
comment on column attempt.timings is 'How long each part took, in milliseconds.';
comment on column attempt.head is 'The beginning of what the receiver answered.';

comment on table webhook is 'The one address to which a shop''s events are sent.';
comment on column webhook.shop_id is 'The shop to which the row belongs.';
comment on column webhook.url is 'Where to.';
comment on column webhook.secret is 'Signs deliveries. Secret.';
comment on column webhook.previous_secret is 'Signs besides the new one until previous_until. Secret.';
comment on column webhook.previous_until is '24 hours after a rotation.';
comment on column webhook.off_reason is 'Null while it is on.';
comment on column webhook.failures_in_row is 'Failed attempts since the last success, over all deliveries.';
comment on column webhook.first_failure_at is 'When that row began.';
comment on column webhook.steps_told is 'Of how many steps on the way to the switch-off the owner was notified.';
comment on column webhook.generation is 'Raised when it is turned on again: deliveries of an older generation are due anew.';
comment on column webhook.released_at is 'When it was last turned on.';

comment on table delivery is 'Events that still have to arrive. Rows come and go; a lease marks those that are on their way.';
comment on column delivery.shop_id is 'The shop to which the row belongs.';
comment on column delivery.event_id is 'What is to be sent.';
comment on column delivery.type is 'The event''s type.';
comment on column delivery.ticket_id is 'Deliveries of one ticket go out one at a time.';
comment on column delivery.seq is 'The event''s place in the shop''s order.';
comment on column delivery.attempts_made is 'How often it was ever tried.';
comment on column delivery.attempts_in_round is 'How often since it was last made due anew: the retry schedule counts these.';
comment on column delivery.due_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';
comment on column delivery.generation is 'The webhook''s when the row was written.';
comment on column delivery.is_replay is 'True: it waits until no live one is due.';
comment on column delivery.token is 'Raised by every claim: an acknowledgement under an older one changes nothing.';
comment on column delivery.lease_until is 'On the database''s clock: until then a process has it in hand. Null while it waits.';

comment on table delivery_turn is 'One row a shop with a webhook: in which order shops are served.';
comment on column delivery_turn.shop_id is 'The shop to which the row belongs.';
comment on column delivery_turn.look_at is 'Before this instant nothing of the shop can be claimed; 0 where something can now. It may be too early, never too late.';
comment on column delivery_turn.turn is 'Shops are served in this order, and go to its end with each claim.';

comment on table replay is 'Requests to send events again, worked off a thousand events at a time.';
comment on column replay.shop_id is 'The shop to which the row belongs.';
comment on column replay.id is 'UUID version 7, made by the program.';
comment on column replay.filter is 'Which events.';
comment on column replay.after_seq is 'How far it has come.';
comment on column replay.until_seq is 'The last event it takes up.';
comment on column replay.is_done is 'True once it has taken up all.';
comment on column replay.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on table notification is 'What clients were, or are to be, notified of.';
comment on column notification.shop_id is 'The shop to which the row belongs.';
comment on column notification.id is 'UUID version 7, made by the program.';
comment on column notification.place is 'The order in which rows of one instant were written.';
comment on column notification.client_id is 'Whom.';
comment on column notification.type is 'ticket.ready or ticket.impossible.';
comment on column notification.ticket is 'The ticket as it was then. Personal data.';
comment on column notification.ticket_id is 'Which ticket.';
comment on column notification.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on table notice is 'What owners were, or are to be, notified of.';
comment on column notice.shop_id is 'The shop to which the row belongs.';
comment on column notice.id is 'UUID version 7, made by the program.';
comment on column notice.place is 'The order in which rows of one instant were written.';
comment on column notice.kind is 'Such as webhook_off.';
comment on column notice.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';
comment on column notice.url is 'The webhook''s address then.';
comment on column notice.off_reason is 'Why it was turned off.';
comment on column notice.failures_in_row is 'Failed attempts until then.';
comment on column notice.first_failure_at is 'When they began.';

comment on table message is 'Notifications and notices that still have to be sent.';
comment on column message.shop_id is 'The shop to which the row belongs.';
comment on column message.id is 'Of the notification or notice.';
comment on column message.receiver is 'client or owner.';
comment on column message.attempts_made is 'How often it was tried.';
comment on column message.due_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';

comment on table rate_limit is 'Uses of the limits that belong to no shop''s head. Unlogged: a crash opens the windows anew.';
comment on column rate_limit.policy is 'The limit''s name.';
comment on column rate_limit.subject is 'The key, shop or address that is counted.';
comment on column rate_limit.used is 'Since the window began.';
comment on column rate_limit.resets_at is 'When the window ends.';

comment on table audit_entry is 'Append-only: what owners and operators did.';
comment on column audit_entry.shop_id is 'The shop to which the row belongs.';
comment on column audit_entry.id is 'UUID version 7, made by the program.';
comment on column audit_entry.place is 'The order in which rows were written.';
comment on column audit_entry.created_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people.';
comment on column audit_entry.actor is 'Who did it.';
comment on column audit_entry.act is 'What was done.';
comment on column audit_entry.details is 'With what; never secrets.';

comment on table schema_migration is 'Which migrations were applied.';
comment on column schema_migration.version is 'The migration''s number.';
comment on column schema_migration.name is 'The file without its ending.';
comment on column schema_migration.checksum is 'SHA-256 of its text.';
comment on column schema_migration.applied_at is 'When.';
comment on column schema_migration.readable_from is 'The oldest program, by the number of its last migration, that can use the schema since then.';

comment on table server_life is 'One row while the server lives: unlogged, so a crash takes it away.';
comment on column server_life.is_one is 'Always true.';
comment on column server_life.id is 'Another one after every crash.';
`,
  "0010_erasure.sql": `-- Whom to look for while a client is erased; the row goes when that is done.
create table client_erasure (
  client_id uuid primary key,
  given_name text not null,
  family_name text not null,
  phones text[] not null
);
comment on table client_erasure is 'Whom to look for while a client is erased. The row goes when that is done; one that stays was interrupted.';
comment on column client_erasure.client_id is 'The account, which is gone from client_account already.';
comment on column client_erasure.given_name is 'The account''s given name.';
comment on column client_erasure.family_name is 'The account''s family name.';
comment on column client_erasure.phones is 'The account''s number and further ones that were the client''s, in E.164.';
`,
  "0011_marks.sql": `-- What holds of the whole database. 'sandbox': a sandbox made these data, so none of them are in earnest.
create table mark (name text primary key);
comment on table mark is 'What holds of the whole database. "sandbox": a sandbox made these data, so none of them are in earnest.';
comment on column mark.name is 'What holds.';
`,
  "0012_receipts.sql": `-- What became of a commit whose answer was lost. Each batch writes its number here in its own transaction: another connection
-- that finds the number knows that the batch was committed. Logged, unlike what it takes the place of (server_life, which
-- nodes of the release before still write): it is right after a crash and on a promoted standby.
create table if not exists batch_receipt (
  connection uuid primary key,
  batch bigint not null,
  saved_at instant not null
) with (fillfactor = 50);

comment on table batch_receipt is 'The last batch of commands that each connection committed, by which the outcome of a lost commit is found.';
comment on column batch_receipt.connection is 'The connection, by an id made for it.';
comment on column batch_receipt.batch is 'The number of its last committed batch; an odd one says that the batch before it never was, and never will be.';
comment on column batch_receipt.saved_at is 'Milliseconds since 1970-01-01T00:00:00Z; at(…) shows it to people. A day later the row is removed.';
comment on table server_life is 'Written by nodes of an older release alone; a later release drops it.';
`,
  "0013_webhook_off.sql": `-- Webhooks that are off are few, and are counted whenever somebody looks at the metrics.
create index webhook_off on webhook (shop_id) where off_reason is not null;
`,
  "0014_ids_made.sql": `-- How many identifiers a shop made at its last instant, so that those of one millisecond rise over several nodes. It may be
-- null, which counts as 0: a node of the release before writes the rows of new shops without it.
alter table shop_head add column ids_made bigint default 0;
comment on column shop_head.ids_made is 'How many identifiers the shop''s commands made at last_instant; the next ones go on from there.';
`,
  "0015_ticket_windows.sql": `-- How often a ticket was moved, and its client notified, in the shop's present day; null where it never was.
alter table ticket add column moves_per_day limit_window;
alter table ticket add column notifications_per_day limit_window;
comment on column ticket.moves_per_day is 'Changes of state in the shop''s present day, for the limit of the same name; null where there was none.';
comment on column ticket.notifications_per_day is 'Times the client was notified in the shop''s present day, for the limit of the same name; null where there was none.';
`,
  "0016_due_order.sql": `-- no transaction
-- What is due at one instant is read in the order of its ids, so the indexes have that order too.
drop index concurrently if exists ticket_closing;
create index concurrently ticket_closing on ticket (closure_due_at, id) where closure_due_at is not null;
drop index concurrently if exists ticket_closures;
drop index concurrently if exists message_waiting;
create index concurrently message_waiting on message (due_at, id);
drop index concurrently if exists message_due;
`,
  "0017_ticket_indexes.sql": `-- no transaction
-- The identifiers of a shop rise in the order of creation, so a list by creation is a list by id: the key bears the order of all
-- tickets, and an index of a filter needs no instant beside the id. They ascend, though lists descend, because Postgres fills the
-- pages of an index better where new entries come last.
drop index concurrently if exists ticket_by_state;
create index concurrently ticket_by_state on ticket (shop_id, state, id);
drop index concurrently if exists ticket_by_number;
create index concurrently ticket_by_number on ticket (shop_id, number, id);
drop index concurrently if exists ticket_by_client;
create index concurrently ticket_by_client on ticket (shop_id, client_id, id) where client_id is not null;
drop index concurrently if exists ticket_by_phone;
create index concurrently ticket_by_phone on ticket (shop_id, client_phone, id) where client_phone is not null;
drop index concurrently if exists ticket_by_ref;
create index concurrently ticket_by_ref on ticket (shop_id, external_ref, id) where external_ref is not null;

drop index concurrently if exists ticket_newest;
drop index concurrently if exists ticket_in_state;
drop index concurrently if exists ticket_with_number;
drop index concurrently if exists ticket_of_client;
drop index concurrently if exists ticket_for_phone;
drop index concurrently if exists ticket_with_ref;
-- Where a sync begins is found among the changes, along which updated_at never falls.
drop index concurrently if exists ticket_changes_since;

-- Each update of these rows changes an indexed column, so room beside the old row saves nothing.
alter table ticket reset (fillfactor);
alter table delivery reset (fillfactor);

-- A fifth of a hundred million rows would be a late and long vacuum, and indexes would grow meanwhile.
alter table ticket set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table offer set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table remembered set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table notification set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table message set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
`,
  "0018_append_only.sql": `-- Events and attempts are changed in two ways only: an erasure takes a person out of their text, and retention removes them with
-- their time. These functions do so with the rights of the tables' owner, so that the service's role needs neither update nor delete.
create function rewrite_events(rows json) returns void
  language plpgsql security definer as $body$
begin
  if not exists (select from client_erasure) then
    raise exception 'events are rewritten while a client is erased, and no erasure is under way' using errcode = '55000';
  end if;
  update event e set body = q.body from json_populate_recordset(null::event, rows) q
    where e.shop_id = q.shop_id and e.id = q.id and e.created_at = q.created_at;
end $body$;

create function rewrite_attempts(rows json) returns void
  language plpgsql security definer as $body$
begin
  if not exists (select from client_erasure) then
    raise exception 'attempts are rewritten while a client is erased, and no erasure is under way' using errcode = '55000';
  end if;
  update attempt a set head = q.head from json_populate_recordset(null::attempt, rows) q
    where a.shop_id = q.shop_id and a.event_id = q.event_id and a.n = q.n and a.started_at = q.started_at;
end $body$;

-- As before, with the step 'remove': at most a thousand rows of the default partition that are older than range_until.
-- A delivery sends its event's text, and a replay goes on with the numbers of an event's attempts, so these stay.
create or replace function keep_partition(step text, parent text, month text, range_from bigint, range_until bigint) returns integer
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
    when 'remove' then
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
  foreach called in array array['rewrite_events(json)', 'rewrite_attempts(json)', 'keep_partition(text, text, text, bigint, bigint)']::regprocedure[] loop
    execute format('alter function %s set search_path = %I, pg_temp', called, current_schema());
    execute format('revoke execute on function %s from public', called);
  end loop;
end $body$;
`,
  "0019_due_from.sql": `-- Where claims begin to look: while somebody holds a snapshot, what was delivered since stays in the indexes of deliveries, in front of
-- what waits. Nodes of the release before do not know the column; what they write is due after it, but for a clock that is a minute behind.
alter table delivery_turn add column due_from instant not null default 0;
comment on column delivery_turn.due_from is 'Nothing of the shop that waits, of its present generation, is due before this instant.';
`,
  "0020_client_lists.sql": `-- no transaction
-- A client's lists hold the latest rows of each shop. With the shop in front of the instant, the rows of one shop are found without
-- reading those of another; with the status as well, the open offers of a shop that the client blocks are passed over.
drop index concurrently if exists offer_of_phone;
create index concurrently offer_of_phone on offer (phone, shop_id, status, created_at, place);
drop index concurrently if exists notification_to_client;
create index concurrently notification_to_client on notification (client_id, shop_id, created_at, place);

drop index concurrently if exists offer_to_phone;
drop index concurrently if exists notification_of_client;
`,
  "0021_delivery_rounds.sql": `-- A claim moves the shops that it served behind the others. In delivery_turn each new version of a row is compared with all others of its
-- shop, and while somebody holds a snapshot none of them is removed. In this table a new version has a key of its own.
create table delivery_round (
  shop_id uuid not null,
  turn bigint not null,
  primary key (shop_id, turn)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
-- Says what only a claim asks for, so that a plan made while the table was small does not take it to find one shop.
create index delivery_round_order on delivery_round (turn) where turn > 0;
comment on table delivery_round is 'Shops that were served and still have something due, one row each. Their delivery_turn says look_at 1.';
comment on column delivery_round.shop_id is 'The shop to which the row belongs.';
comment on column delivery_round.turn is 'Shops are served in this order, together with those of which delivery_turn says look_at 0.';
comment on column delivery_turn.look_at is 'Before this instant nothing of the shop can be claimed; 0 where something can now, 1 where something can and the shop is in delivery_round. It may be too early, never too late.';
`,
  "0022_ended_leases.sql": `-- no transaction
-- A claim asks for the leases of one shop. While few deliveries were on their way when the planner last counted, it took the index of the
-- leases of all shops for as good. This one says so that it serves only those that have ended.
drop index concurrently if exists delivery_lease_ends;
create index concurrently delivery_lease_ends on delivery (lease_until) where lease_until >= 0;
drop index concurrently if exists delivery_leases;
`,
  "0023_notified_channel.sql": `-- How the client was last notified, for the client's page. Null for what an older release notes.
alter table ticket add column notified_channel text;
alter table ticket add constraint ticket_notified_channel_known check (notified_channel in ('app', 'sms', 'whatsapp', 'call')) not valid;
comment on column ticket.notified_channel is 'How the client was last notified: app, sms, whatsapp or call; null if that is not known.';
`,
  "0024_tracking_code.sql": `-- no transaction
-- The client's page finds a ticket by its code alone, without knowing the shop. With the code first, the index that keeps codes
-- unique within a shop finds it too, so that no create has one index more to write.
drop index concurrently if exists ticket_tracked;
create unique index concurrently ticket_tracked on ticket (tracking_code, shop_id);
alter table ticket drop constraint if exists ticket_tracking_code;
drop index concurrently if exists ticket_tracking_code;
-- The store knows a code that is taken by this name.
alter index ticket_tracked rename to ticket_tracking_code;
`,
  "0025_channel_checked.sql": `-- no transaction
-- Validated while others write, as the constraint was added without looking at the rows there are.
alter table ticket validate constraint ticket_notified_channel_known;
`,
  "0026_clear_sandbox.sql": `-- Empties the tables of a sandbox, for a tester who begins anew. With the rights of the tables' owner, because the service's role removes
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
`,
  "0027_walk_ins.sql": `-- A notification of a ticket that has a telephone number and no client.
alter table notification alter column client_id drop not null;

comment on column notification.client_id is 'Whom; null for a client without an account, who is told by the ticket''s number.';
`,
  "0028_cells.sql": `-- Several cells share the work of one service: each has a schema with all tables, and some of the shops. The first of them, the home
-- cell, keeps the directory of these tables. They are empty where there is one cell.
create table cell (
  name text primary key,
  takes_shops boolean not null,
  shops bigint not null
);
comment on table cell is 'The cells of the service, in the schema of the home cell; empty where it is the only one.';
comment on column cell.name is 'What --cells calls the cell; home for the home cell.';
comment on column cell.takes_shops is 'Whether new shops are placed there.';
comment on column cell.shops is 'How many shops were placed there.';

create table shop_cell (
  shop_id uuid primary key,
  cell text not null
);
comment on table shop_cell is 'In which cell each shop is, for good. A shop without a row is in the home cell.';
comment on column shop_cell.shop_id is 'The shop.';
comment on column shop_cell.cell is 'The name of its cell.';

create table key_cell (
  hash text primary key,
  cell text not null
);
comment on table key_cell is 'In which cell each API key is. A key without a row is in the home cell.';
comment on column key_cell.hash is 'The hash of the key.';
comment on column key_cell.cell is 'The name of its cell.';

create table account_copy (
  client_id uuid not null,
  cell text not null,
  n bigint generated by default as identity,
  primary key (client_id, cell)
);
create index account_copy_order on account_copy (n);
comment on table account_copy is 'Which cells lack the last change of a client''s account: written with the change, removed once the cell has it.';
comment on column account_copy.client_id is 'The account, which is gone if it was erased.';
comment on column account_copy.cell is 'The cell that lacks it.';
comment on column account_copy.n is 'The number of the change; a later one has a greater number.';
`,
  "0029_cell_identity.sql": `-- A cell is known by a random id as well as by its name, because an address that is wrong may lead to an empty database, or to another
-- cell of the same name. The cell keeps its id in the table mark.
alter table cell add column id text;
comment on column cell.id is 'The id that the cell has in its own table mark; null until workshop migrate gives it one, and for the home cell.';
`,
  "0030_ticket_history.sql": `-- The authors of a ticket's changes. In the row of the ticket, which each change writes anyway, and not in the events, which are removed after a while
-- and would need an index by ticket.
alter table ticket add column history json;
comment on column ticket.history is 'The changes of the ticket with their authors, oldest first: at (milliseconds), type (the event that the change raised), changed (the fields of ticket.updated), by (caller, client or service), caller_id. Null for a ticket that an older release or an import wrote and nothing changed since.';
`,
  "0031_messages_by_receiver.sql": `-- no transaction
-- A process without a notifier for clients looks only for the notices to owners, past all notifications that wait for another process.
drop index concurrently if exists message_due;
create index concurrently message_due on message (receiver, due_at, id);
drop index concurrently if exists message_waiting;
`,
  "0032_comments.sql": `-- Comments that are complete sentences or noun phrases, for readers who see one column alone.
comment on table account_copy is 'The cells that lack the last change of a client''s account. A row is written with the change, and removed once the cell has it.';
comment on column account_copy.client_id is 'The id of the account, which is gone if it was erased.';
comment on column account_copy.cell is 'The name of the cell that lacks the change.';

comment on column api_key.name is 'The name that the owner gave the key.';
comment on column api_key.scopes is 'The scopes of the key.';
comment on column api_key.revoked_at is 'The instant from which the key is refused because it was revoked; null if it was not.';
comment on column api_key.expires_at is 'The instant from which the key is refused because it expired; null if it does not expire.';
comment on column api_key.last_used_at is 'The approximate instant of the last use, written at most once a minute.';

comment on column attempt.event_id is 'The id of the event that was sent.';
comment on column attempt.error is 'The name of the reason why there was no status.';
comment on column attempt.detail is 'The reason why there was no status, in words.';
comment on column attempt.timings is 'The duration of each part of the attempt, in milliseconds.';
comment on column attempt.head is 'The beginning of the receiver''s response.';

comment on table audit_entry is 'The audit log: the actions of owners and operators. Append-only.';
comment on column audit_entry.actor is 'The person or program that acted.';
comment on column audit_entry.act is 'The name of the action.';
comment on column audit_entry.details is 'The parameters of the action, without secrets.';

comment on table cell is 'The cells of the service, in the schema of the home cell. The table is empty if the home cell is the only one.';
comment on column cell.name is 'The name of the cell in --cells; home for the home cell.';
comment on column cell.takes_shops is 'True if new shops are placed in the cell.';
comment on column cell.shops is 'The number of shops that were placed in the cell.';

comment on column client_account.given_name is 'The given name of the client. Personal data.';
comment on column client_account.family_name is 'The family name of the client. Personal data.';
comment on column client_account.phone is 'The phone number of the client, in E.164. Each number has at most one account. Personal data.';
comment on column client_account.hide_name is 'True if shops see only the given name and the initial of the family name.';

comment on table client_erasure is 'The data by which a client is found while they are erased. The row is removed when that is done; one that stays was interrupted.';
comment on column client_erasure.client_id is 'The id of the account, which is already removed from client_account.';
comment on column client_erasure.phones is 'The phone number of the account and further numbers that belonged to the client, in E.164.';

comment on table client_link is 'The relations between clients and shops.';
comment on column client_link.client_id is 'The id of the client''s account.';
comment on column client_link.known_at is 'The instant from which the shop sees the client.';
comment on column client_link.blocked_at is 'The instant from which the client blocks the shop, which then does not see the client.';

comment on table delivery is 'The deliveries of events that have not arrived yet. A row in flight has a lease.';
comment on column delivery.event_id is 'The id of the event to send.';
comment on column delivery.type is 'The type of the event.';
comment on column delivery.ticket_id is 'The id of the event''s ticket, of which one delivery is sent at a time; null for a ping.';
comment on column delivery.attempts_made is 'The number of attempts.';
comment on column delivery.attempts_in_round is 'The number of attempts since the delivery was last made due anew. The retry schedule counts these.';
comment on column delivery.generation is 'The generation of the webhook when the row was written.';
comment on column delivery.is_replay is 'True if the delivery belongs to a replay. It waits until no live one is due.';
comment on column delivery.token is 'The fencing token, which each claim raises. A result with an older token changes nothing.';
comment on column delivery.lease_until is 'The instant, on the database''s clock, until which a process has leased the delivery; null while it waits.';

comment on table delivery_turn is 'The order in which shops are served, with one row for each shop with a webhook.';
comment on column delivery_turn.turn is 'The place of the shop in the order in which shops are served. Each claim moves it to the end.';
comment on column delivery_round.turn is 'The place of the shop in the order in which shops are served, together with those of which delivery_turn says look_at 0.';

comment on column event.type is 'The type of the event, such as ticket.ready.';
comment on column event.ticket_id is 'The id of the event''s ticket; null for a ping.';
comment on column event.body is 'The body that is signed and sent, byte for byte.';

comment on table key_cell is 'The cell of each API key. A key without a row is in the home cell.';
comment on column key_cell.hash is 'The hash of the key, as in api_key.';
comment on column key_cell.cell is 'The name of the cell that has the key.';

comment on column loyalty_card.balance is 'The number of stamps that were not redeemed yet.';
comment on column loyalty_card.lifetime is 'The number of stamps that were ever earned.';
comment on column loyalty_card.rewards_redeemed is 'The number of rewards that were redeemed.';
comment on column loyalty_card.updated_at is 'The instant of the last change; null for a card that was never used.';

comment on table loyalty_ledger is 'The stamps that were earned and redeemed. Append-only.';
comment on column loyalty_ledger.kind is 'The kind of the entry: stamps (given by hand), ticket (earned by one) or redeem.';
comment on column loyalty_ledger.stamps is 'The number of stamps, negative if they were redeemed.';
comment on column loyalty_ledger.ticket_id is 'The id of the ticket that earned the stamps; null for other kinds.';
comment on column loyalty_ledger.caller_id is 'The id of the caller that gave or redeemed the stamps; null for a ticket.';

comment on table mark is 'Facts about the whole database. "sandbox": a sandbox created the data, so they are not real.';
comment on column mark.name is 'The name of the fact.';

comment on column message.id is 'The id of the notification or notice.';
comment on column message.receiver is 'The kind of the receiver: client or owner.';
comment on column message.attempts_made is 'The number of attempts.';

comment on table notice is 'The notices to owners, sent or not.';
comment on column notice.kind is 'The kind of the notice, such as webhook_off.';
comment on column notice.url is 'The address of the webhook at that instant.';
comment on column notice.off_reason is 'The reason why the webhook was turned off.';
comment on column notice.failures_in_row is 'The number of failed attempts in a row until then.';
comment on column notice.first_failure_at is 'The instant of the first of these failed attempts.';

comment on table notification is 'The notifications to clients, sent or not.';
comment on column notification.client_id is 'The id of the client; null for a client without an account, who is notified by the ticket''s phone number.';
comment on column notification.type is 'The type of the notification: ticket.ready or ticket.impossible.';
comment on column notification.ticket is 'The ticket at that instant. Personal data.';
comment on column notification.ticket_id is 'The id of the ticket.';

comment on table offer is 'Tickets that were offered to a phone number, with or without an account.';
comment on column offer.id is 'The id of the offer. It is random because it grants the right to answer.';
comment on column offer.ticket_id is 'The id of the ticket that is offered.';
comment on column offer.phone is 'The phone number to which the ticket is offered, in E.164. Personal data.';
comment on column offer.status is 'The status of the offer: open, accepted or blocked.';
comment on column offer.answered_at is 'The instant of the answer; null while the offer is open.';

comment on column rate_limit.policy is 'The name of the limit.';
comment on column rate_limit.subject is 'The key, shop or address whose uses are counted.';
comment on column rate_limit.used is 'The number of uses since the window began.';
comment on column rate_limit.resets_at is 'The instant at which the window ends.';

comment on column remembered.caller_id is 'The id of the caller: an API key, or an id that an embedder uses for one.';
comment on column remembered.operation is 'The operation for which the key was used.';
comment on column remembered.key is 'The value of Idempotency-Key.';
comment on column remembered.fingerprint is 'The fingerprint of the request, by which another request with the same key is refused.';
comment on column remembered.answer is 'The first response, as JSON.';
comment on column remembered.expires_at is 'The instant from which the row is removed.';

comment on table replay is 'Requests to send events again, a thousand events at a time.';
comment on column replay.filter is 'The filter of the events.';
comment on column replay.after_seq is 'The place of the last event that was taken up.';
comment on column replay.until_seq is 'The place of the last event to take up.';
comment on column replay.is_done is 'True once all events are taken up.';

comment on column shop.name is 'The name of the shop, as its owner wrote it.';
comment on column shop.currency is 'The ISO 4217 code of the currency of all amounts of the shop.';
comment on column shop.decimals is 'The number of decimals of the currency. Amounts are integers in its smallest unit.';
comment on column shop.time_zone is 'The IANA name of the time zone, whose calendar days count for limits and stamps.';
comment on column shop.tracking_base_url is 'The beginning of the tracking_url of tickets; null if the shop has no tracking page.';
comment on column shop.approved is 'False if requests get SHOP_NOT_APPROVED.';
comment on column shop.active is 'False if requests get ACCOUNT_DEACTIVATED.';
comment on column shop.api_enabled is 'False if requests get API_DISABLED.';
comment on column shop.languages is 'The languages whose default lists of words are refused in the shop''s texts.';

comment on table shop_cell is 'The cell of each shop, which does not change. A shop without a row is in the home cell.';
comment on column shop_cell.shop_id is 'The id of the shop.';
comment on column shop_cell.cell is 'The name of the cell that has the shop.';

comment on table shop_head is 'One narrow row for each shop. Commands lock it, so the commands of a shop run one after another.';
comment on column shop_head.event_seq is 'The place that the next event takes in the shop''s order.';
comment on column shop_head.tickets_per_hour is 'The number of tickets that were created in the present window, and the end of the window.';
comment on column shop_head.tickets_per_day is 'The number of tickets that were created in the shop''s calendar day, and the end of the day.';
comment on column shop_head.ids_made is 'The number of ids that the shop''s commands made at last_instant. The next ids continue from there.';

comment on table stamps_used is 'The number of stamps that a caller gave a client on the shop''s present day.';
comment on column stamps_used.caller_id is 'The id of the caller: an API key, or an id that an embedder uses for one.';
comment on column stamps_used.used is 'The number of stamps since the day began.';
comment on column stamps_used.resets_at is 'The instant at which the day ends.';

comment on table ticket is 'The tickets in their present state. Rows are never deleted.';
comment on column ticket.number is 'The number of the ticket, 1 to 9999, then 1 again. Several tickets may have one number.';
comment on column ticket.state is 'The state of the ticket: workshop, ready, impossible, collected or abandoned.';
comment on column ticket.outcome is 'The outcome of a collected ticket: ready or impossible.';
comment on column ticket.type is 'The type of the ticket: repair or prepare.';
comment on column ticket.service is 'The work to do.';
comment on column ticket.item is 'The item that was dropped off.';
comment on column ticket.price_minor is 'The price in the currency''s smallest unit, as all amounts are.';
comment on column ticket.deposit_minor is 'The amount that was paid in advance, at most the price.';
comment on column ticket.promised_at is 'The instant for which the ticket is promised.';
comment on column ticket.client_id is 'The id of the client who is linked to the ticket.';
comment on column ticket.client_phone is 'The phone number that was typed at the counter, in E.164. Personal data.';
comment on column ticket.updated_at is 'The instant of the last change. It does not decrease along change_seq.';
comment on column ticket.ready_at is 'The instant at which the ticket became ready; null unless it is ready, or was when it was collected.';
comment on column ticket.collected_at is 'The instant at which the ticket was collected; null unless it is collected.';
comment on column ticket.abandoned_at is 'The instant at which the ticket was abandoned; null unless it is abandoned.';
comment on column ticket.abandon_reason is 'The reason why the ticket was abandoned: uncollected or no_news.';
comment on column ticket.notified_at is 'The instant at which the client was last notified.';
comment on column ticket.notified_channel is 'The channel by which the client was last notified: app, sms, whatsapp or call; null if it is unknown.';
comment on column ticket.created_via is 'The way in which the ticket was created: app or api.';
comment on column ticket.shop_changed_at is 'The instant of the shop''s last change. 60 days later a ticket in the workshop is closed.';
comment on column ticket.closure_due_at is 'The instant at which the ticket is closed automatically; null if it is not.';
comment on column ticket.moves_per_day is 'The number of changes of state in the shop''s present day, for the limit of the same name; null if there was none.';
comment on column ticket.notifications_per_day is 'The number of notifications of the client in the shop''s present day, for the limit of the same name; null if there was none.';

comment on table webhook is 'The webhooks of shops, at most one each.';
comment on column webhook.url is 'The address to which the shop''s events are sent.';
comment on column webhook.secret is 'The key that signs deliveries. Secret.';
comment on column webhook.previous_secret is 'The previous key, which also signs deliveries until previous_until. Secret.';
comment on column webhook.previous_until is 'The instant at which the previous key ends, 24 hours after a rotation.';
comment on column webhook.off_reason is 'The reason why the webhook is off; null while it is on.';
comment on column webhook.failures_in_row is 'The number of failed attempts since the last success, over all deliveries.';
comment on column webhook.first_failure_at is 'The instant of the first of these failed attempts.';
comment on column webhook.steps_told is 'The number of steps towards the switch-off of which the owner was notified.';
comment on column webhook.generation is 'The generation of the webhook, raised when it is turned on again. Deliveries of older generations are then due anew.';
comment on column webhook.released_at is 'The instant at which the webhook was last turned on.';

comment on table schema_migration is 'The migrations that were applied.';
comment on column schema_migration.version is 'The number of the migration.';
comment on column schema_migration.name is 'The name of the migration''s file, without its ending.';
comment on column schema_migration.checksum is 'The SHA-256 of the migration''s text.';
comment on column schema_migration.applied_at is 'The time at which the migration was applied.';
`,
  "0033_names.sql": `-- Renames tables and columns to the names that the JSON, the TypeScript and the documentation use, while nothing is released.
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
`
}

/** The text of `roles.sql`. */
export const roles = `-- Written by \`npm run codegen\` from packages/store-pg/src/migrate/Rights.ts; change that instead.
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
`
