import { Context, type Effect } from "effect"
import type { Instant } from "../domain/Instant.js"
import type { LimitUse } from "../domain/LimitUse.js"
import type { LimitReached, LimitStatus } from "../domain/LimitWindow.js"
import type { StoreUnavailable } from "./Store.js"

/** The counts behind request, write, look-up and unauthenticated limits, shared by all processes of one service (Specification, Limits). */
export class RateLimits extends Context.Tag("@workshop/core/RateLimits")<
  RateLimits,
  {
    /** Takes one use of every policy, or of none: then those refuse that have none left. Concurrent takes never overdraw. */
    readonly take: (
      takes: ReadonlyArray<LimitUse>,
      now: Instant
    ) => Effect.Effect<ReadonlyArray<LimitStatus>, LimitReached | StoreUnavailable>
    /** Returns uses that a take answered with `taken`, where their windows are still open: for answers that the contract does not count. */
    readonly giveBack: (
      takes: ReadonlyArray<LimitUse>,
      taken: ReadonlyArray<LimitStatus>
    ) => Effect.Effect<void, StoreUnavailable>
    /** What a take would find, without taking. */
    readonly look: (take: LimitUse, now: Instant) => Effect.Effect<LimitStatus, StoreUnavailable>
  }
>() {}
