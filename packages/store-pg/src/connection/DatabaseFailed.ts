import { Data } from "effect"

/**
 * The reason of the failure. `bad_schema`: the name of the schema is invalid. `bad_cells`: the given cells differ from
 * the cells of the database. `wrong_cell`: a cell is not at its address, or cannot be used. `bad_pool`: the given pool
 * connects to a different database. `no_url`: the url is not a Postgres connection string. `unreachable`: no server
 * responds at the url. `no_database`: the server has no database of this name. `no_entry`: the server refuses the user.
 * `untrusted`: the server's encryption does not satisfy the url. `statement`: the server refused a statement.
 */
export type DatabaseFailure =
  | "bad_schema"
  | "bad_cells"
  | "wrong_cell"
  | "bad_pool"
  | "no_url"
  | "unreachable"
  | "no_database"
  | "no_entry"
  | "untrusted"
  | "statement"

const remedies: Readonly<Record<DatabaseFailure, string | undefined>> = {
  bad_schema: "Check the store's schema",
  bad_cells: "Give the same cells as workshop migrate",
  wrong_cell: undefined,
  bad_pool: "Pass a Pool of the package pg that connects to the same database as the store's url",
  no_url: "Check the store's url",
  unreachable: "Check that the database server is running, and that the store's url has its address",
  no_database: "Create the database, or correct its name in the store's url",
  no_entry: "Check the user and the password in the store's url, and that the user exists as a role on the server",
  untrusted:
    "In the store's url, check sslmode, and that sslrootcert is the authority that signed the server's certificate. With sslmode=verify-full, the certificate must also name the host that the url names",
  statement: undefined
}

/** The SQLSTATE of a statement for which the role lacks a right. */
export const DENIED = "42501"

/** The SQLSTATEs of a statement whose table, or its schema, does not exist. */
export const NO_TABLE: ReadonlyArray<string> = ["42P01", "3F000"]

/** If the connection's role lacked a right, adds a remedy that names the required role to the failure. */
export const withRoleRemedy =
  (remedy: string) =>
  <E extends { readonly _tag: string }>(error: E): E | DatabaseFailed =>
    error instanceof DatabaseFailed && error.code === DENIED
      ? new DatabaseFailed({ reason: error.reason, code: error.code, what: `${remedy} (${error.what})` })
      : error

/**
 * An error of Postgres, or of the connection to it: what happened, and what to do. If `reason` is `unreachable`, as while the database
 * starts, another attempt may succeed; the other reasons need a person.
 */
export class DatabaseFailed extends Data.TaggedError("DatabaseFailed")<{
  readonly reason: DatabaseFailure
  /** The SQLSTATE, or the system's code if no server responded. */
  readonly code: string | undefined
  /** The error, without its remedy. */
  readonly what: string
}> {
  /** The problem and its remedy, as text for the operator. */
  override get message() {
    const remedy = remedies[this.reason]
    const sentence = remedy === undefined ? this.what : `${this.what}. ${remedy}`
    return sentence.endsWith("?") ? sentence : `${sentence}.`
  }
}
