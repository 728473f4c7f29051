import { Command } from "@effect/cli"
import { Effect } from "effect"
import { choiceOf, databaseOf } from "../StoreChoice.js"
import { databaseUrlFlag, secretsKey, servedDataDir } from "../StoreFlags.js"
import { storeRefused } from "../StoreRefused.js"
import { json, toggle } from "../terminal/Flags.js"
import { nameOne } from "../terminal/nameOne.js"

const options = {
  databaseUrl: databaseUrlFlag("The Postgres database; without one, what workshop serve keeps in --data-dir."),
  dataDir: servedDataDir,
  secretsKey,
  inClear: toggle("in-clear", "Store all secrets in clear again, before a program runs that knows no keys."),
  json
}

const inWords = (webhooks: string, key_id: string | null) =>
  key_id === null
    ? `${webhooks} changed; all secrets are stored in clear.`
    : `${webhooks} changed; all secrets are sealed with the key ${key_id}.`

const reseal = Command.make("reseal", options, ({ secretsKey: secretsKeys, inClear, json: asJson, ...asked }) =>
  Effect.gen(function* () {
    const { reseal } = yield* Effect.promise(() => import("@workshop/store-pg/Resealing"))
    const { say } = yield* Effect.promise(() => import("../terminal/Said.js"))
    const { sentence } = yield* Effect.promise(() => import("../owner/record.js"))
    const url = yield* databaseOf({ ...choiceOf({ ...asked, noMigrate: true }), isShared: true })
    const done = yield* Effect.mapError(reseal(url, { secretsKeys, inClear }), storeRefused)
    const webhooks = done.changed === 1 ? "1 webhook" : `${done.changed} webhooks`
    yield* say(sentence(done, inWords(webhooks, done.key_id)), asJson)
  }).pipe(Effect.scoped)
).pipe(Command.withDescription("Encrypt all webhook secrets with the first key, also those stored in clear"))

/** `workshop secrets`: how webhook secrets are stored. */
export const secretsCommand = Command.make("secrets", {}, () => nameOne("secrets")).pipe(
  Command.withDescription("How the secrets of webhooks are stored in a database"),
  Command.withSubcommands([reseal])
)
