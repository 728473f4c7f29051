import type { Closures, DueClosure } from "@workshop/core/store"
import { type Context, Effect } from "effect"
import type { Memory } from "./Memory.js"

/** The port for due closures, which merges those of all shops by time. */
export const memoryClosures = (memory: Memory): Context.Tag.Service<Closures> => ({
  due: (until, limit) =>
    Effect.sync(() => {
      const due: Array<DueClosure> = []
      for (const [shop_id, data] of memory.shops) {
        let taken = 0
        for (const { id, due_at } of data.byClosure.due(until)) {
          due.push({ shop_id, id, due_at })
          if (++taken === limit) break
        }
      }
      return due.sort((a, b) => a.due_at - b.due_at).slice(0, limit)
    })
})
