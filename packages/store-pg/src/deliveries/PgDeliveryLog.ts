import { SqlClient } from "@effect/sql/SqlClient"
import type { NoticeRecord, ShopId } from "@workshop/core"
import {
  type AttemptRecord,
  type DeliveryLog,
  type LoggedDelivery,
  presentSchedule,
  type ReplayFilter,
  ServiceLimits,
  type Webhook
} from "@workshop/core/store"
import { type Context, Effect } from "effect"
import { runRead } from "../connection/Sql.js"
import { type WithSequence, withoutSequence } from "../Tables.js"
import {
  type EventWithDelivery,
  eventRangeOf,
  IS_ACKNOWLEDGED,
  latestOfShop,
  type ReadRange,
  rangeOfShop,
  stateOf
} from "./ReplayStatements.js"

/** The number of events that one statement reads. */
const PAGE = 5_000

interface EventWithAttempts {
  readonly event: EventWithDelivery
  readonly attempts: ReadonlyArray<AttemptRecord> | null
}

const loggedDeliveries =
  (webhook: Webhook | null) =>
  ({ event, attempts }: EventWithAttempts): ReadonlyArray<LoggedDelivery> => {
    const state = stateOf(event, webhook)
    if (state === undefined || webhook === null) return []
    const { id, seq, type, delivery } = event
    const next_attempt_at = state === "pending" && delivery !== null ? presentSchedule(delivery, webhook).due_at : null
    return [{ event_id: id, seq, type, state, next_attempt_at, attempts: attempts ?? [] }]
  }

/** The delivery log that a shop's owner can read. */
export const pgDeliveryLog = Effect.map(SqlClient, (sql): Context.Tag.Service<DeliveryLog> => {
  const webhookOf = (shop_id: ShopId) =>
    sql<{
      readonly webhook: Webhook
    }>`select /* workshop read webhook */ row_to_json(w) as webhook from workshop.webhook w where w.shop_id = ${shop_id}`.pipe(
      Effect.map(([row]) => row?.webhook ?? null)
    )
  const readRange = (shop_id: ShopId, after: number, filter: ReplayFilter) =>
    sql.unsafe<{ readonly range: ReadRange }>(rangeOfShop, [shop_id, after, JSON.stringify(filter), PAGE])
  const readLatest = (shop_id: ShopId, before: number, limit: number) =>
    sql.unsafe<{ readonly event: EventWithDelivery }>(
      `select /* workshop read deliveries */ row_to_json(c) as event from (${latestOfShop}) c`,
      [shop_id, before, limit]
    )

  return {
    deliveries: (shop_id, { before = Number.MAX_SAFE_INTEGER, limit = ServiceLimits.list_max } = {}) =>
      Effect.gen(function* () {
        const webhook = yield* webhookOf(shop_id)
        const deliveries: Array<LoggedDelivery> = []
        const max = Math.min(PAGE, limit)
        for (let end = before; ; ) {
          const page = yield* readLatest(shop_id, end, max)
          const attempts = yield* sql<{ readonly attempts: ReadonlyArray<AttemptRecord>; readonly event_id: string }>`
            select /* workshop read attempts */ a.event_id, json_agg(a.attempt order by a.n, a.is_ok, a.started_at) as attempts from (
              select a.event_id, a.n, ${sql.literal(IS_ACKNOWLEDGED)} as is_ok, a.started_at, row_to_json(a) as attempt
              from unnest(${page.map(({ event }) => event.id)}::uuid[]) q (event_id) cross join lateral (
                select * from workshop.attempt a where a.shop_id = ${shop_id} and a.event_id = q.event_id
                order by a.n desc, a.started_at desc limit ${ServiceLimits.attempts_read_max}
              ) a
            ) a group by a.event_id`
          const ofEvent = new Map(attempts.map((row) => [row.event_id, row.attempts]))
          for (const { event } of page)
            deliveries.push(...loggedDeliveries(webhook)({ event, attempts: ofEvent.get(event.id) ?? null }))
          if (webhook === null || page.length < max || deliveries.length >= limit)
            return deliveries.slice(0, limit).reverse()
          end = page.at(-1)!.event.seq
        }
      }).pipe(runRead),
    count: (shop_id, filter) =>
      Effect.gen(function* () {
        const webhook = yield* webhookOf(shop_id)
        let count = 0
        for (let after = 0; ; ) {
          const [rangeRow] = yield* readRange(shop_id, after, filter)
          if (rangeRow === undefined) return count
          const { events, last_seq } = eventRangeOf(filter, rangeRow.range, webhook)
          count += events.length
          after = last_seq
        }
      }).pipe(runRead),
    notices: (shop_id) =>
      sql<{
        readonly notice: WithSequence<NoticeRecord>
      }>`select /* workshop read notices */ row_to_json(n) as notice from workshop.notice n
        where n.shop_id = ${shop_id} order by n.created_at desc, n.insert_order desc limit ${ServiceLimits.list_max}`.pipe(
        Effect.map((rows) => rows.map(({ notice }) => withoutSequence<NoticeRecord>(notice)).reverse()),
        runRead
      )
  }
})
