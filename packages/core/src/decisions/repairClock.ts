import { Either } from "effect"
import type { ShopId, TicketId } from "../domain/Identifier.js"
import type { Instant } from "../domain/Instant.js"
import { Limits } from "../domain/Limits.js"
import { IDENTIFIERS_PER_MS } from "../domain/Moment.js"
import type { ShopHead } from "../domain/Shop.js"
import type { TicketNotFound, TicketRecord } from "../domain/Ticket.js"
import { closureMoves } from "../domain/TicketLifecycle.js"
import type { Webhook } from "../domain/Webhook.js"
import { toUnchangedDecision } from "./ChangeSet.js"
import { type Command, makeCommand } from "./Command.js"
import * as Load from "./Load.js"
import type { Change } from "./ShopState.js"

/**
 * The maximum count of identifiers, because a number above 2^53 cannot be increased by 1. A shop 34 years ahead would
 * exceed it.
 */
const MAX_IDENTIFIER_COUNT = 2 ** 52

/**
 * Treats the webhook as turned on now: all waiting deliveries are due at once, including those that the wrong clock
 * delayed by weeks.
 */
const releaseWebhook = (webhook: Webhook, now: Instant): Webhook => ({
  ...webhook,
  generation: webhook.generation + 1,
  enabled_at: now,
  previous_until: webhook.previous_until && Math.min(webhook.previous_until, now + Limits.secret_overlap_ms),
  first_failure_at: webhook.first_failure_at && Math.min(webhook.first_failure_at, now)
})

/** The head at an earlier instant. Identifiers continue after the last one, so that tickets keep their order of creation. */
const setBackHead = (head: ShopHead, now: Instant): ShopHead => {
  const id_counter = head.id_counter + (head.last_recorded_at - now) * IDENTIFIERS_PER_MS
  return { ...head, last_recorded_at: now, id_counter: Math.min(id_counter, MAX_IDENTIFIER_COUNT) }
}

/**
 * Sets a shop whose clock was ahead back to the current time, so that its next changes get the current clock's instants
 * again. Returns the shop's previous instant; null if the shop was not ahead. This is the only command that may set a
 * shop's time back: its tickets must be redated directly afterwards, see {@link redateTicket}.
 */
export const repairClock = (shop_id: ShopId): Command<Instant | null> =>
  makeCommand(shop_id, {}, ({ head, webhook }, _changes, { now }) => {
    if (head.last_recorded_at <= now) return toUnchangedDecision<Instant | null>(null)
    const changes: Array<Change> = [{ _tag: "HeadPut", row: setBackHead(head, now) }]
    if (webhook !== null) changes.push({ _tag: "WebhookPut", row: releaseWebhook(webhook, now) })
    return Either.right({ result: head.last_recorded_at, changes, limitStatuses: [] })
  })

/** The fields of a ticket before it was closed too early; empty if it was not closed too early. */
const undoClosure = ({ state, abandoned_at, abandon_reason }: TicketRecord, now: Instant): Partial<TicketRecord> => {
  const move = closureMoves.find(({ reason }) => reason === abandon_reason)
  return state === "abandoned" && abandoned_at !== null && abandoned_at > now && move !== undefined
    ? { state: move.from, abandoned_at: null, abandon_reason: null }
    : {}
}

/**
 * Redates a ticket that has future instants: afterwards none of its instants is later than the current time. If the
 * ticket was closed too early, it is reopened, with the event `ticket.reopened`. Returns whether the ticket had future
 * instants.
 */
export const redateTicket = (shop_id: ShopId, id: TicketId): Command<boolean, TicketNotFound> =>
  makeCommand(shop_id, { ticket: Load.ticket(id) }, (loaded, changes, moment) => {
    const { record, linked } = loaded.ticket
    const { now, recorded_at } = moment
    if (record.updated_at <= now) return toUnchangedDecision(false)
    const notAfterNow = (instant: Instant | null) => instant && Math.min(instant, now)
    const { quote, delay, part } = record
    const redated: TicketRecord = {
      ...record,
      ...undoClosure(record, now),
      created_at: Math.min(record.created_at, recorded_at),
      ready_at: notAfterNow(record.ready_at),
      collected_at: notAfterNow(record.collected_at),
      notified_at: notAfterNow(record.notified_at),
      shop_changed_at: Math.min(record.shop_changed_at, now),
      quote: quote && {
        ...quote,
        proposed_at: Math.min(quote.proposed_at, now),
        answered_at: notAfterNow(quote.answered_at)
      },
      delay: delay && { ...delay, announced_at: Math.min(delay.announced_at, now) },
      part: part && { ...part, ordered_at: Math.min(part.ordered_at, now), received_at: notAfterNow(part.received_at) },
      history: (record.history ?? []).map((change) => ({ ...change, at: Math.min(change.at, now) }))
    }
    const ticket = changes.putTicket(redated, linked?.client ?? null)
    if (redated.state !== record.state) changes.raiseEvent("ticket.reopened", { ticket, from: record.state }, id)
    return changes.toDecision(true)
  })
