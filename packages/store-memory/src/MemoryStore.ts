import { Entropy, type Instant, ShopNotFound, type StorePorts, TrackingPages, Transactions } from "@workshop/core"
import {
  AuditLog,
  Closures,
  type Command,
  Deliveries,
  DeliveryLog,
  Directory,
  decide,
  ENTROPY_BYTES,
  giveBackUses,
  type LimitWindows,
  MINUTE_MS,
  NotificationQueue,
  noTransactions,
  type Outcome,
  PersonalData,
  peekLimit,
  RateLimits,
  Reads,
  SandboxData,
  Store,
  takeEach
} from "@workshop/core/store"
import { Context, Effect, Either, Layer } from "effect"
import { Memory } from "./Memory.js"
import { memoryDeliveries, memoryDeliveryLog } from "./MemoryDeliveries.js"
import { memoryClosures, memoryDirectory, memoryNotificationQueue } from "./MemoryDirectory.js"
import { memoryPersonalData } from "./MemoryPersonalData.js"
import { memoryReads } from "./MemoryReads.js"
import { memorySandboxData } from "./MemorySandboxData.js"

/** The number of windows of a policy that are kept. If there are more, the oldest is removed, so its subject starts again. */
const MOST_WINDOWS = 100_000

/** The rate limits of one process. Ended windows are removed once a minute. */
export const memoryRateLimits = (
  { limitWindows: kept }: Memory,
  most = MOST_WINDOWS
): Context.Tag.Service<RateLimits> => {
  let swept_at = 0

  const sweep = (now: Instant) => {
    if (now >= swept_at && now < swept_at + MINUTE_MS) return
    swept_at = now
    for (const ofPolicy of kept.values())
      for (const [subject, { resets_at }] of ofPolicy) if (now >= resets_at) ofPolicy.delete(subject)
  }
  const windows: LimitWindows = {
    get: ({ policy, subject }) => kept.get(policy)?.get(subject),
    put: ({ policy, subject }, window) => {
      const ofPolicy = kept.get(policy)
      if (ofPolicy === undefined) {
        kept.set(policy, new Map([[subject, window]]))
        return
      }
      ofPolicy.set(subject, window)
      if (ofPolicy.size <= most) return
      for (const oldest of ofPolicy.keys()) {
        if (ofPolicy.size <= most) break
        ofPolicy.delete(oldest)
      }
    }
  }

  return {
    take: (uses, now) =>
      Effect.suspend(() => {
        sweep(now)
        return takeEach(windows, uses, now)
      }),
    giveBack: (uses, limitStatuses) => Effect.sync(() => giveBackUses(windows, uses, limitStatuses)),
    look: (one, now) => Effect.sync(() => peekLimit(windows, one, now))
  }
}

/** The audit log of all shops. */
export const memoryAuditLog = (memory: Memory): Context.Tag.Service<AuditLog> => ({
  append: (entry) => Effect.sync(() => void memory.audit.push(entry)),
  list: (shop_id, before, limit) =>
    Effect.sync(() => {
      const end = before === null ? undefined : memory.audit.findIndex(({ id }) => id === before)
      const earlier = memory.audit.slice(0, end).reverse()
      return earlier.filter((entry) => shop_id === null || entry.shop_id === shop_id).slice(0, limit)
    })
})

/** The number of attempts to run a command whose random tracking code is taken. If all fail, the source is not random. */
const MAX_ATTEMPTS = 16

const memoryStore = (
  memory: Memory,
  { bytes }: Context.Tag.Service<Entropy>,
  pages: { readonly base_url: string | null }
): Context.Tag.Service<Store> => ({
  transact: <A, E>(command: Command<A, E>) =>
    Effect.clockWith((clock): Effect.Effect<Outcome<A>, E | ShopNotFound> => {
      const data = memory.shops.get(command.shop_id)
      if (data === undefined) return Effect.fail(new ShopNotFound())
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const { base_url: tracking_base_url } = pages
        const moment = { now: clock.unsafeCurrentTimeMillis(), entropy: bytes(ENTROPY_BYTES), tracking_base_url }
        const decision = decide(command, data.state, moment)
        if (Either.isLeft(decision)) return Effect.fail(decision.left)
        const { result, changes, limitStatuses } = decision.right
        if (changes.some((change) => data.rejects(change))) continue
        for (const change of changes) memory.applyChange(data, change)
        return Effect.succeed({ result, limitStatuses })
      }
      return Effect.dieMessage("Every tracking code drawn was taken: the entropy repeats itself")
    })
})

/** All store ports over a given memory. */
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

/** All store ports, in the memory of one process, which ends with it. A command runs synchronously, so no other one runs at the same time. */
export const layer: Layer.Layer<StorePorts, never, Entropy> = Layer.suspend(() => layerOn(new Memory()))
