import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { nextAttempt } from "../../src/domain/Delivery.js"
import { MAX_ATTEMPTS } from "../../src/domain/Limits.js"
import { errorResult, statusResult } from "../../src/testing/TestDispatcher.js"
import { HOUR, MINUTE, SECOND, START } from "../decisions/fixtures.js"
import { HookedShop } from "./HookedShop.js"

const SEED = Number(process.env.TEST_SEED ?? 20_261_120)

describe("Specification, Webhooks: an event without a 2xx is tried again, and then given up", () => {
  it.each([
    [1, "1 min", MINUTE],
    [2, "5 min", 5 * MINUTE],
    [3, "30 min", 30 * MINUTE],
    [4, "2 h", 2 * HOUR],
    [5, "6 h", 6 * HOUR],
    [6, "12 h", 12 * HOUR],
    [7, "24 h", 24 * HOUR]
  ])(
    "the attempt after attempt %i is due %s after the end of the failed attempt (Specification, Webhooks)",
    (attempts, _, delay) => {
      expect(nextAttempt(attempts, START, 0)).toBe(START + delay)
    }
  )

  it("an event has eight attempts in all (Specification, Webhooks)", () => {
    expect(MAX_ATTEMPTS).toBe(8)
    expect(nextAttempt(8, START, 0)).toBeNull()
    expect(nextAttempt(9, START, 1)).toBeNull()
  })

  it(`jitter never makes an attempt earlier, and makes it later by a tenth or five minutes at most (Specification, Webhooks, seed ${SEED})`, () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 7 }), fc.double({ min: 0, max: 1, noNaN: true }), (attempts, jitter) => {
        const plain = nextAttempt(attempts, START, 0)! - START
        const put_off = nextAttempt(attempts, START, jitter)! - START - plain
        expect(put_off).toBeGreaterThanOrEqual(0)
        expect(put_off).toBeLessThanOrEqual(Math.min(plain / 10, 5 * MINUTE))
        expect(Number.isInteger(put_off)).toBe(true)
      }),
      { seed: SEED }
    )
    expect(nextAttempt(1, START, 1)).toBe(START + 66 * SECOND)
    expect(nextAttempt(7, START, 1)).toBe(START + 24 * HOUR + 5 * MINUTE)
  })

  it("the delay of each of the eight attempts counts from the end of the previous attempt, and the last failure gives the event up (Specification, Webhooks)", () => {
    const shop = new HookedShop()
    const event = shop.raises()
    expect(shop.delivery(event)).toMatchObject({ due_at: START, attempts_made: 0, attempts_since_reset: 0 })
    for (const wait of [1, 5, 30, 120, 360, 720, 1440]) {
      shop.wait(10 * SECOND)
      expect(shop.attempts(event, errorResult("timeout"))).toBe("retry")
      expect(shop.delivery(event)?.due_at).toBe(shop.now + wait * MINUTE)
      shop.now = shop.delivery(event)!.due_at
    }
    expect(shop.attempts(event, statusResult(500))).toBe("dead")
    expect(shop.delivery(event)).toBeUndefined()
    expect(shop.everyRow("AttemptAppended").map(({ n }) => n)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  it("the jitter of an attempt postpones the next (Specification, Webhooks)", () => {
    const shop = new HookedShop()
    const event = shop.raises()
    shop.attempts(event, statusResult(500), { jitter: 0.5 })
    expect(shop.delivery(event)?.due_at).toBe(START + 63 * SECOND)
  })
})
