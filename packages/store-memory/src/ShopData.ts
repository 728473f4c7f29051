import {
  type AttemptRecord,
  type ClientAccount,
  type ClientId,
  type EventId,
  type EventRecord,
  type Instant,
  Limits,
  type NoticeRecord,
  type Phone,
  type ShopRecord,
  type TicketId,
  type TicketRecord
} from "@workshop/core"
import {
  apply,
  type Change,
  firstHead,
  type LedgerEntry,
  loadState,
  type ReadMap,
  type ShopState
} from "@workshop/core/store"
import { ChangeOrder } from "./ChangeOrder.js"
import { ClosureOrder } from "./ClosureOrder.js"
import { replayable } from "./deliveryLog.js"
import { ShopDeliveryQueue } from "./ShopDeliveryQueue.js"

/** Everything of one shop: the slice its commands see, rows that no command asks for, and the orders in which it is read. */
export class ShopData {
  readonly slice: ShopState
  readonly events: Array<EventRecord> = []
  readonly ledger: Array<LedgerEntry> = []
  readonly notices: Array<NoticeRecord> = []
  readonly queue: ShopDeliveryQueue
  /** Oldest first: by `id`, since those of a shop rise. */
  readonly byCreation: Array<TicketId> = []
  readonly byNumber = new Map<number, Array<TicketId>>()
  readonly byClient = new Map<ClientId, Set<TicketId>>()
  readonly byChange: ChangeOrder
  readonly byClosure = new ClosureOrder()
  readonly byTrackingCode = new Map<string, TicketId>()

  constructor(shop: ShopRecord, accounts: ReadMap<ClientId, ClientAccount>, holders: ReadMap<Phone, ClientAccount>) {
    this.slice = loadState({
      shop,
      head: firstHead(shop.id),
      webhook: null,
      events: {
        get: (id) => {
          const event = this.events.find((event) => event.id === id)
          return event && { event, attempts: this.attempts.get(id) ?? [] }
        },
        rewrite: (event) => {
          this.events[event.seq - 1] = event
        }
      },
      replayable: (replay, most) => replayable(this, replay, most),
      accounts,
      holders
    })
    this.byChange = new ChangeOrder(this.slice.tickets)
    this.queue = new ShopDeliveryQueue(this.slice.deliveries)
  }

  /** The log of attempts. */
  get attempts(): ReadonlyMap<EventId, ReadonlyArray<AttemptRecord>> {
    return this.slice.attempts
  }

  /** Whether a new ticket's tracking code is another's already: the one rule that no command can see. */
  rejects(change: Change): boolean {
    return (
      change._tag === "TicketPut" &&
      !this.slice.tickets.has(change.row.id) &&
      this.byTrackingCode.has(change.row.tracking_code)
    )
  }

  /** Makes a change, and keeps the orders in step. */
  keep(change: Change): void {
    const before = change._tag === "TicketPut" ? this.slice.tickets.get(change.row.id) : undefined
    const removed = change._tag === "DeliveryRemoved" ? this.slice.deliveries.get(change.row.event_id) : undefined
    apply(this.slice, change)
    switch (change._tag) {
      case "TicketPut":
        this.#order(change.row, before)
        return
      case "WebhookPut":
        this.queue.webhook(change.row)
        return
      case "WebhookRemoved":
        this.queue.webhook(null)
        return
      case "DeliveryPut":
        this.queue.put(change.row)
        return
      case "DeliveryRemoved":
        if (removed !== undefined) this.queue.remove(removed)
        return
      case "RememberedPut":
        this.#forget(change.row.expires_at - Limits.idempotency_memory_ms)
        return
      case "EventRaised":
        this.events.push(change.row)
        return
      case "LedgerAppended":
        this.ledger.push(change.row)
        return
      case "NoticeAppended":
        this.notices.push(change.row)
        return
      case "AttemptRewritten":
        this.#logAgain(change.row)
        return
    }
  }

  /** Forgets the answers that expired by `now`. They come first, but for those remembered before a clock was set back. */
  #forget(now: Instant): void {
    for (const [place, { expires_at }] of this.slice.remembered) {
      if (expires_at > now) return
      this.slice.remembered.delete(place)
    }
  }

  #logAgain({ event_id, n, head }: AttemptRecord): void {
    const attempts = this.attempts.get(event_id) ?? []
    this.slice.attempts.set(
      event_id,
      attempts.map((attempt) => (attempt.n === n ? { ...attempt, head } : attempt))
    )
  }

  #order(ticket: TicketRecord, before: TicketRecord | undefined): void {
    this.byChange.note(ticket)
    this.byClosure.note(ticket)
    if (ticket.client_id !== null && ticket.client_id !== before?.client_id) {
      const former = before?.client_id ?? null
      if (former !== null) this.byClient.get(former)?.delete(ticket.id)
      const theirs = this.byClient.get(ticket.client_id)
      if (theirs === undefined) this.byClient.set(ticket.client_id, new Set([ticket.id]))
      else theirs.add(ticket.id)
    }
    if (before !== undefined) return
    this.byTrackingCode.set(ticket.tracking_code, ticket.id)
    insert(this.byCreation, ticket.id)
    const ofNumber = this.byNumber.get(ticket.number)
    if (ofNumber === undefined) this.byNumber.set(ticket.number, [ticket.id])
    else insert(ofNumber, ticket.id)
  }
}

/** Tickets come in the order of their ids, but for what a test puts. */
const insert = (list: Array<TicketId>, id: TicketId): void => {
  let at = list.length
  while (at > 0 && list[at - 1]! > id) at--
  if (at === list.length) list.push(id)
  else list.splice(at, 0, id)
}
