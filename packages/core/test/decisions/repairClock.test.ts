import { describe, expect, it } from "vitest"
import { changeStatus, closeTicket, recordNotified } from "../../src/decisions/changeStatus.js"
import { answerQuote, proposeQuote } from "../../src/decisions/quotes.js"
import { redateTicket, repairClock } from "../../src/decisions/repairClock.js"
import { announceDelay, recordPart } from "../../src/decisions/ticketProgress.js"
import { rotateSecret, setWebhook } from "../../src/decisions/webhookSettings.js"
import { recordFailure, type SendResult } from "../../src/domain/Webhook.js"
import { DAY, HOUR, SHOP, START, TestShop } from "./fixtures.js"

const AHEAD = 40 * DAY
const NOW = START + HOUR
const FAILED = { status: 500, error: null } as SendResult

/** A shop with a webhook, whose clock is ahead from now on. */
const ahead = () => {
  const shop = new TestShop()
  shop.does(setWebhook(SHOP, { url: "https://shop.example.com/hook", secret: "whsec_1" }))
  return shop.wait(AHEAD)
}

const corrected = (shop: TestShop) => {
  shop.now = NOW
  return shop
}

describe("the clock of a shop that is ahead of the current time (Specification, Lists and sync)", () => {
  it("a repaired clock goes back to the current time, and identifiers continue after the last one", () => {
    const shop = ahead()
    shop.create()
    const before = shop.slice.head
    expect(corrected(shop).does(repairClock(SHOP))).toBe(START + AHEAD)
    expect(shop.last).toMatchObject({ limitStatuses: [] })
    expect(shop.last.changes.map(({ _tag }) => _tag)).toEqual(["HeadPut", "WebhookPut"])
    const id_counter = before.id_counter + (AHEAD - HOUR) * 4096
    expect(shop.slice.head).toEqual({ ...before, last_recorded_at: NOW, id_counter })
  })

  it("the identifier counter of a repaired shop stays at most 2^52, so that it can still increase", () => {
    const shop = new TestShop().wait(40 * 365 * DAY)
    shop.create()
    corrected(shop).does(repairClock(SHOP))
    expect(shop.slice.head.id_counter).toBe(2 ** 52)
    expect(shop.last.changes.map(({ _tag }) => _tag)).toEqual(["HeadPut"])
  })

  it("the clock of a shop that is not ahead stays unchanged", () => {
    const shop = new TestShop()
    shop.create()
    for (const now of [START, START + 1]) {
      shop.now = now
      expect(shop.does(repairClock(SHOP))).toBe(null)
      expect(shop.last.changes).toEqual([])
    }
  })

  it("a repair releases waiting deliveries, and moves future instants of the webhook back", () => {
    const shop = ahead()
    shop.does(rotateSecret(SHOP, "whsec_2"))
    shop.slice.webhook = recordFailure(shop.slice.webhook!, FAILED, shop.now).webhook
    const before = shop.slice.webhook
    expect(before.first_failure_at).toBe(START + AHEAD)
    corrected(shop).does(repairClock(SHOP))
    expect(shop.slice.webhook).toEqual({
      ...before,
      generation: before.generation + 1,
      enabled_at: NOW,
      previous_until: NOW + DAY,
      first_failure_at: NOW
    })
  })

  it("a repair leaves past instants of the webhook unchanged", () => {
    const shop = new TestShop()
    shop.does(setWebhook(SHOP, { url: "https://shop.example.com/hook", secret: "whsec_1" }))
    shop.does(rotateSecret(SHOP, "whsec_2"))
    shop.slice.webhook = recordFailure(shop.slice.webhook!, FAILED, shop.now).webhook
    shop.wait(AHEAD).create()
    corrected(shop).does(repairClock(SHOP))
    expect(shop.slice.webhook).toMatchObject({ previous_until: START + DAY, first_failure_at: START })
    const fresh = ahead()
    fresh.create()
    corrected(fresh).does(repairClock(SHOP))
    expect(fresh.slice.webhook).toMatchObject({ previous_until: null, first_failure_at: null })
  })
})

/** Repairs the shop, and then one of its tickets. */
const redated = (shop: TestShop, id: string) => {
  corrected(shop).does(repairClock(SHOP))
  return shop.does(redateTicket(SHOP, id as never))
}

describe("a ticket with dates in the future", () => {
  it("a repaired ticket has no instant later than the current time", () => {
    const shop = ahead()
    const id = shop.create({ price_minor: 100 })
    shop.does(proposeQuote(SHOP, id, { price_minor: 200 } as never))
    shop.does(answerQuote(SHOP, id, "accepted"))
    shop.does(announceDelay(SHOP, id, { promised_at: START + 90 * DAY } as never))
    shop.does(recordPart(SHOP, id, { label: "Zip", status: "received", expected_at: START + 80 * DAY } as never))
    shop.does(recordNotified(SHOP, id, "sms"))
    shop.moves(id, "ready", "collected")
    const before = shop.record(id)
    expect(redated(shop, id)).toBe(true)
    expect(shop.record(id)).toEqual({
      ...before,
      created_at: NOW,
      updated_at: NOW,
      change_seq: before.change_seq + 1,
      ready_at: NOW,
      collected_at: NOW,
      notified_at: NOW,
      shop_changed_at: NOW,
      quote: { ...before.quote, proposed_at: NOW, answered_at: NOW },
      delay: { ...before.delay, announced_at: NOW },
      part: { ...before.part, ordered_at: NOW, received_at: NOW },
      history: before.history!.map((change) => ({ ...change, at: NOW }))
    })
    expect(before.history!.length).toBeGreaterThan(0)
    expect(shop.eventTypes).toEqual([])
  })

  it("a repaired ticket keeps its past instants", () => {
    const shop = new TestShop()
    const id = shop.create({ price_minor: 100 })
    shop.does(proposeQuote(SHOP, id, { price_minor: 200 } as never))
    shop.does(announceDelay(SHOP, id, { promised_at: START + 90 * DAY } as never))
    shop.does(recordPart(SHOP, id, { label: "Zip", status: "ordered" } as never))
    shop.does(changeStatus(SHOP, id, "ready"))
    shop.wait(AHEAD).does(answerQuote(SHOP, id, "accepted"))
    const before = shop.record(id)
    expect(redated(shop, id)).toBe(true)
    const { quote, history } = shop.record(id)
    expect(shop.record(id)).toEqual({
      ...before,
      updated_at: NOW,
      change_seq: before.change_seq + 1,
      quote: { ...before.quote, answered_at: NOW },
      history
    })
    expect(quote?.proposed_at).toBe(START)
    expect(history!.map(({ at }) => at)).toEqual(before.history!.map(({ at }) => Math.min(at, NOW)))
  })

  it("a ticket whose dates were correct is unchanged", () => {
    const shop = new TestShop()
    const id = shop.create()
    shop.now = START
    expect(shop.does(redateTicket(SHOP, id))).toBe(false)
    expect(shop.last.changes).toEqual([])
  })

  it.each([
    ["ready", "uncollected"],
    ["workshop", "no_news"]
  ] as const)("a ticket that was closed too early is %s again, with its event", (state, reason) => {
    const shop = new TestShop()
    const id = shop.create()
    if (state === "ready") shop.moves(id, "ready")
    shop.wait(60 * DAY).does(closeTicket(SHOP, id))
    expect(shop.record(id).abandon_reason).toBe(reason)
    expect(redated(shop, id)).toBe(true)
    expect(shop.record(id)).toMatchObject({ state, abandoned_at: null, abandon_reason: null })
    expect(shop.events.map(({ type, data }) => [type, data.from, data.ticket?.state])).toEqual([
      ["ticket.reopened", "abandoned", state]
    ])
  })

  it("a ticket stays closed if its sixty days are over by the correct clock", () => {
    const shop = new TestShop()
    const id = shop.create()
    shop.wait(60 * DAY).does(closeTicket(SHOP, id))
    const closed_at = shop.now
    shop.slice.tickets.set(id, { ...shop.record(id), updated_at: closed_at + DAY, history: null })
    shop.now = closed_at
    expect(shop.does(redateTicket(SHOP, id))).toBe(true)
    expect(shop.record(id)).toMatchObject({ state: "abandoned", abandoned_at: closed_at, history: [] })
    expect(shop.eventTypes).toEqual([])
  })
})
