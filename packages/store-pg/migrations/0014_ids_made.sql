-- How many identifiers a shop made at its last instant, so that those of one millisecond rise over several nodes. It may be
-- null, which counts as 0: a node of the release before writes the rows of new shops without it.
alter table shop_head add column ids_made bigint default 0;
comment on column shop_head.ids_made is 'How many identifiers the shop''s commands made at last_instant; the next ones go on from there.';
