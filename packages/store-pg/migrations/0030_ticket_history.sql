-- The authors of a ticket's changes. In the row of the ticket, which each change writes anyway, and not in the events, which are removed after a while
-- and would need an index by ticket.
alter table ticket add column history json;
comment on column ticket.history is 'The changes of the ticket with their authors, oldest first: at (milliseconds), type (the event that the change raised), changed (the fields of ticket.updated), by (caller, client or service), caller_id. Null for a ticket that an older release or an import wrote and nothing changed since.';
