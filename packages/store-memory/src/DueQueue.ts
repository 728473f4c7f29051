import type { Instant } from "@workshop/core"
import TinyQueue from "tinyqueue"

/** Something that is due, and its rank among what is due at the same instant. */
export interface Due {
  readonly due_at: Instant
  readonly seq: number
}

/** Whether `a` is due before `b`. */
export const earlier = (a: Due, b: Due): number => a.due_at - b.due_at || a.seq - b.seq

const FEW = 64

/**
 * Things in the order in which they are due. A row that moves is not searched for: its old place is out of date, is passed
 * over when it comes up, and is swept out before such places outnumber the others, so the queue never outgrows its use.
 */
export class DueQueue<D extends Due> {
  readonly #isCurrent: (due: D) => boolean
  #places = new TinyQueue<D>([], earlier)
  #sweep_at = FEW

  constructor(isCurrent: (due: D) => boolean) {
    this.#isCurrent = isCurrent
  }

  push(due: D): void {
    if (this.#places.length >= this.#sweep_at) {
      this.#places = new TinyQueue(this.#places.data.filter(this.#isCurrent), earlier)
      this.#sweep_at = Math.max(FEW, 2 * this.#places.length)
    }
    this.#places.push(due)
  }

  /** The earliest one that is not out of date. */
  first(): D | undefined {
    for (let due = this.#places.peek(); due !== undefined; due = this.#places.peek()) {
      if (this.#isCurrent(due)) return due
      this.#places.pop()
    }
    return undefined
  }

  /** How many places it holds, out of date or not. */
  get size(): number {
    return this.#places.length
  }
}
