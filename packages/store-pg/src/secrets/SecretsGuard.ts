import { SqlClient } from "@effect/sql/SqlClient"
import { probe } from "@workshop/core"
import { Clock, Effect } from "effect"
import { recordOtherSchemas } from "../connection/TablesElsewhere.js"
import { keyMissing, secretsUnavailable, type WebhookSecrets } from "./WebhookSecrets.js"

/** The shortest interval between queries of the database after a key was found to be missing. */
const QUERY_INTERVAL = "5 seconds"

/** Selects the id of a key that encrypted a secret and is not in $1. */
export const SEALED_BY_OTHERS = `select /* workshop find missing key */ split_part(s.secret, ':', 2) as key_id
  from workshop.webhook w cross join lateral (values (w.secret), (w.previous_secret)) s (secret)
  where s.secret like 'sealed:%' and split_part(s.secret, ':', 2) <> all ($1::text[]) limit 1`

/**
 * Fails at the start if secrets are encrypted with a key that was not given, but not if the database is unavailable.
 * After a secret could not be decrypted, the process is not ready, and the returned effect fails until the database has
 * no such secret.
 */
export const secretsGuard = (secrets: WebhookSecrets, schema: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const look = Effect.map(
      sql.unsafe<{ readonly key_id: string }>(SEALED_BY_OTHERS, [secrets.keyIds]),
      ([row]) => row?.key_id ?? null
    )
    const missingKey = yield* Effect.catchAll(look, () => Effect.as(recordOtherSchemas(sql, schema), null))
    if (missingKey !== null) return yield* keyMissing(missingKey)
    const lookAgain = yield* Effect.cachedWithTTL(
      Effect.tap(
        Effect.orElseSucceed(look, () => secrets.missing),
        (key_id) => {
          secrets.missing = key_id
        }
      ),
      QUERY_INTERVAL
    )
    const missing = Effect.suspend(() =>
      // Uses real time, because a sandbox's clock may be frozen.
      secrets.missing === null ? Effect.succeed(null) : Effect.withClock(lookAgain, Clock.make())
    )
    yield* probe({
      complaint: Effect.map(missing, (key_id) => (key_id === null ? null : keyMissing(key_id).message))
    })
    return Effect.flatMap(missing, (key_id) => (key_id === null ? Effect.void : secretsUnavailable(keyMissing(key_id))))
  })
