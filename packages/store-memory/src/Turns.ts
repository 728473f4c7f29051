import type { ShopId } from "@workshop/core/domain/Identifier"
import type { Instant } from "@workshop/core/domain/Instant"
import TinyQueue from "tinyqueue"

interface Turn {
  readonly due_at: Instant
  readonly shop_id: ShopId
}

/**
 * Whose turn it is. A shop stands here at most once: it waits until its next delivery is due, then queues behind the
 * shops that were due before, and after each claim starts over at the back. So a long queue is no head start.
 */
export class Turns {
  /** Woken, and forgotten, when a shop may have something due. */
  readonly sleepers = new Set<() => void>()
  readonly #waiting = new TinyQueue<Turn>([], (a, b) => a.due_at - b.due_at)
  readonly #current = new Map<ShopId, Turn>()
  readonly #queued = new Map<ShopId, Turn>()

  /** Gives a shop its turn for when its next delivery is due; none where there is no next. */
  again(shop_id: ShopId, due_at: Instant | undefined): void {
    const known = this.#queued.get(shop_id) ?? this.#current.get(shop_id)
    if (due_at === undefined || (known !== undefined && known.due_at <= due_at)) return
    const turn = { due_at, shop_id }
    this.#current.set(shop_id, turn)
    this.#waiting.push(turn)
    this.wake()
  }

  /** Wakes whoever sleeps until something may be due. */
  wake(): void {
    const sleepers = [...this.sleepers]
    this.sleepers.clear()
    for (const wake of sleepers) wake()
  }

  /** When the first turn is. */
  first(): Instant | undefined {
    const [queued] = this.#queued.values()
    return queued?.due_at ?? this.#nextWaiting()?.due_at
  }

  /** The shop whose turn it is at `now`; it has no turn any more until it gets one again. */
  next(now: Instant): ShopId | undefined {
    for (let turn = this.#nextWaiting(); turn !== undefined && turn.due_at <= now; turn = this.#nextWaiting()) {
      this.#waiting.pop()
      this.#current.delete(turn.shop_id)
      if (!this.#queued.has(turn.shop_id)) this.#queued.set(turn.shop_id, turn)
    }
    const [first] = this.#queued.keys()
    if (first !== undefined) this.#queued.delete(first)
    return first
  }

  #nextWaiting(): Turn | undefined {
    for (let turn = this.#waiting.peek(); turn !== undefined; turn = this.#waiting.peek()) {
      if (this.#current.get(turn.shop_id) === turn) return turn
      this.#waiting.pop()
    }
    return undefined
  }
}
