import { Effect, Metric, Schedule } from "effect"
import { closeTicket } from "../../decisions/changeStatus.js"
import type { Instant } from "../../domain/Instant.js"
import { ServiceLimits } from "../../domain/Limits.js"
import { Closures, type DueClosure, Store } from "../../ports/StorePorts.js"
import { ticketsClosed } from "../observe/ServiceMetrics.js"
import { backgroundSucceeded, logBackgroundFailure } from "./BackgroundFailure.js"

const { closures_per_batch, closure_poll_ms } = ServiceLimits

/** Closes tickets that were not collected for sixty days, or for which the shop had no news (Specification, States). */
export class Closer extends Effect.Service<Closer>()("@workshop/core/Closer", {
  accessors: true,
  effect: Effect.gen(function* () {
    const store = yield* Store
    const closures = yield* Closures

    /** Closes a due ticket. Returns false if the command found that it is not to be closed, because an entry of `Closures` is only a hint. */
    const closeDue = ({ shop_id, id }: DueClosure) =>
      store.transact(closeTicket(shop_id, id)).pipe(
        Effect.map(({ result }) => result !== null),
        Effect.catchTag("TicketNotFound", () => Effect.succeed(false)),
        Effect.catchTag("ShopNotFound", Effect.die),
        // A ticket that cannot be closed must not stop the others, but an unavailable store fails all of them.
        Effect.catchAllDefect((defect) => Effect.as(Effect.logError("A ticket could not be closed", id, defect), false))
      )

    /**
     * Closes everything due by now, and returns the number of closed tickets. For cron jobs and for workers that do not run permanently.
     */
    const runOnce = Effect.gen(function* () {
      let totalClosed = 0
      while (true) {
        const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
        const due = yield* closures.due(now, closures_per_batch)
        const outcomes = yield* Effect.forEach(due, closeDue, { concurrency: 16 })
        const closedCount = outcomes.filter((isClosed) => isClosed).length
        yield* Metric.incrementBy(ticketsClosed, closedCount)
        totalClosed += closedCount
        if (due.length < closures_per_batch || closedCount === 0) return totalClosed
      }
    })

    return {
      runOnce,
      /** The earliest instant, at most `until`, at which a ticket is due to close; null if none is. */
      next: (until: Instant) => Effect.map(closures.due(until, 1), ([first]) => first?.due_at ?? null),
      /** Closes due tickets again and again, until interrupted. If the store is unavailable, it tries again at the next poll. */
      run: Effect.zipLeft(runOnce, backgroundSucceeded).pipe(
        Effect.catchAllCause((cause) =>
          logBackgroundFailure("Tickets could not be closed. The service tries again", cause)
        ),
        Effect.repeat(Schedule.spaced(closure_poll_ms))
      )
    }
  })
}) {}
