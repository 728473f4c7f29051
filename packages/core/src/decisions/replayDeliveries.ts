import { Either } from "effect"
import {
  type DeliveryRecord,
  presentSchedule,
  type Replayable,
  type ReplayFilter,
  type ReplayRecord
} from "../domain/Delivery.js"
import type { ShopId } from "../domain/Identifier.js"
import { Limits } from "../domain/Limits.js"
import type { ShopMoment } from "../domain/Moment.js"
import { type Webhook, WebhookNotSet } from "../domain/Webhook.js"
import { toUnchangedDecision } from "./ChangeSet.js"
import { type Command, makeCommand } from "./Command.js"
import * as Load from "./Load.js"
import type { Change } from "./ShopState.js"

/** Begins a replay of events that were raised by now (Specification, Sandbox). */
export const startReplay = (shop_id: ShopId, filter: ReplayFilter): Command<ReplayRecord, WebhookNotSet> =>
  makeCommand(shop_id, {}, (loaded, changes, moment) => {
    if (loaded.webhook === null) return Either.left(new WebhookNotSet())
    const until_seq = loaded.head.event_seq
    const row: ReplayRecord = {
      shop_id,
      id: changes.newId(),
      filter,
      after_seq: 0,
      until_seq,
      is_done: false,
      created_at: moment.recorded_at
    }
    return changes.add({ _tag: "ReplayPut", row }).toDecision(row)
  })

/** The new delivery of an event that had arrived or was given up: it is queued behind all live ones (Specification, Webhooks). */
const makeRequeuedDelivery = (
  shop_id: ShopId,
  { event, attempts_made }: Replayable,
  { generation }: Webhook,
  { now, recorded_at }: ShopMoment
): DeliveryRecord => ({
  shop_id,
  event_id: event.id,
  type: event.type,
  ticket_id: event.ticket_id,
  seq: event.seq,
  attempts_made,
  attempts_since_reset: 0,
  due_at: now,
  generation,
  is_replay: true,
  // The token is higher than every token of the deleted row, so that a late record of an old attempt cannot end the
  // replayed delivery.
  token: recorded_at + 2 * attempts_made + 1
})

/**
 * The change that a replay makes to an event's delivery. If the receiver never acknowledged the event, its delivery
 * stays live and is due from the time when the event was raised, so it precedes the ticket's later events. If the
 * delivery is in flight, the attempt continues, and its failure counts as the first of the new attempts. If the
 * delivery has all its attempts left, nothing changes.
 */
const replayChangeOf = (
  shop_id: ShopId,
  replayable: Replayable,
  webhook: Webhook,
  moment: ShopMoment
): Change | null => {
  const { event, delivery, is_in_flight } = replayable
  if (delivery === undefined)
    return { _tag: "DeliveryPut", row: makeRequeuedDelivery(shop_id, replayable, webhook, moment) }
  if (presentSchedule(delivery, webhook).attempts_since_reset === 0) return null
  if (is_in_flight) return { _tag: "DeliveryRenewed", row: { ...delivery, attempts_since_reset: 0 } }
  const due_at = Math.min(moment.now, event.created_at)
  const { generation } = webhook
  return {
    _tag: "DeliveryPut",
    row: { ...delivery, attempts_since_reset: 0, due_at, generation, token: delivery.token + 1 }
  }
}

/** The result of a replay's step. */
export interface ReplayStep {
  /** How many events the step selected. */
  readonly selected_count: number
  readonly is_done: boolean
}

/**
 * Advances a replay by one step: reads the next thousand events and makes the selected ones due again, with all
 * attempts.
 */
export const advanceReplay = (shop_id: ShopId, id: string): Command<ReplayStep> =>
  makeCommand(shop_id, { replay: Load.replay(id, Limits.replay_step_events) }, (loaded, changes, moment) => {
    const { replay, webhook } = loaded
    if (replay === null || replay.record.is_done)
      return toUnchangedDecision<ReplayStep>({ selected_count: 0, is_done: true })
    const { record, next } = replay
    if (webhook === null) {
      // The webhook was removed meanwhile, so nothing is sent, even if another URL is set later.
      changes.add({ _tag: "ReplayPut", row: { ...record, is_done: true } })
      return changes.toDecision<ReplayStep>({ selected_count: 0, is_done: true })
    }
    for (const event of next.events) {
      const change = replayChangeOf(shop_id, event, webhook, moment)
      if (change !== null) changes.add(change)
    }
    const after_seq = Math.max(record.after_seq, next.last_seq)
    const is_done = after_seq >= record.until_seq - 1
    changes.add({ _tag: "ReplayPut", row: { ...record, after_seq, is_done } })
    return changes.toDecision<ReplayStep>({ selected_count: next.events.length, is_done })
  })
