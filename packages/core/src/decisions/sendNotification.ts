import { nextAttempt } from "../domain/Delivery.js"
import { MOST_ATTEMPTS, ServiceLimits } from "../domain/Limits.js"
import { isStillTrue, type MessageRecord, type NotificationRecord } from "../domain/Notification.js"
import { type ChangeSet, unchanged } from "./ChangeSet.js"
import { type Command, makeCommand } from "./Command.js"
import * as Load from "./Load.js"

/** A message, and the number of the attempt. */
export type NotificationAttempt = Pick<MessageRecord, "shop_id" | "id" | "attempts_made">

type Begun = "begun" | "given_up" | "outdated" | "superseded"

/**
 * Whether to send a message now; `superseded` if another process has begun or sent it, and `outdated` if it notifies a client of a state
 * that the ticket has left, such as by a reopening. The command delays the next attempt beforehand, as after a failure: so no other process
 * begins meanwhile, and a message that crashes its process is not tried forever.
 */
export const beginNotification = (
  { shop_id, id, attempts_made }: NotificationAttempt,
  news: Pick<NotificationRecord, "ticket_id" | "type"> | null = null
): Command<Begun> =>
  makeCommand(
    shop_id,
    { message: Load.message(id, attempts_made), ticket: Load.ticketRecord(news?.ticket_id ?? null) },
    ({ message, ticket }, changes, moment) => {
      if (message === null) return unchanged<Begun>("superseded")
      if (attempts_made >= MOST_ATTEMPTS) return removed(changes, message).decidedWithoutHead<Begun>("given_up")
      if (news !== null && ticket !== null && !isStillTrue(news, ticket.state))
        return removed(changes, message).decidedWithoutHead<Begun>("outdated")
      const due_at =
        nextAttempt(attempts_made + 1, moment.now, 0) ?? moment.now + ServiceLimits.notification_last_look_ms
      changes.add({ _tag: "MessagePut", row: { ...message, attempts_made: attempts_made + 1, due_at } })
      return changes.decidedWithoutHead<Begun>("begun")
    }
  )

/** Removes a message that nobody sends. Returns whether it still waited. */
export const discardNotification = ({ shop_id, id, attempts_made }: NotificationAttempt): Command<boolean> =>
  makeCommand(shop_id, { message: Load.message(id, attempts_made) }, ({ message }, changes) =>
    message === null ? unchanged(false) : removed(changes, message).decidedWithoutHead(true)
  )

/** Makes a message due now that a clock which was ahead had delayed. */
export const retryNotificationNow = ({ shop_id, id, attempts_made }: NotificationAttempt): Command<void> =>
  makeCommand(shop_id, { message: Load.message(id, attempts_made) }, (loaded, changes, moment) => {
    const { message } = loaded
    if (message === null || message.due_at <= moment.now) return unchanged<void>(undefined)
    const row = { ...message, due_at: moment.now }
    return changes.add({ _tag: "MessagePut", row }).decidedWithoutHead<void>(undefined)
  })

/** Records the end of an attempt: the message was delivered, is retried by the retry table, or is given up. */
export const recordNotification = (
  { shop_id, id, attempts_made }: NotificationAttempt,
  isDelivered: boolean
): Command<"sent" | "retry" | "given_up" | "superseded"> =>
  makeCommand(shop_id, { message: Load.message(id, attempts_made) }, (loaded, changes, moment) => {
    const { message } = loaded
    if (message === null) return unchanged<"sent" | "retry" | "given_up" | "superseded">("superseded")
    if (isDelivered) return removed(changes, message).decidedWithoutHead("sent" as const)
    const due_at = nextAttempt(attempts_made, moment.now, 0)
    if (due_at === null) return removed(changes, message).decidedWithoutHead("given_up" as const)
    changes.add({ _tag: "MessagePut", row: { ...message, due_at } })
    return changes.decidedWithoutHead("retry" as const)
  })

const removed = (changes: ChangeSet, { shop_id, id }: MessageRecord): ChangeSet =>
  changes.add({ _tag: "MessageRemoved", row: { shop_id, id } })
