import { Effect } from "effect"
import { DatabaseFailed } from "./DatabaseFailed.js"

/** The default schema of the tables, which the statements in the sources name. */
export const DEFAULT_SCHEMA = "workshop"

/** The location of the tables. */
export interface Database {
  /** The database's URL, such as `postgres://user:password@host:5432/name`. */
  readonly url: string
  /** The schema of the tables; `workshop` by default. */
  readonly schema?: string | undefined
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/
const OF_POSTGRES = /^(pg_|information_schema$)/i

/** The name of the schema; fails if Postgres cannot have a schema of that name. */
export const checkedSchema = (schema: string = DEFAULT_SCHEMA): Effect.Effect<string, DatabaseFailed> =>
  NAME.test(schema) && !OF_POSTGRES.test(schema)
    ? Effect.succeed(schema)
    : new DatabaseFailed({
        reason: "bad_schema",
        code: undefined,
        what: `${JSON.stringify(schema.slice(0, 80))} is not a valid name for a schema. A name has 1 to 63 letters, digits and underscores, and does not begin with a digit or pg_`
      })

/** Quotes a checked schema name for SQL. */
export const quoteSchema = (schema: string): string => `"${schema}"`

const QUALIFIER = /\bworkshop\.(?=[a-z_"])/g

/** Replaces the schema of the tables, functions and sequences in a statement of the store. */
export const inSchema = (text: string, schema: string = DEFAULT_SCHEMA): string =>
  schema === DEFAULT_SCHEMA ? text : text.replace(QUALIFIER, `${quoteSchema(schema)}.`)

const toKey = (text: string): number => {
  let hash = 0
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) | 0
  return hash
}

/** The arguments of an advisory lock that is separate for each schema of a database. */
export const lockOf = (lock: number, schema: string = DEFAULT_SCHEMA): string => `${lock}, ${toKey(schema)}`
