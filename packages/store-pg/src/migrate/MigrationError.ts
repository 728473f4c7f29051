import { Data } from "effect"

/** The database cannot store every text, because it was created with an encoding other than UTF-8, which cannot be changed. */
export class EncodingRefused extends Data.TaggedError("EncodingRefused")<{ readonly encoding: string }> {
  override get message() {
    return `The database keeps its texts in ${this.encoding}, which cannot hold every character. Create a database with encoding UTF8 (createdb --encoding=UTF8 --template=template0) and name that.`
  }
}

/** A later version of the program changed the schema so that this version cannot run on it. Versions are the numbers of migrations. */
export class SchemaNewer extends Data.TaggedError("SchemaNewer")<{
  readonly database: number
  /** The oldest version of the program that can run on this schema. */
  readonly readable_from: number
  readonly program: number
}> {
  override get message() {
    return `The database is at version ${this.database} of the schema, which programs from version ${this.readable_from} on can use, and this program knows ${this.program}. Update the program.`
  }
}

/** The concurrent build of an index was interrupted, so queries do not use the index. */
export class IndexInvalid extends Data.TaggedError("IndexInvalid")<{ readonly names: ReadonlyArray<string> }> {
  override get message() {
    return `The building of indexes in the database was interrupted (${this.names.join(", ")}). Run "reindex index concurrently ${this.names[0]}" for each, and workshop migrate again.`
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
  override get message() {
    if (this.others.length > 0)
      return `The database has no tables of the workshop in the schema ${this.schema}, but in ${this.others.join(", ")}. Check the store's schema, or run workshop migrate to begin there without data.`
    return `The database is at version ${this.database} of the schema ${this.schema} and this program needs ${this.program}. Run workshop migrate.`
  }
}

/** The schema has no tables of the workshop, and the option `createSchema` is false. */
export class SchemaMissing extends Data.TaggedError("SchemaMissing")<{
  readonly database: string
  readonly schema: string
  /** The other schemas of the database that have tables of the workshop. */
  readonly others: ReadonlyArray<string>
}> {
  readonly reason = "no_schema"

  /** The error, without the remedy. */
  get what() {
    const elsewhere = this.others.length === 0 ? "nor does any other schema" : `which are in ${this.others.join(", ")}`
    return `The schema ${this.schema} of the database ${this.database} has no tables of the workshop, ${elsewhere}`
  }

  override get message() {
    return `${this.what}. Check the store's schema and url, or leave out createSchema: false to begin there without data.`
  }
}

/** A migration was changed after it was applied to the database. */
export class MigrationChanged extends Data.TaggedError("MigrationChanged")<{ readonly name: string }> {
  override get message() {
    return `The migration ${this.name} is not the one that was applied to the database. Use the program that migrated it, or undo the change.`
  }
}

/** The database has a later migration without an earlier one. */
export class MigrationGap extends Data.TaggedError("MigrationGap")<{ readonly missing: number }> {
  override get message() {
    return `The database lacks migration ${this.missing} and has later ones. Restore it from a backup, or ask the person who changed schema_migration.`
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
  override get message() {
    return "Another process is still migrating this database. Wait for it, or stop it, and run workshop migrate again."
  }
}

/** The schema does not exist, and the role may not create it. */
export class SchemaNotMade extends Data.TaggedError("SchemaNotMade")<{
  readonly schema: string
  readonly role: string
}> {
  override get message() {
    return `The database has no schema ${this.schema} and the role ${this.role} may not create it. As the database's owner, run "create schema ${this.schema} authorization ${this.role}", and workshop migrate again.`
  }
}

/** An earlier release created the tables in another schema. */
export class TablesElsewhere extends Data.TaggedError("TablesElsewhere")<{ readonly schema: string }> {
  override get message() {
    return `The workshop's tables are in the schema ${this.schema}, where an earlier release created them. Move them with workshop migrate --move-from ${this.schema}, or keep them there with --schema ${this.schema}.`
  }
}

/** The tables cannot be moved. Nothing was changed. */
export class MoveRefused extends Data.TaggedError("MoveRefused")<{ readonly message: string }> {}
