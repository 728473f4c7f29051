import type { Instant, NoticeRecord, NotificationRecord, ShopId } from "@workshop/core"
import type { MessageReceiver, MessageRecord } from "@workshop/core/store"
import { compareDue, type Due, DueQueue } from "./DueQueue.js"

/** A message that waits to be sent, as an entry of a queue. */
interface WaitingMessage extends Due {
  readonly row: MessageRecord
}

/** The messages of all shops that wait to be sent, earliest first. */
export class MemoryNotifications {
  /** All notifications and notices, by id. */
  readonly payloads = new Map<string, NotificationRecord | NoticeRecord>()
  readonly #waiting = new Map<string, WaitingMessage>()
  readonly #queues = { client: this.#queue(), owner: this.#queue() }
  #enqueued = 0

  put(row: MessageRecord): void {
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
   * At most `limit` messages that are due by `until`, earliest first: to all receivers, or to one kind. Each is taken out, so that the next
   * one becomes visible, and put back afterwards.
   */
  due(until: Instant, limit: number, receiver?: MessageReceiver): ReadonlyArray<MessageRecord> {
    const queues = receiver === undefined ? Object.values(this.#queues) : [this.#queues[receiver]]
    const due: Array<WaitingMessage> = []
    while (due.length < limit) {
      const [first] = queues.flatMap((queue) => queue.first() ?? []).sort(compareDue)
      if (first === undefined || first.due_at > until) break
      this.#waiting.delete(first.row.id)
      due.push(first)
    }
    for (const message of due) this.#enqueue({ ...message })
    return due.map(({ row }) => row)
  }

  /** At most `limit` messages of a shop that are due after `after`, earliest first. */
  dueAfter(shop_id: ShopId, after: Instant, limit: number): ReadonlyArray<MessageRecord> {
    const later = [...this.#waiting.values()].filter(({ row, due_at }) => row.shop_id === shop_id && due_at > after)
    return later
      .sort(compareDue)
      .slice(0, limit)
      .map(({ row }) => row)
  }

  #queue(): DueQueue<WaitingMessage> {
    return new DueQueue<WaitingMessage>((message) => this.#waiting.get(message.row.id) === message)
  }

  #enqueue(message: WaitingMessage): void {
    this.#waiting.set(message.row.id, message)
    this.#queues[message.row.receiver].push(message)
  }
}
