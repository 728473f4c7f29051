import { Context, type Effect } from "effect"
import type { AuditEntry } from "../domain/AuditEntry.js"
import type { ShopId } from "../domain/Identifier.js"
import type { StoreUnavailable } from "./Store.js"

/**
 * What owners and operators did. Entries of acts on a shop are written by their commands; no method changes or removes
 * one, and a store keeps them for good.
 */
export class AuditLog extends Context.Tag("@workshop/core/AuditLog")<
  AuditLog,
  {
    /** Adds the entry of an act that no command of a shop does. */
    readonly append: (entry: AuditEntry) => Effect.Effect<void, StoreUnavailable>
    /** At most `limit` entries, the latest first: of one shop, or all for null; those before the entry `before`. */
    readonly list: (
      shop_id: ShopId | null,
      before: string | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<AuditEntry>, StoreUnavailable>
  }
>() {}
