import { Args, type Options } from "@effect/cli"
import { Either } from "effect"
import { databaseUrlFlag, secretsKey, servedDataDir } from "../StoreFlags.js"
import { type Flag, json, maybe, type Reader, toggle, value } from "../terminal/Flags.js"
import { oneOf, optional, text } from "../terminal/Readers.js"

/** Where the data is; every command against a database has these. */
export const databaseOptions = {
  databaseUrl: databaseUrlFlag("The Postgres database; without one, what workshop serve keeps in --data-dir."),
  dataDir: servedDataDir,
  noMigrate: toggle("no-migrate", "Refuse an older schema in place of bringing it up to date."),
  secretsKey,
  actor: value({
    name: "actor",
    placeholder: "name",
    description: "Who acts, as the audit log is to name them; cli: and the system's user unless told.",
    read: optional(text),
    fallback: ""
  }),
  json
}

/** A flag of one command alone, which may be left out; its variable carries the command's words, as in `WORKSHOP_SHOP_NAME`. */
export const own =
  (command: string) =>
  <A>(flag: Omit<Flag<A>, "fallback" | "variable">): Options.Options<A | null> =>
    maybe({
      ...flag,
      variable: `WORKSHOP_${command}_${flag.name}`.toUpperCase().replaceAll("-", "_")
    })

/** `yes` or `no`, as true or false. */
export const yesOrNo: Reader<boolean> = (given) => Either.map(oneOf(["yes", "no"])(given), (word) => word === "yes")

/** An id in its place on the command line. */
export const idOf = (name: string, what: string): Args.Args<string> =>
  Args.text({ name }).pipe(Args.withDescription(`The ${what}'s id.`))
