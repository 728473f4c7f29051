import type { TimeZone } from "@workshop/core/domain/CalendarDay"
import { Policies, type PolicyName } from "@workshop/core/domain/Limits"
import type { LimitWindow } from "@workshop/core/domain/LimitWindow"
import { giveBack, look, type Take, take, type Windows } from "@workshop/core/domain/Take"
import { Either } from "effect"
import { describe, expect, it } from "vitest"

const T = Date.parse("2026-03-01T10:00:00Z")

const windowsOf = (): Windows => {
  const kept = new Map<string, LimitWindow>()
  return {
    get: ({ policy, subject }) => kept.get(`${policy} ${subject}`),
    put: ({ policy, subject }, window) => kept.set(`${policy} ${subject}`, window)
  }
}

const by = (policy: PolicyName, subject = "a key"): Take => ({
  policy,
  subject,
  time_zone: "Africa/Tunis" as TimeZone
})

const drain = (windows: Windows, one: Take) => {
  for (let n = 0; n < Policies[one.policy].limit; n++) Either.getOrThrow(take(windows, [one], T))
}

describe("taking uses of several policies", () => {
  const both = [by("requests_per_minute"), by("writes_per_minute")]

  it("takes one of each, or none where one refuses, and names only those that do (Specification, Limits)", () => {
    const windows = windowsOf()
    drain(windows, both[1]!)
    const before = both.map((one) => look(windows, one, T))
    const refused = Either.flip(take(windows, both, T)).pipe(Either.getOrThrow)
    expect(refused.usages.map(({ policy }) => policy)).toEqual(["writes_per_minute"])
    expect(both.map((one) => look(windows, one, T))).toEqual(before)
    expect(Either.getOrThrow(take(windows, [both[0]!, by("writes_per_minute", "another")], T))).toMatchObject(
      both.map(({ policy }) => ({ policy, remaining: Policies[policy].limit - 1 }))
    )
  })

  it("gives back to the window that was taken from, and to no later one, and never below none (Specification, Limits)", () => {
    const windows = windowsOf()
    const [one] = both as [Take]
    const { limit } = Policies[one.policy]
    const taken = Either.getOrThrow(take(windows, [one], T))
    giveBack(windows, [one], taken)
    giveBack(windows, [one], taken)
    expect(look(windows, one, T).remaining).toBe(limit)
    const later = taken[0]!.resets_at
    Either.getOrThrow(take(windows, [one], later))
    giveBack(windows, [one], taken)
    expect(look(windows, one, later).remaining).toBe(limit - 1)
  })
})
