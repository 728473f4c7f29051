-- A claim moves the shops that it served behind the others. In delivery_turn each new version of a row is compared with all others of its
-- shop, and while somebody holds a snapshot none of them is removed. In this table a new version has a key of its own.
create table delivery_round (
  shop_id uuid not null,
  turn bigint not null,
  primary key (shop_id, turn)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
-- Says what only a claim asks for, so that a plan made while the table was small does not take it to find one shop.
create index delivery_round_order on delivery_round (turn) where turn > 0;
comment on table delivery_round is 'Shops that were served and still have something due, one row each. Their delivery_turn says look_at 1.';
comment on column delivery_round.shop_id is 'The shop to which the row belongs.';
comment on column delivery_round.turn is 'Shops are served in this order, together with those of which delivery_turn says look_at 0.';
comment on column delivery_turn.look_at is 'Before this instant nothing of the shop can be claimed; 0 where something can now, 1 where something can and the shop is in delivery_round. It may be too early, never too late.';
