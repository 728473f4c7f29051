import { describe, expect, it } from "vitest"
import { beginNotification, recordNotification, retryNotificationNow } from "../../src/decisions/sendNotification.js"
import type { QueuedNotification } from "../../src/domain/Notification.js"
import type { TicketState } from "../../src/domain/TicketLifecycle.js"
import { DAY, HOUR, MINUTE, SHOP, START, TestShop } from "./fixtures.js"

const ID = "00000000-0000-7000-8000-000000000077"

/**
 * A shop with a queued notification that is due at `due_at`, and of which `attempts_made` attempts
 * have begun.
 */
const waiting = (attempts_made: number, due_at = START) => {
  const shop = new TestShop()
  const row: QueuedNotification = { shop_id: SHOP, id: ID, receiver: "owner", attempts_made, due_at }
  shop.slice.queuedNotifications.set(ID, row)
  return { shop, row, attempt: { shop_id: SHOP, id: ID, attempts_made } }
}

/** The delays after attempts 1 to 7, written out from Specification, Webhooks (the retry table). */
const DELAYS = [MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR]

describe("the beginning of an attempt to notify", () => {
  it.each(DELAYS.map((delay, attempts) => [attempts + 1, delay] as const))(
    "attempt %i is scheduled again when it begins, in case its process crashes",
    (n, delay) => {
      const { shop, row, attempt } = waiting(n - 1)
      expect(shop.does(beginNotification(attempt))).toBe("begun")
      expect(shop.slice.queuedNotifications.get(ID)).toEqual({ ...row, attempts_made: n, due_at: START + delay })
    }
  )

  it("a notification is due again a minute after its last attempt began, in case the process crashes", () => {
    const { shop, row, attempt } = waiting(7)
    expect(shop.does(beginNotification(attempt))).toBe("begun")
    expect(shop.slice.queuedNotifications.get(ID)).toEqual({ ...row, attempts_made: 8, due_at: START + MINUTE })
  })

  it("a notification is given up if the process crashed during its last attempt", () => {
    const { shop, attempt } = waiting(8)
    expect(shop.does(beginNotification(attempt))).toBe("given_up")
    expect(shop.slice.queuedNotifications.size).toBe(0)
  })

  it("an attempt is superseded if another process has begun the notification, or if it was removed", () => {
    const { shop, row, attempt } = waiting(1)
    expect(shop.does(beginNotification({ ...attempt, attempts_made: 0 }))).toBe("superseded")
    expect(shop.slice.queuedNotifications.get(ID)).toEqual(row)
    shop.slice.queuedNotifications.clear()
    expect(shop.does(beginNotification(attempt))).toBe("superseded")
  })
})

describe("a notification of a ticket", () => {
  const begun = (type: "ticket.ready" | "ticket.impossible", state: TicketState) => {
    const { shop, attempt } = waiting(0)
    const ticket_id = shop.ticketIn(state)
    return [shop.does(beginNotification(attempt, { ticket_id, type })), shop.slice.queuedNotifications.size]
  }

  it.each([
    ["ticket.ready", "ready"],
    ["ticket.impossible", "impossible"]
  ] as const)("a notification of %s is sent if the ticket is still %s", (type, state) => {
    expect(begun(type, state)).toEqual(["begun", 1])
  })

  it.each([
    ["ticket.ready", "workshop"],
    ["ticket.ready", "impossible"],
    ["ticket.ready", "collected"],
    ["ticket.ready", "abandoned"],
    ["ticket.impossible", "workshop"],
    ["ticket.impossible", "ready"],
    ["ticket.impossible", "collected"]
  ] as const)("a notification of %s is dropped if the ticket is %s", (type, state) => {
    expect(begun(type, state)).toEqual(["outdated", 0])
  })
})

describe("a notification that a wrong clock postponed", () => {
  it("a postponed notification becomes due at once", () => {
    const { shop, row, attempt } = waiting(1, START + DAY)
    shop.does(retryNotificationNow(attempt))
    expect(shop.slice.queuedNotifications.get(ID)).toEqual({ ...row, due_at: START })
  })

  it.each([0, -1, -DAY])("a notification that is due already stays unchanged (%i ms from now)", (off) => {
    const { shop, row, attempt } = waiting(1, START + off)
    shop.does(retryNotificationNow(attempt))
    expect(shop.last.changes).toEqual([])
    expect(shop.slice.queuedNotifications.get(ID)).toEqual(row)
  })

  it("a notification that was removed stays removed", () => {
    const { shop, attempt } = waiting(1, START + DAY)
    shop.does(retryNotificationNow({ ...attempt, attempts_made: 0 }))
    expect(shop.last.changes).toEqual([])
  })
})

describe("the end of an attempt to notify", () => {
  it("a successful attempt removes the notification", () => {
    const { shop, attempt } = waiting(8)
    expect(shop.does(recordNotification(attempt, true))).toBe("sent")
    expect(shop.slice.queuedNotifications.size).toBe(0)
  })

  it.each(DELAYS.map((delay, at) => [at + 1, delay] as const))(
    "a notification whose attempt %i failed is tried again",
    (n, delay) => {
      const { shop, row, attempt } = waiting(n)
      expect(shop.does(recordNotification(attempt, false))).toBe("retry")
      expect(shop.slice.queuedNotifications.get(ID)).toEqual({ ...row, due_at: START + delay })
    }
  )

  it("a failed last attempt gives the notification up", () => {
    const { shop, attempt } = waiting(8)
    expect(shop.does(recordNotification(attempt, false))).toBe("given_up")
    expect(shop.slice.queuedNotifications.size).toBe(0)
  })

  it.each([true, false])(
    "an attempt is superseded if another process has begun the next one (notified: %s)",
    (isDelivered) => {
      const { shop, row, attempt } = waiting(2)
      expect(shop.does(recordNotification({ ...attempt, attempts_made: 1 }, isDelivered))).toBe("superseded")
      expect(shop.slice.queuedNotifications.get(ID)).toEqual(row)
    }
  )
})
