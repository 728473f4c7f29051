import { Effect } from "effect"
import { DatabaseFailed } from "./DatabaseFailed.js"

const SCHEME = /^postgres(ql)?:\/\//i

// A socket's folder stands in the query, and then there may be a user without a host.
const isRead = (url: string): boolean => SCHEME.test(url) && URL.canParse(url.replace("@/", "@localhost/"))

/**
 * A connection string that has the form of one. `pg` would take any text for the name of a host, and look it up. The
 * refusal repeats nothing of it, as it may bear a password.
 */
export const databaseUrl = (url: string): Effect.Effect<string, DatabaseFailed> =>
  isRead(url)
    ? Effect.succeed(url)
    : new DatabaseFailed({
        reason: "no_url",
        code: undefined,
        what: "The address of the database does not read like postgres://user:password@host:5432/name, where a password's # is %23 and its / is %2F"
      })
