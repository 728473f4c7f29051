import type { SeenTicket } from "../auditor/Evidence.js"
import type { Dice } from "../Dice.js"
import { type Deed, type Errand, type Stage, successOf } from "../Errand.js"
import { type Attempt, type HeldKey, type KnownShop, type KnownTicket, remember } from "../Town.js"
import { attemptOn, drawFate } from "./attempts.js"
import { drawTicket } from "./drawTicket.js"

const good = (shop: KnownShop): ReadonlyArray<HeldKey> =>
  shop.keys.filter((key) => !key.isRevoked && key.scopes === "full")

/** A shop and a key of it with which a till can do everything; null where there is none. */
export const atTill = ({ town, dice }: Stage): { readonly shop: KnownShop; readonly key: HeldKey } | null => {
  const shop = dice.pick(town.shops)
  const key = shop === undefined ? undefined : dice.pick(good(shop))
  return shop === undefined || key === undefined ? null : { shop, key }
}

/** One of a shop's tickets, newer ones rather. */
export const drawKnown = ({ tickets }: KnownShop, dice: Dice): KnownTicket | undefined => {
  const all = [...tickets.values()]
  return dice.chance(0.6) ? dice.pick(all.slice(-12)) : dice.pick(all)
}

const LIKELY: Readonly<Record<string, readonly [string, ...Array<string>]>> = {
  workshop: ["ready", "ready", "ready", "impossible"],
  ready: ["collected", "collected", "workshop"],
  impossible: ["collected", "workshop"],
  collected: ["workshop", "collected", "ready"],
  abandoned: ["workshop", "ready"]
}

/** Mostly a status that the ticket would accept, as far as the till knows. */
export const drawStatus = (ticket: KnownTicket, dice: Dice): string =>
  dice.oneOf(dice.chance(0.12) ? ["ready", "impossible", "workshop", "collected"] : (LIKELY[ticket.state] ?? ["ready"]))

const noted =
  (shop: KnownShop): NonNullable<Errand["told"]> =>
  (answer) => {
    const ticket = successOf<SeenTicket>(answer)
    if (ticket !== null) remember(shop, ticket)
  }

/** A till's request for a status. */
export const statusErrand = (shop: KnownShop, key: HeldKey, ticket: KnownTicket, status: string): Errand => ({
  actor: "till",
  act: "status",
  shop: shop.id,
  key,
  method: "POST",
  path: `/v1/tickets/${ticket.id}/status`,
  body: { status },
  told: noted(shop)
})

const create = (stage: Stage): { readonly shop: KnownShop; readonly attempt: Attempt } | null => {
  const at = atTill(stage)
  if (at === null) return null
  const body = drawTicket(stage.town, stage.dice)
  return {
    shop: at.shop,
    attempt: { key: at.key, path: "/v1/tickets", once: stage.town.fresh("till"), body, act: "create" }
  }
}

const onTicket =
  (
    plan: (
      at: { readonly shop: KnownShop; readonly key: HeldKey },
      ticket: KnownTicket,
      dice: Dice
    ) => ReadonlyArray<Errand>
  ): Deed["plan"] =>
  (stage) => {
    const at = atTill(stage)
    const ticket = at === null ? undefined : drawKnown(at.shop, stage.dice)
    return at === null || ticket === undefined ? null : plan(at, ticket, stage.dice)
  }

const again = (stage: Stage): ReadonlyArray<Errand> | null => {
  const shop = stage.dice.pick(stage.town.shops)
  if (shop === undefined) return null
  const old = stage.dice.chance(0.7) ? stage.dice.pick(shop.open) : stage.dice.pick(shop.done)
  const attempt = old ?? stage.dice.pick(shop.done)
  if (attempt === undefined) return null
  if (attempt.act !== "create" || stage.dice.chance(0.8))
    return [attemptOn(shop, attempt, drawFate(stage.dice), `repeat ${attempt.act}`)]
  const other = { ...attempt, body: { ...(attempt.body as object), description: stage.town.fresh("Another") } }
  return [{ ...attemptOn(shop, other, "plain", "reuse a key"), told: () => {} }]
}

/** What tills do with tickets (Specification, Endpoints). */
export const tillActs: ReadonlyArray<Deed> = [
  {
    name: "create",
    weight: 22,
    plan: (stage) => {
      const made = create(stage)
      return made === null ? null : [attemptOn(made.shop, made.attempt, drawFate(stage.dice))]
    }
  },
  {
    name: "create, several times at once",
    weight: 4,
    plan: (stage) => {
      const made = create(stage)
      if (made === null) return null
      const copies = Array.from({ length: stage.dice.between(2, 6) })
      return copies.map(() => attemptOn(made.shop, made.attempt, "plain", "create at once"))
    }
  },
  { name: "repeat", weight: 7, plan: again },
  {
    name: "status",
    weight: 24,
    plan: onTicket(({ shop, key }, ticket, dice) => [statusErrand(shop, key, ticket, drawStatus(ticket, dice))])
  },
  {
    name: "statuses at once",
    weight: 4,
    plan: onTicket(({ shop, key }, ticket, dice) =>
      Array.from({ length: dice.between(2, 4) }, () => statusErrand(shop, key, ticket, drawStatus(ticket, dice)))
    )
  },
  {
    name: "notified",
    weight: 4,
    plan: onTicket(({ shop, key }, ticket, dice) => [
      {
        actor: "till",
        act: "notified",
        shop: shop.id,
        key,
        method: "POST",
        path: `/v1/tickets/${ticket.id}/notified`,
        body: { channel: dice.oneOf(["sms", "whatsapp", "call"]) },
        told: noted(shop)
      }
    ])
  }
]
