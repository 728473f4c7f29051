import { Context, type Effect } from "effect"
import type { ShopId, TicketId } from "../domain/Identifier.js"
import type { Instant } from "../domain/Instant.js"
import type { StoreUnavailable } from "./Store.js"

/** A ticket whose automatic closure awaits it. */
export interface DueClosure {
  readonly shop_id: ShopId
  readonly id: TicketId
  readonly due_at: Instant
}

/**
 * Which tickets await their automatic closure (Specification, States). An entry is only a hint to look: whether a ticket is
 * closed is decided by its command, so two processes that find the same entry close it once.
 */
export class Closures extends Context.Tag("@workshop/core/Closures")<
  Closures,
  {
    /** At most `limit` tickets due at `until` or before, earliest first. */
    readonly due: (until: Instant, limit: number) => Effect.Effect<ReadonlyArray<DueClosure>, StoreUnavailable>
  }
>() {}
