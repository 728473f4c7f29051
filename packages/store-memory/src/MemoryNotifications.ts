import type { Instant, NoticeRecord, NotificationRecord } from "@workshop/core"
import type { MessageRecord } from "@workshop/core/store"
import { type Due, DueQueue } from "./DueQueue.js"

interface Place extends Due {
  readonly row: MessageRecord
}

/** The messages of all shops that wait to be sent, earliest first. */
export class MemoryNotifications {
  /** All notifications and notices, by id. */
  readonly payloads = new Map<string, NotificationRecord | NoticeRecord>()
  readonly #places = new Map<string, Place>()
  readonly #queue = new DueQueue<Place>((place) => this.#places.get(place.row.id) === place)
  #given = 0

  put(row: MessageRecord): void {
    this.#stand({ row, due_at: row.due_at, seq: this.#given++ })
  }

  remove(id: string): void {
    this.#places.delete(id)
  }

  clear(): void {
    this.payloads.clear()
    this.#places.clear()
  }

  /** At most `limit` messages due at `until` or before, earliest first. Each is taken out to see the one behind it, and put back. */
  due(until: Instant, limit: number): ReadonlyArray<MessageRecord> {
    const due: Array<Place> = []
    while (due.length < limit) {
      const first = this.#queue.first()
      if (first === undefined || first.due_at > until) break
      this.#places.delete(first.row.id)
      due.push(first)
    }
    for (const place of due) this.#stand({ ...place })
    return due.map(({ row }) => row)
  }

  #stand(place: Place): void {
    this.#places.set(place.row.id, place)
    this.#queue.push(place)
  }
}
