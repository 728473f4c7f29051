import { ShopId } from "@workshop/core"
import { Effect } from "effect"
import { refuse } from "../CommandRefused.js"
import { makeAskSandbox } from "../sandbox/Sandbox.js"
import { command, type Options, optionalFlag, type Values } from "../terminal/commands.js"
import { webAddress } from "../terminal/decoders.js"
import { type Output, printOutput } from "../terminal/Output.js"
import type { CommandHelp, MakeCommand } from "../terminal/program.js"
import {
  commandRefusal,
  databaseOptions,
  flagOf,
  idFrom,
  idOf,
  ownValues,
  runOnDatabase,
  type ServiceRefusal
} from "./ownerCommand.js"
import { sandboxWebhookAdmin } from "./SandboxWebhookAdmin.js"
import { storeWebhookAdmin } from "./StoreWebhookAdmin.js"
import { WebhookAdmin } from "./WebhookAdmin.js"

/** The operand of every command of a shop's webhook. */
export const webhookOptions = { shop: idOf("shop") }

/** Decodes the typed id of a shop. */
export const shopIdFrom = (typed: string) => idFrom(ShopId, "a shop", typed)

/** The flags that name a running server in place of a database. */
const sandboxOptions = {
  baseUrl: optionalFlag(
    "--base-url <url>",
    "The address of a running server with a sandbox, such as http://127.0.0.1:4010, to use instead of a database.",
    {
      decoder: webAddress,
      // The variable differs from the variable of the testers' commands, which would redirect a command from its
      // database to a sandbox.
      variable: "WORKSHOP_WEBHOOK_BASE_URL"
    }
  ),
  sandboxToken: optionalFlag("--sandbox-token <token>", "The sandbox's token, if it requires one.")
}

const commonOptions = { ...databaseOptions, ...sandboxOptions }

const databaseFlagNames = (Object.keys(databaseOptions) as ReadonlyArray<keyof typeof databaseOptions>).filter(
  (name) => name !== "json"
)

/** Why typed flags do not fit together; null if they do. Without this check, some of them would have no effect. */
const placeMistake = (
  databaseFlags: ReadonlyArray<keyof typeof databaseOptions>,
  isTyped: (name: keyof typeof commonOptions) => boolean
): string | null => {
  if (isTyped("baseUrl") && databaseFlags.length > 0) {
    const names = databaseFlags.map((name) => databaseOptions[name].long).join(", ")
    return `--base-url names a running server, and ${names} ${databaseFlags.length === 1 ? "is" : "are"} for a database. Give only one of the two.`
  }
  return isTyped("sandboxToken") && databaseFlags.length > 0
    ? "--sandbox-token is for a running server. Give its address with --base-url, or omit --sandbox-token."
    : null
}

const nameOf = (field: string): string => (field === "url" ? "the address" : flagOf(field))

/** A command on a shop's webhook, in a database or on a running server with a sandbox. */
export const webhookSubcommand = <O extends Options, E extends ServiceRefusal>({
  run,
  options,
  ...help
}: CommandHelp & {
  readonly options: O
  readonly run: (values: Values<O>) => Effect.Effect<Output, E, WebhookAdmin>
}): MakeCommand =>
  command({
    ...help,
    options: { ...commonOptions, ...options },
    run: (values, isTyped) => {
      const { baseUrl, sandboxToken, ...flags } = values as Values<typeof commonOptions>
      const databaseFlags = databaseFlagNames.filter(isTyped)
      const mistake = placeMistake(databaseFlags, isTyped)
      if (mistake !== null) return refuse(mistake)
      const effect = run(ownValues(options, values))
      // A typed flag of a database takes precedence over the variable of --base-url.
      if (baseUrl === null || databaseFlags.length > 0)
        return runOnDatabase(flags, Effect.provide(effect, storeWebhookAdmin))
      const ask = makeAskSandbox({ baseUrl, token: sandboxToken, nameOf })
      return effect.pipe(
        Effect.mapError(commandRefusal),
        Effect.provideService(WebhookAdmin, sandboxWebhookAdmin(ask)),
        Effect.flatMap((output) => printOutput(output, flags.json))
      )
    }
  })

/** A command on a shop's webhook that needs the shop's id and nothing else. */
export const shopIdCommand = <E extends ServiceRefusal>(
  name: string,
  description: string,
  run: (shop: string) => Effect.Effect<Output, E, WebhookAdmin>
): MakeCommand =>
  webhookSubcommand({
    name,
    description,
    examples: [`workshop webhook ${name} 0197...`],
    options: webhookOptions,
    run: ({ shop }) => run(shop)
  })
