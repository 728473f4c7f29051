import { Data } from "effect"
import type { DatabaseFailed } from "../connection/DatabaseFailed.js"

/** The database cannot store every text, because it was created with an encoding other than UTF-8, which cannot be changed. */
export class EncodingRefused extends Data.TaggedError("EncodingRefused")<{ readonly encoding: string }> {
  /** The problem and its remedy, as text for the operator. */
  override get message() {
    return `The database has the encoding ${this.encoding}, which cannot store every character. Create a database with the encoding UTF8 (createdb --encoding=UTF8 --template=template0), and use that database.`
  }
}

/** A later version of the program changed the schema so that this version cannot run on it. Versions are the numbers of migrations. */
export class SchemaNewer extends Data.TaggedError("SchemaNewer")<{
  readonly database: number
  /** The oldest version of the program that can run on this schema. */
  readonly readable_from: number
  readonly program: number
}> {
  /** The problem and its remedy, as text for the operator. */
  override get message() {
    return `The database has version ${this.database} of the schema, which needs at least version ${this.readable_from} of the program, but this program has version ${this.program}. Update the program.`
  }
}

/** The concurrent build of an index was interrupted, so queries do not use the index. */
export class IndexInvalid extends Data.TaggedError("IndexInvalid")<{ readonly names: ReadonlyArray<string> }> {
  /** The problem and its remedy, as text for the operator. */
  override get message() {
    return `The creation of these indexes was interrupted: ${this.names.join(", ")}. For each index, run a statement such as "reindex index concurrently ${this.names[0]}". Then run workshop migrate again.`
  }
}

/** The database lacks migrations that the program needs. */
export class SchemaBehind extends Data.TaggedError("SchemaBehind")<{
  readonly database: number
  readonly program: number
  /** The schema of the store. */
  readonly schema: string
  /** If the schema has no tables, the schemas of the database that have them, because the name may be misspelt. */
  readonly others: ReadonlyArray<string>
}> {
  /** The problem and its remedy, as text for the operator. */
  override get message() {
    if (this.others.length > 0)
      return `The database has the workshop's tables in ${this.others.join(", ")}, but not in the schema ${this.schema}. Check the store's schema, or run workshop migrate to begin in this schema without data.`
    return `The schema ${this.schema} of the database has version ${this.database}, but this program needs version ${this.program}. Run workshop migrate.`
  }
}

/** The schema has no tables of the workshop, and the option `createSchema` is false. */
export class SchemaMissing extends Data.TaggedError("SchemaMissing")<{
  readonly database: string
  readonly schema: string
  /** The other schemas of the database that have tables of the workshop. */
  readonly others: ReadonlyArray<string>
}> {
  /** The reason in the form of `DatabaseFailed`, so that a program can look up advice for both. */
  readonly reason = "no_schema"

  /** The error, without the remedy. */
  get what() {
    const otherTables =
      this.others.length === 0 ? "and no other schema has them" : `which are in ${this.others.join(", ")}`
    return `The schema ${this.schema} of the database ${this.database} does not have the workshop's tables, ${otherTables}`
  }

  /** The problem and its remedy, as text for the operator. */
  override get message() {
    return `${this.what}. Check the store's schema and url, or omit createSchema: false to begin in this schema without data.`
  }
}

/** A migration was changed after it was applied to the database. */
export class MigrationChanged extends Data.TaggedError("MigrationChanged")<{ readonly name: string }> {
  /** The problem and its remedy, as text for the operator. */
  override get message() {
    return `The migration ${this.name} was changed after it was applied to the database. Use the release that migrated the database, or undo the change to the migration.`
  }
}

/** The database has a later migration without an earlier one. */
export class MigrationGap extends Data.TaggedError("MigrationGap")<{ readonly missing: number }> {
  /** The problem and its remedy, as text for the operator. */
  override get message() {
    return `The database has not applied migration ${this.missing}, but has applied later migrations. Restore the database from a backup, or ask who changed the table schema_migration.`
  }
}

/**
 * A migration failed. Earlier migrations stay applied. The failed migration was rolled back, unless it runs outside of
 * a transaction.
 */
export class MigrationFailed extends Data.TaggedError("MigrationFailed")<{
  readonly name: string
  readonly code: string | undefined
  readonly message: string
}> {}

/** Another process has been migrating the database for longer than this process waits. */
export class MigrationBusy extends Data.TaggedError("MigrationBusy")<{}> {
  /** The problem and its remedy, as text for the operator. */
  override get message() {
    return "Another process is still migrating this database. Wait until it has finished, or stop it. Then run workshop migrate again."
  }
}

/** The schema does not exist, and the role may not create it. */
export class SchemaNotMade extends Data.TaggedError("SchemaNotMade")<{
  readonly schema: string
  readonly role: string
}> {
  /** The problem and its remedy, as text for the operator. */
  override get message() {
    return `The database has no schema ${this.schema}, and the role ${this.role} may not create it. As the database's owner, run "create schema ${this.schema} authorization ${this.role}". Then run workshop migrate again.`
  }
}

/** An earlier release created the tables in another schema. */
export class TablesElsewhere extends Data.TaggedError("TablesElsewhere")<{ readonly schema: string }> {
  /** The problem and its remedy, as text for the operator. */
  override get message() {
    return `The workshop's tables are in the schema ${this.schema}, where an earlier release created them. Move the tables with workshop migrate --move-from ${this.schema}, or keep them there with --schema ${this.schema}.`
  }
}

/** The tables cannot be moved. Nothing was changed. */
export class MoveRefused extends Data.TaggedError("MoveRefused")<{ readonly message: string }> {}

/** The errors of a check whether the program can use the schema of a database. Nothing was changed. */
export type SchemaCheckError =
  | DatabaseFailed
  | EncodingRefused
  | MigrationChanged
  | MigrationGap
  | SchemaBehind
  | SchemaNewer

/**
 * The errors of a migration. Migrations that were applied before the error stay applied, and the next run continues
 * after them.
 */
export type MigrationError =
  | Exclude<SchemaCheckError, SchemaBehind>
  | IndexInvalid
  | MigrationBusy
  | MigrationFailed
  | MoveRefused
  | SchemaMissing
  | SchemaNotMade
  | TablesElsewhere
