-- no transaction
-- Validated while others write, as the constraint was added without looking at the rows there are.
alter table ticket validate constraint ticket_notified_channel_known;
