import { Context, type Effect, type Scope } from "effect"
import type { StoreUnavailable } from "./StorePorts.js"

/** Removes rows that have had their time. */
export interface Tidier {
  /** Removes what is due, a batch of each table. */
  readonly runOnce: Effect.Effect<void, StoreUnavailable>
  /** Removes now and then, until interrupted. */
  readonly run: Effect.Effect<never>
}

/**
 * How a store removes rows that have had their time: idempotency records, ended windows of limits, and events after `keepEvents_ms`, or
 * else the store's own time. Null in a store that needs no tidying.
 */
export class Tidying extends Context.Reference<Tidying>()("@workshop/core/Tidying", {
  defaultValue: (): ((keepEvents_ms?: number) => Effect.Effect<Tidier, never, Scope.Scope>) | null => null
}) {}
