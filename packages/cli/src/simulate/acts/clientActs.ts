import { type Deed, type Errand, type Stage, successOf } from "../Errand.js"
import type { KnownClient, KnownShop } from "../Town.js"
import { drawKnown } from "./tillActs.js"

const NAMES = ["Amira", "Karim", "Leila", "Sami", "Nour", "Hedi"] as const

/** A client opens an account. */
export const registerErrand = ({ town, dice }: Stage): Errand => {
  const phone = town.freshPhone()
  const body = { given_name: dice.oneOf(NAMES), family_name: "Ben Salah", phone, hide_name: dice.chance(0.3) }
  return {
    actor: "client",
    act: "register",
    shop: null,
    method: "POST",
    path: "/sandbox/clients",
    body,
    told: (answer) => {
      const made = successOf<{ readonly id: string }>(answer)
      if (made !== null) town.clients.push({ id: made.id, phone, offers: [] })
    }
  }
}

/** A client comes to a shop's counter, which makes them known there. */
export const visitErrand = (client: KnownClient, shop: KnownShop): Errand => ({
  actor: `client ${client.id}`,
  act: "visit",
  shop: shop.id,
  method: "POST",
  path: `/sandbox/clients/${client.id}/visits`,
  body: { shop_id: shop.id }
})

const looked = (client: KnownClient): Errand => ({
  actor: `client ${client.id}`,
  act: "look at offers",
  shop: null,
  method: "GET",
  path: `/sandbox/clients/${client.id}/offers`,
  told: (answer) => {
    const offers =
      successOf<ReadonlyArray<{ readonly id: string; readonly shop_id: string; readonly status: string }>>(answer) ?? []
    client.offers = offers.filter(({ status }) => status === "open").map(({ id, shop_id }) => ({ id, shop: shop_id }))
  }
})

const answered = ({ town, dice }: Stage): ReadonlyArray<Errand> | null => {
  const client = dice.pick(town.clients)
  if (client === undefined) return null
  const offer = dice.pick(client.offers)
  if (offer === undefined) return [looked(client)]
  const how = dice.chance(0.93) ? "accept" : "block"
  const act = how === "accept" ? "accept an offer" : "block a shop"
  const copies = dice.chance(0.1) ? 2 : 1
  return Array.from({ length: copies }, () => ({
    actor: `client ${client.id}`,
    act,
    shop: offer.shop,
    method: "POST" as const,
    path: `/sandbox/offers/${offer.id}/${how}`,
    told: () => {
      client.offers = client.offers.filter(({ id }) => id !== offer.id)
    }
  }))
}

/** What clients do (Specification, Sandbox). */
export const clientActs: ReadonlyArray<Deed> = [
  { name: "register", weight: 0.5, plan: (stage) => (stage.town.clients.length < 40 ? [registerErrand(stage)] : null) },
  {
    name: "visit",
    weight: 3,
    plan: ({ town, dice }) => {
      const [client, shop] = [dice.pick(town.clients), dice.pick(town.shops)]
      return client === undefined || shop === undefined ? null : [visitErrand(client, shop)]
    }
  },
  { name: "answer an offer", weight: 12, plan: answered },
  {
    name: "answer a quote",
    weight: 5,
    plan: ({ town, dice }) => {
      const shop = dice.pick(town.shops)
      const ticket = shop === undefined ? undefined : drawKnown(shop, dice)
      if (shop === undefined || ticket === undefined) return null
      const how = dice.chance(0.7) ? "accept" : "refuse"
      return [
        {
          actor: "client",
          act: `${how} a quote`,
          shop: shop.id,
          method: "POST",
          path: `/sandbox/tickets/${ticket.id}/quote/${how}`
        }
      ]
    }
  }
]
