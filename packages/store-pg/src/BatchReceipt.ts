import { readClock } from "@workshop/core/store"
import { Effect } from "effect"
import { PgFailure } from "./PgFailure.js"
import type { ReconnectingConnection } from "./ReconnectingConnection.js"
import type { Statement } from "./Statement.js"

/** A batch, by which its outcome can be asked for. */
export interface BatchReceipt {
  /** The id of the connection that runs it. */
  readonly connection: string
  /** Larger with each batch of the connection, by {@link BATCH_STEP}. */
  readonly batch: number
  /** When it was written. */
  readonly saved_at: number
}

/** Between two batches is a number that says that the first of them never happened. */
export const BATCH_STEP = 2

/** What became of a batch whose answer was lost. */
export type BatchOutcome = "committed" | "aborted" | "unknown"

/** Writes a batch's receipt in the batch's own transaction. Divides by zero, and so ends it, where the batch was given up meanwhile. */
export const writing = ({ connection, batch, saved_at }: BatchReceipt): Statement => ({
  name: "put batch_receipt",
  text: `insert into batch_receipt (connection, batch, saved_at) values ($1, $2, $3)
    on conflict (connection) do update set saved_at = excluded.saved_at,
      batch = excluded.batch / (batch_receipt.batch < excluded.batch)::integer`,
  values: [connection, batch, saved_at]
})

/**
 * Answers the batch's number where it was committed. Else it answers the next one, and writes it, so that the batch cannot be
 * committed later either. It waits for a transaction that is still open, and, as it writes, for a synchronous standby: what
 * it answers is there too.
 */
export const asking = ({ connection, batch, saved_at }: BatchReceipt): Statement => ({
  name: "ask batch_receipt",
  text: `insert into batch_receipt (connection, batch, saved_at) values ($1, $2::bigint + 1, $3)
    on conflict (connection) do update set saved_at = excluded.saved_at,
      batch = case when batch_receipt.batch = $2 then $2 else excluded.batch end
    returning batch::double precision as batch`,
  values: [connection, batch, saved_at]
})

/** How long it is asked, in real time, where the transaction is still open or the database is away: longer than such a one lives, with the time for which an answer was waited. */
const PATIENCE_MS = 1_500

const AGAIN = "50 millis"

const late = new PgFailure({ kind: "late", code: null, constraint: null, cause: new Error("No outcome in time") })

const asked = (link: ReconnectingConnection, receipt: BatchReceipt) =>
  Effect.flatMap(link.connection, (connection) => connection.send([asking(receipt)])).pipe(
    Effect.interruptible,
    Effect.timeoutFail({ duration: PATIENCE_MS, onTimeout: () => late }),
    Effect.tapError(link.undo),
    Effect.map(([answer]): BatchOutcome => (answer!.rows[0]!.batch === receipt.batch ? "committed" : "aborted")),
    Effect.catchAll(() => Effect.succeed(undefined))
  )

/** Asks the database, on a new connection, what became of a batch. */
export const outcomeOf = (link: ReconnectingConnection, receipt: BatchReceipt): Effect.Effect<BatchOutcome> =>
  readClock((clock) => {
    const since = clock.unsafeCurrentTimeNanos()
    const isOver = () => clock.unsafeCurrentTimeNanos() - since > BigInt(PATIENCE_MS) * 1_000_000n
    const ask: Effect.Effect<BatchOutcome> = Effect.flatMap(asked(link, receipt), (found) => {
      if (found !== undefined) return Effect.succeed(found)
      return isOver() ? Effect.succeed("unknown" as const) : Effect.zipRight(Effect.sleep(AGAIN), ask)
    })
    return ask
  })
