import type { ShopId } from "@workshop/core"
import { ServiceLimits } from "@workshop/core/store"
import type { BatchedCommand, CommandExit } from "./CommandBatch.js"

const { commands_per_batch, commands_waiting, commands_waiting_per_shop } = ServiceLimits

/** A command that waits in a queue, with its caller. */
export interface QueuedCommand extends BatchedCommand {
  /** Whether the command has waited too long. */
  readonly isExpired: () => boolean
  /** Gives the caller the result; only the first call counts. */
  readonly settle: (exit: CommandExit) => void
}

/** A step of a replay must be the only command of its shop in a batch, because it reads rows that the shop's other commands may change. */
const isExclusive = ({ command }: QueuedCommand): boolean => command.loadRequests.some(({ _tag }) => _tag === "Replay")

/** The waiting commands, by shop, so that a busy shop does not delay the others. */
export class CommandQueue {
  readonly #byShop = new Map<ShopId, Array<QueuedCommand>>()
  #count = 0

  get count(): number {
    return this.#count
  }

  has(shop_id: ShopId): boolean {
    return this.#byShop.has(shop_id)
  }

  /** Queues a command. Returns false if too many commands wait already. */
  add(queued: QueuedCommand): boolean {
    const ofShop = this.#byShop.get(queued.command.shop_id)?.length ?? 0
    if (this.#count >= commands_waiting || ofShop >= commands_waiting_per_shop) return false
    this.#insert(queued, "push")
    return true
  }

  /** Puts commands back at the front of their shops' queues, even if too many wait. */
  putBack(commands: ReadonlyArray<QueuedCommand>): void {
    for (const queued of [...commands].reverse()) this.#insert(queued, "unshift")
  }

  /** Removes a command. Returns false if the command is no longer in the queue. */
  withdraw(queued: QueuedCommand): boolean {
    const { shop_id } = queued.command
    const ofShop = this.#byShop.get(shop_id)
    const at = ofShop?.indexOf(queued) ?? -1
    if (ofShop === undefined || at < 0) return false
    this.#cut(shop_id, ofShop, at, 1)
    return true
  }

  /** Takes the next batch: one command of each shop, then a second one of each, and so on. */
  take(): ReadonlyArray<QueuedCommand> {
    const taken: Array<QueuedCommand> = []
    const shopsInBatch = new Set<ShopId>()
    const skippedShops = new Set<ShopId>()
    for (let hasTaken = true; hasTaken && taken.length < commands_per_batch; ) {
      hasTaken = false
      for (const [shop_id, ofShop] of [...this.#byShop]) {
        if (taken.length === commands_per_batch) break
        const first = ofShop[0]!
        if (skippedShops.has(shop_id) || (shopsInBatch.has(shop_id) && isExclusive(first))) continue
        if (isExclusive(first)) skippedShops.add(shop_id)
        shopsInBatch.add(shop_id)
        taken.push(...this.#takeAndRequeue(shop_id, ofShop, 1))
        hasTaken = true
      }
    }
    return taken
  }

  /** Takes the next batch with commands of one shop only, the shop that was served longest ago. */
  takeOfOneShop(): ReadonlyArray<QueuedCommand> {
    for (const [shop_id, ofShop] of this.#byShop) {
      const next = ofShop.findIndex((queued, i) => i > 0 && (isExclusive(queued) || isExclusive(ofShop[0]!)))
      return this.#takeAndRequeue(shop_id, ofShop, Math.min(commands_per_batch, next < 0 ? ofShop.length : next))
    }
    return []
  }

  /** Takes the expired commands, which are the first of their shops. */
  takeExpired(): ReadonlyArray<QueuedCommand> {
    const taken: Array<QueuedCommand> = []
    for (const [shop_id, ofShop] of [...this.#byShop]) {
      const firstUnexpired = ofShop.findIndex((queued) => !queued.isExpired())
      const count = firstUnexpired < 0 ? ofShop.length : firstUnexpired
      if (count > 0) taken.push(...this.#cut(shop_id, ofShop, 0, count))
    }
    return taken
  }

  takeAll(): ReadonlyArray<QueuedCommand> {
    const taken = [...this.#byShop.values()].flat()
    this.#byShop.clear()
    this.#count = 0
    return taken
  }

  #insert(queued: QueuedCommand, method: "push" | "unshift"): void {
    const { shop_id } = queued.command
    const ofShop = this.#byShop.get(shop_id)
    this.#count++
    if (ofShop === undefined) this.#byShop.set(shop_id, [queued])
    else ofShop[method](queued)
  }

  #cut(shop_id: ShopId, ofShop: Array<QueuedCommand>, from: number, n: number): ReadonlyArray<QueuedCommand> {
    const taken = ofShop.splice(from, n)
    this.#count -= taken.length
    if (ofShop.length === 0) this.#byShop.delete(shop_id)
    return taken
  }

  /** Takes a shop's first commands; the rest queues behind the other shops. */
  #takeAndRequeue(shop_id: ShopId, ofShop: Array<QueuedCommand>, n: number): ReadonlyArray<QueuedCommand> {
    const taken = this.#cut(shop_id, ofShop, 0, n)
    if (this.#byShop.delete(shop_id)) this.#byShop.set(shop_id, ofShop)
    return taken
  }
}
