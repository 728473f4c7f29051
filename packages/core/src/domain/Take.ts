import { Either } from "effect"
import type { TimeZone } from "./CalendarDay.js"
import type { Instant } from "./Instant.js"
import type { PolicyName } from "./Limits.js"
import { current, hasRoom, LimitReached, type LimitWindow, type Usage, usage, used } from "./LimitWindow.js"

/** One use of a policy by one subject: a key, a shop or an address. */
export interface Take {
  readonly policy: PolicyName
  readonly subject: string
  /** The shop's time zone where the window is its calendar day. */
  readonly time_zone: TimeZone | null
}

/** Where a store keeps the window of each policy and subject. */
export interface Windows {
  readonly get: (take: Take) => LimitWindow | undefined
  readonly put: (take: Take, window: LimitWindow) => void
}

const windowOf = (windows: Windows, take: Take, now: Instant): LimitWindow =>
  current(windows.get(take), take.policy, now, take.time_zone)

/** Takes one use of every policy, or of none: then those refuse that have none left (Specification, Limits). */
export const take = (
  windows: Windows,
  takes: ReadonlyArray<Take>,
  now: Instant
): Either.Either<ReadonlyArray<Usage>, LimitReached> => {
  const found = takes.map((one) => ({ one, window: windowOf(windows, one, now) }))
  const full = found.filter(({ one, window }) => !hasRoom(window, one.policy, 1))
  if (full.length > 0)
    return Either.left(new LimitReached({ usages: full.map(({ one, window }) => usage(window, one.policy)) }))
  return Either.right(
    found.map(({ one, window }) => {
      const counted = used(window, 1)
      windows.put(one, counted)
      return usage(counted, one.policy)
    })
  )
}

/** Returns uses that a take answered with `taken`, where their windows are still the same. */
export const giveBack = (windows: Windows, takes: ReadonlyArray<Take>, taken: ReadonlyArray<Usage>): void => {
  takes.forEach((one, i) => {
    const window = windows.get(one)
    if (window !== undefined && window.resets_at === taken[i]?.resets_at && window.used > 0)
      windows.put(one, used(window, -1))
  })
}

/** What a take would find, without taking. */
export const look = (windows: Windows, one: Take, now: Instant): Usage => usage(windowOf(windows, one, now), one.policy)
