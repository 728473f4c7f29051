import { Effect, Either } from "effect"
import { describe, expect, it } from "vitest"
import type { ShopId } from "../../src/domain/Identifier.js"
import { DAY_MS } from "../../src/domain/Instant.js"
import { parseWebhookAddress, productionAddresses } from "../../src/domain/WebhookAddress.js"
import { Reads } from "../../src/ports/StorePorts.js"
import { Webhooks } from "../../src/services/Webhooks.js"
import { putChanges, runCommand } from "../../src/testing/Fixtures.js"
import { inWorkshop, openShop, refusalOf } from "./WorkshopFixture.js"

const address = (url: string) => Either.getOrThrow(parseWebhookAddress(url, productionAddresses))

describe("Specification, Webhooks: one webhook per shop", () => {
  it(
    "setting the URL the first time makes a secret, and changing it keeps the secret",
    inWorkshop(() =>
      Effect.gen(function* () {
        const { shop_id } = yield* openShop()
        const webhooks = yield* Webhooks
        const first = yield* webhooks.set(shop_id, address("https://one.example.com/hook"))
        expect(first.secret).toMatch(/^whsec_[A-Za-z0-9_-]{43}$/)
        const second = yield* webhooks.set(shop_id, address("https://two.example.com/hook"))
        expect(second).toEqual({ ...first, url: "https://two.example.com/hook" })
        const other = yield* openShop()
        const others = yield* webhooks.set(other.shop_id, address("https://one.example.com/hook"))
        expect(others.secret).not.toBe(first.secret)
      })
    )
  )

  it(
    "a rotation changes the secret, and the old one also signs for 24 hours",
    inWorkshop((clock) =>
      Effect.gen(function* () {
        const { shop_id } = yield* openShop()
        const webhooks = yield* Webhooks
        const { secret } = yield* webhooks.set(shop_id, address("https://one.example.com/hook"))
        clock.advance(5000)
        const rotated = yield* webhooks.rotate(shop_id)
        expect(rotated.secret).not.toBe(secret)
        expect((yield* (yield* Reads).shop(shop_id))?.webhook).toMatchObject({
          secret: rotated.secret,
          previous_secret: secret,
          previous_until: clock.unsafeCurrentTimeMillis() + DAY_MS
        })
        yield* webhooks.set(shop_id, address("https://two.example.com/hook"))
        expect((yield* (yield* Reads).shop(shop_id))?.webhook?.previous_secret).toBe(secret)
      })
    )
  )

  it(
    "a second rotation within 24 hours returns the instant until which the replaced secret would have signed (Specification, Endpoints)",
    inWorkshop((clock) =>
      Effect.gen(function* () {
        const { shop_id } = yield* openShop()
        const webhooks = yield* Webhooks
        yield* webhooks.set(shop_id, address("https://one.example.com/hook"))
        const until = new Date(clock.unsafeCurrentTimeMillis() + DAY_MS).toISOString()
        expect((yield* webhooks.rotate(shop_id)).replaces_before).toBeNull()
        clock.advance(DAY_MS - 1)
        expect((yield* webhooks.rotate(shop_id)).replaces_before).toBe(until)
        clock.advance(DAY_MS)
        expect((yield* webhooks.rotate(shop_id)).replaces_before).toBeNull()
      })
    )
  )

  it(
    "setting a URL while the webhook is off returns that it is off, and leaves it off (Specification, Endpoints)",
    inWorkshop(() =>
      Effect.gen(function* () {
        const { shop_id } = yield* openShop()
        const webhooks = yield* Webhooks
        const webhook = yield* webhooks.set(shop_id, address("https://one.example.com/hook"))
        expect([webhook.on, webhook.off_reason]).toEqual([true, null])
        yield* webhooks.disable(shop_id)
        const two = yield* webhooks.set(shop_id, address("https://two.example.com/hook"))
        expect([two.on, two.off_reason]).toEqual([false, "disabled"])
      })
    )
  )

  it(
    "a shop without a webhook has nothing to rotate or turn on, and an empty status",
    inWorkshop(() =>
      Effect.gen(function* () {
        const { shop_id } = yield* openShop()
        const webhooks = yield* Webhooks
        expect(yield* refusalOf(webhooks.rotate(shop_id))).toBe("WebhookNotSet")
        expect(yield* refusalOf(webhooks.enable(shop_id))).toBe("WebhookNotSet")
        expect(yield* webhooks.status(shop_id)).toEqual({
          url: null,
          on: false,
          off_reason: null,
          failures_in_row: 0,
          first_failure_at: null
        })
        expect(yield* refusalOf(webhooks.status("nowhere" as ShopId))).toBe("ShopNotFound")
      })
    )
  )

  it(
    "a webhook that is turned on again has no failures",
    inWorkshop((clock) =>
      Effect.gen(function* () {
        const { shop_id } = yield* openShop()
        const webhooks = yield* Webhooks
        yield* webhooks.set(shop_id, address("https://one.example.com/hook"))
        const webhook = (yield* (yield* Reads).shop(shop_id))!.webhook!
        const now = clock.unsafeCurrentTimeMillis()
        const row = { ...webhook, off_reason: "failing", failures_in_row: 20, first_failure_at: now } as const
        yield* runCommand(putChanges(shop_id, { _tag: "WebhookPut", row }))
        expect(yield* webhooks.status(shop_id)).toEqual({
          url: "https://one.example.com/hook",
          on: false,
          off_reason: "failing",
          failures_in_row: 20,
          first_failure_at: new Date(now).toISOString()
        })
        const on = { on: true, off_reason: null, failures_in_row: 0, first_failure_at: null }
        expect(yield* webhooks.enable(shop_id)).toEqual({ url: webhook.url, ...on })
        expect((yield* (yield* Reads).shop(shop_id))?.webhook?.secret).toBe(webhook.secret)
      })
    )
  )

  it(
    "the test button sends a ping, in the envelope of every event",
    inWorkshop((clock) =>
      Effect.gen(function* () {
        const { shop_id } = yield* openShop()
        const webhooks = yield* Webhooks
        const ping = yield* webhooks.ping(shop_id)
        expect(JSON.parse(ping.body)).toEqual({
          id: ping.id,
          type: "ping",
          created_at: new Date(clock.unsafeCurrentTimeMillis()).toISOString(),
          api_version: "1",
          shop_id,
          data: {}
        })
        expect(yield* webhooks.events(shop_id)).toEqual([ping])
      })
    )
  )
})
