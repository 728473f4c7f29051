-- Whom a shop sees: a client who is known to it and does not block it. A client who blocks the shop has no entry here, like
-- one it never met, so a look-up finds nothing in the same number of steps for both.
create unique index client_link_seen on client_link
  (shop_id, (case when known_at is not null and blocked_at is null then client_id end));
