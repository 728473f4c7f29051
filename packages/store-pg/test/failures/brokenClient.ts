import pg from "pg"

/** Terminates a client's backend, as a restart of Postgres does, and waits until the client's connection has ended. */
export const brokenClient = async (url: string, client: pg.PoolClient) => {
  const { rows } = await client.query("select pg_backend_pid() as pid")
  // Listens for `end`, because a listener for `error` would hide an error that no other code handles.
  const known = new Promise((resolve) => client.once("end", resolve))
  const other = new pg.Client({ connectionString: url })
  await other.connect()
  await other.query("select pg_terminate_backend($1)", [rows[0].pid])
  await other.end()
  await known
}
