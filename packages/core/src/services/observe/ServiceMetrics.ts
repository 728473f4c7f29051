import { Effect, Metric } from "effect"
import type { AttemptOutcome } from "../../decisions/recordAttempt.js"

const attempts = Metric.counter("workshop_delivery_attempts_total", {
  description: "Attempts to deliver an event, by the resulting state of the delivery.",
  incremental: true
})

/** Attempts to deliver an event, by the result for the delivery; `dead` counts those that were given up (Specification, Webhooks). */
export const attemptsEnded = {
  delivered: Metric.tagged(attempts, "outcome", "delivered"),
  retry: Metric.tagged(attempts, "outcome", "retry"),
  parked: Metric.tagged(attempts, "outcome", "parked"),
  dead: Metric.tagged(attempts, "outcome", "dead"),
  superseded: Metric.tagged(attempts, "outcome", "superseded")
} as const satisfies Record<AttemptOutcome, unknown>

const deliveriesInFlight = Metric.gauge("workshop_deliveries_in_flight", {
  description: "Deliveries that this process is sending."
})

/** Exports the number of deliveries in flight, and 0 for outcomes that have not occurred yet, because a rate needs a first value. */
export const showDeliveries = (in_flight: number): Effect.Effect<void> =>
  Effect.zipRight(
    Metric.set(deliveriesInFlight, in_flight),
    Effect.forEach(Object.values(attemptsEnded), (counter) => Metric.incrementBy(counter, 0), { discard: true })
  )

const notificationAttempts = Metric.counter("workshop_notification_attempts_total", {
  description: "Attempts to notify a client or an owner, by their result.",
  incremental: true
})

/**
 * Attempts to notify, by the result for the notification. `failed` is tried again. `outdated` was not sent because the
 * ticket had left the state, and `discarded` because no process notified clients for three days.
 */
export const notificationsEnded = {
  sent: Metric.tagged(notificationAttempts, "outcome", "sent"),
  failed: Metric.tagged(notificationAttempts, "outcome", "failed"),
  given_up: Metric.tagged(notificationAttempts, "outcome", "given_up"),
  outdated: Metric.tagged(notificationAttempts, "outcome", "outdated"),
  discarded: Metric.tagged(notificationAttempts, "outcome", "discarded"),
  superseded: Metric.tagged(notificationAttempts, "outcome", "superseded")
} as const

const notificationsInFlight = Metric.gauge("workshop_notifications_in_flight", {
  description: "Notifications that this process is sending."
})

/** Exports the number of notifications in flight, and 0 for outcomes that have not occurred yet, because a rate needs a first value. */
export const showNotifications = (in_flight: number): Effect.Effect<void> =>
  Effect.zipRight(
    Metric.set(notificationsInFlight, in_flight),
    Effect.forEach(Object.values(notificationsEnded), (counter) => Metric.incrementBy(counter, 0), { discard: true })
  )

/** Tickets that were closed because nobody collected them or their shop had no news (Specification, States). */
export const ticketsClosed = Metric.counter("workshop_tickets_closed_total", {
  description: "Tickets that the service closed, because they were never collected or the shop changed nothing.",
  incremental: true
})
