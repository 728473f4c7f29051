import { Clock, Effect, Layer, type Scope } from "effect"
import { clockGuard } from "../ClockGuard.js"
import type { PgFailure } from "../PgFailure.js"
import { reconnecting } from "../ReconnectingConnection.js"
import { once } from "../Statement.js"
import { isTrue } from "./answers.js"
import { removeExpired } from "./Expiry.js"
import { KEEP_EVENTS_MS, LEAST_KEPT_MS } from "./KeptEvents.js"
import { keepPartitions, type Partitioning } from "./Partitions.js"

/** What is kept, and where. */
export interface RetentionOptions {
  readonly url: string
  /** How long events and their attempts are kept, in milliseconds; 90 days, unless told otherwise, and at least seven. */
  readonly keepEvents_ms?: number
}

/** What one turn did; null where another process has its turn. */
export type RetentionReport = (Partitioning & { readonly expired: number; readonly isMore: boolean }) | null

/** One number for every process of ours that tidies; advisory locks are a database's own. */
const LOCK = 7_305_809

/** How often it is tidied. */
const TURN = "5 minutes"

/** How long a statement may take. Only what is tidied here waits for it. */
const ANSWER_TIMEOUT_MS = 60_000

/** Without partitions ahead the service works, but old rows then leave one by one, which costs much more. */
const sayMissing = (missing: ReadonlyArray<string>) =>
  missing.length === 0
    ? Effect.void
    : Effect.logWarning(
        `These partitions of the months ahead could not be made: ${missing.join(", ")}. Let the service's role execute keep_partition (workshop migrate --roles, see "Database roles" in docs/operating.md), or end the transactions that hold the tables; it is tried again in five minutes.`
      )

/**
 * Removes what has had its time, a little at a time so that nobody waits for it: idempotency records and windows of limits
 * that ended, and events with their attempts after a while, by the month. An event that is still to be delivered stays.
 * Of several processes one does it at a time. Partitions need a role that may execute `keep_partition`; without it rows go one by one.
 */
export const retention = ({
  url,
  keepEvents_ms = KEEP_EVENTS_MS
}: RetentionOptions): Effect.Effect<
  { readonly runOnce: Effect.Effect<RetentionReport, PgFailure> },
  never,
  Scope.Scope
> =>
  Effect.zipWith(
    reconnecting({ url, name: "workshop retention", lock_timeout_ms: 1_000, answer_timeout_ms: ANSWER_TIMEOUT_MS }),
    clockGuard,
    (wire, guard) => ({
      runOnce: Effect.gen(function* () {
        const connection = yield* wire.connection
        const [answer] = yield* connection.send([
          once("lock retention", `select pg_try_advisory_lock(${LOCK}) as is_true`)
        ])
        if (!isTrue(answer)) return null
        // What is removed too early is gone for good.
        yield* guard(connection)
        const now = yield* Clock.currentTimeMillis
        const before = now - Math.max(keepEvents_ms, LEAST_KEPT_MS)
        const ended = yield* removeExpired(connection, now, before)
        const partitioning = yield* keepPartitions(connection, now, before)
        yield* sayMissing(partitioning.missing)
        yield* connection.send([once("unlock retention", `select pg_advisory_unlock(${LOCK})`)])
        return { ...partitioning, ...ended }
        // The lock goes with the connection.
      }).pipe(Effect.onError(() => wire.drop))
    })
  )

/** Tidies now and then again, at once where there is more, as long as the layer lives. A database that is away is tried again. */
export const layer = (options: RetentionOptions): Layer.Layer<never> =>
  Layer.scopedDiscard(
    Effect.flatMap(retention(options), ({ runOnce }) =>
      runOnce.pipe(
        Effect.catchAllCause((cause) =>
          Effect.as(Effect.logWarning("Old rows could not be removed; trying again", cause), null)
        ),
        Effect.flatMap((tidied) => (tidied?.isMore ? Effect.void : Effect.sleep(TURN))),
        Effect.forever,
        Effect.forkScoped
      )
    )
  )
