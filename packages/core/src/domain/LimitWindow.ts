import { Data, Either } from "effect"
import { nextMidnight, type TimeZone } from "./CalendarDay.js"
import { HOUR_MS, type Instant, MINUTE_MS } from "./Instant.js"
import { type LimitsByPolicy, Policies, type PolicyName, ServiceLimits, type WindowKind } from "./Limits.js"

/** How often a policy was used in its current window, and when that window ends. */
export interface LimitWindow {
  /** The number of uses since the window began. */
  readonly used: number
  /** When the window ends and the count begins again at 0, in milliseconds since 1970. */
  readonly resets_at: Instant
}

/** The state of one policy, as `RateLimit-*` headers report it. */
export interface LimitStatus {
  /** The policy's name in {@link Policies}. */
  readonly policy: PolicyName
  /** The number of uses that a window allows. */
  readonly limit: number
  /** The number of uses left in the window, at least 0. */
  readonly remaining: number
  /** When the window ends, in milliseconds since 1970. */
  readonly resets_at: Instant
}

/** Some policies have too few uses left. Wait until the latest `resets_at` (Specification, Limits). */
export class LimitReached extends Data.TaggedError("LimitReached")<{
  /** The policies that refused. */
  readonly limitStatuses: ReadonlyArray<LimitStatus>
  /** The instant of the refusal, by the clock of the workshop. */
  readonly refused_at: Instant
}> {
  /** The policy to wait for: if several refuse, the one that resets last. */
  get decisive(): LimitStatus {
    return this.limitStatuses.reduce((a, b) => (b.resets_at > a.resets_at ? b : a))
  }
  /** The problem, as a sentence for people: the limit that was reached. */
  override get message() {
    const { policy, limit, remaining } = this.decisive
    const { counts, per, window } = Policies[policy]
    const remainingUses = remaining === 0 ? "no uses are" : remaining === 1 ? "1 use is" : `${remaining} uses are`
    return `The limit is ${limit} ${counts} per ${per} and ${windowNames[window]}, and ${remainingUses} left. Try again when the limit resets.`
  }
}

const windowNames = { minute: "minute", hour: "hour", calendar_day: "day" } as const satisfies Record<
  WindowKind,
  string
>

/** The end of a window that opens now. A day is the shop's own calendar day (Specification, Limits). */
const endOfWindow = (policy: PolicyName, now: Instant, time_zone: TimeZone | null): Instant => {
  const kind = Policies[policy].window
  if (kind === "minute") return now + MINUTE_MS
  if (kind === "hour") return now + HOUR_MS
  if (time_zone === null)
    throw new Error(`${policy} counts by the shop's calendar day, so it needs the shop's time zone`)
  return nextMidnight(now, time_zone)
}

/**
 * Whether a window is still open. A window that ends later than any window can was opened before its clock was set
 * back, and does not count.
 */
const isOpen = ({ resets_at }: LimitWindow, policy: PolicyName, now: Instant): boolean =>
  now < resets_at && resets_at - now <= byWindowLength[Policies[policy].window]

// Processes share windows, so a process whose clock is a little behind must not restart another process's window.
const { window_clock_skew_ms } = ServiceLimits

// When clocks go back, a calendar day is usually one hour longer; this allows two.
const byWindowLength = {
  minute: MINUTE_MS + window_clock_skew_ms,
  hour: HOUR_MS + window_clock_skew_ms,
  calendar_day: 26 * HOUR_MS
} as const satisfies Record<WindowKind, number>

/** The open window: the given one, or a new one if it has ended or there was none. */
export const currentWindow = (
  window: LimitWindow | undefined,
  policy: PolicyName,
  now: Instant,
  time_zone: TimeZone | null
): LimitWindow =>
  window !== undefined && isOpen(window, policy, now)
    ? window
    : { used: 0, resets_at: endOfWindow(policy, now, time_zone) }

/** Whether a policy may be used `n` more times within a window. An embedder may have set another limit. */
export const hasRoom = (
  window: LimitWindow,
  policy: PolicyName,
  n: number,
  limit: number = Policies[policy].limit
): boolean => window.used + n <= limit

/** The window after `n` more uses; {@link hasRoom} checks whether the limit allows them. */
export const addUses = (window: LimitWindow, n: number): LimitWindow => ({
  used: window.used + n,
  resets_at: window.resets_at
})

/** The status of a policy, from its window. */
export const limitStatusOf = (
  window: LimitWindow,
  policy: PolicyName,
  limit: number = Policies[policy].limit
): LimitStatus => ({
  policy,
  limit,
  remaining: Math.max(0, limit - window.used),
  resets_at: window.resets_at
})

const isScarcer = (a: LimitStatus, b: LimitStatus): boolean =>
  a.remaining < b.remaining || (a.remaining === b.remaining && a.resets_at > b.resets_at)

/** The limited policy with the fewest uses left; among equals the one that resets last (Specification, Limits). */
export const findScarcest = (limitStatuses: ReadonlyArray<LimitStatus>): LimitStatus | undefined => {
  let tightest: LimitStatus | undefined
  for (const status of limitStatuses)
    if (status.limit !== Number.POSITIVE_INFINITY && (tightest === undefined || isScarcer(status, tightest)))
      tightest = status
  return tightest
}

/** A window that uses are taken from. */
interface OpenWindow {
  readonly policy: PolicyName
  readonly window: LimitWindow
  /** The embedder's limit, in place of the specification's. */
  readonly limit?: number | undefined
}

/** The windows after `n` uses of each, or a refusal with the statuses of the policies that have too few left. */
const takeIfRoom = (
  open: ReadonlyArray<OpenWindow>,
  n: number,
  now: Instant
): Either.Either<ReadonlyArray<LimitWindow>, LimitReached> => {
  const full = open.filter(({ policy, window, limit }) => !hasRoom(window, policy, n, limit))
  return full.length > 0
    ? Either.left(
        new LimitReached({
          limitStatuses: full.map(({ policy, window, limit }) => limitStatusOf(window, policy, limit)),
          refused_at: now
        })
      )
    : Either.right(open.map(({ window }) => addUses(window, n)))
}

/** The limits, the time and the number of the uses that {@link takeUses} takes. */
export interface UseCounting<P extends PolicyName> {
  /** The limits; null if the uses are neither limited nor counted. */
  readonly bounds: Pick<LimitsByPolicy, P> | null
  readonly now: Instant
  readonly time_zone: TimeZone
  /** The number of uses of each policy, 1 by default. */
  readonly n?: number
}

/** The windows after some uses, and the statuses of their policies; both empty if the uses are not counted. */
export interface TakenUses<P extends PolicyName> {
  readonly windows: Partial<Readonly<Record<P, LimitWindow>>>
  readonly limitStatuses: ReadonlyArray<LimitStatus>
}

const NOT_COUNTED = Either.right({ windows: {}, limitStatuses: [] })

/**
 * Takes uses of every policy from the windows that one record, such as a ticket, stores. The caller saves the windows.
 * If a policy has too few left, it takes none, and the refusal names those policies (Specification, Limits).
 */
export const takeUses = <P extends PolicyName>(
  windows: { readonly [Q in P]: LimitWindow | null | undefined },
  policies: ReadonlyArray<P>,
  { bounds, now, time_zone, n = 1 }: UseCounting<P>
): Either.Either<TakenUses<P>, LimitReached> => {
  if (bounds === null) return NOT_COUNTED
  const open = policies.map((policy) => ({
    policy,
    window: currentWindow(windows[policy] ?? undefined, policy, now, time_zone),
    limit: bounds[policy]
  }))
  return Either.map(takeIfRoom(open, n, now), (taken) => {
    const after: Partial<Record<P, LimitWindow>> = {}
    policies.forEach((policy, i) => {
      after[policy] = taken[i]!
    })
    const limitStatuses = open.map(({ policy, limit }, i) => limitStatusOf(taken[i]!, policy, limit))
    return { windows: after, limitStatuses }
  })
}

/** One use of a policy by one subject: a key, a shop or an address. */
export interface LimitUse {
  /** The policy's name in {@link Policies}. */
  readonly policy: PolicyName
  /** The text by which uses are counted together, such as the id of the key or of the shop, or the address. */
  readonly subject: string
  /** The shop's time zone, if the window is its calendar day. */
  readonly time_zone: TimeZone | null
  /** The embedder's limit, in place of the specification's. */
  readonly limit?: number
}

/** Reads and writes the windows of limits. */
export interface LimitWindows {
  /** The stored window of the use's policy and subject, even if it has ended; undefined if there is none. */
  readonly get: (use: LimitUse) => LimitWindow | undefined
  /** Saves the window of the use's policy and subject in place of the stored one. */
  readonly put: (use: LimitUse, window: LimitWindow) => void
}

const windowOf = (windows: LimitWindows, use: LimitUse, now: Instant): LimitWindow =>
  currentWindow(windows.get(use), use.policy, now, use.time_zone)

/**
 * Takes one use of each policy from its subject's window, and saves the windows. If a policy has no use left, it takes
 * none, and the refusal names the policies without uses (Specification, Limits).
 */
export const takeEach = (
  windows: LimitWindows,
  uses: ReadonlyArray<LimitUse>,
  now: Instant
): Either.Either<ReadonlyArray<LimitStatus>, LimitReached> => {
  const open = uses.map((use) => ({ policy: use.policy, window: windowOf(windows, use, now), limit: use.limit }))
  return Either.map(takeIfRoom(open, 1, now), (taken) =>
    uses.map((use, i) => {
      windows.put(use, taken[i]!)
      return limitStatusOf(taken[i]!, use.policy, use.limit)
    })
  )
}

/** Gives back the uses that resulted in `limitStatuses`, if their windows are still the same. */
export const giveBackUses = (
  windows: LimitWindows,
  uses: ReadonlyArray<LimitUse>,
  limitStatuses: ReadonlyArray<LimitStatus>
): void => {
  uses.forEach((use, i) => {
    const window = windows.get(use)
    if (window !== undefined && window.resets_at === limitStatuses[i]?.resets_at && window.used > 0)
      windows.put(use, addUses(window, -1))
  })
}

/** The status of a limit, without using it. */
export const peekLimit = (windows: LimitWindows, use: LimitUse, now: Instant): LimitStatus =>
  limitStatusOf(windowOf(windows, use, now), use.policy, use.limit)
