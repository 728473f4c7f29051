import { Entropy, type StorePorts, TrackingPages } from "@workshop/core"
import {
  AuditLog,
  Closures,
  type Command,
  Deliveries,
  DeliveryLog,
  Directory,
  decide,
  ENTROPY_BYTES,
  Messages,
  PersonalData,
  RateLimits,
  Reads,
  readClock,
  Store
} from "@workshop/core/store"
import { Context, Effect, Either, Layer } from "effect"
import { Memory } from "./Memory.js"
import { memoryAuditLog } from "./MemoryAuditLog.js"
import { memoryDeliveries, memoryDeliveryLog } from "./MemoryDeliveries.js"
import { memoryClosures, memoryDirectory } from "./MemoryDirectory.js"
import { memoryPersonalData } from "./MemoryPersonalData.js"
import { memoryRateLimits } from "./MemoryRateLimits.js"
import { memoryReads } from "./MemoryReads.js"

/** How often a command is run anew because its random tracking code was taken; by then the source is not random. */
const MOST_MOMENTS = 16

const memoryStore = (
  memory: Memory,
  { bytes }: Context.Tag.Service<Entropy>,
  pages: { readonly base_url: string | null }
): Context.Tag.Service<Store> => ({
  transact: <A, E>(command: Command<A, E>) =>
    readClock((clock) => {
      const data = memory.dataOf(command.shop_id)
      for (let moments = 0; moments < MOST_MOMENTS; moments++) {
        const { base_url: tracking_base_url } = pages
        const moment = { now: clock.unsafeCurrentTimeMillis(), entropy: bytes(ENTROPY_BYTES), tracking_base_url }
        const decision = decide(command, data.slice, moment)
        if (Either.isLeft(decision)) return Effect.fail(decision.left)
        const { answer, changes, usages } = decision.right
        if (changes.some((change) => data.rejects(change))) continue
        for (const change of changes) memory.keep(data, change)
        return Effect.succeed({ answer, usages })
      }
      return Effect.dieMessage("Every tracking code drawn was taken: the entropy repeats itself")
    })
})

/** Every store port over a memory that is given. */
export const over = (memory: Memory): Layer.Layer<StorePorts, never, Entropy> =>
  Layer.effectContext(
    Effect.map(Effect.all([Entropy, TrackingPages]), ([entropy, pages]) =>
      Context.make(Store, memoryStore(memory, entropy, pages)).pipe(
        Context.add(Reads, memoryReads(memory)),
        Context.add(AuditLog, memoryAuditLog(memory)),
        Context.add(PersonalData, memoryPersonalData(memory)),
        Context.add(Directory, memoryDirectory(memory)),
        Context.add(Closures, memoryClosures(memory)),
        Context.add(Deliveries, memoryDeliveries(memory)),
        Context.add(DeliveryLog, memoryDeliveryLog(memory)),
        Context.add(Messages, {
          due: (until, limit) => Effect.sync(() => memory.notifications.due(until, limit))
        }),
        Context.add(RateLimits, memoryRateLimits())
      )
    )
  )

/** Every store port, in memory: one process, nothing kept. A command runs in one go, hence alone. */
export const layer: Layer.Layer<StorePorts, never, Entropy> = Layer.suspend(() => over(new Memory()))
