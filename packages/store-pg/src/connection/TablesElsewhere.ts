import type { SqlClient } from "@effect/sql/SqlClient"
import { Effect } from "effect"

/*
 * A misspelt schema looks like a database that was never migrated, and migrating it would start with empty tables.
 * Therefore a message about a schema without tables also names the schemas of the database that have the tables.
 */

/** Selects the name of the database, and its schemas, except $1, that have tables of the workshop. */
export const SELECT_OTHER_SCHEMAS = `select /* workshop find tables */ current_database() as database,
  array(select n.nspname::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relname = 'shop_head' and c.relkind = 'r' and n.nspname <> $1 order by 1 limit 5) as others`

/** A row of {@link SELECT_OTHER_SCHEMAS}. */
export interface FoundTables {
  readonly database: string
  readonly others: ReadonlyArray<string>
}

/** The schemas without tables that stores were started on, each with the schemas that have tables. */
const schemasByEmpty = new Map<string, ReadonlyArray<string>>()

/** Stores which other schemas have tables, after a read of this schema failed. Ignores its own failure. */
export const recordOtherSchemas = (sql: SqlClient, schema: string): Effect.Effect<void> =>
  Effect.matchEffect(sql.unsafe<FoundTables>(SELECT_OTHER_SCHEMAS, [schema]), {
    onFailure: () => Effect.void,
    onSuccess: ([row]) => Effect.sync(() => void schemasByEmpty.set(schema, row?.others ?? []))
  })

/**
 * The message for a schema without tables if other schemas have them. Finds the schema's name in Postgres's message, in
 * any language.
 */
export const otherSchemasMessage = (message: string): string | undefined => {
  for (const [schema, others] of schemasByEmpty)
    if (others.length > 0 && message.includes(`${schema}.`))
      return `The database has the workshop's tables in ${others.join(", ")}, but not in the schema ${schema}`
  return undefined
}
