import type { Instant } from "@workshop/core"
import TinyQueue from "tinyqueue"

/** An entry of a queue: the instant at which it is due, and its rank among the entries of that instant. */
export interface DueEntry {
  readonly due_at: Instant
  readonly seq: number
}

/** Compares two entries by their instants and then their ranks. Negative if `a` comes first. */
export const compareDue = (a: DueEntry, b: DueEntry): number => a.due_at - b.due_at || a.seq - b.seq

/** The minimum number of entries at which stale entries are removed. */
const MIN_SWEPT_ENTRIES = 64

/**
 * Entries in the order in which they are due. A replaced entry stays in the queue as a stale entry, which is skipped
 * later, because searching it would take linear time. All stale entries are removed whenever the queue has doubled, so
 * at most half of the entries are stale.
 */
export class DueQueue<D extends DueEntry> {
  readonly #isCurrent: (due: D) => boolean
  #entries = new TinyQueue<D>([], compareDue)
  #sweepAt = MIN_SWEPT_ENTRIES

  constructor(isCurrent: (due: D) => boolean) {
    this.#isCurrent = isCurrent
  }

  push(due: D): void {
    if (this.#entries.length >= this.#sweepAt) {
      this.#entries = new TinyQueue(this.#entries.data.filter(this.#isCurrent), compareDue)
      this.#sweepAt = Math.max(MIN_SWEPT_ENTRIES, 2 * this.#entries.length)
    }
    this.#entries.push(due)
  }

  /** The first entry that is not stale. */
  first(): D | undefined {
    for (let due = this.#entries.peek(); due !== undefined; due = this.#entries.peek()) {
      if (this.#isCurrent(due)) return due
      this.#entries.pop()
    }
    return undefined
  }

  /** The number of entries, including stale ones. */
  get size(): number {
    return this.#entries.length
  }
}
