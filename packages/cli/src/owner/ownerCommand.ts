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
import { type Flag, json, type OptionalFlag, optional, toggle, variableOf } from "../terminal/flags.js"
import type { Output } from "../terminal/Output.js"
import type { Services } from "./act.js"

/** Where the data is; every command against a database has these. */
const databaseOptions = {
  databaseUrl: databaseUrlFlag("The Postgres database; without one, what workshop serve keeps in --data-dir."),
  dataDir: servedDataDir,
  noMigrate: toggle("no-migrate", "Refuse an older schema instead of bringing it up to date."),
  secretsKey,
  actor: optional({
    flag: "--actor <name>",
    description: "Who acts, for the audit log; cli: and the system's user by default."
  }),
  json
}

/** What a command does with the module that is loaded for it, by the values of its own options. */
export type Act<M, O, E> = (module: M, values: Values<O>) => Effect.Effect<Output, E, Services>

/** Why a service refuses. */
export interface Refusal {
  readonly _tag: string
  readonly message: string
}

/**
 * A command against a database. `act` gets the values of the command's own options and returns what is printed; its module is
 * loaded once the command runs.
 */
export const ownerCommand =
  <M>(load: () => Promise<M>) =>
  <O extends Options, E extends Refusal>({
    act: actOf,
    options,
    ...help
  }: CommandHelp & {
    readonly options: O
    readonly act: Act<M, O, E>
  }): MakeCommand =>
    command({
      ...help,
      options: { ...databaseOptions, ...options },
      run: (values) =>
        Effect.gen(function* () {
          const [{ act }, module] = yield* Effect.promise(() => Promise.all([import("./act.js"), load()]))
          const own = Object.fromEntries(Object.entries(values).filter(([name]) => name in options))
          return yield* act(values as Values<typeof databaseOptions>, actOf(module, own as Values<O>))
        })
    })

/** A flag of one command alone, which may be left out; its variable carries the command's words, as in `WORKSHOP_SHOP_NAME`. */
export const own =
  (command: string) =>
  <A = string>(flag: OptionalFlag<A>): Flag<NoInfer<A> | null> =>
    optional({ ...flag, isEmptyValue: true, variable: variableOf(flag.flag, command) })

/** An id in its place on the command line. */
export const idOf = (name: string): Operand<string> => new Operand(`<${name}>`, `The ${name}'s id.`)
