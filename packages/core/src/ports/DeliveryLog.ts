import { Context, type Effect } from "effect"
import type { AttemptRecord, DeliveryState } from "../domain/Delivery.js"
import type { EventType } from "../domain/EventType.js"
import type { EventId, ShopId } from "../domain/Identifier.js"
import type { Instant } from "../domain/Instant.js"
import type { NoticeRecord } from "../domain/Notice.js"
import type { ReplayFilter } from "../domain/Replay.js"
import type { EventPart } from "./Reads.js"
import type { StoreUnavailable } from "./Store.js"

/** What became of an event on its way to the shop's webhook. */
export interface LoggedDelivery {
  readonly event_id: EventId
  /** The place of the event among those of its shop. */
  readonly seq: number
  readonly type: EventType
  readonly state: DeliveryState
  /** Null where no attempt is to come, or none while the webhook is off. */
  readonly next_attempt_at: Instant | null
  readonly attempts: ReadonlyArray<AttemptRecord>
}

/** What a shop's owner may look up of deliveries (Specification, Sandbox). */
export class DeliveryLog extends Context.Tag("@workshop/core/DeliveryLog")<
  DeliveryLog,
  {
    /** The latest deliveries of a part, at most its limit, in the order of the events; events raised without a webhook have none. */
    readonly deliveries: (
      shop_id: ShopId,
      part?: EventPart
    ) => Effect.Effect<ReadonlyArray<LoggedDelivery>, StoreUnavailable>
    /** How many events a replay with this filter would send again now. */
    readonly count: (shop_id: ShopId, filter: ReplayFilter) => Effect.Effect<number, StoreUnavailable>
    /** What the owner was told, the latest `ServiceLimits.list_max`, oldest first. */
    readonly notices: (shop_id: ShopId) => Effect.Effect<ReadonlyArray<NoticeRecord>, StoreUnavailable>
  }
>() {}
