import { nextAttempt } from "../domain/Delivery.js"
import { MAX_ATTEMPTS, ServiceLimits } from "../domain/Limits.js"
import { isCurrent, type NotificationRecord, type QueuedNotification } from "../domain/Notification.js"
import { type ChangeSet, toUnchangedDecision } from "./ChangeSet.js"
import { type Command, makeCommand } from "./Command.js"
import * as Load from "./Load.js"

/** A notification, and the number of the attempt. */
export type NotificationAttempt = Pick<QueuedNotification, "shop_id" | "id" | "attempts_made">

type BeginResult = "begun" | "given_up" | "outdated" | "superseded"

/**
 * Begins an attempt to notify. The result is `superseded` if another process has begun or sent the notification, and
 * `outdated` if its ticket has left the state that it reports, for example because it was reopened. The command
 * schedules the next attempt before this one, as after a failure, so that no other process begins an attempt meanwhile,
 * and a notification that crashes its process is not tried forever.
 */
export const beginNotification = (
  { shop_id, id, attempts_made }: NotificationAttempt,
  news: Pick<NotificationRecord, "ticket_id" | "type"> | null = null
): Command<BeginResult> =>
  makeCommand(
    shop_id,
    { notification: Load.queuedNotification(id, attempts_made), ticket: Load.ticketRecord(news?.ticket_id ?? null) },
    ({ notification, ticket }, changes, moment) => {
      if (notification === null) return toUnchangedDecision<BeginResult>("superseded")
      if (attempts_made >= MAX_ATTEMPTS)
        return removeNotification(changes, notification).toDecisionWithoutHead<BeginResult>("given_up")
      if (news !== null && ticket !== null && !isCurrent(news, ticket.state))
        return removeNotification(changes, notification).toDecisionWithoutHead<BeginResult>("outdated")
      const due_at =
        nextAttempt(attempts_made + 1, moment.now, 0) ?? moment.now + ServiceLimits.notification_last_look_ms
      changes.add({ _tag: "QueuedNotificationPut", row: { ...notification, attempts_made: attempts_made + 1, due_at } })
      return changes.toDecisionWithoutHead<BeginResult>("begun")
    }
  )

/** Removes a notification that no process sends. Returns whether the notification still existed. */
export const discardNotification = ({ shop_id, id, attempts_made }: NotificationAttempt): Command<boolean> =>
  makeCommand(shop_id, { notification: Load.queuedNotification(id, attempts_made) }, ({ notification }, changes) =>
    notification === null
      ? toUnchangedDecision(false)
      : removeNotification(changes, notification).toDecisionWithoutHead(true)
  )

/** Makes a notification due now that a clock which was ahead had delayed. */
export const retryNotificationNow = ({ shop_id, id, attempts_made }: NotificationAttempt): Command<void> =>
  makeCommand(shop_id, { notification: Load.queuedNotification(id, attempts_made) }, (loaded, changes, moment) => {
    const { notification } = loaded
    if (notification === null || notification.due_at <= moment.now) return toUnchangedDecision<void>(undefined)
    const row = { ...notification, due_at: moment.now }
    return changes.add({ _tag: "QueuedNotificationPut", row }).toDecisionWithoutHead<void>(undefined)
  })

/** Records the end of an attempt: the notification was delivered, is retried by the retry table, or is given up. */
export const recordNotification = (
  { shop_id, id, attempts_made }: NotificationAttempt,
  isDelivered: boolean
): Command<"sent" | "retry" | "given_up" | "superseded"> =>
  makeCommand(shop_id, { notification: Load.queuedNotification(id, attempts_made) }, (loaded, changes, moment) => {
    const { notification } = loaded
    if (notification === null) return toUnchangedDecision<"sent" | "retry" | "given_up" | "superseded">("superseded")
    if (isDelivered) return removeNotification(changes, notification).toDecisionWithoutHead("sent" as const)
    const due_at = nextAttempt(attempts_made, moment.now, 0)
    if (due_at === null) return removeNotification(changes, notification).toDecisionWithoutHead("given_up" as const)
    changes.add({ _tag: "QueuedNotificationPut", row: { ...notification, due_at } })
    return changes.toDecisionWithoutHead("retry" as const)
  })

const removeNotification = (changes: ChangeSet, { shop_id, id }: QueuedNotification): ChangeSet =>
  changes.add({ _tag: "QueuedNotificationRemoved", row: { shop_id, id } })
