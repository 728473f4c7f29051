import { resolve } from "node:path"
import type { StoreChoice } from "../database/StoreChoice.js"

/** The number of cells that a setting names, including the home cell. */
const countOf = (cells: string): number => {
  const words = cells.split(/\s+/).filter((word) => word !== "")
  return words.length === 1 && /^\d+$/.test(words[0]!) ? Number(words[0]) : words.length + 1
}

const storageLines: Readonly<Record<StoreChoice["store"], (choice: StoreChoice) => string>> = {
  memory: () => "All data are kept in memory until this process ends.",
  embedded: ({ dataDir }) => `All data are kept in ${resolve(dataDir)}, in an embedded Postgres.`,
  postgres: ({ cells }) =>
    cells === undefined
      ? "All data are kept in the Postgres database."
      : `All data are kept in ${countOf(cells)} cells: the home cell and those of --cells.`
}

/** The line that says where data are stored. */
export const storageLine = (choice: StoreChoice): string => storageLines[choice.store](choice)

/** The lines about the sandbox: the list of its calls, and its effect on tickets that are kept. */
export const sandboxLines = (base: string, { store }: StoreChoice): ReadonlyArray<string> => [
  `The sandbox API's OpenAPI document: ${base}/sandbox/openapi.json`,
  ...(store === "memory"
    ? []
    : ["The sandbox's clock never goes back, so data that have aged stay old. To experiment, add --store memory."])
]

/** The line that names the console, for a trial without a sandbox. */
export const trialLines = ({ store }: StoreChoice): ReadonlyArray<string> =>
  store === "postgres"
    ? []
    : ["To try the service in a browser with demo data: npx workshop serve --sandbox --demo --store memory"]

/**
 * The line about stopping. npm forwards Ctrl-C but not the signal of `kill`, so the server keeps running if a script
 * kills npx.
 */
export const stoppingLines = ({ npm_command }: Readonly<Record<string, string | undefined>>): ReadonlyArray<string> =>
  npm_command === undefined
    ? []
    : [
        `Stop the server with Ctrl-C. In a script, use kill ${process.pid}, because killing npx or npm does not stop the server.`
      ]
