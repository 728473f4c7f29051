-- The first schema. A column has the name of its field in the specification, in JSON and in TypeScript, and rows are read
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

-- Events, in the order of each shop. `body` is the very text that is signed and sent.
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

-- Every attempt to deliver, for good. `created_at` is the instant of its event, so that both age together.
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
