import { pluralize } from "@workshop/core/internal/terminal"
import { Effect } from "effect"
import { actorFlag, withActor } from "../terminal/actor.js"
import { command, jsonFlag, toggleFlag } from "../terminal/commands.js"
import { group } from "../terminal/program.js"
import { cellsIn } from "./cellsIn.js"
import {
  choiceOf,
  databaseAddressFlags,
  databaseUrlOf,
  secretsKeyFlag,
  servedDataDir,
  storeRefusal
} from "./StoreChoice.js"

const resealOptions = {
  ...databaseAddressFlags("The Postgres database. The default is the embedded Postgres in --data-dir."),
  dataDir: servedDataDir,
  secretsKey: secretsKeyFlag,
  inClear: toggleFlag(
    "in-clear",
    "Store all secrets unencrypted again, as a program without --secrets-key needs them."
  ),
  actor: actorFlag,
  json: jsonFlag
}

const resealInWords = (webhooks: string, key_id: string | null) =>
  key_id === null
    ? `${webhooks} changed. All webhook secrets are now stored unencrypted.`
    : `${webhooks} changed. All webhook secrets are now encrypted with the key ${key_id}.`

const reseal = command({
  name: "reseal",
  description: "Encrypt all webhook secrets with the first key, including unencrypted ones",
  examples: [
    "WORKSHOP_SECRETS_KEY_FILE=/run/secrets/new-and-old-key workshop secrets reseal",
    "WORKSHOP_SECRETS_KEY_FILE=/run/secrets/key workshop secrets reseal --in-clear"
  ],
  options: resealOptions,
  run: ({ secretsKey: secretsKeys, inClear, actor, json: asJson, ...flags }) =>
    Effect.gen(function* () {
      const { reseal } = yield* Effect.promise(() => import("@workshop/store-pg/migrate"))
      const { printOutput, sentenceOutput } = yield* Effect.promise(() => import("../terminal/Output.js"))
      const url = yield* databaseUrlOf({ ...choiceOf({ ...flags, noMigrate: true }), isShared: true })
      const result = yield* Effect.mapError(
        Effect.flatMap(cellsIn(flags), (cells) => reseal(url, { ...cells, secretsKeys, inClear })),
        storeRefusal
      )
      const webhooks = pluralize(result.changed, "webhook")
      yield* printOutput(sentenceOutput(result, resealInWords(webhooks, result.key_id)), asJson)
    }).pipe(Effect.scoped, withActor(actor))
})

/** `workshop secrets`: changes how webhook secrets are stored. */
export const secretsCommand = group(
  {
    name: "secrets",
    examples: ["WORKSHOP_SECRETS_KEY_FILE=/run/secrets/new-and-old-key workshop secrets reseal"]
  },
  [reseal]
)
