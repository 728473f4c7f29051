import { Context, type Effect, type Scope } from "effect"
import type { StoreUnavailable } from "./StorePorts.js"

/** Removes the rows of a store that it no longer needs. */
export interface RetentionWorker {
  /** Removes the rows that expired by now, a batch of each table. */
  readonly runOnce: Effect.Effect<void, StoreUnavailable>
  /** Removes expired rows every few minutes, until interrupted. */
  readonly run: Effect.Effect<never>
}

/**
 * Makes the worker that removes a store's expired rows: idempotency records, ended windows of limits, and events that are older than
 * `keepEventsMs`, by default the store's own time. Null for a store without such rows.
 */
export class StoreRetention extends Context.Reference<StoreRetention>()("@workshop/core/StoreRetention", {
  defaultValue: (): ((keepEventsMs?: number) => Effect.Effect<RetentionWorker, never, Scope.Scope>) | null => null
}) {}
