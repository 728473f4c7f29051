import { Effect, Layer, ManagedRuntime } from "effect"
import type { Entropy } from "../ports/Entropy.js"
import type { StorePorts } from "../ports/StorePorts.js"
import { auditContract, changesContract, clientChangesContract } from "./ChangesContract.js"
import { clientsContract, personalDataContract } from "./ClientsContract.js"
import { clockRepairContract } from "./ClockRepairContract.js"
import type { ContractCase } from "./ContractCase.js"
import { claimOrderContract, deliveriesContract, leasesContract, webhookRemovalContract } from "./DeliveriesContract.js"
import { deliveryLogContract, replayContract } from "./DeliveryLogContract.js"
import { directoryContract } from "./DirectoryContract.js"
import { closuresContract, notificationQueueContract } from "./DueContract.js"
import { importsContract } from "./ImportsContract.js"
import { listContract, syncContract } from "./ListContract.js"
import { rateLimitsContract } from "./RateLimitsContract.js"
import { RiggedEntropy } from "./RiggedEntropy.js"
import { sandboxDataContract } from "./SandboxDataContract.js"
import { SettableClock } from "./SettableClock.js"
import { transactContract } from "./TransactContract.js"

/** The cases of the store contract, by port and subject. Run them on your own store with `runContract`. */
export const storeContract = {
  "Store: commands": transactContract,
  "Store: changes": changesContract,
  "Store: changes of clients": clientChangesContract,
  "Store: a repaired clock": clockRepairContract,
  "Store: imports": importsContract,
  "Reads: the list": listContract,
  "Reads: the sync": syncContract,
  "Reads: clients": clientsContract,
  AuditLog: auditContract,
  Directory: directoryContract,
  Closures: closuresContract,
  Deliveries: deliveriesContract,
  "Deliveries: order of claims": claimOrderContract,
  "Deliveries: leases": leasesContract,
  "Deliveries: replays": replayContract,
  "Deliveries: removal of the webhook": webhookRemovalContract,
  DeliveryLog: deliveryLogContract,
  NotificationQueue: notificationQueueContract,
  PersonalData: personalDataContract,
  RateLimits: rateLimitsContract,
  SandboxData: sandboxDataContract
} as const satisfies Record<string, ReadonlyArray<ContractCase>>

/** The functions of a test runner that `runContract` calls. Vitest and Jest have them; in `node:test`, `afterAll` is `after`. */
export interface TestRunner {
  /** Groups the tests that `body` adds. */
  readonly describe: (name: string, body: () => void) => unknown
  /** Adds a test that fails if `body` rejects, or takes longer than `timeoutMs` milliseconds. */
  readonly it: (name: string, body: () => Promise<void>, timeoutMs: number) => unknown
  /** Runs `body` after the tests of the group, to close the store. */
  readonly afterAll: (body: () => Promise<void>) => unknown
}

/** Options of a contract run. */
export interface ContractRun {
  /** The seed of all randomness, 1 by default. Use a new seed for each run on a store that has the data of earlier runs. */
  readonly seed?: number
  /** The time that one case may take, in milliseconds. 30,000 by default. */
  readonly timeoutMs?: number
}

/**
 * Adds a test to the runner for each case of the store contract. It builds the layer once for all cases, provides its
 * entropy and clock, and closes it after the last case.
 */
export const runContract = <E>(
  runner: TestRunner,
  name: string,
  store: Layer.Layer<StorePorts, E, Entropy>,
  options: ContractRun = {}
): void => {
  const { describe, it, afterAll } = runner
  const { seed = 1, timeoutMs = 30_000 } = options
  const clock = new SettableClock()
  const entropy = new RiggedEntropy(seed)
  const runtime = ManagedRuntime.make(Layer.provideMerge(store, Layer.merge(entropy.layer, clock.layer)))
  describe(`${name} keeps the store contract (seed ${seed})`, () => {
    afterAll(() => runtime.dispose())
    for (const [subject, cases] of Object.entries(storeContract)) {
      describe(subject, () => {
        for (const { name, effect } of cases) {
          it(name, () => runtime.runPromise(Effect.withClock(effect, clock)), timeoutMs)
        }
      })
    }
  })
}
