import type { StreamBody } from "@workshop/core/http"
import { toIso } from "@workshop/core/internal"
import { Clock, Effect } from "effect"

/** The kinds of entries in the feed, with their meanings. */
export const feedEvents = {
  request: "a request to `/v1` and its response, as `GET /sandbox/requests` lists it",
  event: "an event of a shop, as it is delivered",
  attempt: "an attempt to deliver an event",
  ticket: "a ticket after a change",
  clock: "the clock was moved by `moved_ms` to `at`, or was frozen or unfrozen",
  notice: "an owner got a notice about their webhook",
  fault: "the faults were set, or a request got a fault, at `at`",
  receiver: "the built-in receiver got an event, or its behaviour was set, at `at`"
} as const

/** A key of {@link feedEvents}. */
export type FeedEvent = keyof typeof feedEvents

interface Entry {
  readonly id: number
  readonly event: FeedEvent
  readonly text: string
}

/**
 * The start time of the process on the real clock, in milliseconds. Ids begin with it, so that the last id of an
 * earlier process, with which a reader reconnects after a restart, is never an id of this process.
 */
export const processStart: Effect.Effect<number> = Effect.withClock(Clock.currentTimeMillis, Clock.make())

/** A list of entries with increasing ids. It drops the oldest entries if it has too many entries or characters. */
export class Ring<E extends { readonly id: number }> {
  readonly #max: number
  readonly #max_characters: number
  readonly #lengthOf: (entry: E) => number
  #entries: Array<E> = []
  /** The index of the oldest stored entry. */
  #from = 0
  #characters = 0
  #last_id: number

  /** `from` is the number before the first id. */
  constructor(max: number, max_characters: number, lengthOf: (entry: E) => number, from: number) {
    this.#last_id = from
    this.#max = max
    this.#max_characters = max_characters
    this.#lengthOf = lengthOf
  }

  /** The id of the newest entry, or the number before the first id. */
  get last_id(): number {
    return this.#last_id
  }

  /** The number of stored entries. */
  get size(): number {
    return this.#entries.length - this.#from
  }

  /** Adds the entry that `make` returns for the next id. */
  add(make: (id: number) => E): E {
    const entry = make(++this.#last_id)
    this.#entries.push(entry)
    this.#characters += this.#lengthOf(entry)
    while (this.size > this.#max || (this.#characters > this.#max_characters && this.size > 1))
      this.#characters -= this.#lengthOf(this.#entries[this.#from++]!)
    if (2 * this.#from > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#from)
      this.#from = 0
    }
    return entry
  }

  /** The entries after an id, oldest first; undefined if some of them were dropped. */
  after(id: number): ReadonlyArray<E> | undefined {
    const firstEntry = this.#entries[this.#from]
    if (id > this.#last_id || (id < this.#last_id && (firstEntry === undefined || firstEntry.id > id + 1)))
      return undefined
    return firstEntry === undefined ? [] : this.#entries.slice(this.#from + Math.max(0, id + 1 - firstEntry.id))
  }

  /** All stored entries, oldest first. */
  get all(): ReadonlyArray<E> {
    return this.#entries.slice(this.#from)
  }

  /** Removes all entries; ids continue. */
  clear(): void {
    this.#entries = []
    this.#from = 0
    this.#characters = 0
  }
}

/** The event after which a reader must read all data again. */
const resetEvent = (last_id: number): string => `id: ${last_id}\nevent: reset\ndata: ${JSON.stringify({ last_id })}\n\n`

const MAX_ENTRIES = 5000
const MAX_CHARACTERS = 32 * 1024 * 1024

/**
 * The feed of all activity in a sandbox. It stores the latest entries, so that a reader that lost its connection can
 * continue.
 */
export class Feed {
  readonly #started_at: number
  readonly #ring: Ring<Entry>
  readonly #readers = new Set<(text: string) => void>()
  #isPaused = false

  constructor(started_at: number) {
    this.#started_at = started_at
    this.#ring = new Ring<Entry>(MAX_ENTRIES, MAX_CHARACTERS, ({ text }) => text.length, started_at)
  }

  /** Adds an entry and sends it to every reader. */
  publish(event: FeedEvent, data: unknown): void {
    if (this.#isPaused) return
    const { text } = this.#ring.add((id) => ({
      id,
      event,
      text: `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`
    }))
    for (const send of this.#readers) send(text)
  }

  /** The id of the newest entry. */
  get last_id(): number {
    return this.#ring.last_id
  }

  /** The number of readers. */
  get readers(): number {
    return this.#readers.size
  }

  /**
   * The beginning of a stream: `hello` with the newest id and the start time of the process, and then the entries after
   * the id `after`, or `reset` if some of them were dropped. An `after` of 0 means the start of the process. Without
   * `after`, no earlier entries are sent.
   */
  begin(after: number | undefined): string {
    const helloEvent = `event: hello\ndata: ${JSON.stringify({ last_id: this.last_id, started_at: toIso(this.#started_at) })}\n\n`
    if (after === undefined) return helloEvent
    const missedEntries = this.#ring.after(after === 0 ? this.#started_at : after)
    if (missedEntries === undefined) return helloEvent + resetEvent(this.last_id)
    return helloEvent + missedEntries.map(({ text }) => text).join("")
  }

  /** Sends every later entry to a reader. */
  readonly follow: StreamBody = (send) => {
    this.#readers.add(send)
    return () => void this.#readers.delete(send)
  }

  /** Ignores entries until {@link reset}, because all data is being replaced. */
  pause(): void {
    this.#isPaused = true
  }

  /** Removes all entries and sends `reset` to every reader, including readers that reconnect later. */
  reset(): void {
    this.#isPaused = false
    // Adds an entry that is dropped at once, so that a reader that reconnects with the last id has missed an entry and
    // gets `reset`.
    this.#ring.add((id) => ({ id, event: "clock", text: "" }))
    this.#ring.clear()
    for (const send of this.#readers) send(resetEvent(this.last_id))
  }
}
