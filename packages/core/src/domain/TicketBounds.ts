import { Either } from "effect"
import type { TimeZone } from "./CalendarDay.js"
import type { Instant } from "./Instant.js"
import { Policies } from "./Limits.js"
import { currentWindow, hasRoom, LimitReached, type LimitWindow, limitStatus, withUses } from "./LimitWindow.js"

/** The policies that bound what one ticket may raise in a day: each move stores the whole ticket again, and tells people. */
export type TicketPolicy = "moves_per_day" | "notifications_per_day"

/** How often a ticket may be moved, and its client notified, in a day of its shop. Set by the embedder. */
export type TicketBounds = Readonly<Record<TicketPolicy, number>>

/** The bounds of a service whose embedder sets none. */
export const ticketBounds: TicketBounds = {
  moves_per_day: Policies.moves_per_day.limit,
  notifications_per_day: Policies.notifications_per_day.limit
}

/** The windows as a ticket keeps them; null where a policy was never used. */
export type TicketWindows = Readonly<Record<TicketPolicy, LimitWindow | null>>

/** When and where a use is counted. */
export interface Counting {
  readonly bounds: TicketBounds
  readonly now: Instant
  readonly time_zone: TimeZone
}

/** The windows with one more use of each of some policies, or the refusal of those that are full. */
export const countUse = (
  windows: TicketWindows,
  policies: ReadonlyArray<TicketPolicy>,
  { bounds, now, time_zone }: Counting
): Either.Either<Partial<TicketWindows>, LimitReached> => {
  const found = policies.map((policy) => ({
    policy,
    window: currentWindow(windows[policy] ?? undefined, policy, now, time_zone)
  }))
  const full = found.filter(({ policy, window }) => !hasRoom(window, policy, 1, bounds[policy]))
  return full.length > 0
    ? Either.left(
        new LimitReached({ usages: full.map(({ policy, window }) => limitStatus(window, policy, bounds[policy])) })
      )
    : Either.right(Object.fromEntries(found.map(({ policy, window }) => [policy, withUses(window, 1)])))
}
