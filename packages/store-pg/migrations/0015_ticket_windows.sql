-- How often a ticket was moved, and its client notified, in the shop's present day; null where it never was.
alter table ticket add column moves_per_day limit_window;
alter table ticket add column notifications_per_day limit_window;
comment on column ticket.moves_per_day is 'Changes of state in the shop''s present day, for the limit of the same name; null where there was none.';
comment on column ticket.notifications_per_day is 'Times the client was notified in the shop''s present day, for the limit of the same name; null where there was none.';
