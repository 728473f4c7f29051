import type { ShopId } from "../domain/Identifier.js"
import { Policies } from "../domain/Limits.js"
import { currentWindow } from "../domain/LimitWindow.js"

import { makeCommand } from "./Command.js"

/** Uses up a limit on a shop's tickets, as if that many had been created, so that a tester can see the refusal. */
export const useUpTickets = (shop_id: ShopId, policy: "tickets_per_hour" | "tickets_per_day") =>
  makeCommand(shop_id, {}, (loaded, changes, moment) => {
    const { resets_at } = currentWindow(loaded.head[policy], policy, moment.now, loaded.shop.time_zone)
    return changes.updateHead({ [policy]: { used: Policies[policy].limit, resets_at } }).decided(undefined)
  })
