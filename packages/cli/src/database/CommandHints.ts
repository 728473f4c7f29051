import { Context } from "effect"
import { shellQuoted } from "../terminal/shellQuoted.js"
import { DEFAULT_FOLDER, type StoreChoice } from "./StoreChoice.js"

/** The form of a printed command, which runs as it is pasted and works on the same data. */
interface CommandHint {
  /** `key list` as a whole line: begun as this process was, with the flags of its store. */
  readonly command: (words: string) => string
  /** A clause that names a variable that must be set too; empty if none must. It follows the text about the command. */
  readonly condition: string
}

const quoted = (text: string): string => (/^[\w./:@%+,=-]+$/.test(text) ? text : shellQuoted(text))

/** Whether a database URL may contain a password; true if it cannot be parsed. */
const mayContainPassword = (url: string): boolean => {
  if (!URL.canParse(url)) return true
  const { password, searchParams } = new URL(url)
  return password !== "" || searchParams.has("password")
}

type Place = Pick<StoreChoice, "store" | "databaseUrl" | "schema" | "cells" | "dataDir">

const databaseFlags = ({ databaseUrl }: Place): string =>
  databaseUrl === null || mayContainPassword(databaseUrl) ? "" : ` --database-url ${quoted(databaseUrl)}`

const flagsOf = (place: Place): string => {
  const { store, schema, cells = "", dataDir } = place
  const ofCells = cells === "" || cells.includes("=") ? "" : ` --cells ${quoted(cells)}`
  const inSchema = store === "memory" || schema === undefined ? ofCells : ` --schema ${quoted(schema)}${ofCells}`
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

/** The form of the commands that this process prints. */
export class CommandHints extends Context.Reference<CommandHints>()("@workshop/cli/CommandHints", {
  defaultValue: (): CommandHint => ({ command: (words) => `workshop ${words}`, condition: "" })
}) {}
