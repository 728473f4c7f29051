import { describe, expect, it } from "vitest"
import { enableWebhook } from "../../src/decisions/webhookSettings.js"
import { deliveryState, presentSchedule } from "../../src/domain/Delivery.js"
import { errorResult, statusResult } from "../../src/testing/TestDispatcher.js"
import { HOUR, MINUTE, SHOP, START, TestShop } from "../decisions/fixtures.js"
import { HookedShop, URL_1 } from "./HookedShop.js"

describe("Specification, Webhooks: a 2xx response acknowledges the event", () => {
  it.each([200, 201, 202, 204, 299])("a %i response makes the event delivered", (status) => {
    const shop = new HookedShop()
    const event = shop.raises()
    expect(shop.attempts(event, statusResult(status))).toBe("delivered")
    expect(shop.delivery(event)).toBeUndefined()
  })

  it.each([100, 199, 300, 301, 302, 304, 307, 308, 400, 401, 404, 409, 429, 500, 503])(
    "a %i response makes the service try the event again",
    (status) => {
      const shop = new HookedShop()
      expect(shop.attempts(shop.raises(), statusResult(status))).toBe("retry")
    }
  )

  it.each(["timeout", "lookup", "refused_address", "connect", "tls", "reset", "too_large_head", "malformed"] as const)(
    "an attempt without a response (%s) is repeated",
    (error) => {
      const shop = new HookedShop()
      expect(shop.attempts(shop.raises(), errorResult(error))).toBe("retry")
    }
  )
})

describe("Specification, Webhooks: the log of attempts", () => {
  it("the log has the result of each attempt, with its number and the instant at which it began", () => {
    const shop = new HookedShop()
    const event = shop.raises()
    shop.attempts(event, statusResult(500))
    shop.wait(MINUTE).attempts(event, statusResult(200))
    const row = (n: number, status: number, started_at: number) => ({
      ...statusResult(status),
      shop_id: SHOP,
      event_id: event,
      n,
      started_at
    })
    expect(shop.everyRow("AttemptAppended")).toEqual([row(1, 500, START - 5), row(2, 200, START + MINUTE - 5)])
  })
})

describe("docs/how-it-is-built.md: a record with a stale token does not change the delivery", () => {
  it("a superseded record changes neither the log nor the webhook, which recordSuperseded does", () => {
    const shop = new HookedShop()
    const event = shop.raises()
    shop.delivers(event, { token: 5 })
    for (const token of [4, 6, 0]) expect(shop.attempts(event, statusResult(410), { token })).toBe("superseded")
    expect(shop.last.changes).toEqual([])
    expect(shop.delivery(event)).toMatchObject({ token: 5, attempts_made: 0 })
    expect(shop.webhook).toMatchObject({ off_reason: null, failures_in_row: 0 })
  })

  it("a record is superseded if the event was delivered meanwhile", () => {
    const shop = new HookedShop()
    const event = shop.raises()
    shop.attempts(event, statusResult(200))
    expect(shop.attempts(event, statusResult(500))).toBe("superseded")
  })

  it("a record is superseded if the webhook was removed during the attempt", () => {
    const shop = new HookedShop()
    const event = shop.raises()
    shop.slice.webhook = null
    expect(shop.attempts(event, statusResult(500), { token: 0, url: URL_1 })).toBe("superseded")
    expect(shop.last.changes).toEqual([])
  })

  it("a record that is sent twice, because its first response was lost, counts once", () => {
    const shop = new HookedShop()
    const event = shop.raises()
    shop.delivers(event, { token: 3 })
    expect(shop.attempts(event, statusResult(500), { token: 3 })).toBe("retry")
    expect(shop.attempts(event, statusResult(500), { token: 3 })).toBe("superseded")
    expect(shop.delivery(event)).toMatchObject({ attempts_made: 1, token: 4 })
  })
})

describe("Specification, Webhooks: released deliveries get eight new attempts, the first at once; their numbers continue", () => {
  const released = () => {
    const shop = new HookedShop()
    const event = shop.raises()
    shop.delivers(event, { attempts_made: 5, attempts_since_reset: 5, due_at: START + 6 * HOUR })
    shop.hooks({ off_reason: "failing" }).wait(HOUR).does(enableWebhook(SHOP))
    return { shop, event }
  }

  it("released deliveries are due at the instant of the release, without a write of their rows", () => {
    const { shop, event } = released()
    expect(shop.delivery(event)).toMatchObject({ attempts_since_reset: 5, generation: 1 })
    expect(presentSchedule(shop.delivery(event)!, shop.webhook)).toEqual({
      attempts_since_reset: 0,
      due_at: START + HOUR
    })
  })

  it("a released delivery is dead after eight more failures, numbered from 6 to 13", () => {
    const { shop, event } = released()
    const outcomes = Array.from({ length: 8 }, () => shop.attempts(event, statusResult(500)))
    expect(outcomes).toEqual([...Array(7).fill("retry"), "dead"])
    expect(shop.delivery(event)).toBeUndefined()
    expect(shop.everyRow("AttemptAppended").map(({ n }) => n)).toEqual([6, 7, 8, 9, 10, 11, 12, 13])
  })

  it("an attempt that is running when the webhook is turned on again counts as the first of the new eight", () => {
    const { shop, event } = released()
    shop.attempts(event, statusResult(500))
    expect(shop.delivery(event)).toMatchObject({
      attempts_since_reset: 1,
      generation: 2,
      due_at: START + HOUR + MINUTE
    })
  })
})

describe("Specification, Webhooks: deliveries exist only if a webhook is set", () => {
  it("an event without a webhook is recorded, and has no delivery", () => {
    const shop = new TestShop()
    shop.create()
    expect(shop.eventTypes).toEqual(["ticket.created"])
    expect(shop.rows("DeliveryPut")).toEqual([])
  })

  it("an event that is raised while the webhook is off has a parked delivery", () => {
    const shop = new HookedShop()
    shop.hooks({ off_reason: "gone" })
    const row = shop.delivery(shop.raises())
    expect(deliveryState(row, shop.webhook, false)).toBe("parked")
  })

  it("a delivery is pending, parked, delivered or dead by its row, the webhook and the last attempt (Specification, Sandbox)", () => {
    const shop = new HookedShop()
    const row = shop.delivery(shop.raises())
    const off = { ...shop.webhook, off_reason: "failing" as const }
    expect(deliveryState(row, shop.webhook, false)).toBe("pending")
    expect(deliveryState(row, shop.webhook, true)).toBe("pending")
    expect(deliveryState(row, off, false)).toBe("parked")
    expect(deliveryState(undefined, shop.webhook, true)).toBe("delivered")
    expect(deliveryState(undefined, off, false)).toBe("dead")
  })
})
