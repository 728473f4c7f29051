import { Either } from "effect"
import { describe, expect, it } from "vitest"
import type { TimeZone } from "../../src/domain/CalendarDay.js"
import { Policies, type PolicyName } from "../../src/domain/Limits.js"
import {
  giveBackUses,
  type LimitUse,
  type LimitWindow,
  type LimitWindows,
  peekLimit,
  takeEach
} from "../../src/domain/LimitWindow.js"

const T = Date.parse("2026-03-01T10:00:00Z")

const windowsOf = (): LimitWindows => {
  const windowsByName = new Map<string, LimitWindow>()
  return {
    get: ({ policy, subject }) => windowsByName.get(`${policy} ${subject}`),
    put: ({ policy, subject }, window) => windowsByName.set(`${policy} ${subject}`, window)
  }
}

const by = (policy: PolicyName, subject = "a key"): LimitUse => ({
  policy,
  subject,
  time_zone: "Africa/Tunis" as TimeZone
})

const drain = (windows: LimitWindows, one: LimitUse) => {
  for (let n = 0; n < Policies[one.policy].limit; n++) Either.getOrThrow(takeEach(windows, [one], T))
}

describe("taking uses of several policies", () => {
  const both = [by("requests_per_minute"), by("writes_per_minute")]

  it("one use is taken of each policy, or none if any refuses, and only those that refuse are named (Specification, Limits)", () => {
    const windows = windowsOf()
    drain(windows, both[1]!)
    const before = both.map((one) => peekLimit(windows, one, T))
    const refused = Either.flip(takeEach(windows, both, T)).pipe(Either.getOrThrow)
    expect(refused.limitStatuses.map(({ policy }) => policy)).toEqual(["writes_per_minute"])
    expect(both.map((one) => peekLimit(windows, one, T))).toEqual(before)
    expect(Either.getOrThrow(takeEach(windows, [both[0]!, by("writes_per_minute", "another")], T))).toMatchObject(
      both.map(({ policy }) => ({ policy, remaining: Policies[policy].limit - 1 }))
    )
  })

  it("nothing is given back if nothing was taken (Specification, Limits)", () => {
    const windows = windowsOf()
    const [taken] = Either.getOrThrow(takeEach(windowsOf(), [both[0]!], T))
    giveBackUses(windows, [both[0]!], [taken!])
    expect(windows.get(both[0]!)).toBeUndefined()
    Either.getOrThrow(takeEach(windows, [both[0]!], T))
    giveBackUses(windows, [both[0]!], [])
    expect(windows.get(both[0]!)?.used).toBe(1)
  })

  it("a use is given back to its own window, never to a later one, and never below 0 (Specification, Limits)", () => {
    const windows = windowsOf()
    const [one] = both as [LimitUse]
    const { limit } = Policies[one.policy]
    const taken = Either.getOrThrow(takeEach(windows, [one], T))
    giveBackUses(windows, [one], taken)
    giveBackUses(windows, [one], taken)
    expect(peekLimit(windows, one, T).remaining).toBe(limit)
    const later = taken[0]!.resets_at
    Either.getOrThrow(takeEach(windows, [one], later))
    giveBackUses(windows, [one], taken)
    expect(peekLimit(windows, one, later).remaining).toBe(limit - 1)
  })
})
