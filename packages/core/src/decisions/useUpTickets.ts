import type { ShopId } from "../domain/Identifier.js"
import { Policies } from "../domain/Limits.js"
import { currentWindow } from "../domain/LimitWindow.js"

import { make } from "./Command.js"

/** Uses up a limit on a shop's tickets, as if so many had been created: for testers of what follows. */
export const useUpTickets = (shop_id: ShopId, policy: "tickets_per_hour" | "tickets_per_day") =>
  make(shop_id, {}, (loaded, changes, moment) => {
    const { resets_at } = currentWindow(loaded.head[policy], policy, moment.now, loaded.shop.time_zone)
    return changes.head({ [policy]: { used: Policies[policy].limit, resets_at } }).decided(undefined)
  })
