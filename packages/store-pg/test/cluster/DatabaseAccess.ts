import { Effect } from "effect"
import { openMigrationSession, type Session } from "../../src/migrate/Session.js"

const nameOf = (url: string): string => new URL(url).pathname.slice(1)

const END = "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()"

/**
 * Ends a database's connections and refuses new ones, as if its server were unavailable. `session` must be in another
 * database.
 */
export const refuseConnections = (session: Session, { url }: { readonly url: string }) =>
  Effect.zipRight(
    session.run(`alter database "${nameOf(url)}" allow_connections false`),
    session.run(END, [nameOf(url)])
  )

/** Accepts connections to the database again. */
export const acceptConnections = (session: Session, { url }: { readonly url: string }) =>
  session.run(`alter database "${nameOf(url)}" allow_connections true`)

/**
 * Swaps the names of two databases that refuse connections, so that the address of each leads to the other database.
 */
export const swapDatabases = (session: Session, one: { readonly url: string }, other: { readonly url: string }) => {
  const [a, b] = [nameOf(one.url), nameOf(other.url)]
  const renamed = (from: string, to: string) =>
    Effect.retry(Effect.zipRight(session.run(END, [from]), session.run(`alter database "${from}" rename to "${to}"`)), {
      times: 20
    })
  return Effect.all([renamed(a, `${a}_x`), renamed(b, a), renamed(`${a}_x`, b)], { discard: true })
}

/** Opens a session in the server's default database, so that a test can drop or rename its own database. */
export const serverSession = (url: string) => {
  const at = new URL(url)
  at.pathname = "/postgres"
  return openMigrationSession(at.href)
}
