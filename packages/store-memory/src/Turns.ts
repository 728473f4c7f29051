import type { ShopId } from "@workshop/core/domain/Identifier"
import type { Instant } from "@workshop/core/domain/Instant"
import { type Due, DueQueue } from "./DueQueue.js"

/** When a shop's next delivery is due. */
export interface Turn extends Due {
  readonly shop_id: ShopId
}

/**
 * Whose turn it is. A shop stands here at most once: it waits until its next delivery is due, then queues behind the
 * shops that were due before, and after each claim starts over at the back. So a long queue is no head start.
 */
export class Turns {
  /** Woken, and forgotten, when a shop may have something due. */
  readonly sleepers = new Set<() => void>()
  readonly #current = new Map<ShopId, Turn>()
  readonly #waiting = new DueQueue<Turn>((turn) => this.#current.get(turn.shop_id) === turn)
  readonly #queued = new Map<ShopId, Turn>()
  #given = 0

  /** Gives a shop its turn for when its next delivery is due; none where there is no next. */
  again(shop_id: ShopId, due_at: Instant | undefined): void {
    const known = this.#queued.get(shop_id) ?? this.#current.get(shop_id)
    if (due_at === undefined || (known !== undefined && known.due_at <= due_at)) return
    const turn = { due_at, seq: this.#given++, shop_id }
    this.#current.set(shop_id, turn)
    this.#waiting.push(turn)
    this.wake()
  }

  /** Takes a shop's turn away, and gives it another for when its next delivery really is due. */
  correct(shop_id: ShopId, due_at: Instant | undefined): void {
    this.#queued.delete(shop_id)
    this.#current.delete(shop_id)
    this.again(shop_id, due_at)
  }

  /** Wakes whoever sleeps until something may be due. */
  wake(): void {
    const sleepers = [...this.sleepers]
    this.sleepers.clear()
    for (const wake of sleepers) wake()
  }

  /** The first turn. */
  first(): Turn | undefined {
    let first = this.#waiting.first()
    for (const turn of this.#queued.values()) if (first === undefined || turn.due_at < first.due_at) first = turn
    return first
  }

  /** The shop whose turn it is at `now`; it has no turn any more until it gets one again. */
  next(now: Instant): ShopId | undefined {
    for (let turn = this.#waiting.first(); turn !== undefined && turn.due_at <= now; turn = this.#waiting.first()) {
      this.#current.delete(turn.shop_id)
      if (!this.#queued.has(turn.shop_id)) this.#queued.set(turn.shop_id, turn)
    }
    const [first] = this.#queued.keys()
    if (first !== undefined) this.#queued.delete(first)
    return first
  }
}
