import { Either } from "effect"
import type { ShopId, TicketId } from "../domain/Identifier.js"
import type { Instant } from "../domain/Instant.js"
import { Limits } from "../domain/Limits.js"
import { IDENTIFIERS_PER_MS } from "../domain/Moment.js"
import type { ShopHead } from "../domain/Shop.js"
import type { TicketNotFound, TicketRecord } from "../domain/Ticket.js"
import { closureMoves } from "../domain/TicketLifecycle.js"
import type { Webhook } from "../domain/Webhook.js"
import { unchanged } from "./ChangeSet.js"
import { type Command, makeCommand } from "./Command.js"
import * as Load from "./Load.js"
import type { Change } from "./ShopState.js"

/** With a clock that was more than 34 years ahead, numbers could no longer be counted one by one. */
const MOST_IDENTIFIERS_MADE = 2 ** 52

/**
 * Treats the webhook as turned on now: everything that waits is due at once, including deliveries that the wrong clock delayed by weeks.
 */
const released = (webhook: Webhook, now: Instant): Webhook => ({
  ...webhook,
  generation: webhook.generation + 1,
  enabled_at: now,
  previous_until: webhook.previous_until && Math.min(webhook.previous_until, now + Limits.secret_overlap_ms),
  first_failure_at: webhook.first_failure_at && Math.min(webhook.first_failure_at, now)
})

/** The head at an earlier instant. Identifiers continue after the last one, so that tickets keep their order of creation. */
const takenBack = (head: ShopHead, now: Instant): ShopHead => {
  const id_counter = head.id_counter + (head.last_recorded_at - now) * IDENTIFIERS_PER_MS
  return { ...head, last_recorded_at: now, id_counter: Math.min(id_counter, MOST_IDENTIFIERS_MADE) }
}

/**
 * Brings a shop that a wrong clock dated ahead back to the present, so that its next changes get the present clock's instants again.
 * Returns the instant at which the shop was; null if it was not ahead. This is the only command that may set a shop's time back: its
 * tickets must be redated right after, see {@link redateTicket}.
 */
export const repairClock = (shop_id: ShopId): Command<Instant | null> =>
  makeCommand(shop_id, {}, ({ head, webhook }, _changes, { now }) => {
    if (head.last_recorded_at <= now) return unchanged<Instant | null>(null)
    const changes: Array<Change> = [{ _tag: "HeadPut", row: takenBack(head, now) }]
    if (webhook !== null) changes.push({ _tag: "WebhookPut", row: released(webhook, now) })
    return Either.right({ result: head.last_recorded_at, changes, limitStatuses: [] })
  })

/** The ticket as it was before it was closed too early; undefined if it was not. */
const reopened = ({ state, abandoned_at, abandon_reason }: TicketRecord, now: Instant): Partial<TicketRecord> => {
  const move = closureMoves.find(({ reason }) => reason === abandon_reason)
  return state === "abandoned" && abandoned_at !== null && abandoned_at > now && move !== undefined
    ? { state: move.from, abandoned_at: null, abandon_reason: null }
    : {}
}

/**
 * Redates a ticket that has future instants: afterwards none of them is later than the present. A closure that came too early is undone,
 * with the event `ticket.reopened`. Returns whether it was such a ticket.
 */
export const redateTicket = (shop_id: ShopId, id: TicketId): Command<boolean, TicketNotFound> =>
  makeCommand(shop_id, { ticket: Load.ticket(id) }, (loaded, changes, moment) => {
    const { record, linked } = loaded.ticket
    const { now, recorded_at } = moment
    if (record.updated_at <= now) return unchanged(false)
    const past = (instant: Instant | null) => instant && Math.min(instant, now)
    const { quote, delay, part } = record
    const redated: TicketRecord = {
      ...record,
      ...reopened(record, now),
      created_at: Math.min(record.created_at, recorded_at),
      ready_at: past(record.ready_at),
      collected_at: past(record.collected_at),
      notified_at: past(record.notified_at),
      shop_changed_at: Math.min(record.shop_changed_at, now),
      quote: quote && {
        ...quote,
        proposed_at: Math.min(quote.proposed_at, now),
        answered_at: past(quote.answered_at)
      },
      delay: delay && { ...delay, announced_at: Math.min(delay.announced_at, now) },
      part: part && { ...part, ordered_at: Math.min(part.ordered_at, now), received_at: past(part.received_at) },
      history: (record.history ?? []).map((change) => ({ ...change, at: Math.min(change.at, now) }))
    }
    const ticket = changes.putTicket(redated, linked?.client ?? null)
    if (redated.state !== record.state) changes.raiseEvent("ticket.reopened", { ticket, from: record.state }, id)
    return changes.decided(true)
  })
