import type { Deed, Errand, Stage } from "../Errand.js"
import type { HeldKey, KnownClient, KnownShop } from "../Town.js"
import { attemptOn, drawFate } from "./attempts.js"
import { readErrand } from "./readActs.js"
import { atTill } from "./tillActs.js"

/** An id that nothing has. */
const NOBODY = "01890000-0000-7000-8000-000000000000"
const UNKNOWN_PHONE = "+21629999999"

const withClient =
  (
    plan: (
      at: { readonly shop: KnownShop; readonly key: HeldKey },
      client: Pick<KnownClient, "id" | "phone">,
      stage: Stage
    ) => ReadonlyArray<Errand>
  ): Deed["plan"] =>
  (stage) => {
    const at = atTill(stage)
    if (at === null) return null
    const stranger = { id: NOBODY, phone: UNKNOWN_PHONE }
    return plan(at, stage.dice.chance(0.08) ? stranger : (stage.dice.pick(stage.town.clients) ?? stranger), stage)
  }

const once = (act: "stamps" | "redeem"): Deed["plan"] =>
  withClient(({ shop, key }, { id }, { town, dice }) => {
    const body = act === "stamps" ? { count: dice.between(1, 10) } : undefined
    const attempt = { key, path: `/v1/clients/${id}/loyalty/${act}`, once: town.fresh(act), body, act }
    const copies = dice.chance(0.15) ? dice.between(2, 4) : 1
    const fate = copies === 1 ? drawFate(dice) : "plain"
    return Array.from({ length: copies }, () => attemptOn(shop, attempt, fate))
  })

/** What tills do with clients and their cards (Specification, Endpoints). */
export const loyaltyActs: ReadonlyArray<Deed> = [
  {
    name: "find a client",
    weight: 4,
    plan: withClient(({ shop, key }, { phone }) => [
      readErrand(shop, key, "find a client", "/v1/clients", `phone=${encodeURIComponent(phone)}`)
    ])
  },
  {
    name: "many look-ups",
    weight: 0.3,
    plan: withClient(({ shop, key }, { phone }, { dice }) =>
      Array.from({ length: dice.between(20, 70) }, () =>
        readErrand(shop, key, "many look-ups", "/v1/clients", `phone=${encodeURIComponent(phone)}`)
      )
    )
  },
  {
    name: "read a client",
    weight: 3,
    plan: withClient(({ shop, key }, { id }) => [readErrand(shop, key, "read a client", `/v1/clients/${id}`)])
  },
  {
    name: "read a card",
    weight: 3,
    plan: withClient(({ shop, key }, { id }) => [readErrand(shop, key, "read a card", `/v1/clients/${id}/loyalty`)])
  },
  { name: "stamps", weight: 7, plan: once("stamps") },
  { name: "redeem", weight: 4, plan: once("redeem") }
]
