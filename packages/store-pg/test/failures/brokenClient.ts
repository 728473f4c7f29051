import pg from "pg"

/** Ends the server's side of a client's connection, as a restart of Postgres does, and waits until the client knows. */
export const brokenClient = async (url: string, client: pg.PoolClient) => {
  const { rows } = await client.query("select pg_backend_pid() as pid")
  // Not `error`: a listener would keep an unhandled one from ending the process.
  const known = new Promise((resolve) => client.once("end", resolve))
  const other = new pg.Client({ connectionString: url })
  await other.connect()
  await other.query("select pg_terminate_backend($1)", [rows[0].pid])
  await other.end()
  await known
}
