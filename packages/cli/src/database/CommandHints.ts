import { quoteShell } from "@workshop/core/internal"
import { Context } from "effect"
import { DEFAULT_FOLDER, type StoreChoice } from "./StoreChoice.js"

/** The form of printed commands, so that a pasted command runs and works on the same data. */
interface CommandHint {
  /**
   * The whole command line for words such as `key list`: it starts the program in the same way as this process, with
   * the flags of its store.
   */
  readonly command: (words: string) => string
  /**
   * A clause that names a variable that must also be set; empty if no variable is needed. The clause follows the text
   * about the command.
   */
  readonly condition: string
}

const quoteIfNeeded = (text: string): string => (/^[\w./:@%+,=-]+$/.test(text) ? text : quoteShell(text))

/** Whether a database URL may contain a password; true if it cannot be parsed. */
const mayContainPassword = (url: string): boolean => {
  if (!URL.canParse(url)) return true
  const { password, searchParams } = new URL(url)
  return password !== "" || searchParams.has("password")
}

type StorePlace = Pick<StoreChoice, "store" | "databaseUrl" | "schema" | "cells" | "dataDir">

const databaseFlags = ({ databaseUrl }: StorePlace): string =>
  databaseUrl === null || mayContainPassword(databaseUrl) ? "" : ` --database-url ${quoteIfNeeded(databaseUrl)}`

const flagsOf = (place: StorePlace): string => {
  const { store, schema, cells = "", dataDir } = place
  const cellsText = cells === "" || cells.includes("=") ? "" : ` --cells ${quoteIfNeeded(cells)}`
  const schemaText =
    store === "memory" || schema === undefined ? cellsText : ` --schema ${quoteIfNeeded(schema)}${cellsText}`
  if (store === "postgres") return databaseFlags(place) + schemaText
  return schemaText + (store === "memory" || dataDir === DEFAULT_FOLDER ? "" : ` --data-dir ${quoteIfNeeded(dataDir)}`)
}

/**
 * The form of printed commands on the data of a store. If the environment shows that npm or npx started the process,
 * the commands begin with it, because a shell does not find `workshop` then.
 */
export const makeHints = (
  choice: StorePlace,
  { npm_command }: Readonly<Record<string, string | undefined>>
): CommandHint => {
  const [program, flags] = [npm_command ? "npx workshop" : "workshop", flagsOf(choice)]
  const needsUrl = choice.store === "postgres" && databaseFlags(choice) === ""
  return {
    command: (words) => `${program} ${words}${flags}`,
    condition: needsUrl ? " (set DATABASE_URL as for this process)" : ""
  }
}

/** The form of the commands that this process prints. */
export class CommandHints extends Context.Reference<CommandHints>()("@workshop/cli/CommandHints", {
  defaultValue: (): CommandHint => ({ command: (words) => `workshop ${words}`, condition: "" })
}) {}
