import { Effect } from "effect"
import {
  choiceOf,
  databaseOf,
  databaseUrlFlag,
  schemaFlag,
  secretsKey,
  servedDataDir,
  storeRefused
} from "../StoreChoice.js"
import { command, json, toggle } from "../terminal/commands.js"
import { group } from "../terminal/program.js"

const options = {
  databaseUrl: databaseUrlFlag("The Postgres database; without one, what workshop serve keeps in --data-dir."),
  schema: schemaFlag,
  dataDir: servedDataDir,
  secretsKey,
  inClear: toggle("in-clear", "Store all secrets in clear again, before a program runs that knows no keys."),
  json
}

const inWords = (webhooks: string, key_id: string | null) =>
  key_id === null
    ? `${webhooks} changed; all secrets are stored in clear.`
    : `${webhooks} changed; all secrets are sealed with the key ${key_id}.`

const reseal = command({
  name: "reseal",
  description: "Encrypt all webhook secrets with the first key, also those stored in clear",
  examples: [
    "WORKSHOP_SECRETS_KEY_FILE=/run/secrets/new-and-old-key workshop secrets reseal",
    "WORKSHOP_SECRETS_KEY_FILE=/run/secrets/key workshop secrets reseal --in-clear"
  ],
  options,
  run: ({ secretsKey: secretsKeys, inClear, json: asJson, ...flags }) =>
    Effect.gen(function* () {
      const { reseal } = yield* Effect.promise(() => import("@workshop/store-pg/migrate"))
      const { printOutput, sentence } = yield* Effect.promise(() => import("../terminal/Output.js"))
      const url = yield* databaseOf({ ...choiceOf({ ...flags, noMigrate: true }), isShared: true })
      const done = yield* Effect.mapError(
        reseal(url, { schema: flags.schema ?? undefined, secretsKeys, inClear }),
        storeRefused
      )
      const webhooks = done.changed === 1 ? "1 webhook" : `${done.changed} webhooks`
      yield* printOutput(sentence(done, inWords(webhooks, done.key_id)), asJson)
    }).pipe(Effect.scoped)
})

/** `workshop secrets`: how webhook secrets are stored. */
export const secretsCommand = group(
  {
    name: "secrets",
    examples: ["WORKSHOP_SECRETS_KEY_FILE=/run/secrets/new-and-old-key workshop secrets reseal"]
  },
  [reseal]
)
