-- no transaction
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
