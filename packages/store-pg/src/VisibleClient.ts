/**
 * The link of a client whom a shop sees, as `l`, for `q (shop_id, id)`: written as in the index `client_link_seen`, which
 * holds nobody else. A look-up begins here and reads the rest only for whom it finds, so that unknown, unknown to this shop
 * and blocking cost the same, and the time of an answer does not tell who has an account (Specification, Endpoints; Clients and loyalty).
 */
export const VISIBLE_LINK = `client_link l on l.shop_id = q.shop_id
  and (case when l.known_at is not null and l.blocked_at is null then l.client_id end) = q.id`
