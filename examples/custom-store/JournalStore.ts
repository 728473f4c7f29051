import { Entropy, ShopNotFound, type StorePorts, StoreUnavailable, Transactions } from "@workshop/core"
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
  Store
} from "@workshop/core/store"
import {
  Memory,
  memoryAuditLog,
  memoryClosures,
  memoryDeliveries,
  memoryDeliveryLog,
  memoryDirectory,
  memoryNotificationQueue,
  memoryPersonalData,
  memoryRateLimits,
  memoryReads,
  memorySandboxData
} from "@workshop/store-memory"
import { Context, Effect, Either, Layer } from "effect"
import { type Entry, Journal } from "./Journal.js"

/** The maximum number of tries of a command whose random tracking code is already used. */
const MAX_COMMAND_ATTEMPTS = 16

const replayInto =
  (memory: Memory) =>
  (entry: Entry): void => {
    if (entry._tag === "Shop") memory.open(entry.shop)
    else if (entry._tag === "Audit") memory.audit.push(entry.audited)
    else if (entry._tag === "SandboxMade") memory.isSandboxMade = true
    else if (entry._tag === "Cleared") memory.clear()
    else if (entry._tag === "Account") {
      const { id, phone } = entry.account
      const before = memory.accounts.get(id)
      if (before !== undefined) memory.holders.delete(before.phone)
      memory.accounts.set(id, entry.account)
      memory.holders.set(phone, entry.account)
    } else if (entry._tag === "ErasureBegun") {
      const { client_id } = entry.person
      const account = memory.accounts.get(client_id)
      if (account !== undefined) memory.holders.delete(account.phone)
      memory.accounts.delete(client_id)
      memory.erasures.set(client_id, entry.person)
    } else if (entry._tag === "ErasureEnded") memory.erasures.delete(entry.id)
    else {
      const data = memory.dataOf(entry.shop_id)
      for (const change of entry.changes) memory.applyChange(data, change)
    }
  }

/** Fails with an unavailable store, because the disk failed before anything changed. */
const unavailable = (cause: unknown) => Effect.fail(new StoreUnavailable({ cause }))

/**
 * All writes of a shop: the core decides, the journal stores the changes, the memory applies them, and only then the
 * command returns. This is one synchronous step, so no other command can run in between.
 */
const journalStore = (memory: Memory, journal: Journal, entropy: Context.Tag.Service<Entropy>) =>
  Store.of({
    transact: <A, E>(command: Command<A, E>) =>
      Effect.clockWith((clock): Effect.Effect<Outcome<A>, E | ShopNotFound | StoreUnavailable> => {
        const { shop_id } = command
        const data = memory.shops.get(shop_id)
        if (data === undefined) return Effect.fail(new ShopNotFound())
        for (let moments = 0; moments < MAX_COMMAND_ATTEMPTS; moments++) {
          const moment = { now: clock.unsafeCurrentTimeMillis(), entropy: entropy.bytes(ENTROPY_BYTES) }
          const decision = decide(command, data.state, moment)
          if (Either.isLeft(decision)) return Effect.fail(decision.left)
          const { result, changes, limitStatuses } = decision.right
          if (changes.some((change) => data.rejects(change))) continue
          try {
            if (changes.length > 0) journal.append({ _tag: "Changes", shop_id, changes })
          } catch (cause) {
            return unavailable(cause)
          }
          for (const change of changes) memory.applyChange(data, change)
          return Effect.succeed({ result, limitStatuses })
        }
        return Effect.dieMessage(
          "Every tracking code that was drawn already exists, because the random source repeats itself"
        )
      })
  })

const written = (journal: Journal, entry: Entry) =>
  Effect.try({ try: () => journal.append(entry), catch: (cause) => new StoreUnavailable({ cause }) })

const journalDirectory = (memory: Memory, journal: Journal): Context.Tag.Service<Directory> => {
  const known = memoryDirectory(memory)
  return {
    ...known,
    createShop: (shop) => Effect.zipRight(written(journal, { _tag: "Shop", shop }), known.createShop(shop)),
    markSandboxMade: Effect.zipRight(written(journal, { _tag: "SandboxMade" }), known.markSandboxMade),
    createClient: (account) =>
      memory.holders.has(account.phone)
        ? Effect.succeed(false)
        : Effect.zipRight(written(journal, { _tag: "Account", account }), known.createClient(account)),
    changeClient: (account) =>
      Effect.tap(known.changeClient(account), (isChanged) =>
        isChanged ? written(journal, { _tag: "Account", account }) : Effect.void
      )
  }
}

const journalAuditLog = (memory: Memory, journal: Journal): Context.Tag.Service<AuditLog> => {
  const known = memoryAuditLog(memory)
  return {
    ...known,
    append: (audited) => Effect.zipRight(written(journal, { _tag: "Audit", audited }), known.append(audited))
  }
}

/** An erasure removes data from memory. The journal's earlier lines with that data stay until the file is rewritten. */
const journalPersonalData = (memory: Memory, journal: Journal): Context.Tag.Service<PersonalData> => {
  const known = memoryPersonalData(memory)
  return {
    ...known,
    beginErasure: (id, phones) =>
      Effect.tap(known.beginErasure(id, phones), (person) =>
        person === null ? Effect.void : written(journal, { _tag: "ErasureBegun", person })
      ),
    endErasure: (id) => Effect.zipRight(written(journal, { _tag: "ErasureEnded", id }), known.endErasure(id))
  }
}

const journalSandboxData = (memory: Memory, journal: Journal): Context.Tag.Service<SandboxData> => {
  const known = memorySandboxData(memory)
  return {
    ...known,
    clear: Effect.tap(known.clear, (isCleared) => (isCleared ? written(journal, { _tag: "Cleared" }) : Effect.void))
  }
}

/**
 * A store for one process with permanent data: the memory store, and a file with every change. Limits on requests and
 * claims of deliveries are lost when the process ends, so a delivery that was in flight then is sent again.
 */
export const layer = (path: string): Layer.Layer<StorePorts, never, Entropy> =>
  Layer.scopedContext(
    Effect.gen(function* () {
      const entropy = yield* Entropy
      const memory = new Memory()
      const journal = yield* Effect.acquireRelease(
        Effect.sync(() => Journal.open(path, replayInto(memory))),
        (opened) => Effect.sync(() => opened.close())
      )
      return Context.make(Store, journalStore(memory, journal, entropy)).pipe(
        Context.add(Reads, memoryReads(memory)),
        Context.add(Transactions, noTransactions),
        Context.add(AuditLog, journalAuditLog(memory, journal)),
        Context.add(PersonalData, journalPersonalData(memory, journal)),
        Context.add(Directory, journalDirectory(memory, journal)),
        Context.add(Closures, memoryClosures(memory)),
        Context.add(Deliveries, memoryDeliveries(memory)),
        Context.add(DeliveryLog, memoryDeliveryLog(memory)),
        Context.add(NotificationQueue, memoryNotificationQueue(memory)),
        Context.add(RateLimits, memoryRateLimits(memory)),
        Context.add(SandboxData, journalSandboxData(memory, journal))
      )
    })
  )
