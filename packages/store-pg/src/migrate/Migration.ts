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
  /** What runs in one transaction; or, where the header says `-- no transaction`, statements that run one by one outside any. */
  readonly statements: ReadonlyArray<string>
  readonly isTransactional: boolean
  /** The oldest version of the program that can run on the schema after this step; null where this step changes nothing about that. */
  readonly readable_from: number | null
}

/** The migrations of this package. */
export const OURS = fileURLToPath(new URL("../../migrations", import.meta.url))

const NAME = /^(\d{4})_\w+\.sql$/
const HEADER = /^(--.*\n?)*/
const OUTSIDE = /^-- no transaction[ \t]*$/m
const READABLE_FROM = /^-- readable from (\d{1,4})[ \t]*$/m
/** The body of a function, which has semicolons of its own, or the end of a statement. */
const BODY_OR_END = /\$(\w{0,63})\$[\s\S]*?\$\1\$|;[ \t]*$/gm
const isEmpty = (sql: string): boolean => sql.split("\n").every((line) => /^\s*(--|$)/.test(line))

const statementsOf = (text: string): ReadonlyArray<string> => {
  const ends = [...text.matchAll(BODY_OR_END)].filter(([found]) => found.startsWith(";")).map(({ index }) => index)
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
    statements: isTransactional ? [text] : statementsOf(text).filter((sql) => !isEmpty(sql)),
    isTransactional,
    readable_from: readable === undefined ? null : Number(readable)
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
