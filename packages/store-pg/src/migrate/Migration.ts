import { createHash } from "node:crypto"
import { migrations } from "./generated/sql.js"

/** A numbered SQL file, which changes the schema from one version to the next. */
export interface Migration {
  /** The number, from 1 without gaps. */
  readonly version: number
  /** The file's name without its ending, such as `0001_tickets`. */
  readonly name: string
  /** SHA-256 of the text with Unix line ends, in hex. */
  readonly checksum: string
  /**
   * The statements, which run one by one in one transaction, or outside of a transaction if the header has
   * `-- no transaction`.
   */
  readonly statements: ReadonlyArray<string>
  readonly isTransactional: boolean
  /**
   * The oldest version of the program that can run on the schema after this migration; null if the migration does not
   * change it.
   */
  readonly readable_from: number | null
}

const NAME = /^(\d{4})_\w+\.sql$/
const HEADER = /^(--.*\n?)*/
const OUTSIDE = /^-- no transaction[ \t]*$/m
const READABLE_FROM = /^-- readable from (\d{1,4})[ \t]*$/m
/** Matches the body of a function, which may contain semicolons, or the end of a statement. */
const BODY_OR_END = /\$(\w{0,63})\$[\s\S]*?\$\1\$|;[ \t]*$/gm
const isEmpty = (sql: string): boolean => sql.split("\n").every((line) => /^\s*(--|$)/.test(line))

const statementsOf = (text: string): ReadonlyArray<string> => {
  const ends = [...text.matchAll(BODY_OR_END)].filter(([match]) => match.startsWith(";")).map(({ index }) => index)
  return [...ends, text.length].map((end, i) => text.slice(i === 0 ? 0 : ends[i - 1]! + 1, end))
}

const migration = (file: string, written: string): Migration => {
  const text = written.replaceAll("\r\n", "\n")
  const [header = ""] = HEADER.exec(text) ?? []
  const isTransactional = !OUTSIDE.test(header)
  const readable = READABLE_FROM.exec(header)?.[1]
  return {
    version: Number(file.slice(0, 4)),
    name: file.replace(/\.sql$/, ""),
    checksum: createHash("sha256").update(text).digest("hex"),
    // The statements run one by one also in a transaction, because Citus accepts only one schema change per statement.
    statements: statementsOf(text).filter((sql) => !isEmpty(sql)),
    isTransactional,
    readable_from: readable === undefined ? null : Number(readable)
  }
}

/** Parses migrations from their texts by file name. The files must be numbered from 1 without gaps. */
export const migrationsOf = (files: Readonly<Record<string, string>>): ReadonlyArray<Migration> =>
  Object.entries(files).map(([file, text], i) => {
    if (Number(NAME.exec(file)?.[1]) !== i + 1)
      throw new Error(`The number of the migration ${file} is missing or used twice`)
    return migration(file, text)
  })

/** The migrations of this package. They are part of the code, so that a bundled program includes them. */
export const PACKAGE_MIGRATIONS: ReadonlyArray<Migration> = migrationsOf(migrations)
