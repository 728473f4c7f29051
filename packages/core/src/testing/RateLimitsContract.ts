import { Effect, Either, Schema } from "effect"
import { TimeZone } from "../domain/CalendarDay.js"
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../domain/Instant.js"
import type { PolicyName } from "../domain/Limits.js"
import type { LimitStatus, LimitUse } from "../domain/LimitWindow.js"
import { RateLimits } from "../ports/StorePorts.js"
import { expectSame, makeCases, pluck } from "./ContractCase.js"
import { makeId } from "./Fixtures.js"
import { TEST_START as T } from "./SettableClock.js"

const TUNIS = Schema.decodeSync(TimeZone)("Africa/Tunis")

const subject = makeId<string>()

const makeUse = (policy: PolicyName, subject: string): LimitUse => ({ policy, subject, time_zone: TUNIS })

const summarize = (limitStatuses: ReadonlyArray<LimitStatus>) => pluck(limitStatuses, "policy", "remaining")

/** Takes `uses` uses one after another. */
const drain = Effect.fnUntraced(function* (take: LimitUse, uses: number, now = T) {
  const limits = yield* RateLimits
  for (let n = 0; n < uses; n++) yield* limits.take([take], now)
})

/** The counts of requests within their limits (Specification, Limits). */
export const rateLimitsContract = makeCases({
  "the limit accepts exactly 120 requests per minute": function* ({ limits }) {
    const take = makeUse("requests_per_minute", yield* subject)
    for (let n = 1; n <= 120; n++) {
      const limitStatuses = yield* limits.take([take], T + n)
      const expected = { policy: "requests_per_minute", limit: 120, remaining: 120 - n, resets_at: T + 1 + MINUTE_MS }
      yield* expectSame(`use ${n}`, limitStatuses, [expected])
    }
    const refused = yield* Effect.flip(limits.take([take], T + 200))
    yield* expectSame("the refusal", refused._tag, "LimitReached")
    const limitStatuses = refused._tag === "LimitReached" ? refused.limitStatuses : []
    const exhausted = { policy: "requests_per_minute", limit: 120, remaining: 0, resets_at: T + 1 + MINUTE_MS }
    yield* expectSame("its statuses", limitStatuses, [exhausted])
    yield* expectSame("a millisecond early", (yield* Effect.either(limits.take([take], T + MINUTE_MS)))._tag, "Left")
    yield* expectSame("a new window", summarize(yield* limits.take([take], T + 1 + MINUTE_MS)), [
      ["requests_per_minute", 119]
    ])
  },

  "of four concurrent requests, only one gets the last use": function* ({ limits }) {
    const take = makeUse("requests_per_minute", yield* subject)
    yield* drain(take, 119)
    const takes = yield* Effect.forEach([1, 2, 3, 4], () => Effect.either(limits.take([take], T)), {
      concurrency: "unbounded"
    })
    yield* expectSame("taken", takes.filter(Either.isRight).length, 1)
    yield* expectSame("left", (yield* limits.peek(take, T)).remaining, 0)
  },

  "of 300 concurrent requests, 120 are accepted": function* ({ limits }) {
    const [id, other] = [yield* subject, yield* subject]
    const takes = yield* Effect.forEach(
      Array.from({ length: 300 }, (_, i) => i),
      (i) =>
        Effect.zipRight(
          Effect.yieldNow().pipe(Effect.repeatN(i % 3)),
          Effect.either(
            limits.take(
              i % 2 === 0
                ? [makeUse("requests_per_minute", id), makeUse("writes_per_minute", other)]
                : [makeUse("requests_per_minute", id)],
              T
            )
          )
        ),
      { concurrency: "unbounded" }
    )
    const taken = takes.filter(Either.isRight).length
    const writes = takes.filter((take, i) => i % 2 === 0 && Either.isRight(take)).length
    yield* expectSame("taken", taken, 120)
    yield* expectSame(
      "writes left",
      (yield* limits.peek(makeUse("writes_per_minute", other), T)).remaining,
      30 - writes
    )
  },

  "a request takes a use of each of its policies, or of none": function* ({ limits }) {
    const id = yield* subject
    const [request, write] = [makeUse("requests_per_minute", id), makeUse("writes_per_minute", id)]
    yield* drain(write, 29)
    const last = summarize(yield* limits.take([request, write], T))
    yield* expectSame("both", last, [
      ["requests_per_minute", 119],
      ["writes_per_minute", 0]
    ])
    const refused = yield* Effect.flip(limits.take([request, write], T))
    yield* expectSame(
      "only those that refuse",
      refused._tag === "LimitReached" ? summarize(refused.limitStatuses) : refused,
      [["writes_per_minute", 0]]
    )
    yield* expectSame("none taken", (yield* limits.peek(request, T)).remaining, 119)
  },

  "if several policies refuse a request, all are returned, and the one that resets last is decisive": function* ({
    limits
  }) {
    const id = yield* subject
    const [write, lookup] = [makeUse("writes_per_minute", id), makeUse("lookups_per_hour", id)]
    yield* drain(write, 30)
    yield* drain(lookup, 60, T + 5)
    const refused = yield* Effect.flip(limits.take([lookup, write, makeUse("requests_per_minute", id)], T + 9))
    if (refused._tag !== "LimitReached") return yield* expectSame("refusal", refused._tag, "LimitReached")
    const names = pluck(refused.limitStatuses, "policy").sort()
    yield* expectSame("refusing", names, ["lookups_per_hour", "writes_per_minute"])
    yield* expectSame(
      "decisive",
      [refused.decisive.policy, refused.decisive.resets_at],
      ["lookups_per_hour", T + 5 + HOUR_MS]
    )
  },

  "reading a limit takes no use, and opens no window": function* ({ limits }) {
    const take = makeUse("writes_per_minute", yield* subject)
    yield* expectSame("at first", (yield* limits.peek(take, T)).remaining, 30)
    yield* expectSame("again", (yield* limits.peek(take, T + 30_000)).remaining, 30)
    const [status] = yield* limits.take([take], T + 50_000)
    yield* expectSame("the window opens with the first use", status?.resets_at, T + 50_000 + MINUTE_MS)
    yield* expectSame("seen", yield* limits.peek(take, T + 50_001), status)
  },

  "a use that is given back can be taken again once": function* ({ limits }) {
    const id = yield* subject
    const takes = [makeUse("requests_per_minute", id), makeUse("writes_per_minute", id)]
    const remainingAt = (now: number) =>
      Effect.forEach(takes, (take) => Effect.map(limits.peek(take, now), (l) => l.remaining))
    let taken = yield* limits.take(takes, T)
    yield* limits.giveBack(takes, taken)
    yield* expectSame("as if never taken", yield* remainingAt(T), [120, 30])
    for (let n = 0; n < 30; n++) taken = yield* limits.take(takes, T)
    yield* limits.giveBack(takes, taken)
    yield* expectSame("one of each", yield* remainingAt(T + 1), [91, 1])
    yield* expectSame("taken again", summarize(yield* limits.take(takes, T + 2)).length, 2)
    yield* expectSame("and full again", (yield* Effect.either(limits.take(takes, T + 3)))._tag, "Left")
  },

  "a use of a window that has ended is not given back to the next window": function* ({ limits }) {
    const takes = [makeUse("writes_per_minute", yield* subject)]
    const late = yield* limits.take(takes, T)
    yield* limits.take(takes, T + MINUTE_MS)
    yield* limits.giveBack(takes, late)
    yield* expectSame("the use in the new window stands", (yield* limits.peek(takes[0]!, T + MINUTE_MS)).remaining, 29)
  },

  "each subject and each policy is counted separately": function* ({ limits }) {
    const [one, other] = [yield* subject, yield* subject]
    yield* drain(makeUse("writes_per_minute", one), 30)
    yield* expectSame("the subject", (yield* limits.peek(makeUse("writes_per_minute", other), T)).remaining, 30)
    yield* expectSame("the policy", (yield* limits.peek(makeUse("requests_per_minute", one), T)).remaining, 120)
    yield* expectSame("itself", (yield* limits.peek(makeUse("writes_per_minute", one), T)).remaining, 0)
  },

  "an hourly window begins with its first use, and a daily one is the shop's calendar day": function* ({ limits }) {
    const id = yield* subject
    // 20 November 2026, 22:59:59.999 UTC: a millisecond before midnight in Tunis.
    const before = Date.UTC(2026, 10, 20, 22, 59, 59, 999)
    const [hour, day] = [makeUse("lookups_per_hour", id), makeUse("lookups_per_day", id)]
    const limitStatuses = yield* limits.take([hour, day], before)
    yield* expectSame(
      "resets",
      limitStatuses.map(({ resets_at }) => resets_at - before),
      [HOUR_MS, 1]
    )
    const next = yield* limits.take([hour, day], before + 1)
    yield* expectSame("left", summarize(next), [
      ["lookups_per_hour", 58],
      ["lookups_per_day", 299]
    ])
    yield* expectSame(
      "resets",
      next.map(({ resets_at }) => resets_at - before),
      [HOUR_MS, 1 + DAY_MS]
    )
  },

  "a day of 23 or 25 hours is one window that ends at midnight": function* ({ limits }) {
    const time_zone = Schema.decodeSync(TimeZone)("Europe/Paris")
    // Midnight in Paris at the beginning of 28 March, which has 23 hours, and of 31 October 2027, which has 25.
    for (const [midnight, hours] of [
      [Date.UTC(2027, 2, 27, 23), 23],
      [Date.UTC(2027, 9, 30, 22), 25]
    ] as const) {
      const take = { policy: "lookups_per_day", subject: yield* subject, time_zone } as const
      // The first two instants and the last instant of the day are in one window.
      for (const [n, at] of [midnight, midnight + 1, midnight + hours * HOUR_MS - 1].entries()) {
        const [status] = yield* limits.take([take], at)
        yield* expectSame(`a day of ${hours} hours`, status?.resets_at, midnight + hours * HOUR_MS)
        yield* expectSame(`use ${n + 1} of it`, status?.remaining, 299 - n)
      }
      const [next] = yield* limits.take([take], midnight + hours * HOUR_MS)
      yield* expectSame("the day after", next?.remaining, 299)
    }
  }
})
