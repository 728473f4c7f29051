import type { ShopId } from "@workshop/core/domain/Identifier"
import type { Entry } from "./Entry.js"

/** How many commands run together at most. */
const MOST_TOGETHER = 128

/** How many may wait: of one shop, and in all. */
const MOST_OF_SHOP = 1_000
const MOST = 10_000

/** A replay's step looks at rows that no slice holds, so it is its shop's only command of a batch. */
const isAlone = ({ command }: Entry): boolean => command.asks.some(({ _tag }) => _tag === "Replay")

/** Commands that wait for their batch, by shop, so that a busy shop's cannot keep the others' waiting. */
export class Waiting {
  readonly #byShop = new Map<ShopId, Array<Entry>>()
  #count = 0

  /** How many wait. */
  get count(): number {
    return this.#count
  }

  /** Queues a command; false where too many wait already. */
  add(entry: Entry): boolean {
    const { shop_id } = entry.command
    const ofShop = this.#byShop.get(shop_id)
    if (this.#count >= MOST || (ofShop !== undefined && ofShop.length >= MOST_OF_SHOP)) return false
    this.#count++
    if (ofShop === undefined) this.#byShop.set(shop_id, [entry])
    else ofShop.push(entry)
    return true
  }

  /** Puts commands back before all others of their shops, however many wait. */
  putBack(entries: ReadonlyArray<Entry>): void {
    for (const entry of [...entries].reverse()) {
      const { shop_id } = entry.command
      const ofShop = this.#byShop.get(shop_id)
      this.#count++
      if (ofShop === undefined) this.#byShop.set(shop_id, [entry])
      else ofShop.unshift(entry)
    }
  }

  /** Takes a command out; false where it has left already. */
  withdraw(entry: Entry): boolean {
    const { shop_id } = entry.command
    const ofShop = this.#byShop.get(shop_id)
    const at = ofShop?.indexOf(entry) ?? -1
    if (ofShop === undefined || at < 0) return false
    ofShop.splice(at, 1)
    this.#count--
    if (ofShop.length === 0) this.#byShop.delete(shop_id)
    return true
  }

  /** The next batch: one command of each shop in turn. */
  take(): ReadonlyArray<Entry> {
    const taken: Array<Entry> = []
    const closed = new Set<ShopId>()
    for (let found = true; found && taken.length < MOST_TOGETHER; ) {
      found = false
      for (const [shop_id, ofShop] of [...this.#byShop]) {
        if (taken.length === MOST_TOGETHER) break
        const first = ofShop[0]!
        const hasSome = taken.some(({ command }) => command.shop_id === shop_id)
        if (closed.has(shop_id) || (hasSome && isAlone(first))) continue
        if (isAlone(first)) closed.add(shop_id)
        this.#pass(shop_id, ofShop)
        taken.push(first)
        found = true
      }
    }
    return taken
  }

  /** Takes the shop's first command away, and lets the shop queue behind the others. */
  #pass(shop_id: ShopId, ofShop: Array<Entry>): void {
    ofShop.shift()
    this.#count--
    this.#byShop.delete(shop_id)
    if (ofShop.length > 0) this.#byShop.set(shop_id, ofShop)
  }
}
