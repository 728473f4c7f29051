/** A delivery that is on its way for so long, in real time, waits for a slow receiver. */
const SLOW_AFTER_MS = 250

/** So many times as many may be on their way when most of them are slow: each holds a socket and some kilobytes. */
const TIMES_IN_ALL = 16

/** Deliveries that took off together. */
interface Wave {
  readonly began_at: number
  flying: number
  isQuick: boolean
}

/**
 * The places that a process has for deliveries on their way. Who waits for a slow receiver gives theirs up, so that
 * however many receivers hang, the others find one (Specification, Webhooks); there is an end to that, as there is to memory.
 */
export class DeliverySlots {
  readonly #most: number
  readonly #quick: Array<Wave> = []
  #quickFlying = 0
  #flying = 0

  constructor(most: number) {
    this.#most = most
  }

  /** How many are free while everybody on their way counts. */
  get left(): number {
    return this.#most - this.#flying
  }

  /** How many are free at a time, in milliseconds, where only the quick count. */
  leftBesideSlow(now_ms: number): number {
    while (this.#quick[0] !== undefined && this.#quick[0].began_at <= now_ms - SLOW_AFTER_MS) {
      const slow = this.#quick.shift()!
      slow.isQuick = false
      this.#quickFlying -= slow.flying
    }
    return Math.min(this.#most - this.#quickFlying, TIMES_IN_ALL * this.#most - this.#flying)
  }

  /** Takes places for some that take off together. Each gives its own back by calling what this answers, once. */
  take(count: number, now_ms: number): () => void {
    const wave: Wave = { began_at: now_ms, flying: count, isQuick: true }
    if (count > 0) this.#quick.push(wave)
    this.#flying += count
    this.#quickFlying += count
    return () => {
      this.#flying--
      wave.flying--
      if (wave.isQuick) this.#quickFlying--
    }
  }
}
