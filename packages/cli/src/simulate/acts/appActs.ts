import type { SeenTicket } from "../auditor/Evidence.js"
import { type Deed, type Errand, type Stage, successOf } from "../Errand.js"
import { type KnownShop, type KnownTicket, remember } from "../Town.js"
import { drawTicket } from "./drawTicket.js"
import { drawKnown } from "./tillActs.js"

const DAY = 86_400_000

const inApp = (
  shop: KnownShop,
  act: string,
  path: string,
  body: unknown,
  method: Errand["method"] = "POST"
): Errand => ({
  actor: "app",
  act,
  shop: shop.id,
  method,
  path,
  body,
  told: (answer) => {
    const ticket = successOf<SeenTicket>(answer)
    if (ticket !== null) remember(shop, ticket)
  }
})

const onTicket =
  (act: string, bodyOf: (stage: Stage, ticket: KnownTicket) => unknown): Deed["plan"] =>
  (stage) => {
    const shop = stage.dice.pick(stage.town.shops)
    const ticket = shop === undefined ? undefined : drawKnown(shop, stage.dice)
    if (shop === undefined || ticket === undefined) return null
    const path = `/sandbox/tickets/${ticket.id}`
    return act === "edit"
      ? [inApp(shop, act, path, bodyOf(stage, ticket), "PATCH")]
      : [inApp(shop, act, `${path}/${act}`, bodyOf(stage, ticket))]
  }

const created = ({ town, dice }: Stage, times: number): ReadonlyArray<Errand> | null => {
  const shop = dice.pick(town.shops)
  if (shop === undefined) return null
  return Array.from({ length: times }, () =>
    inApp(shop, "create in the app", `/sandbox/shops/${shop.id}/tickets`, drawTicket(town, dice))
  )
}

/** What the shop does in its app (Specification, Sandbox). */
export const appActs: ReadonlyArray<Deed> = [
  { name: "create in the app", weight: 5, plan: (stage) => created(stage, 1) },
  { name: "many creates in the app", weight: 0.15, plan: (stage) => created(stage, stage.dice.between(40, 170)) },
  {
    name: "quote",
    weight: 4,
    plan: onTicket("quote", ({ dice }, { deposit_minor }) => ({
      price_minor: deposit_minor + dice.between(0, 50_000),
      note: "A new price"
    }))
  },
  { name: "edit", weight: 2, plan: onTicket("edit", ({ town }) => ({ description: town.fresh("note") })) },
  {
    name: "delay",
    weight: 2,
    plan: onTicket("delay", ({ town, dice }) => ({
      promised_at: new Date(town.now + dice.between(1, 20) * DAY).toISOString(),
      reason: "The part"
    }))
  },
  {
    name: "part",
    weight: 2,
    plan: onTicket("part", ({ dice }) => ({ label: "Zip", status: dice.oneOf(["ordered", "received"]) }))
  },
  {
    name: "photo",
    weight: 1,
    plan: onTicket("photo", ({ town }) => ({ photo_url: `https://photos.example.com/${town.fresh("photo")}.jpg` }))
  }
]
