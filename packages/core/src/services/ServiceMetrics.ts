import { Effect, Metric } from "effect"
import type { AttemptOutcome } from "../decisions/recordAttempt.js"

const attempts = Metric.counter("workshop_delivery_attempts_total", {
  description: "Attempts to deliver an event, by what became of the delivery.",
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
  description: "Deliveries that this process has on their way."
})

/** Exports the number of deliveries in flight, and 0 for outcomes that have not occurred yet, because a rate needs a first value. */
export const showDeliveries = (in_flight: number): Effect.Effect<void> =>
  Effect.zipRight(
    Metric.set(deliveriesInFlight, in_flight),
    Effect.forEach(Object.values(attemptsEnded), (one) => Metric.incrementBy(one, 0), { discard: true })
  )

/** Tickets that were closed because nobody collected them or their shop had no news (Specification, States). */
export const ticketsClosed = Metric.counter("workshop_tickets_closed_total", {
  description: "Tickets closed by the service: never collected, or no news.",
  incremental: true
})
