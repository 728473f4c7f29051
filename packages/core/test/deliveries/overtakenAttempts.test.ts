import { describe, expect, it } from "vitest"
import { type FinishedAttempt, recordSuperseded } from "../../src/decisions/recordAttempt.js"
import { removeWebhook } from "../../src/decisions/webhookSettings.js"
import type { AttemptRecord } from "../../src/domain/Delivery.js"
import type { EventId } from "../../src/domain/Identifier.js"
import { errorResult, statusResult } from "../../src/testing/TestDispatcher.js"
import { SECOND, SHOP, START } from "../decisions/fixtures.js"
import { HookedShop, URL_1 } from "./HookedShop.js"

const EVENT = "event 1" as EventId

/** An attempt in the log: its number, the status of its response, and when it began. */
const logged = (n: number, status: number, started_at: number): AttemptRecord => ({
  ...statusResult(status),
  shop_id: SHOP,
  event_id: EVENT,
  n,
  started_at
})

/** A shop with these attempts in the log of the event. */
const shopWith = (...log: ReadonlyArray<AttemptRecord>) => {
  const shop = new HookedShop()
  shop.slice.attempts.set(EVENT, [...log])
  return shop
}

/** Records an attempt that another claim has overtaken; by default it began a second ago and got a 500. */
const records = (shop: HookedShop, attempted: Partial<FinishedAttempt> = {}) =>
  shop.does(
    recordSuperseded(SHOP, {
      event_id: EVENT,
      token: 1,
      url: URL_1,
      started_at: shop.now - SECOND,
      sent: statusResult(500),
      jitter: 0,
      ...attempted
    })
  )

/** The log of the event: number, status and start of each attempt. */
const logOf = (shop: HookedShop) =>
  (shop.slice.attempts.get(EVENT) ?? []).map(({ n, status, started_at }) => [n, status, started_at])

describe("Specification, Webhooks: an attempt that another claim has overtaken", () => {
  it("an overtaken attempt is logged and counts for the webhook's health, but does not change its delivery", () => {
    const shop = new HookedShop()
    const event_id = shop.raises()
    shop.delivers(event_id, { token: 5 })
    const row = shop.delivery(event_id)
    expect(records(shop, { event_id, token: 4, sent: statusResult(410) }).outcome).toBe("superseded")
    expect(shop.rows("AttemptAppended")).toEqual([
      { ...statusResult(410), shop_id: SHOP, event_id, n: 1, started_at: START - SECOND }
    ])
    expect(shop.webhook).toMatchObject({ off_reason: "gone", failures_in_row: 1, first_failure_at: START })
    expect(shop.rows("NoticeAppended").map(({ kind }) => kind)).toEqual(["webhook_off"])
    expect(shop.delivery(event_id)).toBe(row)
  })

  it("an overtaken attempt does not count for the webhook's health if it went to another URL", () => {
    const shop = shopWith()
    records(shop, { url: "https://old.example/hook", sent: statusResult(410) })
    expect(shop.rows("AttemptAppended")).toHaveLength(1)
    expect(shop.webhook).toMatchObject({ off_reason: null, failures_in_row: 0 })
  })

  it("an overtaken attempt is not logged if the webhook was removed meanwhile", () => {
    const shop = shopWith()
    shop.does(removeWebhook(SHOP))
    expect(records(shop).outcome).toBe("superseded")
    expect(shop.last.changes).toEqual([])
  })

  it.each([
    ["the first", [], 1],
    ["the first, although a second began later", [logged(2, 200, START)], 1],
    ["after the first", [logged(1, 503, START - 2 * SECOND)], 1],
    ["after the second", [logged(1, 503, START - 9 * SECOND), logged(2, 503, START - 5 * SECOND)], 2],
    ["between the first and the second", [logged(1, 503, START - 9 * SECOND), logged(2, 503, START)], 1]
  ])("an overtaken attempt has the number of the attempt that began before it: %s", (_, log, n) => {
    const shop = shopWith(...log)
    records(shop)
    expect(shop.rows("AttemptAppended").map((row) => row.n)).toEqual([n])
  })

  it.each([
    ["with the same start and result", {}, 0],
    ["logged 9 ms before it began", { started_at: START - SECOND - 9 }, 0],
    ["logged 10 ms before it began", { started_at: START - SECOND - 10 }, 1],
    ["logged 1 ms after it began", { started_at: START - SECOND + 1 }, 1],
    ["with another status", { status: 502 }, 1],
    ["with another error", { error: "timeout" as const }, 1],
    ["with other timings", { timings: { ...statusResult(500).timings, total_ms: 7 } }, 1],
    ["with another number, but the same start and result", { n: 3 }, 0]
  ])("an overtaken attempt is logged unless the log has it already: next to an attempt %s", (_, change, times) => {
    const shop = shopWith(logged(1, 204, START - 9 * SECOND), { ...logged(1, 500, START - SECOND), ...change })
    expect(records(shop).outcome).toBe("superseded")
    expect(shop.rows("AttemptAppended")).toHaveLength(times)
    expect(shop.webhook.failures_in_row).toBe(times)
  })
})

describe("docs/how-it-is-built.md: the start under which an overtaken attempt is logged", () => {
  it.each([
    ["it took a while", [], START - 1, START - 1],
    ["the clock stood still: it began before the attempt that overtook it", [], START, START - 1],
    ["the clock was set back meanwhile", [], START + 5, START + 4],
    [
      "the clock stood still, and it is not the first",
      [logged(1, 503, START - 9), logged(2, 503, START - 5)],
      START,
      START
    ],
    ["another attempt with its number has this start", [logged(1, 503, START - 5)], START - 5, START - 6],
    [
      "other attempts with its number have this start and the one before",
      [logged(1, 503, START - 6), logged(1, 502, START - 5)],
      START - 5,
      START - 7
    ],
    ["an attempt with another number has this start", [logged(2, 503, START - 5)], START - 5, START - 5]
  ])("the logged start differs from those of attempts with the same number: %s", (_, log, started_at, expected) => {
    const shop = shopWith(...log)
    records(shop, { started_at })
    expect(shop.rows("AttemptAppended").map((row) => row.started_at)).toEqual([expected])
  })
})

describe("Specification, Webhooks: the log of attempts is ordered", () => {
  it("an overtaken attempt is not the last in the log, even if its result came last", () => {
    const shop = shopWith(logged(1, 200, START - 100))
    records(shop, { started_at: START - 200, sent: errorResult("timeout") })
    expect(logOf(shop)).toEqual([
      [1, null, START - 200],
      [1, 200, START - 100]
    ])
  })

  it("an acknowledged attempt is the last of its number, even if another one has a later start because of a fast clock", () => {
    const shop = shopWith(logged(1, 200, START - 100))
    records(shop, { started_at: START - 50 })
    expect(logOf(shop)).toEqual([
      [1, 500, START - 50],
      [1, 200, START - 100]
    ])
  })

  it("an attempt with the first number is before the second, and after an earlier one with the first number", () => {
    const shop = shopWith(logged(1, 503, START - 300), logged(2, 200, START - 100))
    records(shop, { started_at: START - 200 })
    expect(logOf(shop)).toEqual([
      [1, 503, START - 300],
      [1, 500, START - 200],
      [2, 200, START - 100]
    ])
  })
})
