-- Where claims begin to look: while somebody holds a snapshot, what was delivered since stays in the indexes of deliveries, in front of
-- what waits. Nodes of the release before do not know the column; what they write is due after it, but for a clock that is a minute behind.
alter table delivery_turn add column due_from instant not null default 0;
comment on column delivery_turn.due_from is 'Nothing of the shop that waits, of its present generation, is due before this instant.';
