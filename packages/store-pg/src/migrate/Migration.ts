import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { MigrationUnreadable } from "./MigrationError.js"

/** One numbered SQL file: a step from one version of the schema to the next. */
export interface Migration {
  /** From 1, without holes. */
  readonly version: number
  /** Of the file without its ending, such as `0001_tickets`. */
  readonly name: string
  /** SHA-256 of the text with Unix line ends, in hex. */
  readonly checksum: string
  /** What runs in one transaction; or, marked otherwise in its first line, statements that run one by one outside any. */
  readonly statements: ReadonlyArray<string>
  readonly isTransactional: boolean
}

/** The migrations of this package. */
export const OURS = fileURLToPath(new URL("../../migrations", import.meta.url))

const NAME = /^(\d{4})_\w+\.sql$/
const OUTSIDE = /^-- no transaction\s*$/m
const END_OF_STATEMENT = /;[ \t]*$/m
const isEmpty = (sql: string): boolean => sql.split("\n").every((line) => /^\s*(--|$)/.test(line))

const migration = (file: string, written: string): Migration => {
  const text = written.replaceAll("\r\n", "\n")
  const isTransactional = !OUTSIDE.test(text.split("\n")[0] ?? "")
  return {
    version: Number(file.slice(0, 4)),
    name: file.replace(/\.sql$/, ""),
    checksum: createHash("sha256").update(text).digest("hex"),
    statements: isTransactional ? [text] : text.split(END_OF_STATEMENT).filter((sql) => !isEmpty(sql)),
    isTransactional
  }
}

const unreadable = (folder: string, error: unknown) =>
  new MigrationUnreadable({
    message: `The migrations in ${folder} cannot be read (${error instanceof Error ? error.message : error}): install the program again.`
  })

/** Reads the migrations of a folder in their order; they must be numbered from 1 without holes. */
export const migrationsIn = (folder: string) =>
  Effect.gen(function* () {
    const found = yield* Effect.try({
      try: () =>
        readdirSync(folder)
          .filter((file) => file.endsWith(".sql"))
          .sort()
          .map((file) => ({ file, text: readFileSync(`${folder}/${file}`, "utf8") })),
      catch: (error) => unreadable(folder, error)
    })
    const misnamed = found.find(({ file }, i) => Number(NAME.exec(file)?.[1]) !== i + 1)
    if (misnamed !== undefined) return yield* unreadable(folder, `${misnamed.file} is out of its number`)
    return found.map(({ file, text }) => migration(file, text))
  })
