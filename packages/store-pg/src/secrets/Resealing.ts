import { Effect, Either } from "effect"
import { checkGivenCells } from "../cells/CellIdentity.js"
import { type CellOptions, cellFailure } from "../cells/CellLocations.js"
import { recordAct } from "../migrate/OperatorAudit.js"
import { openMigrationSession, type Session } from "../migrate/Session.js"
import { type SecretColumns, SecretsRefused, WebhookSecrets } from "./WebhookSecrets.js"

/** The number of webhooks that one statement reads or writes. */
const AT_ONCE = 500

/** The maximum number of passes over the table. Secrets that a node changes after the last pass are left for the next run. */
const MAX_PASSES = 10

const TIMEOUTS = { statement_timeout_ms: 10_000 }

const PAGE = `select /* workshop read secrets */ shop_id, secret, previous_secret from webhook
  where shop_id > $1 order by shop_id limit ${AT_ONCE}`

const FIRST = "00000000-0000-0000-0000-000000000000"

/** Replaces the secrets of rows that have not changed since they were read. */
const REPLACE = `update /* workshop replace secrets */ webhook w set secret = q.secret, previous_secret = q.previous_secret
  from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[]) q (shop_id, secret, previous_secret, was, previous_was)
  where w.shop_id = q.shop_id and w.secret = q.was and w.previous_secret is not distinct from q.previous_was
  returning w.shop_id`

/** The options of resealing: the keys, the cells, and whether secrets are stored unencrypted. */
export interface ResealingOptions extends CellOptions {
  /** The keys of the store: the first encrypts, all decrypt. */
  readonly secretsKeys: ReadonlyArray<string>
  /** If true, secrets are stored unencrypted, for a program without keys. */
  readonly inClear?: boolean
}

/** The result of resealing. */
export interface ResealResult {
  /** The id of the key that now encrypts; null if secrets are stored unencrypted. */
  readonly key_id: string | null
  /** The number of webhooks that were rewritten. */
  readonly changed: number
}

type Target = (row: SecretColumns) => Either.Either<SecretColumns, SecretsRefused>

/** Reseals all rows once. Each statement is a separate transaction, so an interruption loses no secret. */
const runPass = (session: Session, target: Target) =>
  Effect.gen(function* () {
    let [changed, missed] = [0, 0]
    for (let after = FIRST; ; ) {
      const rows = yield* session.run<SecretColumns>(PAGE, [after])
      const pairs = (yield* Effect.forEach(rows, (was) => Effect.map(target(was), (now) => ({ was, now })))).filter(
        ({ was, now }) => was.secret !== now.secret || was.previous_secret !== now.previous_secret
      )
      if (pairs.length > 0) {
        const replaced = yield* session.run(REPLACE, [
          pairs.map(({ was }) => was.shop_id),
          pairs.map(({ now }) => now.secret),
          pairs.map(({ now }) => now.previous_secret),
          pairs.map(({ was }) => was.secret),
          pairs.map(({ was }) => was.previous_secret)
        ])
        changed += replaced.length
        missed += pairs.length - replaced.length
      }
      if (rows.length < AT_ONCE) return { changed, missed }
      after = rows.at(-1)!.shop_id
    }
  })

const refusal = new SecretsRefused({
  reason: "invalid_key",
  what: "workshop secrets reseal needs a key. Create a key with openssl rand -base64 32, and set WORKSHOP_SECRETS_KEY to it"
})

/** Runs all passes over a cell's table, and returns the number of rewritten webhooks. */
const runPasses = (session: Session, target: Target) =>
  Effect.gen(function* () {
    let changed = 0
    for (let n = 0; n < MAX_PASSES; n++) {
      const done = yield* runPass(session, target)
      changed += done.changed
      if (done.missed === 0) break
    }
    return changed
  })

/**
 * Encrypts the webhook secrets of all cells, including unencrypted ones, with the first key, or stores all of them
 * unencrypted. It can run while the service runs, be interrupted and be repeated. Fails if no key decrypts a secret,
 * and does not change that secret. The audit log of the home cell has an entry for it.
 */
export const reseal = (url: string, options: ResealingOptions) =>
  Effect.gen(function* () {
    const { secretsKeys, inClear = false, ...cellOptions } = options
    const secrets = yield* WebhookSecrets.of(secretsKeys)
    const [first] = secrets.keyIds
    if (first === undefined) return yield* refusal
    // Connects to all cells before it changes anything in one of them.
    const { locations, confirm } = yield* checkGivenCells(url, cellOptions)
    const sessions = yield* Effect.forEach(locations, (location) =>
      Effect.zipRight(
        confirm(location),
        Effect.mapError(
          openMigrationSession(location.url, { ...TIMEOUTS, schema: location.schema }),
          cellFailure(location)
        )
      )
    )
    const key_id = inClear ? null : first
    const target: Target = (row) => Either.map(secrets.open(row), (open) => (inClear ? open : secrets.seal(open)))
    const counts = yield* Effect.forEach(sessions, (session) => runPasses(session, target))
    yield* recordAct(sessions[0]!, "database.secrets_resealed", { key_id })
    const result: ResealResult = { key_id, changed: counts.reduce((sum, changed) => sum + changed, 0) }
    return result
  }).pipe(Effect.scoped)
