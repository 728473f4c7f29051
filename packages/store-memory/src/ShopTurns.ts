import type { Instant, ShopId } from "@workshop/core"
import { type Due, DueQueue } from "./DueQueue.js"

/** When a shop's next delivery is due. */
export interface ShopTurn extends Due {
  readonly shop_id: ShopId
}

/** Below every turn that was served, so that a shop that was never served comes first. */
const NEVER_SERVED = Number.MIN_SAFE_INTEGER

/** Rises with every shop that joins a queue of this process, so that turns of several cells can be compared. */
let joined = 0

/**
 * The order in which shops are served: of those that have something due, the one that was served longest ago. A shop is here at most
 * once: it waits until its next delivery is due, and is then ready.
 */
export class ShopTurns {
  /** Woken, and forgotten, when a shop may have something due. */
  readonly sleepers = new Set<() => void>()
  readonly #current = new Map<ShopId, ShopTurn>()
  readonly #waiting = new DueQueue<ShopTurn>((turn) => this.#current.get(turn.shop_id) === turn)
  /** Shops that are ready, with the turn for which they were. */
  readonly #ready = new Map<ShopId, ShopTurn & { readonly was_due_at: Instant }>()
  /** The same by when they were last served: `due_at` is that number here. */
  readonly #inOrder = new DueQueue<ShopTurn>((turn) => this.#ready.get(turn.shop_id) === turn)
  readonly #served = new Map<ShopId, number>()
  #given = 0

  /** Gives a shop its turn for when its next delivery is due; none if there is no next. */
  again(shop_id: ShopId, due_at: Instant | undefined): void {
    const known_due_at = this.#ready.get(shop_id)?.was_due_at ?? this.#current.get(shop_id)?.due_at
    if (due_at === undefined || (known_due_at !== undefined && known_due_at <= due_at)) return
    if (!this.#served.has(shop_id)) this.#served.set(shop_id, NEVER_SERVED + joined++)
    const turn = { due_at, seq: this.#given++, shop_id }
    this.#current.set(shop_id, turn)
    this.#waiting.push(turn)
    this.wake()
  }

  /** Takes a shop's turn away, and gives it another for when its next delivery really is due. */
  correct(shop_id: ShopId, due_at: Instant | undefined): void {
    this.#ready.delete(shop_id)
    this.#current.delete(shop_id)
    this.again(shop_id, due_at)
  }

  /** Puts a shop behind all whose turn is less, because something of it was claimed. */
  served(shop_id: ShopId, turn: number): void {
    this.#served.set(shop_id, turn)
  }

  /** The shops that are ready at `now`, with when each was served last: a number of their order. */
  ready(now: Instant): ReadonlyArray<readonly [ShopId, number]> {
    this.#makeReady(now)
    return Array.from(this.#ready.values(), ({ shop_id, due_at }) => [shop_id, due_at] as const)
  }

  /** Takes all turns away. */
  clear(): void {
    this.#current.clear()
    this.#ready.clear()
    this.#served.clear()
  }

  /** Wakes all fibers that sleep until something may be due. */
  wake(): void {
    const sleepers = [...this.sleepers]
    this.sleepers.clear()
    for (const wake of sleepers) wake()
  }

  /** The turn that is due first. */
  first(): ShopTurn | undefined {
    let first = this.#waiting.first()
    for (const { shop_id, seq, was_due_at } of this.#ready.values())
      if (first === undefined || was_due_at < first.due_at) first = { shop_id, seq, due_at: was_due_at }
    return first
  }

  /** The shop whose turn it is at `now`; it has no turn any more until it gets one again. */
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
