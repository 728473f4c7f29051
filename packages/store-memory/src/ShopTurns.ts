import type { Instant, ShopId } from "@workshop/core"
import { type DueEntry, DueQueue } from "./DueQueue.js"

/** The turn of a shop: the instant at which its next delivery is due. */
export interface ShopTurn extends DueEntry {
  readonly shop_id: ShopId
}

/** A number below every claim's number, so that shops that were never served come first. */
const NEVER_SERVED = Number.MIN_SAFE_INTEGER

/**
 * The number of shops that have entered a queue of this process. All cells share it, because their turns are compared.
 */
let enteredCount = 0

/**
 * The order in which shops are served: of the ready shops, the shop that was served longest ago is first. A shop is
 * ready once its next delivery is due.
 */
export class ShopTurns {
  /** Callbacks, each called once, when a delivery of a shop may have become due. */
  readonly waiters = new Set<() => void>()
  readonly #current = new Map<ShopId, ShopTurn>()
  readonly #waiting = new DueQueue<ShopTurn>((turn) => this.#current.get(turn.shop_id) === turn)
  /** The ready shops, with the instant at which they became ready. */
  readonly #ready = new Map<ShopId, ShopTurn & { readonly was_due_at: Instant }>()
  /** The ready shops, ordered by the number of the claim that last served them, which is the entries' `due_at`. */
  readonly #inOrder = new DueQueue<ShopTurn>((turn) => this.#ready.get(turn.shop_id) === turn)
  readonly #served = new Map<ShopId, number>()
  #scheduled = 0

  /**
   * Schedules a shop for the instant at which its next delivery is due, unless it is scheduled earlier. Undefined has
   * no effect.
   */
  schedule(shop_id: ShopId, due_at: Instant | undefined): void {
    const known_due_at = this.#ready.get(shop_id)?.was_due_at ?? this.#current.get(shop_id)?.due_at
    if (due_at === undefined || (known_due_at !== undefined && known_due_at <= due_at)) return
    if (!this.#served.has(shop_id)) this.#served.set(shop_id, NEVER_SERVED + enteredCount++)
    const turn = { due_at, seq: this.#scheduled++, shop_id }
    this.#current.set(shop_id, turn)
    this.#waiting.push(turn)
    this.wake()
  }

  /** Replaces an outdated turn of a shop with the instant at which its next delivery is due. */
  correctDueAt(shop_id: ShopId, due_at: Instant | undefined): void {
    this.#ready.delete(shop_id)
    this.#current.delete(shop_id)
    this.schedule(shop_id, due_at)
  }

  /** Records the number of the claim that served a shop. Shops with smaller numbers are served before it. */
  recordServed(shop_id: ShopId, turn: number): void {
    this.#served.set(shop_id, turn)
  }

  /** The shops that are ready at `now`, each with the number of the claim that last served it. */
  ready(now: Instant): ReadonlyArray<readonly [ShopId, number]> {
    this.#makeReady(now)
    return Array.from(this.#ready.values(), ({ shop_id, due_at }) => [shop_id, due_at] as const)
  }

  /** Removes all turns. */
  clear(): void {
    this.#current.clear()
    this.#ready.clear()
    this.#served.clear()
  }

  /** Wakes all fibers that wait for a delivery to become due. */
  wake(): void {
    const waiters = [...this.waiters]
    this.waiters.clear()
    for (const wake of waiters) wake()
  }

  /** The earliest turn. */
  first(): ShopTurn | undefined {
    let firstTurn = this.#waiting.first()
    for (const { shop_id, seq, was_due_at } of this.#ready.values())
      if (firstTurn === undefined || was_due_at < firstTurn.due_at) firstTurn = { shop_id, seq, due_at: was_due_at }
    return firstTurn
  }

  /**
   * Removes and returns the ready shop that is served next at `now`. The shop has no turn until it is scheduled again.
   */
  next(now: Instant): ShopId | undefined {
    this.#makeReady(now)
    const first = this.#inOrder.first()
    if (first !== undefined) this.#ready.delete(first.shop_id)
    return first?.shop_id
  }

  #makeReady(now: Instant): void {
    for (let turn = this.#waiting.first(); turn !== undefined && turn.due_at <= now; turn = this.#waiting.first()) {
      const { shop_id, due_at, seq } = turn
      this.#current.delete(shop_id)
      if (this.#ready.has(shop_id)) continue
      const ready = { shop_id, seq, due_at: this.#served.get(shop_id)!, was_due_at: due_at }
      this.#ready.set(shop_id, ready)
      this.#inOrder.push(ready)
    }
  }
}
