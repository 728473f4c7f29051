import { list, toggle, value } from "./terminal/Flags.js"
import { optional, text } from "./terminal/Readers.js"

/** `--database-url`, which has the variable of every host: the database of whatever the command does. */
export const databaseUrlFlag = (description: string) =>
  value({
    name: "database-url",
    placeholder: "url",
    description,
    read: optional(text),
    fallback: "",
    variable: "DATABASE_URL"
  })

/** `--data-dir`: the folder of the embedded Postgres. */
export const dataDirFlag = (description: string) =>
  value({ name: "data-dir", placeholder: "folder", description, read: text, fallback: ".workshop" })

/** The data that `workshop serve` keeps, for commands that work on it. */
export const servedDataDir = dataDirFlag("Where workshop serve keeps its own database.")

/** `--secrets-key`: the keys of `WORKSHOP_SECRETS_KEY`. They are checked by the store, whose refusal does not repeat them. */
export const secretsKey = list({
  name: "secrets-key",
  placeholder: "key",
  description:
    "Keys that encrypt webhook secrets in the database, 32 random bytes each in base64 or hex, between commas: the first one writes, all read.",
  read: text
})

/** `--no-migrate` of processes that serve or dispatch. */
export const noMigrateFlag = toggle(
  "no-migrate",
  "Refuse a database with an older schema, in place of bringing it up to date."
)
