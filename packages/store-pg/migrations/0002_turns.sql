-- Ready shops have look_at 0, so one index gives them in the order of their turns: the shop that was served longest ago first.
drop index delivery_turn_due;
create index delivery_turn_due on delivery_turn (look_at, turn);
