import { toggle, value } from "../terminal/Flags.js"
import { duration, optional, text } from "../terminal/Readers.js"

/** How long events are kept; `serve` has it too. */
export const keepEvents = value({
  name: "keep-events",
  placeholder: "duration",
  description: "How long events and their attempts are kept in Postgres, at least 7d; those still to be delivered stay.",
  read: duration,
  fallback: "90d"
})

/** The flags of `workshop dispatch` (contract §11). */
export const dispatchOptions = {
  databaseUrl: value({
    name: "database-url",
    placeholder: "url",
    description: "The Postgres database, such as postgres://user:password@host:5432/name.",
    read: optional(text),
    fallback: "",
    variable: "DATABASE_URL"
  }),
  noMigrate: toggle("no-migrate", "Refuse a database with an older schema, in place of bringing it up to date."),
  keepEvents
}
