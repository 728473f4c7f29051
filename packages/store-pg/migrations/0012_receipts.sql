-- What became of a commit whose answer was lost. Each batch writes its number here in its own transaction: another connection
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
