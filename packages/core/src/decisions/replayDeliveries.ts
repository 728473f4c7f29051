import { Either } from "effect"
import { type DeliveryRecord, standing } from "../domain/Delivery.js"
import type { ShopId } from "../domain/Identifier.js"
import type { Instant } from "../domain/Instant.js"
import { Limits } from "../domain/Limits.js"
import type { Replayable, ReplayFilter, ReplayRecord } from "../domain/Replay.js"
import { type Webhook, WebhookNotSet } from "../domain/Webhook.js"
import { ChangeSet, unchanged } from "./ChangeSet.js"
import { type Command, make } from "./Command.js"
import * as Need from "./Need.js"

/** Begins to send events again, as far as they were raised by now (Specification, Sandbox). */
export const startReplay = (shop_id: ShopId, filter: ReplayFilter): Command<ReplayRecord, WebhookNotSet> =>
  make({
    shop_id,
    needs: {},
    decide: (loaded, moment) => {
      if (loaded.webhook === null) return Either.left(new WebhookNotSet())
      const changes = new ChangeSet(loaded, moment)
      const until_seq = loaded.head.event_seq
      const row: ReplayRecord = {
        shop_id,
        id: changes.id(),
        filter,
        after_seq: 0,
        until_seq,
        is_done: false,
        created_at: moment.now
      }
      return changes.add({ _tag: "ReplayPut", row }).decided(row)
    }
  })

const again = (
  shop_id: ShopId,
  { event, delivery, attempts_made }: Replayable,
  generation: number,
  now: Instant
): DeliveryRecord => ({
  shop_id,
  event_id: event.id,
  type: event.type,
  ticket_id: event.ticket_id,
  seq: event.seq,
  attempts_made,
  attempts_in_round: 0,
  due_at: now,
  generation,
  is_replay: true,
  // Beyond every token given so far, also under a row that is gone: whoever comes late must not end the replayed delivery.
  token: Math.max(delivery?.token ?? 0, now + 2 * attempts_made) + 1
})

/** Whether a delivery is due with all its attempts as it is: to touch it would only cost a live one its place. */
const isUntried = ({ delivery }: Replayable, webhook: Webhook): boolean =>
  delivery !== undefined && standing(delivery, webhook).attempts_in_round === 0

/** What a replay's step came to. */
export interface ReplayStep {
  /** How many events it found to send again. */
  readonly taken_up: number
  readonly is_done: boolean
}

/** Takes a replay's next step: of the next thousand events, makes those due anew that it asks for, with all attempts. */
export const advanceReplay = (shop_id: ShopId, id: string): Command<ReplayStep> =>
  make({
    shop_id,
    needs: { replay: Need.replay(id, Limits.replay_step_events) },
    decide: (loaded, moment) => {
      const { replay, webhook } = loaded
      if (replay === null || replay.record.is_done) return unchanged<ReplayStep>({ taken_up: 0, is_done: true })
      const { record, next } = replay
      const changes = new ChangeSet(loaded, moment)
      if (webhook === null) {
        // Removed meanwhile: there is nowhere to send to, also where another address is set later.
        changes.add({ _tag: "ReplayPut", row: { ...record, is_done: true } })
        return changes.decided<ReplayStep>({ taken_up: 0, is_done: true })
      }
      for (const found of next.found)
        if (!isUntried(found, webhook))
          changes.add({ _tag: "DeliveryPut", row: again(shop_id, found, webhook.generation, moment.now) })
      const after_seq = next.last_seq ?? record.after_seq
      const is_done = next.looked_at < Limits.replay_step_events
      changes.add({ _tag: "ReplayPut", row: { ...record, after_seq, is_done } })
      return changes.decided<ReplayStep>({ taken_up: next.found.length, is_done })
    }
  })
