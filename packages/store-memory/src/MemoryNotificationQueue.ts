import type { NotificationQueue } from "@workshop/core/store"
import { type Context, Effect } from "effect"
import type { Memory } from "./Memory.js"

/** The port for notifications and notices that wait to be sent. */
export const memoryNotificationQueue = (memory: Memory): Context.Tag.Service<NotificationQueue> => ({
  due: (until, limit, receiver) =>
    Effect.sync(() => memory.contentsOf(memory.notifications.due(until, limit, receiver))),
  dueAfter: (shop_id, after, limit) =>
    Effect.sync(() => memory.contentsOf(memory.notifications.dueAfter(shop_id, after, limit)))
})
