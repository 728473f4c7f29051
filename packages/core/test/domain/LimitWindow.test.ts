import { Either } from "effect"
import { describe, expect, it } from "vitest"
import type { TimeZone } from "../../src/domain/CalendarDay.js"
import {
  addUses,
  currentWindow,
  findScarcest,
  LimitReached,
  type LimitStatus,
  limitStatusOf,
  takeUses
} from "../../src/domain/LimitWindow.js"

const NOW = Date.parse("2026-03-02T09:30:00Z")
const MINUTE = 60_000
const HOUR = 3_600_000
const TUNIS = "Africa/Tunis" as TimeZone

const left = (policy: LimitStatus["policy"], remaining: number, resets_at: number): LimitStatus => ({
  policy,
  limit: 100,
  remaining,
  resets_at
})

describe("Specification, Limits: windows", () => {
  it("a window that a clock opened before it was set back does not delay the next use (Specification, Limits)", () => {
    const opened = currentWindow(undefined, "writes_per_minute", NOW + HOUR, null)
    expect(currentWindow(addUses(opened, 30), "writes_per_minute", NOW, null)).toEqual({
      used: 0,
      resets_at: NOW + MINUTE
    })
  })

  it("a window that a process with a slightly fast clock opened is the same for all processes (Specification, Limits)", () => {
    const opened = (policy: LimitStatus["policy"], resets_in: number) => {
      const window = { used: 7, resets_at: NOW + resets_in }
      return currentWindow(window, policy, NOW, TUNIS) === window
    }
    expect([opened("writes_per_minute", MINUTE + 5000), opened("writes_per_minute", MINUTE + 5001)]).toEqual([
      true,
      false
    ])
    expect([opened("lookups_per_hour", HOUR + 5000), opened("lookups_per_hour", HOUR + 5001)]).toEqual([true, false])
    expect([opened("tickets_per_day", 26 * HOUR), opened("tickets_per_day", 26 * HOUR + 1)]).toEqual([true, false])
  })

  it("a calendar day without a time zone is a defect of the caller (Specification, Limits)", () => {
    expect(() => currentWindow(undefined, "lookups_per_day", NOW, null)).toThrow(
      "lookups_per_day counts by the shop's calendar day, so it needs the shop's time zone"
    )
  })

  it("the refusal says how many uses are left if more were requested (Specification, Clients and loyalty)", () => {
    const refused = new LimitReached({ limitStatuses: [left("stamps_per_day", 5, NOW + HOUR)], refused_at: NOW })
    expect(refused.message).toBe(
      "The limit is 100 stamps added per client and key and day, and 5 uses are left. Try again when the limit resets."
    )
  })

  it("a window of a minute or an hour starts at the first use (Specification, Limits)", () => {
    expect(currentWindow(undefined, "requests_per_minute", NOW, null)).toEqual({ used: 0, resets_at: NOW + MINUTE })
    expect(currentWindow(undefined, "writes_per_minute", NOW, TUNIS)).toEqual({ used: 0, resets_at: NOW + MINUTE })
    expect(currentWindow(undefined, "unauthenticated_per_minute", NOW, null)).toEqual({
      used: 0,
      resets_at: NOW + MINUTE
    })
    expect(currentWindow(undefined, "tickets_per_hour", NOW, TUNIS)).toEqual({ used: 0, resets_at: NOW + HOUR })
    expect(currentWindow(undefined, "lookups_per_hour", NOW, TUNIS)).toEqual({ used: 0, resets_at: NOW + HOUR })
  })

  it("a day is the shop's calendar day, regardless of when the policy was first used (Specification, Limits)", () => {
    const midnight = Date.parse("2026-03-02T23:00:00Z")
    for (const policy of ["tickets_per_day", "lookups_per_day", "stamps_per_day"] as const) {
      expect(currentWindow(undefined, policy, NOW, TUNIS).resets_at).toBe(midnight)
      expect(currentWindow(undefined, policy, midnight - 1, TUNIS).resets_at).toBe(midnight)
      expect(currentWindow(undefined, policy, midnight, TUNIS).resets_at).toBe(Date.parse("2026-03-03T23:00:00Z"))
    }
  })

  it("a window counts until just before its reset, and from 0 at its reset (Specification, Limits)", () => {
    const window = { used: 7, resets_at: NOW + HOUR }
    expect(currentWindow(window, "tickets_per_hour", NOW + HOUR - 1, TUNIS)).toBe(window)
    expect(currentWindow(window, "tickets_per_hour", NOW + HOUR, TUNIS)).toEqual({ used: 0, resets_at: NOW + 2 * HOUR })
  })

  it("using a window never moves its reset (Specification, Limits)", () => {
    const window = { used: 7, resets_at: NOW + HOUR }
    expect(addUses(window, 3)).toEqual({ used: 10, resets_at: NOW + HOUR })
    expect(window.used).toBe(7)
  })
})

describe("Specification, Limits: the headers", () => {
  it("the headers have the limit, the remaining uses and the seconds until the reset (Specification, Limits)", () => {
    expect(limitStatusOf({ used: 0, resets_at: 5 }, "requests_per_minute")).toEqual({
      policy: "requests_per_minute",
      limit: 120,
      remaining: 120,
      resets_at: 5
    })
    expect(limitStatusOf({ used: 29, resets_at: 5 }, "writes_per_minute")).toMatchObject({ limit: 30, remaining: 1 })
    expect(limitStatusOf({ used: 600, resets_at: 5 }, "tickets_per_day")).toMatchObject({ limit: 600, remaining: 0 })
  })

  it("the remaining uses are never below zero (Specification, Limits)", () => {
    expect(limitStatusOf({ used: 31, resets_at: 5 }, "writes_per_minute").remaining).toBe(0)
  })

  it("the headers show the policy with the fewest uses left, in any order of the policies (Specification, Limits)", () => {
    const few = left("tickets_per_hour", 2, 10)
    const many = left("requests_per_minute", 90, 99)
    expect(findScarcest([few, many])).toBe(few)
    expect(findScarcest([many, few])).toBe(few)
    expect(findScarcest([])).toBeUndefined()
  })

  it("of policies with equally few uses left, the headers show the one that resets last (Specification, Limits)", () => {
    const soon = left("requests_per_minute", 2, 10)
    const late = left("writes_per_minute", 2, 20)
    expect(findScarcest([soon, late])).toBe(late)
    expect(findScarcest([late, soon])).toBe(late)
    expect(findScarcest([soon, left("lookups_per_hour", 2, 10)])).toBe(soon)
  })

  it("the headers do not show a limit that the embedder lifted (Specification, Limits)", () => {
    const lifted = { ...left("tickets_per_hour", 0, 10), limit: Number.POSITIVE_INFINITY }
    const other = left("writes_per_minute", 2, 20)
    expect(findScarcest([lifted])).toBeUndefined()
    expect(findScarcest([lifted, other])).toBe(other)
  })

  it("if several policies refuse, the longest reset is used (Specification, Limits)", () => {
    const hour = left("tickets_per_hour", 0, 10)
    const day = left("tickets_per_day", 0, 20)
    expect(new LimitReached({ limitStatuses: [hour, day], refused_at: NOW }).decisive).toBe(day)
    expect(new LimitReached({ limitStatuses: [day, hour], refused_at: NOW }).decisive).toBe(day)
    expect(new LimitReached({ limitStatuses: [hour], refused_at: NOW }).decisive).toBe(hour)
    expect(new LimitReached({ limitStatuses: [hour, left("lookups_per_hour", 0, 10)], refused_at: NOW }).decisive).toBe(
      hour
    )
    expect(new LimitReached({ limitStatuses: [hour], refused_at: NOW })._tag).toBe("LimitReached")
  })

  it("the text of a refusal names the limit that is used up (Specification, Errors)", () => {
    const { message } = new LimitReached({
      limitStatuses: [limitStatusOf({ used: 150, resets_at: 5 }, "tickets_per_hour")],
      refused_at: NOW
    })
    expect(message).toMatch(/150 tickets .* per shop/)
  })
})

describe("Specification, Limits: several uses of a policy at once", () => {
  const bounds = { moves_per_day: 3, notifications_per_day: 5 }
  const policies = ["moves_per_day", "notifications_per_day"] as const
  const resets_at = NOW + HOUR
  const take = (moves: number, notifications: number, n?: number) =>
    takeUses(
      { moves_per_day: { used: moves, resets_at }, notifications_per_day: { used: notifications, resets_at } },
      policies,
      { bounds, now: NOW, time_zone: TUNIS, ...(n !== undefined && { n }) }
    )

  it("several uses at once are taken of every policy (Specification, Limits)", () => {
    expect(Either.getOrThrow(take(1, 1, 2))).toEqual({
      windows: { moves_per_day: { used: 3, resets_at }, notifications_per_day: { used: 3, resets_at } },
      limitStatuses: [
        { policy: "moves_per_day", limit: 3, remaining: 0, resets_at },
        { policy: "notifications_per_day", limit: 5, remaining: 2, resets_at }
      ]
    })
  })

  it("uses are taken of no policy if one refuses, and the refusal names only the policies that have too few uses left (Specification, Limits)", () => {
    const refused = Either.getOrThrow(Either.flip(take(2, 0, 2)))
    expect(refused).toMatchObject({
      limitStatuses: [{ policy: "moves_per_day", limit: 3, remaining: 1, resets_at }],
      refused_at: NOW
    })
    expect(Either.getOrThrow(Either.flip(take(3, 5))).limitStatuses.map(({ policy }) => policy)).toEqual(policies)
  })

  it("policies without limits count no uses (Specification, Limits)", () => {
    const windows = { moves_per_day: { used: 9, resets_at } }
    expect(takeUses(windows, ["moves_per_day"], { bounds: null, now: NOW, time_zone: TUNIS })).toEqual(
      Either.right({ windows: {}, limitStatuses: [] })
    )
  })
})
