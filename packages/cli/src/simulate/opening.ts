import { Effect } from "effect"
import { registerErrand, visitErrand } from "./acts/clientActs.js"
import { keyErrand } from "./acts/ownerActs.js"
import { type Errand, successOf } from "./Errand.js"
import { FaceBroken } from "./Face.js"
import type { Play } from "./Play.js"
import type { KnownShop } from "./Town.js"

const ZONES = ["Africa/Tunis", "Europe/Paris", "America/New_York", "Asia/Kolkata"] as const

/** How many clients there are to each shop when a simulation begins. */
const CLIENTS_PER_SHOP = 3

interface Opened {
  readonly shop: { readonly id: string }
  readonly key_id: string
  readonly key: string
}

/** Opens a shop; the first that the service answers is what it will be called. */
const openShop = ({ run, stage }: Play) =>
  Effect.gen(function* () {
    const { town, dice } = stage
    const name = town.fresh("Shop")
    const time_zone = dice.oneOf(ZONES)
    const body = { name, currency: "TND", decimals: 3, time_zone, tracking_base_url: "https://track.example.com" }
    const answer = yield* run({
      actor: "owner",
      act: "open a shop",
      shop: null,
      method: "POST",
      path: "/sandbox/shops",
      body
    })
    const opened = successOf<Opened>(answer)
    if (opened === null)
      return yield* new FaceBroken({ message: "No shop can be opened: is the server started with --sandbox?" })
    const shop: KnownShop = {
      id: opened.shop.id,
      name,
      time_zone,
      keys: [{ id: opened.key_id, text: opened.key, scopes: "full", isRevoked: false }],
      tickets: new Map(),
      open: [],
      done: [],
      feed: { updated_since: new Date(town.now).toISOString(), cursor: null, tickets: new Map() },
      isWebhookSet: false,
      off: null,
      events: []
    }
    town.shops.push(shop)
    return shop
  })

const furnishing = ({ stage: { dice, receiverOf } }: Play, shop: KnownShop): ReadonlyArray<Errand> => {
  const program = {
    active: true,
    name: "Stamps",
    stamps_required: dice.between(3, 10),
    stamps_per_ticket: 1,
    reward_label: "A hem"
  }
  // Near the end of the numbers, so that they start again during the run.
  const next_number = dice.chance(0.5) ? { next_number: dice.between(9950, 9999) } : {}
  const change: Errand = {
    actor: "owner",
    act: "furnish",
    shop: shop.id,
    method: "PATCH",
    path: `/sandbox/shops/${shop.id}`,
    body: { program, ...next_number }
  }
  const told = () => {
    shop.isWebhookSet = true
  }
  const url = { url: receiverOf(shop.id) }
  const webhook: Errand = {
    actor: "owner",
    act: "set a webhook",
    shop: shop.id,
    method: "PUT",
    path: `/sandbox/shops/${shop.id}/webhook`,
    body: url,
    told
  }
  return [change, keyErrand(shop, "full"), keyErrand(shop, "read"), ...(dice.chance(0.8) ? [webhook] : [])]
}

/** Stops the clock, opens the shops and the clients' accounts, each at an instant of its own. */
export const opening = (play: Play, shops: number): Effect.Effect<void, FaceBroken> =>
  Effect.gen(function* () {
    const alone = (errand: Errand) => Effect.zipRight(play.moveClock({ advance_ms: 1000 }), play.run(errand))
    yield* play.moveClock({ freeze: true })
    for (let i = 0; i < shops; i++) {
      yield* play.moveClock({ advance_ms: 1000 })
      const shop = yield* openShop(play)
      for (const errand of furnishing(play, shop)) yield* alone(errand)
    }
    for (let i = 0; i < shops * CLIENTS_PER_SHOP; i++) yield* alone(registerErrand(play.stage))
    const { clients, shops: opened } = play.stage.town
    for (const [i, client] of clients.entries()) yield* alone(visitErrand(client, opened[i % opened.length]!))
  })
