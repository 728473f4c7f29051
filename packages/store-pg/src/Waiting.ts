import type { ShopId } from "@workshop/core"
import type { QueuedCommand } from "./QueuedCommand.js"

/** How many commands run together at most. */
const MOST_TOGETHER = 128

/** How many may wait: of one shop, and in all. */
const MOST_OF_SHOP = 1_000
const MOST = 10_000

/** A replay's step looks at rows that no slice holds, so it is its shop's only command of a batch. */
const isAlone = ({ command }: QueuedCommand): boolean => command.asks.some(({ _tag }) => _tag === "Replay")

/** Commands that wait for their batch, by shop, so that a busy shop's cannot keep the others' waiting. */
export class CommandQueue {
  readonly #byShop = new Map<ShopId, Array<QueuedCommand>>()
  #count = 0

  /** How many wait. */
  get count(): number {
    return this.#count
  }

  /** Whether commands of a shop wait. */
  has(shop_id: ShopId): boolean {
    return this.#byShop.has(shop_id)
  }

  /** Queues a command; false where too many wait already. */
  add(entry: QueuedCommand): boolean {
    const { shop_id } = entry.command
    const ofShop = this.#byShop.get(shop_id)
    if (this.#count >= MOST || (ofShop !== undefined && ofShop.length >= MOST_OF_SHOP)) return false
    this.#count++
    if (ofShop === undefined) this.#byShop.set(shop_id, [entry])
    else ofShop.push(entry)
    return true
  }

  /** Puts commands back before all others of their shops, however many wait. */
  putBack(entries: ReadonlyArray<QueuedCommand>): void {
    for (const entry of [...entries].reverse()) {
      const { shop_id } = entry.command
      const ofShop = this.#byShop.get(shop_id)
      this.#count++
      if (ofShop === undefined) this.#byShop.set(shop_id, [entry])
      else ofShop.unshift(entry)
    }
  }

  /** Takes a command out; false where it has left already. */
  withdraw(entry: QueuedCommand): boolean {
    const { shop_id } = entry.command
    const ofShop = this.#byShop.get(shop_id)
    const at = ofShop?.indexOf(entry) ?? -1
    if (ofShop === undefined || at < 0) return false
    this.#cut(shop_id, ofShop, at, 1)
    return true
  }

  /** The next batch: one command of each shop in turn. */
  take(): ReadonlyArray<QueuedCommand> {
    const taken: Array<QueuedCommand> = []
    const begun = new Set<ShopId>()
    const closed = new Set<ShopId>()
    for (let found = true; found && taken.length < MOST_TOGETHER; ) {
      found = false
      for (const [shop_id, ofShop] of [...this.#byShop]) {
        if (taken.length === MOST_TOGETHER) break
        const first = ofShop[0]!
        if (closed.has(shop_id) || (begun.has(shop_id) && isAlone(first))) continue
        if (isAlone(first)) closed.add(shop_id)
        begun.add(shop_id)
        this.#pass(shop_id, ofShop)
        taken.push(first)
        found = true
      }
    }
    return taken
  }

  /** The next batch of one shop alone, the one whose turn was longest ago; what is left of it queues behind the others. */
  takeOfOneShop(): ReadonlyArray<QueuedCommand> {
    for (const [shop_id, ofShop] of this.#byShop) {
      const next = ofShop.findIndex((entry, i) => i > 0 && (isAlone(entry) || isAlone(ofShop[0]!)))
      this.#byShop.delete(shop_id)
      this.#byShop.set(shop_id, ofShop)
      return this.#cut(shop_id, ofShop, 0, Math.min(MOST_TOGETHER, next < 0 ? ofShop.length : next))
    }
    return []
  }

  /** Takes out those that have waited too long. Those of a shop wait in the order in which they came. */
  takeExpired(): ReadonlyArray<QueuedCommand> {
    const taken: Array<QueuedCommand> = []
    for (const [shop_id, ofShop] of [...this.#byShop]) {
      const living = ofShop.findIndex((entry) => !entry.isExpired())
      if (living !== 0) taken.push(...this.#cut(shop_id, ofShop, 0, living < 0 ? ofShop.length : living))
    }
    return taken
  }

  /** Takes out all. */
  takeAll(): ReadonlyArray<QueuedCommand> {
    const taken = [...this.#byShop.values()].flat()
    this.#byShop.clear()
    this.#count = 0
    return taken
  }

  #cut(shop_id: ShopId, ofShop: Array<QueuedCommand>, from: number, n: number): ReadonlyArray<QueuedCommand> {
    const cut = ofShop.splice(from, n)
    this.#count -= cut.length
    if (ofShop.length === 0) this.#byShop.delete(shop_id)
    return cut
  }

  /** Takes the shop's first command away, and lets the shop queue behind the others. */
  #pass(shop_id: ShopId, ofShop: Array<QueuedCommand>): void {
    ofShop.shift()
    this.#count--
    this.#byShop.delete(shop_id)
    if (ofShop.length > 0) this.#byShop.set(shop_id, ofShop)
  }
}
