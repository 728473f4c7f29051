import type { Answer, SeenTicket } from "../auditor/Evidence.js"
import type { Dice } from "../Dice.js"
import { type Errand, type Fate, successOf } from "../Errand.js"
import { type Attempt, type KnownShop, remember } from "../Town.js"

/** Most answers come; some get lost on the way back, some requests are cut off on the way there. */
export const drawFate = (dice: Dice): Fate => (dice.chance(0.9) ? "plain" : dice.chance(0.65) ? "lost" : "cut")

/** How many answered attempts a till keeps, to repeat one of them some day. */
const MOST_KEPT = 40

const settle = (shop: KnownShop, attempt: Attempt, answer: Answer | null) => {
  shop.open = shop.open.filter((one) => one !== attempt)
  if (answer === null) {
    shop.open.push(attempt)
    return
  }
  const data = successOf<SeenTicket>(answer)
  if (data === null) return
  shop.done.push(attempt)
  if (shop.done.length > MOST_KEPT) shop.done.shift()
  if (attempt.act === "create" && answer.status === 201) remember(shop, data)
}

/** The request of an attempt, made for the first time or again: the till keeps it until its answer came. */
export const attemptOn = (shop: KnownShop, attempt: Attempt, fate: Fate, act = attempt.act): Errand => ({
  actor: "till",
  act,
  shop: shop.id,
  key: attempt.key,
  method: "POST",
  path: attempt.path,
  once: attempt.once,
  body: attempt.body,
  fate,
  told: (answer) => settle(shop, attempt, answer)
})
