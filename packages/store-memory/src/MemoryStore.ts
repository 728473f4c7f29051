import { Entropy, ShopNotFound, type StorePorts, TrackingPages, Transactions } from "@workshop/core"
import {
  AuditLog,
  Closures,
  type Command,
  Deliveries,
  DeliveryLog,
  Directory,
  decide,
  ENTROPY_BYTES,
  NotificationQueue,
  noTransactions,
  type Outcome,
  PersonalData,
  RateLimits,
  Reads,
  SandboxData,
  ServiceLimits,
  Store
} from "@workshop/core/store"
import { Context, Effect, Either, Layer } from "effect"
import { Memory } from "./Memory.js"
import { memoryAuditLog } from "./MemoryAuditLog.js"
import { memoryClosures } from "./MemoryClosures.js"
import { memoryDeliveries, memoryDeliveryLog } from "./MemoryDeliveries.js"
import { memoryDirectory } from "./MemoryDirectory.js"
import { memoryNotificationQueue } from "./MemoryNotificationQueue.js"
import { memoryPersonalData } from "./MemoryPersonalData.js"
import { memoryRateLimits } from "./MemoryRateLimits.js"
import { memoryReads } from "./MemoryReads.js"
import { memorySandboxData } from "./MemorySandboxData.js"

const memoryStore = (
  memory: Memory,
  { bytes }: Context.Tag.Service<Entropy>,
  pages: { readonly base_url: string | null }
): Context.Tag.Service<Store> => ({
  transact: <A, E>(command: Command<A, E>) =>
    Effect.clockWith((clock): Effect.Effect<Outcome<A>, E | ShopNotFound> => {
      const data = memory.shops.get(command.shop_id)
      if (data === undefined) return Effect.fail(new ShopNotFound())
      for (let attempt = 0; attempt < ServiceLimits.command_attempts; attempt++) {
        const { base_url: tracking_base_url } = pages
        const moment = { now: clock.unsafeCurrentTimeMillis(), entropy: bytes(ENTROPY_BYTES), tracking_base_url }
        const decision = decide(command, data.state, moment)
        if (Either.isLeft(decision)) return Effect.fail(decision.left)
        const { result, changes, limitStatuses } = decision.right
        if (changes.some((change) => data.rejects(change))) continue
        for (const change of changes) memory.applyChange(data, change)
        return Effect.succeed({ result, limitStatuses })
      }
      return Effect.dieMessage(
        "Every tracking code that was drawn already exists, because the random source repeats itself"
      )
    })
})

/** All store ports on a given memory. */
export const layerOn = (memory: Memory): Layer.Layer<StorePorts, never, Entropy> =>
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
        Context.add(NotificationQueue, memoryNotificationQueue(memory)),
        Context.add(RateLimits, memoryRateLimits(memory)),
        Context.add(SandboxData, memorySandboxData(memory)),
        Context.add(Transactions, noTransactions)
      )
    )
  )

/**
 * All store ports, in the memory of the process. The data is lost with the layer. A command runs synchronously, so no
 * two commands run at the same time.
 */
export const layer: Layer.Layer<StorePorts, never, Entropy> = Layer.suspend(() => layerOn(new Memory()))
