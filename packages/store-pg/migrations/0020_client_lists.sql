-- no transaction
-- A client's lists hold the latest rows of each shop. With the shop in front of the instant, the rows of one shop are found without
-- reading those of another; with the status as well, the open offers of a shop that the client blocks are passed over.
drop index concurrently if exists offer_of_phone;
create index concurrently offer_of_phone on offer (phone, shop_id, status, created_at, place);
drop index concurrently if exists notification_to_client;
create index concurrently notification_to_client on notification (client_id, shop_id, created_at, place);

drop index concurrently if exists offer_to_phone;
drop index concurrently if exists notification_of_client;
