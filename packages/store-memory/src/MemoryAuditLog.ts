import type { AuditLog } from "@workshop/core/store"
import { type Context, Effect } from "effect"
import type { Memory } from "./Memory.js"

/** The port for the audit log of all shops. */
export const memoryAuditLog = (memory: Memory): Context.Tag.Service<AuditLog> => ({
  append: (entry) => Effect.sync(() => void memory.audit.push(entry)),
  list: (shop_id, before, limit) =>
    Effect.sync(() => {
      const end = before === null ? undefined : memory.audit.findIndex(({ id }) => id === before)
      const earlierEntries = memory.audit.slice(0, end).reverse()
      return earlierEntries.filter((entry) => shop_id === null || entry.shop_id === shop_id).slice(0, limit)
    })
})
