import type { Instant, NoticeRecord, NotificationRecord, ShopId } from "@workshop/core"
import type { MessageReceiver, MessageRecord } from "@workshop/core/store"
import { type Due, DueQueue, earlier } from "./DueQueue.js"

interface Place extends Due {
  readonly row: MessageRecord
}

/** The messages of all shops that wait to be sent, earliest first. */
export class MemoryNotifications {
  /** All notifications and notices, by id. */
  readonly payloads = new Map<string, NotificationRecord | NoticeRecord>()
  readonly #places = new Map<string, Place>()
  readonly #queues = { client: this.#queue(), owner: this.#queue() }
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

  /**
   * At most `limit` messages due at `until` or before, earliest first: to anyone, or to one kind of receiver. Each is taken out to see the
   * one behind it, and put back.
   */
  due(until: Instant, limit: number, receiver?: MessageReceiver): ReadonlyArray<MessageRecord> {
    const queues = receiver === undefined ? Object.values(this.#queues) : [this.#queues[receiver]]
    const due: Array<Place> = []
    while (due.length < limit) {
      const [first] = queues.flatMap((queue) => queue.first() ?? []).sort(earlier)
      if (first === undefined || first.due_at > until) break
      this.#places.delete(first.row.id)
      due.push(first)
    }
    for (const place of due) this.#stand({ ...place })
    return due.map(({ row }) => row)
  }

  /** At most `limit` messages of a shop due after `after`, earliest first. */
  dueAfter(shop_id: ShopId, after: Instant, limit: number): ReadonlyArray<MessageRecord> {
    const later = [...this.#places.values()].filter(({ row, due_at }) => row.shop_id === shop_id && due_at > after)
    return later
      .sort(earlier)
      .slice(0, limit)
      .map(({ row }) => row)
  }

  #queue(): DueQueue<Place> {
    return new DueQueue<Place>((place) => this.#places.get(place.row.id) === place)
  }

  #stand(place: Place): void {
    this.#places.set(place.row.id, place)
    this.#queues[place.row.receiver].push(place)
  }
}
