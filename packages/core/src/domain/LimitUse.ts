import { Either } from "effect"
import type { TimeZone } from "./CalendarDay.js"
import type { Instant } from "./Instant.js"
import type { PolicyName } from "./Limits.js"
import {
  currentWindow,
  hasRoom,
  LimitReached,
  type LimitStatus,
  type LimitWindow,
  limitStatus,
  withUses
} from "./LimitWindow.js"

/** One use of a policy by one subject: a key, a shop or an address. */
export interface LimitUse {
  readonly policy: PolicyName
  readonly subject: string
  /** The shop's time zone where the window is its calendar day. */
  readonly time_zone: TimeZone | null
}

/** Where a store keeps the window of each policy and subject. */
export interface LimitWindows {
  readonly get: (take: LimitUse) => LimitWindow | undefined
  readonly put: (take: LimitUse, window: LimitWindow) => void
}

const windowOf = (windows: LimitWindows, take: LimitUse, now: Instant): LimitWindow =>
  currentWindow(windows.get(take), take.policy, now, take.time_zone)

/** Takes one use of every policy, or of none: then those refuse that have none left (Specification, Limits). */
export const useLimits = (
  windows: LimitWindows,
  takes: ReadonlyArray<LimitUse>,
  now: Instant
): Either.Either<ReadonlyArray<LimitStatus>, LimitReached> => {
  const found = takes.map((one) => ({ one, window: windowOf(windows, one, now) }))
  const full = found.filter(({ one, window }) => !hasRoom(window, one.policy, 1))
  if (full.length > 0)
    return Either.left(new LimitReached({ usages: full.map(({ one, window }) => limitStatus(window, one.policy)) }))
  return Either.right(
    found.map(({ one, window }) => {
      const counted = withUses(window, 1)
      windows.put(one, counted)
      return limitStatus(counted, one.policy)
    })
  )
}

/** Returns uses that a take answered with `taken`, where their windows are still the same. */
export const giveBackUses = (
  windows: LimitWindows,
  takes: ReadonlyArray<LimitUse>,
  taken: ReadonlyArray<LimitStatus>
): void => {
  takes.forEach((one, i) => {
    const window = windows.get(one)
    if (window !== undefined && window.resets_at === taken[i]?.resets_at && window.used > 0)
      windows.put(one, withUses(window, -1))
  })
}

/** What a take would find, without taking. */
export const peekLimit = (windows: LimitWindows, one: LimitUse, now: Instant): LimitStatus =>
  limitStatus(windowOf(windows, one, now), one.policy)
