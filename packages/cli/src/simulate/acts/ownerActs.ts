import type { SeenEvent } from "../auditor/Evidence.js"
import { type Deed, type Errand, type Stage, successOf } from "../Errand.js"
import type { KnownShop } from "../Town.js"

const MOST_KEYS = 5

const owner = (shop: KnownShop, act: string, method: Errand["method"], path: string, body?: unknown): Errand => ({
  actor: "owner",
  act,
  shop: shop.id,
  method,
  path,
  body
})

/** The owner makes a key. */
export const keyErrand = (shop: KnownShop, preset: "full" | "read", act = "make a key"): Errand => ({
  ...owner(shop, act, "POST", `/sandbox/shops/${shop.id}/keys`, { name: "Till", preset }),
  told: (answer) => {
    const made = successOf<{ readonly id: string; readonly key: string }>(answer)
    if (made !== null) shop.keys.push({ id: made.id, text: made.key, scopes: preset, isRevoked: false })
  }
})

/** The owner revokes a key. */
export const revokeErrand = (shop: KnownShop, key: KnownShop["keys"][number]): Errand => ({
  ...owner(shop, "revoke a key", "DELETE", `/sandbox/keys/${key.id}`),
  told: () => {
    key.isRevoked = true
  }
})

/** Switches a flag of the shop back on. */
export const onErrand = (shop: KnownShop, flag: string): Errand => ({
  ...owner(shop, "switch on", "PATCH", `/sandbox/shops/${shop.id}`, { [flag]: true }),
  told: () => {
    shop.off = null
  }
})

const ofShop =
  (plan: (shop: KnownShop, stage: Stage) => ReadonlyArray<Errand> | null): Deed["plan"] =>
  (stage) => {
    const shop = stage.dice.pick(stage.town.shops)
    return shop === undefined ? null : plan(shop, stage)
  }

const ofWebhook = (plan: (shop: KnownShop, stage: Stage) => ReadonlyArray<Errand> | null): Deed["plan"] =>
  ofShop((shop, stage) => (shop.isWebhookSet ? plan(shop, stage) : null))

const STATES = ["dead", "delivered", "parked", "pending"] as const

const replayed = (shop: KnownShop, { dice }: Stage): ReadonlyArray<Errand> => {
  const named = shop.events.length > 0 && dice.chance(0.5)
  const body = named ? { event_ids: [dice.pick(shop.events)] } : { state: dice.oneOf(STATES) }
  return [owner(shop, "replay", "POST", `/sandbox/shops/${shop.id}/deliveries/replay`, body)]
}

/** What the owner does, each alone at its instant (Specification, Sandbox). */
export const ownerActs: ReadonlyArray<Deed> = [
  {
    name: "make or revoke a key",
    weight: 2,
    isAlone: true,
    plan: ofShop((shop, { dice }) => {
      const active = shop.keys.filter(({ isRevoked }) => !isRevoked)
      if (active.length >= MOST_KEYS && dice.chance(0.3)) return [keyErrand(shop, "read", "a key too many")]
      if (active.length < 3 || (active.length < MOST_KEYS && dice.chance(0.5)))
        return [keyErrand(shop, dice.chance(0.75) ? "full" : "read")]
      const key = dice.pick(active)
      return key === undefined ? null : [revokeErrand(shop, key)]
    })
  },
  {
    name: "rotate the secret",
    weight: 0.8,
    isAlone: true,
    plan: ofWebhook((shop) => [owner(shop, "rotate the secret", "POST", `/sandbox/shops/${shop.id}/webhook/rotate`)])
  },
  {
    name: "turn the webhook on",
    weight: 1.5,
    isAlone: true,
    plan: ofWebhook((shop) => [owner(shop, "turn the webhook on", "POST", `/sandbox/shops/${shop.id}/webhook/enable`)])
  },
  {
    name: "ping",
    weight: 1,
    plan: ofWebhook((shop) => [owner(shop, "ping", "POST", `/sandbox/shops/${shop.id}/webhook/ping`)])
  },
  { name: "replay", weight: 0.7, isAlone: true, plan: ofWebhook(replayed) },
  {
    name: "look at events",
    weight: 0.5,
    plan: ofShop((shop) => [
      {
        ...owner(shop, "look at events", "GET", `/sandbox/shops/${shop.id}/events`),
        told: (answer) => {
          const events = successOf<ReadonlyArray<SeenEvent>>(answer) ?? []
          shop.events.splice(0, shop.events.length, ...events.slice(-20).map(({ id }) => id))
        }
      }
    ])
  },
  {
    name: "change the programme",
    weight: 0.8,
    isAlone: true,
    plan: ofShop((shop, { dice }) => {
      const program = {
        active: dice.chance(0.8),
        stamps_required: dice.between(2, 12),
        stamps_per_ticket: dice.between(0, 3)
      }
      return [owner(shop, "change the programme", "PATCH", `/sandbox/shops/${shop.id}`, { program })]
    })
  },
  {
    name: "switch on",
    weight: 8,
    isAlone: true,
    plan: ({ town }) => {
      const shop = town.shops.find(({ off }) => off !== null)
      return shop?.off === undefined || shop.off === null ? null : [onErrand(shop, shop.off)]
    }
  },
  {
    name: "switch off",
    weight: 0.4,
    isAlone: true,
    plan: ofShop((shop, { dice }) => {
      if (shop.off !== null) return null
      const flag = dice.oneOf(["active", "approved", "api_enabled"])
      const told = () => {
        shop.off = flag
      }
      return [{ ...owner(shop, "switch off", "PATCH", `/sandbox/shops/${shop.id}`, { [flag]: false }), told }]
    })
  }
]
