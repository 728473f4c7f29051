import type { Dice } from "../Dice.js"
import type { Town } from "../Town.js"

const SERVICES = ["Resoling", "Hem", "Zip", "Screen", "New lining", "Polish"] as const
const ITEMS = ["Brown boots", "Grey trousers", "Suitcase", "Phone", "Winter coat"] as const

const MINUTES = 60_000

/** What a till or the app asks of a new ticket. */
export const drawTicket = (town: Town, dice: Dice): Record<string, unknown> => {
  const price_minor = dice.between(0, 400) * 250
  const client = dice.pick(town.clients)
  const whom = dice.between(0, 9)
  return {
    service: dice.oneOf(SERVICES),
    ...(dice.chance(0.7) ? { item: dice.oneOf(ITEMS) } : {}),
    ...(dice.chance(0.2) ? { type: "prepare" } : {}),
    ...(dice.chance(0.6) ? { price_minor } : {}),
    ...(dice.chance(0.15) ? { items: [{ label: "Left", price_minor: 100 }, { label: "Right" }] } : {}),
    ...(dice.chance(0.2) ? { promised_at: new Date(town.now + dice.between(60, 9000) * MINUTES).toISOString() } : {}),
    ...(dice.chance(0.3) ? { external_ref: town.fresh("order") } : {}),
    ...(whom < 4 && client !== undefined ? { client_phone: client.phone } : {}),
    ...(whom === 4 ? { client_phone: "+21629999999" } : {}),
    ...(whom > 7 && client !== undefined ? { client_id: client.id } : {})
  }
}
