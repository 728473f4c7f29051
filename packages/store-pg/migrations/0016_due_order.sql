-- no transaction
-- What is due at one instant is read in the order of its ids, so the indexes have that order too.
drop index concurrently if exists ticket_closing;
create index concurrently ticket_closing on ticket (closure_due_at, id) where closure_due_at is not null;
drop index concurrently if exists ticket_closures;
drop index concurrently if exists message_waiting;
create index concurrently message_waiting on message (due_at, id);
drop index concurrently if exists message_due;
