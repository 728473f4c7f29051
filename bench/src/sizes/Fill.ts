import { readFileSync } from "node:fs"

const statementsOf = (name: string): ReadonlyArray<string> =>
  readFileSync(new URL(`../../src/sizes/${name}.sql`, import.meta.url), "utf8")
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "" && !/^(--.*\n?)*$/.test(statement))

/** The statements that fill a schema with tickets of its one shop. */
export const FILL = statementsOf("many")

/** The statements that add as many accounts, after the tickets. */
export const FILL_CLIENTS = statementsOf("clients")
