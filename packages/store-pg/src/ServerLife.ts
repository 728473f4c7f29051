import type { Statement } from "./Statement.js"

/**
 * A mark that is set once and is gone after a crash of the server, since its table is unlogged. A crash may give the
 * number of a transaction that it lost to a later one, so `pg_xact_status` can be believed only where both were asked
 * in one life of the server.
 */
export const markLife: Statement = {
  name: "mark life",
  text: "insert into server_life (id) values (gen_random_uuid()) on conflict do nothing",
  values: []
}

/** The mark, as part of a statement. */
export const LIFE = "(select id::text from server_life)"
