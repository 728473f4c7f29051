-- no transaction
-- A process without a notifier for clients looks only for the notices to owners, past all notifications that wait for another process.
drop index concurrently if exists message_due;
create index concurrently message_due on message (receiver, due_at, id);
drop index concurrently if exists message_waiting;
