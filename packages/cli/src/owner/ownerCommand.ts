import { Effect } from "effect"
import { databaseUrlFlag, secretsKey, servedDataDir } from "../StoreChoice.js"
import {
  type CommandHelp,
  command,
  type MakeCommand,
  Operand,
  type Options,
  type Values
} from "../terminal/commands.js"
import { text } from "../terminal/decoders.js"
import { type Flag, json, optional, toggle } from "../terminal/flags.js"
import type { Output } from "../terminal/Output.js"
import type { Services } from "./act.js"

/** Where the data is; every command against a database has these. */
const databaseOptions = {
  databaseUrl: databaseUrlFlag("The Postgres database; without one, what workshop serve keeps in --data-dir."),
  dataDir: servedDataDir,
  noMigrate: toggle("no-migrate", "Refuse an older schema instead of bringing it up to date."),
  secretsKey,
  actor: optional({
    name: "actor",
    placeholder: "name",
    description: "Who acts, for the audit log; cli: and the system's user by default.",
    decoder: text
  }),
  json
}

/** A command against a database; `act` says what came of it. The module that does the work is loaded once the command runs. */
export const ownerCommand =
  <M>(load: () => Promise<M>) =>
  <O extends Options, E extends { readonly _tag: string; readonly message: string }>({
    act: actOf,
    options,
    ...help
  }: CommandHelp & {
    readonly options: O
    readonly act: (module: M, values: Values<O>) => Effect.Effect<Output, E, Services>
  }): MakeCommand =>
    command({
      ...help,
      options: { ...databaseOptions, ...options },
      run: (values) =>
        Effect.gen(function* () {
          const [{ act }, module] = yield* Effect.promise(() => Promise.all([import("./act.js"), load()]))
          return yield* act(values as Values<typeof databaseOptions>, actOf(module, values as Values<O>))
        })
    })

/** A flag of one command alone, which may be left out; its variable carries the command's words, as in `WORKSHOP_SHOP_NAME`. */
export const own =
  (command: string) =>
  <A>(flag: Parameters<typeof optional<A>>[0]): Flag<A | null> =>
    optional({
      ...flag,
      isEmptyValue: true,
      variable: `WORKSHOP_${command}_${flag.name}`.toUpperCase().replaceAll("-", "_")
    })

/** An id in its place on the command line. */
export const idOf = (name: string): Operand<string> => new Operand(`<${name}>`, `The ${name}'s id.`)
