import { Effect, Schema } from "effect"
import { describe, expect, it } from "vitest"
import type { WebhookAddress } from "../../src/domain/WebhookAddress.js"
import { Actor } from "../../src/services/Actor.js"
import { Audit } from "../../src/services/Audit.js"
import { ClientCorrection, Clients } from "../../src/services/Clients.js"
import { DeliveryHistory, ReplayInput } from "../../src/services/DeliveryHistory.js"
import { Keys } from "../../src/services/Keys.js"
import { Shops } from "../../src/services/Shops.js"
import { Webhooks } from "../../src/services/Webhooks.js"
import { inWorkshop, keyInput, openClient, refusalOf, shopInput, shopPatch } from "./WorkshopFixture.js"

const SECRET_URL = "https://hooks.example.com/services/T0/very-secret?token=hidden" as WebhookAddress

/**
 * Runs every act of an owner and an operator on a shop. Returns the shop's id, and the texts that the log must not
 * contain.
 */
const everything = Effect.gen(function* () {
  const [shops, keys, webhooks, deliveries] = [yield* Shops, yield* Keys, yield* Webhooks, yield* DeliveryHistory]
  const { id } = yield* shops.create(shopInput())
  yield* shops.change(id, shopPatch({ api_enabled: false, forbidden_words: ["damn", "bother"] }))
  const { record, key } = yield* keys.create(id, keyInput("Till"))
  yield* keys.revoke(record.id)
  const set = yield* webhooks.set(id, SECRET_URL)
  const { secret } = yield* webhooks.rotate(id)
  yield* webhooks.disable(id)
  yield* webhooks.enable(id)
  yield* webhooks.ping(id)
  yield* deliveries.replay(id, Schema.decodeSync(ReplayInput)({ state: "dead", dry_run: true }))
  yield* deliveries.replay(id, Schema.decodeSync(ReplayInput)({ state: "dead" }))
  yield* webhooks.remove(id)
  return { id, key_id: record.id, hidden: [key, record.hash, set.secret, secret, "very-secret", "hidden", "damn"] }
})

describe("the audit log", () => {
  it(
    "the audit log has the actor, the act and the time of every act of an owner, and no secret",
    inWorkshop(() =>
      Effect.gen(function* () {
        const { id, key_id, hidden } = yield* Effect.provideService(everything, Actor, "owner:amira")
        const entries = yield* (yield* Audit).list(id, null, 100)
        expect(entries.toReversed().map(({ act, details }) => [act, details])).toEqual([
          ["shop.created", { name: "Atelier" }],
          ["shop.changed", { api_enabled: false, forbidden_words: 2 }],
          ["key.created", { key_id, name: "Till", scopes: ["tickets:read"], expires_at: null }],
          ["key.revoked", { key_id, name: "Till" }],
          ["webhook.set", { host: "hooks.example.com" }],
          ["webhook.rotated", {}],
          ["webhook.disabled", {}],
          ["webhook.enabled", {}],
          ["webhook.pinged", { event_id: expect.any(String) }],
          ["deliveries.replayed", { state: "dead" }],
          ["webhook.removed", {}]
        ])
        expect(new Set(entries.map(({ actor }) => actor))).toEqual(new Set(["owner:amira"]))
        const text = JSON.stringify(entries)
        expect(hidden.filter((secret) => text.includes(secret))).toEqual([])
      })
    )
  )

  it(
    "an actor without a name is called unknown, and a name is cut to one short line",
    inWorkshop(() =>
      Effect.gen(function* () {
        const shops = yield* Shops
        const { id } = yield* shops.create(shopInput())
        const long = `a\u0000b\n${"x".repeat(500)}`
        yield* Effect.provideService(shops.change(id, shopPatch({})), Actor, long)
        const [changed, created] = yield* (yield* Audit).list(id, null, 10)
        expect(created?.actor).toBe("unknown")
        expect(changed?.actor).toBe(`a b ${"x".repeat(116)}`)
      })
    )
  )

  it(
    "the audit log has who exported, corrected and erased a client, without the client's name and number",
    inWorkshop(() =>
      Effect.gen(function* () {
        const clients = yield* Clients
        const { id } = yield* openClient("+21620123456")
        const correction = Schema.decodeSync(ClientCorrection)({ family_name: "Baccar" })
        const acts = Effect.all([clients.export(id), clients.correct(id, correction), clients.erase(id)])
        yield* Effect.provideService(acts, Actor, "cli:karim")
        const entries = yield* (yield* Audit).list(null, null, 3)
        expect(entries.toReversed().map(({ actor, act, details }) => [actor, act, details])).toEqual([
          ["cli:karim", "client.exported", { client_id: id }],
          ["cli:karim", "client.corrected", { client_id: id, fields: ["family_name"] }],
          ["cli:karim", "client.erased", { client_id: id }]
        ])
      })
    )
  )

  it(
    "the audit log has no entry for a refused act",
    inWorkshop(() =>
      Effect.gen(function* () {
        const { id } = yield* (yield* Shops).create(shopInput())
        expect(yield* refusalOf((yield* Webhooks).rotate(id))).toBe("WebhookNotSet")
        expect(yield* refusalOf((yield* Webhooks).remove(id))).toBe("WebhookNotSet")
        expect((yield* (yield* Audit).list(id, null, 10)).map(({ act }) => act)).toEqual(["shop.created"])
      })
    )
  )
})
