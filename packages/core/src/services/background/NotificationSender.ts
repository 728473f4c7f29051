import { Cause, Effect, Exit, Metric, Schedule } from "effect"
import { beginNotification, discardNotification, recordNotification } from "../../decisions/sendNotification.js"
import { durationInWords, type Instant } from "../../domain/Instant.js"
import { ServiceLimits } from "../../domain/Limits.js"
import type { DueNotification } from "../../domain/Notification.js"
import { ClientNotifier, NotificationFailed, OwnerNotifier } from "../../ports/Notifiers.js"
import { probe } from "../../ports/Probes.js"
import { NotificationQueue, Store, type StoreUnavailable } from "../../ports/StorePorts.js"
import { notificationsEnded, showNotifications } from "../observe/ServiceMetrics.js"
import { backgroundSucceeded, logBackgroundFailure } from "./BackgroundFailure.js"
import { InFlight } from "./InFlight.js"

const { notifications_in_flight_per_process, notifier_timeout_ms, notification_poll_ms, notification_wait_max_ms } =
  ServiceLimits

/** The retries of the record of a result. If all of them fail, the attempt counts as failed. */
const RECORD_RETRIES = Schedule.intersect(Schedule.exponential("50 millis"), Schedule.recurs(7))

const now = Effect.clockWith((clock) => clock.currentTimeMillis)

/** The message of an error of the embedder's notifier. */
const messageOf = (cause: Cause.Cause<unknown>): string => {
  if (Cause.isEmpty(cause)) return ""
  const error = Cause.squash(cause)
  const ownError = error instanceof NotificationFailed ? error.cause : error
  const words = ownError instanceof Error ? ownError.message : ownError
  return typeof words === "string" && words !== "" ? `: ${words}` : ""
}

/** Logs an error, because the failure is the embedder's and no caller gets it. The line names the ticket of the notification. */
const logFailure = (notification: DueNotification, what: string, cause: Cause.Cause<unknown>) => {
  const { shop_id, id, receiver, payload } = notification
  const ticket = receiver === "client" && payload !== null ? { ticket_id: payload.ticket_id } : {}
  return Effect.annotateLogs(Effect.logError(`${what}${messageOf(cause)}`, cause), { shop_id, ...ticket, id })
}

/** Logs that a notification was given up. The cause is empty if the last attempt crashed its process. */
const logGivenUp = (notification: DueNotification, cause: Cause.Cause<unknown> = Cause.empty) =>
  logFailure(notification, "The last attempt to send a notification failed, so it will not be sent", cause)

const logOutdated = ({ shop_id, id }: DueNotification) =>
  Effect.annotateLogs(Effect.logDebug("A notification was not sent, because its ticket is no longer in that state"), {
    shop_id,
    id
  })

/** One attempt: notifies, and records the result. A notifier that dies counts as failed. */
const makeAttempt = Effect.gen(function* () {
  const store = yield* Store
  const clients = yield* ClientNotifier
  const owners = yield* OwnerNotifier

  const send = (notification: DueNotification) =>
    Effect.suspend(() => {
      if (notification.receiver === "owner") return owners.notify(notification.payload)
      return notification.payload === null || clients.notify === null
        ? Effect.void
        : clients.notify(notification.payload)
    }).pipe(
      Effect.disconnect,
      Effect.timeoutFail({
        duration: notifier_timeout_ms,
        onTimeout: () => new NotificationFailed({ cause: "The notifier took too long" })
      })
    )

  const attempt = Effect.fnUntraced(function* attempt(notification: DueNotification) {
    const exit = yield* Effect.exit(send(notification))
    const attempted = { ...notification, attempts_made: notification.attempts_made + 1 }
    const recorded = store
      .transact(recordNotification(attempted, Exit.isSuccess(exit)))
      .pipe(Effect.retry(RECORD_RETRIES))
    const { result } = yield* recorded
    yield* Metric.increment(notificationsEnded[result === "retry" ? "failed" : result])
    const cause = Exit.isFailure(exit) ? exit.cause : undefined
    if (result === "given_up") yield* logGivenUp(notification, cause)
    else if (cause !== undefined)
      yield* logFailure(notification, "An attempt to send a notification failed. The service tries again later", cause)
  })

  return (notification: DueNotification) =>
    Effect.catchAllCause(attempt(notification), (cause) =>
      Effect.logWarning(
        "The result of a notification could not be recorded, so it will be sent again",
        notification.id,
        cause
      )
    )
})

/** Starts an attempt in its own fiber, so that no notification waits for another. Returns whether the queue changed. */
const makeBegin = (inFlight: InFlight) =>
  Effect.gen(function* () {
    const store = yield* Store
    const attempt = yield* makeAttempt
    return (notification: DueNotification) =>
      Effect.gen(function* () {
        const news = notification.receiver === "client" ? notification.payload : null
        const { result } = yield* store.transact(beginNotification(notification, news))
        if (result === "given_up" || result === "outdated") yield* Metric.increment(notificationsEnded[result])
        if (result === "given_up") yield* logGivenUp(notification)
        if (result === "outdated") yield* logOutdated(notification)
        if (result === "begun") yield* inFlight.begin(attempt(notification))
        return result !== "superseded"
      }).pipe(
        Effect.catchTag("ShopNotFound", Effect.die),
        // A defect in one notification must not stop the others; an unavailable store stops all of them.
        Effect.catchAllDefect((defect) =>
          Effect.as(
            Effect.logError("An attempt to send a notification could not be started", notification.id, defect),
            false
          )
        )
      )
  })

/** Removes the notifications that have waited for the maximum time without a process that sends them. Returns how many. */
const makeDiscard = Effect.map(Effect.all([Store, NotificationQueue]), ([store, queue]) => {
  let isLogged = false
  const discard = (notification: DueNotification) =>
    Effect.gen(function* () {
      if (!(yield* store.transact(discardNotification(notification))).result) return false
      yield* Metric.increment(notificationsEnded.discarded)
      // Clients with an account have the notification in their inbox, so only walk-ins do not get it.
      if (isLogged || notification.receiver !== "client" || notification.payload?.channel !== "phone") return true
      isLogged = true
      yield* Effect.annotateLogs(
        Effect.logWarning(
          `A client without an account was not notified, because no process with a notifier for clients (notifyClient) ran on this store for ${durationInWords(notification_wait_max_ms / 1000)}. This process has no such notifier, and logs this only once. If these clients are not to be notified, pass a notifier that does nothing`
        ),
        { shop_id: notification.shop_id, ticket_id: notification.payload.ticket_id }
      )
      return true
    }).pipe(
      Effect.catchTag("ShopNotFound", Effect.die),
      // A defect in one notification must not stop the others.
      Effect.catchAllDefect((defect) =>
        Effect.as(Effect.logError("A notification could not be removed", notification.id, defect), false)
      )
    )
  return Effect.gen(function* () {
    const expired = yield* queue.due(
      (yield* now) - notification_wait_max_ms,
      notifications_in_flight_per_process,
      "client"
    )
    const discarded = yield* Effect.forEach(expired, discard)
    return discarded.filter((isDiscarded) => isDiscarded).length
  })
})

/** Passes notifications for clients and owners to the embedder's notifiers, with retries (Specification, States; Webhooks). */
export class NotificationSender extends Effect.Service<NotificationSender>()("@workshop/core/NotificationSender", {
  accessors: true,
  scoped: Effect.gen(function* () {
    const queue = yield* NotificationQueue
    const inFlight = new InFlight()
    const begin = yield* makeBegin(inFlight)
    const discardExpired = yield* makeDiscard
    const notifiesClients = (yield* ClientNotifier).notify !== null
    const receiver = notifiesClients ? undefined : "owner"
    yield* Effect.addFinalizer(() => inFlight.interruptAll)
    yield* probe({ measure: Effect.suspend(() => showNotifications(inFlight.count)) })
    const serially = Effect.unsafeMakeSemaphore(1).withPermits(1)
    let reported = 0

    // This is uninterruptible, because an attempt that is counted but not made would be lost.
    const beginDue = serially(
      Effect.uninterruptible(
        Effect.gen(function* () {
          const slots = notifications_in_flight_per_process - inFlight.count
          const due = slots > 0 ? yield* queue.due(yield* now, slots, receiver) : []
          const outcomes = yield* Effect.forEach(due, begin)
          const discarded = notifiesClients ? 0 : yield* discardExpired
          return outcomes.filter((isBegun) => isBegun).length + discarded
        })
      )
    )

    const runOnce: Effect.Effect<number, StoreUnavailable> = Effect.gen(function* () {
      while (true) {
        const { nextWake } = inFlight.signal
        const begunCount = yield* beginDue
        if (inFlight.count > 0) yield* nextWake
        else if (begunCount === 0) break
      }
      const since = inFlight.finishedCount - reported
      reported = inFlight.finishedCount
      return since
    })

    const runTurn = Effect.gen(function* () {
      const { nextWake } = inFlight.signal
      const begunCount = yield* beginDue
      yield* backgroundSucceeded
      if (begunCount === 0 || inFlight.count >= notifications_in_flight_per_process)
        yield* Effect.race(nextWake, Effect.sleep(notification_poll_ms))
    }).pipe(
      Effect.catchAllCause((cause) =>
        Effect.zipRight(
          logBackgroundFailure("Due notifications could not be read. The service tries again", cause),
          Effect.sleep(notification_poll_ms)
        )
      )
    )

    const earliestDue = Effect.fnUntraced(function* (until: Instant) {
      if (inFlight.count > 0) return yield* now
      const [sent] = yield* queue.due(until, 1, receiver)
      const [expired] = notifiesClients ? [] : yield* queue.due(until - notification_wait_max_ms, 1, "client")
      const instants = [
        sent?.due_at ?? [],
        expired === undefined ? [] : expired.due_at + notification_wait_max_ms
      ].flat()
      return instants.length === 0 ? null : Math.min(...instants)
    })

    return {
      /**
       * Sends all notifications due by now, and waits for all in flight. Returns how many attempts ended since the last
       * call.
       */
      runOnce,
      /** The earliest instant, at most `until`, at which a notification is due: now, while some are in flight; null if none is. */
      next: (until: Instant) => serially(earliestDue(until)),
      /**
       * Sends due notifications until interrupted. Then it begins no more attempts, and waits at most five real seconds
       * for those in flight; the rest are retried by the retry table.
       */
      run: inFlight.finishAfter(Effect.forever(runTurn))
    }
  })
}) {}
