import { describe, expect, it } from "vitest"
import {
  disableWebhook,
  enableWebhook,
  pingWebhook,
  removeWebhook,
  rotateSecret,
  setWebhook
} from "../../src/decisions/webhookSettings.js"
import { recordFailure, type SendResult, webhookStatus } from "../../src/domain/Webhook.js"
import { HOUR, SHOP, START, TestShop } from "./fixtures.js"

const URL_1 = "https://shop.example.com/hook"
const URL_2 = "https://till.example.com/hook"

const withWebhook = () => {
  const shop = new TestShop()
  shop.does(setWebhook(SHOP, { url: URL_1, secret: "whsec_1" }))
  return shop
}

describe("Specification, Webhooks: one webhook per shop", () => {
  it("setting an address the first time makes a secret and turns the webhook on (Specification, Webhooks)", () => {
    const shop = withWebhook()
    expect(shop.slice.webhook).toEqual({
      shop_id: SHOP,
      url: URL_1,
      secret: "whsec_1",
      previous_secret: null,
      previous_until: null,
      off_reason: null,
      failures_in_row: 0,
      first_failure_at: null,
      failure_steps_notified: 0,
      generation: 1,
      enabled_at: START
    })
    expect(shop.events).toEqual([])
  })

  it("changing the address keeps the secret (Specification, Webhooks)", () => {
    const shop = withWebhook()
    expect(shop.does(setWebhook(SHOP, { url: URL_2, secret: "whsec_2" }))).toMatchObject({
      url: URL_2,
      secret: "whsec_1",
      previous_secret: null
    })
  })

  it("a rotation gives a new secret and keeps the old one for 24 hours (Specification, Webhooks)", () => {
    const shop = withWebhook()
    expect(shop.wait(HOUR).does(rotateSecret(SHOP, "whsec_2")).webhook).toMatchObject({
      url: URL_1,
      secret: "whsec_2",
      previous_secret: "whsec_1",
      previous_until: START + HOUR + 86_400_000
    })
  })

  it("after a second rotation the webhook has only its last two secrets (Specification, Webhooks)", () => {
    const shop = withWebhook()
    shop.does(rotateSecret(SHOP, "whsec_2"))
    expect(shop.wait(HOUR).does(rotateSecret(SHOP, "whsec_3")).webhook).toMatchObject({
      secret: "whsec_3",
      previous_secret: "whsec_2",
      previous_until: START + 25 * HOUR
    })
  })

  it("a new address does not shorten the 24 hours of the old secret (Specification, Webhooks)", () => {
    const shop = withWebhook()
    shop.does(rotateSecret(SHOP, "whsec_2"))
    expect(shop.wait(HOUR).does(setWebhook(SHOP, { url: URL_2, secret: "whsec_3" }))).toMatchObject({
      secret: "whsec_2",
      previous_secret: "whsec_1",
      previous_until: START + 24 * HOUR
    })
  })

  it("turning the webhook on again clears its failures (Specification, Webhooks)", () => {
    for (const off_reason of ["gone", "failing"] as const) {
      const shop = withWebhook()
      shop.slice.webhook = { ...shop.slice.webhook!, off_reason, failures_in_row: 20, first_failure_at: START }
      expect(shop.does(enableWebhook(SHOP))).toMatchObject({
        off_reason: null,
        failures_in_row: 0,
        first_failure_at: null,
        secret: "whsec_1"
      })
    }
  })

  it("a webhook without an address can neither be rotated nor turned on (Specification, Webhooks)", () => {
    const shop = new TestShop()
    expect(shop.refuses(rotateSecret(SHOP, "whsec_2"))._tag).toBe("WebhookNotSet")
    expect(shop.refuses(enableWebhook(SHOP))._tag).toBe("WebhookNotSet")
  })
})

describe("an owner turns the webhook off and removes it", () => {
  it("a webhook that its owner turned off stays off after any response of its receiver, until it is turned on", () => {
    const shop = withWebhook()
    const off = shop.does(disableWebhook(SHOP))
    expect(webhookStatus(off)).toEqual({
      url: URL_1,
      on: false,
      off_reason: "disabled",
      failures_in_row: 0,
      first_failure_at: null
    })
    expect(recordFailure(off, { status: 410 } as SendResult, START)).toMatchObject({
      webhook: { off_reason: "disabled" },
      notice: null
    })
    expect(shop.does(setWebhook(SHOP, { url: URL_2, secret: "whsec_2" }))).toMatchObject({ off_reason: "disabled" })
    expect(shop.does(enableWebhook(SHOP))).toMatchObject({ off_reason: null, generation: 2, secret: "whsec_1" })
  })

  it("removing a webhook deletes its secret and its deliveries, so a later address gets a new secret", () => {
    const shop = withWebhook()
    shop.does(pingWebhook(SHOP))
    expect(shop.does(removeWebhook(SHOP))).toBe("removed")
    expect([shop.slice.webhook, shop.slice.deliveries.size]).toEqual([null, 0])
    expect(shop.does(setWebhook(SHOP, { url: URL_1, secret: "whsec_9" }))).toMatchObject({ secret: "whsec_9" })
  })

  it("a removal deletes a thousand waiting deliveries at a time, and the webhook stays off until the last one is deleted", () => {
    const removing = (waiting: number) => {
      const shop = withWebhook()
      for (let n = 0; n < waiting; n++) shop.does(pingWebhook(SHOP))
      return shop
    }
    const many = removing(1000)
    expect(many.does(removeWebhook(SHOP))).toBe("more")
    expect(many.slice.webhook).toMatchObject({ url: URL_1, secret: "whsec_1", off_reason: "disabled" })
    expect(many.slice.deliveries.size).toBe(0)
    expect(many.does(removeWebhook(SHOP))).toBe("removed")
    const fewer = removing(999)
    expect(fewer.does(removeWebhook(SHOP))).toBe("removed")
    expect(fewer.rows("WebhookRemoved")).toEqual([{ shop_id: SHOP }])
  })

  it("setting the same address keeps its failures, and a different address starts with none (Specification, Webhooks)", () => {
    const failures = { failures_in_row: 7, first_failure_at: START }
    const shop = withWebhook()
    shop.slice.webhook = { ...shop.slice.webhook!, ...failures }
    expect(shop.does(setWebhook(SHOP, { url: URL_1, secret: "whsec_2" }))).toMatchObject({ url: URL_1, ...failures })
    expect(shop.does(setWebhook(SHOP, { url: URL_2, secret: "whsec_2" }))).toMatchObject({
      url: URL_2,
      failures_in_row: 0,
      first_failure_at: null
    })
  })

  it("turning on a webhook that is on clears its failures and releases nothing (Specification, Webhooks)", () => {
    const shop = withWebhook()
    shop.slice.webhook = { ...shop.slice.webhook!, failures_in_row: 7, first_failure_at: START }
    expect(shop.wait(HOUR).does(enableWebhook(SHOP))).toMatchObject({
      generation: 1,
      enabled_at: START,
      failures_in_row: 0
    })
  })

  it("a webhook that was never set can neither be turned off nor removed", () => {
    const shop = new TestShop()
    expect(shop.refuses(disableWebhook(SHOP))._tag).toBe("WebhookNotSet")
    expect(shop.refuses(removeWebhook(SHOP))._tag).toBe("WebhookNotSet")
  })
})

describe("Specification, Webhooks: the app's test button", () => {
  it("the test button raises a ping without a ticket and data, with or without a webhook (Specification, Webhooks)", () => {
    for (const shop of [withWebhook(), new TestShop()]) {
      const event = shop.does(pingWebhook(SHOP))
      expect(shop.rows("EventRaised")).toEqual([event])
      expect(event).toMatchObject({ type: "ping", ticket_id: null, created_at: START })
      expect(JSON.parse(event.body)).toEqual({
        id: event.id,
        type: "ping",
        created_at: "2026-03-02T09:00:00.000Z",
        api_version: "1",
        shop_id: SHOP,
        data: {}
      })
    }
  })

  it("each ping is a separate event, in order (Specification, Webhooks)", () => {
    const shop = new TestShop()
    const [first, second] = [shop.does(pingWebhook(SHOP)), shop.does(pingWebhook(SHOP))]
    expect(second!.id).not.toBe(first!.id)
    expect(second!.seq).toBe(first!.seq + 1)
  })
})

describe("Specification, Sandbox: a webhook as its owner sees it", () => {
  it("a shop without a webhook shows empty fields (Specification, Sandbox)", () => {
    expect(webhookStatus(null)).toEqual({
      url: null,
      on: false,
      off_reason: null,
      failures_in_row: 0,
      first_failure_at: null
    })
  })

  it("the owner sees the webhook's failures and why it is off, never its secret (Specification, Sandbox)", () => {
    const { webhook } = withWebhook().slice
    expect(webhookStatus(webhook)).toMatchObject({ url: URL_1, on: true, off_reason: null })
    const off = { ...webhook!, off_reason: "gone" as const, failures_in_row: 3, first_failure_at: START }
    expect(webhookStatus(off)).toEqual({
      url: URL_1,
      on: false,
      off_reason: "gone",
      failures_in_row: 3,
      first_failure_at: "2026-03-02T09:00:00.000Z"
    })
  })
})
