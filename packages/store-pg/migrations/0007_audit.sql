-- What owners and operators did: rows are only ever added.
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
