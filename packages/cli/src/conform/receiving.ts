import type { Inbox, Reply } from "./Inbox.js"
import type { Shop } from "./Shop.js"
import type { World } from "./World.js"

/** A new shop whose events go to a receiver of its own, which takes them or answers as it is told. */
export const receiving = async (
  world: World,
  answer?: Reply
): Promise<{ readonly shop: Shop; readonly inbox: Inbox }> => {
  const shop = await world.shop()
  const inbox = world.inbox()
  if (answer !== undefined) inbox.answer(answer)
  await shop.sendTo(inbox)
  return { shop, inbox }
}
