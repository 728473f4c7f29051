-- no transaction
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
