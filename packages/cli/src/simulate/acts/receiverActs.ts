import type { Deed } from "../Errand.js"
import { type Mood, moods } from "../Receivers.js"

const BAD = (Object.keys(moods) as ReadonlyArray<Mood>).filter((mood) => mood !== "well")

/** Receivers break and come back, and shops get a webhook at last. */
export const receiverActs: ReadonlyArray<Deed> = [
  {
    name: "a receiver changes",
    weight: 3,
    isAlone: true,
    plan: ({ town, dice, receivers }) => {
      const shop = dice.pick(town.shops)
      if (shop === undefined) return null
      receivers.turn(shop.id, dice.chance(0.55) ? "well" : (dice.pick(BAD) ?? "well"))
      return []
    }
  },
  {
    name: "set a webhook",
    weight: 0.5,
    isAlone: true,
    plan: ({ town, dice, receiverOf }) => {
      const shop = dice.pick(town.shops)
      if (shop === undefined) return null
      const told = () => {
        shop.isWebhookSet = true
      }
      const path = `/sandbox/shops/${shop.id}/webhook`
      return [
        {
          actor: "owner",
          act: "set a webhook",
          shop: shop.id,
          method: "PUT",
          path,
          body: { url: receiverOf(shop.id) },
          told
        }
      ]
    }
  }
]
