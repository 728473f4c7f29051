import { describe, expect, it } from "vitest"
import { enableWebhook, setWebhook } from "../../src/decisions/webhookSettings.js"
import { errorResult, statusResult } from "../../src/testing/TestDispatcher.js"
import { DAY, HOUR, MINUTE, SHOP, START } from "../decisions/fixtures.js"
import { HookedShop, URL_1 } from "./HookedShop.js"

const DOWN = statusResult(503)

/** A shop whose webhook has failed `failures_in_row` times since `age_ms` ago, and its next event. */
const failingShop = (failures_in_row: number, age_ms: number, failure_steps_notified = 0) => {
  const shop = new HookedShop()
  shop.hooks({ failures_in_row, first_failure_at: START - age_ms, failure_steps_notified })
  return { shop, event: shop.raises() }
}

const noticesOf = (shop: HookedShop) => shop.rows("NoticeAppended").map(({ kind, off_reason }) => [kind, off_reason])

describe("Specification, Webhooks: a webhook's failures belong to its URL", () => {
  it("a new URL starts without failures, so that the failures of the previous URL cannot turn the webhook off (Specification, Webhooks)", () => {
    const { shop, event } = failingShop(19, 80 * HOUR, 2)
    shop.does(setWebhook(SHOP, { url: "https://new.example/hook", secret: "whsec_2" }))
    expect(shop.webhook).toMatchObject({
      failures_in_row: 0,
      first_failure_at: null,
      failure_steps_notified: 0,
      secret: "whsec_1"
    })
    expect(shop.attempts(event, DOWN)).toBe("retry")
  })

  it("an attempt at the previous URL does not count: its 410 does not turn the webhook off, and its 2xx clears no failures (Specification, Webhooks)", () => {
    const shop = new HookedShop()
    const [refused, taken, lost] = [shop.raises(), shop.raises(), shop.raises()]
    shop.does(setWebhook(SHOP, { url: "https://new.example/hook", secret: "whsec_2" }))
    expect(shop.attempts(refused!, statusResult(410), { url: URL_1 })).toBe("retry")
    expect(shop.delivery(refused!)).toMatchObject({ attempts_made: 1, due_at: START + MINUTE })
    expect([shop.webhook.off_reason, shop.webhook.failures_in_row, noticesOf(shop)]).toEqual([null, 0, []])
    shop.attempts(lost!, DOWN)
    expect(shop.attempts(taken!, statusResult(200), { url: URL_1 })).toBe("delivered")
    expect(shop.webhook).toMatchObject({ failures_in_row: 1, first_failure_at: START })
  })

  it("setting the same URL again keeps its failures, and a webhook that is off stays off (Specification, Webhooks)", () => {
    const { shop } = failingShop(19, 80 * HOUR, 2)
    shop.does(setWebhook(SHOP, { url: URL_1, secret: "whsec_2" }))
    expect(shop.webhook.failures_in_row).toBe(19)
    shop.hooks({ off_reason: "gone" })
    shop.does(setWebhook(SHOP, { url: "https://new.example/hook", secret: "whsec_2" }))
    expect(shop.webhook.off_reason).toBe("gone")
  })
})

describe("Specification, Webhooks: after 20 consecutive failures over 72 hours, the webhook turns off and the owner is notified", () => {
  it.each([
    ["the 20th, 72 h after the first", 19, 72 * HOUR, "failing"],
    ["the 20th, a millisecond earlier", 19, 72 * HOUR - 1, null],
    ["the 19th, 72 h after the first", 18, 72 * HOUR, null],
    ["the 19th, a month after the first", 18, 30 * DAY, null],
    ["the 500th within three days", 499, 72 * HOUR - 1, null],
    ["the 21st, long after", 20, 200 * HOUR, "failing"]
  ])("the webhook is turned off only if both numbers are reached: %s, case %#", (_, before, age, off_reason) => {
    const { shop, event } = failingShop(before, age, 2)
    expect(shop.attempts(event, DOWN)).toBe(off_reason === null ? "retry" : "parked")
    expect(shop.webhook.off_reason).toBe(off_reason)
    expect(noticesOf(shop)).toEqual(off_reason === null ? [] : [["webhook_off", "failing"]])
  })

  it("the notice is stored with the attempt that caused it, and has the number of failures, the time of the first, and the reason (Specification, Webhooks)", () => {
    const { shop, event } = failingShop(19, 72 * HOUR, 2)
    shop.attempts(event, errorResult("connect"))
    expect(shop.rows("NoticeAppended")).toEqual([
      {
        shop_id: SHOP,
        id: expect.any(String),
        kind: "webhook_off",
        created_at: START,
        url: URL_1,
        off_reason: "failing",
        failures_in_row: 20,
        first_failure_at: START - 72 * HOUR
      }
    ])
    expect(shop.rows("AttemptAppended")).toHaveLength(1)
  })

  it("the owner is warned twice before the webhook turns off: at 7 failures in a day and at 14 in two (docs/how-it-is-built.md)", () => {
    const warned = [
      [6, 24 * HOUR, 0],
      [6, 24 * HOUR - 1, 0],
      [5, 24 * HOUR, 0],
      [7, 25 * HOUR, 1],
      [13, 48 * HOUR, 1],
      [14, 49 * HOUR, 2],
      [13, 48 * HOUR, 0]
    ].map(([before, age, steps]) => {
      const { shop, event } = failingShop(before!, age!, steps)
      shop.attempts(event, DOWN)
      return noticesOf(shop).length
    })
    expect(warned).toEqual([1, 0, 0, 0, 1, 0, 1])
  })

  it("failures are counted over all deliveries of the shop, from the end of the first (Specification, Webhooks)", () => {
    const shop = new HookedShop()
    const events = Array.from({ length: 4 }, () => shop.raises())
    for (const event of events) shop.wait(1).attempts(event, DOWN)
    expect(shop.webhook).toMatchObject({ failures_in_row: 4, first_failure_at: START + 1 })
  })

  it("the success of any delivery clears the consecutive failures and the warnings", () => {
    const { shop, event } = failingShop(15, 60 * HOUR, 2)
    const other = shop.raises()
    shop.attempts(other, statusResult(204))
    expect(shop.webhook).toMatchObject({
      failures_in_row: 0,
      first_failure_at: null,
      failure_steps_notified: 0,
      off_reason: null
    })
    shop.wait(HOUR).attempts(event, DOWN)
    expect(shop.webhook).toMatchObject({ failures_in_row: 1, first_failure_at: START + HOUR })
  })

  it("a success without earlier failures writes neither webhook nor head (docs/how-it-is-built.md)", () => {
    const shop = new HookedShop()
    shop.attempts(shop.raises(), statusResult(200))
    expect(shop.last.changes.map(({ _tag }) => _tag)).toEqual(["AttemptAppended", "DeliveryRemoved"])
  })
})

describe("Specification, Webhooks: on a 410 the webhook turns off and the owner is notified", () => {
  it("a 410 turns the webhook off at once and parks the delivery that got it (Specification, Webhooks)", () => {
    const shop = new HookedShop()
    const event = shop.raises()
    expect(shop.attempts(event, statusResult(410))).toBe("parked")
    expect(shop.webhook).toMatchObject({ off_reason: "gone", failures_in_row: 1, first_failure_at: START })
    expect(noticesOf(shop)).toEqual([["webhook_off", "gone"]])
    expect(shop.delivery(event)).toMatchObject({ attempts_made: 1 })
  })

  it("the delivery that got the 410 is parked even at its eighth attempt (Specification, Webhooks)", () => {
    const shop = new HookedShop()
    const event = shop.raises()
    shop.delivers(event, { attempts_made: 7, attempts_since_reset: 7 })
    expect(shop.attempts(event, statusResult(410))).toBe("parked")
    expect(shop.delivery(event)).toMatchObject({ attempts_made: 8 })
    shop.wait(HOUR).does(enableWebhook(SHOP))
    expect(shop.attempts(event, DOWN)).toBe("retry")
    expect(shop.rows("AttemptAppended")[0]?.n).toBe(9)
  })

  it("deliveries in flight when the webhook turns off are parked, and cause no second notice (Specification, Webhooks)", () => {
    const shop = new HookedShop()
    const [first, second, third] = [shop.raises(), shop.raises(), shop.raises()]
    shop.attempts(first!, statusResult(410))
    expect(shop.attempts(second!, statusResult(410))).toBe("parked")
    expect(noticesOf(shop)).toEqual([])
    expect(shop.attempts(third!, statusResult(200))).toBe("delivered")
    expect(shop.webhook).toMatchObject({ off_reason: "gone", failures_in_row: 0 })
  })
})

describe("Specification, Webhooks: turning a webhook on again", () => {
  it("turning a webhook on again raises its generation, clears its failures, and is recorded with its instant", () => {
    const { shop } = failingShop(19, 80 * HOUR, 2)
    shop.hooks({ off_reason: "failing" })
    expect(shop.wait(HOUR).does(enableWebhook(SHOP))).toMatchObject({
      off_reason: null,
      generation: 2,
      enabled_at: START + HOUR,
      failures_in_row: 0,
      first_failure_at: null,
      failure_steps_notified: 0
    })
  })

  it("a webhook that is on keeps its generation, so that waiting retries keep waiting", () => {
    const { shop, event } = failingShop(3, HOUR)
    shop.attempts(event, DOWN)
    const waiting = shop.delivery(event)
    expect(shop.does(enableWebhook(SHOP))).toMatchObject({ generation: 1, failures_in_row: 0 })
    expect(shop.delivery(event)).toBe(waiting)
  })

  it("turning a webhook on again writes one row, however many deliveries it releases (docs/how-it-is-built.md)", () => {
    const shop = new HookedShop()
    for (let i = 0; i < 500; i++) shop.raises()
    shop.hooks({ off_reason: "gone" }).does(enableWebhook(SHOP))
    expect(shop.last.changes.map(({ _tag }) => _tag)).toEqual(["WebhookPut", "HeadPut"])
  })
})
