import { Context } from "effect"
import type { StoreChoice } from "../StoreChoice.js"

/** How a printed command is written, so that it runs as it is pasted and works on the same data. */
export interface CommandHint {
  /** `key list` as a whole line: begun as this process was, with the flags of its store. */
  readonly command: (words: string) => string
  /** What must be set besides; empty where nothing must. It follows what is said of the command. */
  readonly condition: string
}

const DEFAULT_FOLDER = ".workshop"

const quoted = (text: string): string =>
  /^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`

/** A database address that holds a password is not printed; one that cannot be read may hold one. */
const holdsPassword = (url: string): boolean => {
  if (!URL.canParse(url)) return true
  const { password, searchParams } = new URL(url)
  return password !== "" || searchParams.has("password")
}

type Place = Pick<StoreChoice, "store" | "databaseUrl" | "schema" | "dataDir">

const databaseFlags = ({ databaseUrl }: Place): string =>
  databaseUrl === null || holdsPassword(databaseUrl) ? "" : ` --database-url ${quoted(databaseUrl)}`

const flagsOf = (place: Place): string => {
  const { store, schema, dataDir } = place
  const inSchema = store === "memory" || schema === undefined ? "" : ` --schema ${quoted(schema)}`
  if (store === "postgres") return databaseFlags(place) + inSchema
  return inSchema + (store === "memory" || dataDir === DEFAULT_FOLDER ? "" : ` --data-dir ${quoted(dataDir)}`)
}

/** Commands for the data of a store. npm and npx name themselves in the environment, and then `workshop` alone is not found. */
export const hintsFor = (choice: Place, { npm_command }: Readonly<Record<string, string | undefined>>): CommandHint => {
  const [program, flags] = [npm_command ? "npx workshop" : "workshop", flagsOf(choice)]
  const needsUrl = choice.store === "postgres" && databaseFlags(choice) === ""
  return {
    command: (words) => `${program} ${words}${flags}`,
    condition: needsUrl ? ", with DATABASE_URL set as here" : ""
  }
}

/** How the commands that this process prints are written. */
export class CommandHints extends Context.Reference<CommandHints>()("@workshop/cli/CommandHints", {
  defaultValue: (): CommandHint => ({ command: (words) => `workshop ${words}`, condition: "" })
}) {}
