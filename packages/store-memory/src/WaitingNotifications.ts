import type { Instant, NoticeRecord, NotificationRecord, ShopId } from "@workshop/core"
import type { NotificationReceiver, QueuedNotification } from "@workshop/core/store"
import { compareDue, type DueEntry, DueQueue } from "./DueQueue.js"

/** An entry of a waiting notification in a queue. */
interface WaitingNotification extends DueEntry {
  readonly row: QueuedNotification
}

/** The notifications of all shops that wait to be sent, earliest first. */
export class WaitingNotifications {
  /** All notifications and notices, by id. */
  readonly payloads = new Map<string, NotificationRecord | NoticeRecord>()
  readonly #waiting = new Map<string, WaitingNotification>()
  readonly #queues = { client: this.#queue(), owner: this.#queue() }
  #enqueued = 0

  put(row: QueuedNotification): void {
    this.#enqueue({ row, due_at: row.due_at, seq: this.#enqueued++ })
  }

  remove(id: string): void {
    this.#waiting.delete(id)
  }

  clear(): void {
    this.payloads.clear()
    this.#waiting.clear()
  }

  /**
   * At most `limit` notifications that are due by `until`, earliest first, to all receivers or to one kind of receiver.
   * The method removes each from the queue, so that the next is first, and adds them again afterwards.
   */
  due(until: Instant, limit: number, receiver?: NotificationReceiver): ReadonlyArray<QueuedNotification> {
    const queues = receiver === undefined ? Object.values(this.#queues) : [this.#queues[receiver]]
    const due: Array<WaitingNotification> = []
    while (due.length < limit) {
      const [first] = queues.flatMap((queue) => queue.first() ?? []).sort(compareDue)
      if (first === undefined || first.due_at > until) break
      this.#waiting.delete(first.row.id)
      due.push(first)
    }
    for (const notification of due) this.#enqueue({ ...notification })
    return due.map(({ row }) => row)
  }

  /** At most `limit` notifications of a shop that are due after `after`, earliest first. */
  dueAfter(shop_id: ShopId, after: Instant, limit: number): ReadonlyArray<QueuedNotification> {
    const laterNotifications = [...this.#waiting.values()].filter(
      ({ row, due_at }) => row.shop_id === shop_id && due_at > after
    )
    return laterNotifications
      .sort(compareDue)
      .slice(0, limit)
      .map(({ row }) => row)
  }

  #queue(): DueQueue<WaitingNotification> {
    return new DueQueue<WaitingNotification>((notification) => this.#waiting.get(notification.row.id) === notification)
  }

  #enqueue(notification: WaitingNotification): void {
    this.#waiting.set(notification.row.id, notification)
    this.#queues[notification.row.receiver].push(notification)
  }
}
