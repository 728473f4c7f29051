import type { SqlClient } from "@effect/sql/SqlClient"
import { Effect } from "effect"

/*
 * A misspelt schema looks like a database that was never migrated, and migrating it would begin there without data. So a message about a
 * schema without tables names the other schemas of the database that have some.
 */

/** The name of the database, and the schemas in it, other than $1, that have tables of the workshop. */
export const TABLES_ELSEWHERE = `select /* workshop find tables */ current_database() as database,
  array(select n.nspname::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relname = 'shop_head' and c.relkind = 'r' and n.nspname <> $1 order by 1 limit 5) as others`

/** A row of {@link TABLES_ELSEWHERE}. */
export interface TablesFound {
  readonly database: string
  readonly others: ReadonlyArray<string>
}

/** Schemas in which a store found no tables at its start, with those that had some. */
const missing = new Map<string, ReadonlyArray<string>>()

/** Remembers which other schemas have tables, because a read of this one has just failed. If this fails too, nothing is known. */
export const noteTablesElsewhere = (sql: SqlClient, schema: string): Effect.Effect<void> =>
  Effect.matchEffect(sql.unsafe<TablesFound>(TABLES_ELSEWHERE, [schema]), {
    onFailure: () => Effect.void,
    onSuccess: ([row]) => Effect.sync(() => void missing.set(schema, row?.others ?? []))
  })

/** The error of a schema without tables of the workshop, where other schemas have some. Postgres names the schema in any language. */
export const tablesElsewhere = (message: string): string | undefined => {
  for (const [schema, others] of missing)
    if (others.length > 0 && message.includes(`${schema}.`))
      return `The database has no tables of the workshop in the schema ${schema}, but in ${others.join(", ")}`
  return undefined
}
