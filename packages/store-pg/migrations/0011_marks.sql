-- What holds of the whole database. 'sandbox': a sandbox made these data, so none of them are in earnest.
create table mark (name text primary key);
comment on table mark is 'What holds of the whole database. "sandbox": a sandbox made these data, so none of them are in earnest.';
comment on column mark.name is 'What holds.';
