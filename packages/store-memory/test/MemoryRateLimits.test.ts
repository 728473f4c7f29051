import { Effect } from "effect"
import { expect, it } from "vitest"
import { Memory } from "../src/Memory.js"
import { memoryRateLimits } from "../src/MemoryRateLimits.js"

const NOW = Date.parse("2026-11-20T10:00:00Z")

it("the memory store removes the oldest rate-limit window of a policy beyond the maximum number", () => {
  const { take } = memoryRateLimits(new Memory(), 2)
  const left = (subject: string) =>
    Effect.runSync(take([{ policy: "unauthenticated_per_minute", subject, time_zone: null }], NOW))[0]?.remaining
  expect([left("a"), left("a"), left("b"), left("b")]).toEqual([119, 118, 119, 118])
  expect([left("c"), left("b"), left("a")]).toEqual([119, 117, 119])
})

it("the memory store removes expired rate-limit windows even after the clock stepped back", () => {
  const { take, peek } = memoryRateLimits(new Memory(), 1)
  const one = { policy: "unauthenticated_per_minute", subject: "a", time_zone: null } as const
  Effect.runSync(take([one], NOW))
  Effect.runSync(take([one], NOW - 3_600_000))
  expect(Effect.runSync(peek(one, NOW - 3_600_000)).remaining).toBe(119)
})
