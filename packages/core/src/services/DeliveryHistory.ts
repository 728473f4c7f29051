import { Effect, Schema } from "effect"
import { startReplay } from "../decisions/replayDeliveries.js"
import { EventId, type ShopId } from "../domain/Identifier.js"
import { DateOrDateTimeText } from "../domain/Instant.js"
import { Limits, ServiceLimits } from "../domain/Limits.js"
import { refuseUnknownFields } from "../domain/Text.js"
import { WebhookNotSet } from "../domain/Webhook.js"
import { DeliveryLog, Store } from "../ports/StorePorts.js"
import { makeAuditedCommandRunner } from "./CommandRunner.js"
import { Shops } from "./Shops.js"

const { list_max, list_default } = ServiceLimits

const OptionalCount = (max: number) => Schema.optionalWith(Schema.Int.pipe(Schema.between(1, max)), { exact: true })

/**
 * A part of a shop's events or deliveries: the latest ones before the event whose `seq` is `before`, at most `limit` (1,000 by default, at
 * most 10,000).
 */
export const OwnerPage = Schema.Struct({
  before: OptionalCount(Number.MAX_SAFE_INTEGER),
  limit: OptionalCount(list_max)
}).annotations(refuseUnknownFields)
/** The position and the size of a page, which {@link OwnerPage} has checked. */
export type OwnerPage = typeof OwnerPage.Type

/** The part in the form of the store's methods. */
export const eventRangeOf = ({ before, limit = list_default }: OwnerPage) => ({
  before,
  limit: Math.min(limit, list_max)
})

// Unlike `Optional`, this removes `null` when it decodes, because the decoded filter is passed to the store.
const optionalOrNull = <A, I>(schema: Schema.Schema<A, I>) =>
  Schema.optionalWith(schema, { exact: true, nullable: true })

const { replay_named_events } = Limits

/** The events to send again: the named ones, or those of a period or state; `dry_run` only counts them (Specification, Sandbox). */
export const ReplayInput = Schema.Struct({
  event_ids: optionalOrNull(
    Schema.NonEmptyArray(EventId).pipe(
      Schema.maxItems(replay_named_events, { message: () => `must have at most ${replay_named_events} event ids` })
    )
  ),
  since: optionalOrNull(DateOrDateTimeText),
  until: optionalOrNull(DateOrDateTimeText),
  state: optionalOrNull(Schema.Literal("pending", "delivered", "parked", "dead")),
  dry_run: optionalOrNull(Schema.Boolean)
})
  .pipe(
    Schema.filter(
      ({ event_ids, since, until, state }) =>
        event_ids === undefined || (since ?? until ?? state) === undefined
          ? true
          : { path: ["event_ids"], message: "cannot be combined with since, until or state" },
      { jsonSchema: {} }
    ),
    Schema.brand("ReplayInput")
  )
  .annotations({ identifier: "ReplayInput", ...refuseUnknownFields })
/** The events to send again, which {@link ReplayInput} has checked. Instants are in milliseconds since 1970. */
export type ReplayInput = typeof ReplayInput.Type

/** The deliveries of a shop's events and their replay, for the shop's owner (Specification, Webhooks; Sandbox). */
export class DeliveryHistory extends Effect.Service<DeliveryHistory>()("@workshop/core/DeliveryHistory", {
  accessors: true,
  effect: Effect.gen(function* () {
    const run = makeAuditedCommandRunner(yield* Store)
    const log = yield* DeliveryLog
    const shops = yield* Shops
    return {
      /** The latest deliveries, in the order of their events. For earlier ones, pass the `seq` of the first one as `before`. */
      list: (shop_id: ShopId, page: OwnerPage = {}) =>
        Effect.zipRight(shops.byId(shop_id), log.deliveries(shop_id, eventRangeOf(page))),
      /** The notices to the owner about the webhook, oldest first. */
      notices: (shop_id: ShopId) => Effect.zipRight(shops.byId(shop_id), log.notices(shop_id)),
      /** Sends events again, with the same ids, after all deliveries that are due now. Returns `{ count }`, the number of events; with `dry_run` it sends none. */
      replay: Effect.fnUntraced(function* replay(shop_id: ShopId, { dry_run = false, ...filter }: ReplayInput) {
        if ((yield* shops.byId(shop_id)).webhook === null) return yield* new WebhookNotSet()
        const count = yield* log.count(shop_id, filter)
        const { event_ids, ...range } = filter
        const details = event_ids === undefined ? range : { named: event_ids.length }
        if (!dry_run) yield* run(startReplay(shop_id, filter), () => ({ act: "deliveries.replayed", details }))
        return { count }
      })
    }
  })
}) {}
