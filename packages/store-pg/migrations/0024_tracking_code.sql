-- no transaction
-- The client's page finds a ticket by its code alone, without knowing the shop. With the code first, the index that keeps codes
-- unique within a shop finds it too, so that no create has one index more to write.
drop index concurrently if exists ticket_tracked;
create unique index concurrently ticket_tracked on ticket (tracking_code, shop_id);
alter table ticket drop constraint if exists ticket_tracking_code;
drop index concurrently if exists ticket_tracking_code;
-- The store knows a code that is taken by this name.
alter index ticket_tracked rename to ticket_tracking_code;
