import type { Change } from "@workshop/core/store"

/** A request to a node, and its outcome. The times come from the simulation's clock, and not from a node's clock. */
export interface Exchange {
  readonly kind: "exchange"
  readonly at: number
  readonly ended_at: number
  readonly node: string
  readonly shop: number
  /** The id of the API key. */
  readonly key: string
  readonly method: string
  readonly path: string
  readonly query: string
  readonly idempotency_key: string | null
  readonly body: Json
  /** Null if no response came, because the node died or the client's timeout ended. */
  readonly status: number | null
  readonly headers: Readonly<Record<string, string>>
  readonly response: Json
  /** True if a fault hit the node during the request. */
  readonly isTroubled: boolean
}

/** The time for which an Idempotency-Key is valid (Specification, Idempotency). */
export const REMEMBERED_MS = 30 * 24 * 3_600_000

/** Groups the requests with the same Idempotency-Key. A request without a key is a separate group. */
export const byKeys = (exchanges: ReadonlyArray<Exchange>): ReadonlyArray<ReadonlyArray<Exchange>> => {
  const groups: Array<Array<Exchange>> = []
  const latest = new Map<string, Array<Exchange>>()
  for (const exchange of exchanges) {
    const { key, path, idempotency_key, at } = exchange
    const name = `${key} ${path} ${idempotency_key}`
    const known = idempotency_key === null ? undefined : latest.get(name)
    if (known !== undefined && at - known[0]!.at < REMEMBERED_MS) known.push(exchange)
    else {
      const group = [exchange]
      groups.push(group)
      latest.set(name, group)
    }
  }
  return groups
}

/**
 * True if a group of {@link byKeys} may repeat an earlier one, because the service may have executed an earlier request
 * without a response long after it was sent, and stored its key from then on.
 */
export const mayRepeat = ([first]: ReadonlyArray<Exchange>, earlier: ReadonlyArray<Exchange>): boolean => {
  const { key, path, idempotency_key, at } = first!
  const last = earlier.at(-1)!
  const isSame =
    idempotency_key !== null && last.idempotency_key === idempotency_key && last.key === key && last.path === path
  return isSame && last.at < at && at - last.ended_at < REMEMBERED_MS
}

/**
 * An action of an owner or a client in the app. Its outcome is unknown if the node died or the store's result was lost.
 */
export interface Act {
  readonly kind: "act"
  readonly at: number
  readonly ended_at: number
  readonly node: string
  readonly shop: number
  readonly act: string
  readonly about: Json
  readonly outcome: "done" | "refused" | "unknown"
  readonly response: Json
}

/** A delivery that reached a receiver, and the response to the node. */
export interface ReceivedDelivery {
  readonly kind: "reception"
  readonly at: number
  readonly started_at: number
  readonly node: string
  readonly url: string
  readonly shop: string
  readonly signature: string | null
  readonly body: string
  /** Null if no response came in time. */
  readonly status: number | null
  /** The instant at which the node got the response; null if the node died before. */
  ended_at: number | null
  /** True if the network delivered the request a second time. */
  readonly isDouble: boolean
}

/** A committed event, webhook, delivery attempt or notification. */
export type Commit =
  | { readonly kind: "event"; readonly at: number; readonly node: string; readonly shop: string; readonly body: string }
  | { readonly kind: "webhook"; readonly at: number; readonly shop: string; readonly row: Json }
  | { readonly kind: "attempt"; readonly at: number; readonly shop: string; readonly row: Json }
  | { readonly kind: "message"; readonly at: number; readonly shop: string; readonly row: Json }

/** Anything else that the judge needs. */
export type Note =
  | {
      readonly kind: "notified"
      readonly at: number
      readonly to: "client" | "owner"
      readonly id: string
      readonly shop: string
    }
  | { readonly kind: "crash"; readonly at: number; readonly node: string; readonly what: string }
  | { readonly kind: "fault"; readonly at: number; until: number; readonly node: string; readonly what: string }

// biome-ignore lint/suspicious/noExplicitAny: the body is untyped JSON
export type Json = any

/** The end state as an API client and the shop's owner read it. */
export interface ShopEnd {
  readonly id: string
  readonly tickets: ReadonlyArray<Json>
  /** The tickets of a till that followed the list with `updated_since` and `cursor` during the whole run. */
  readonly mirror: ReadonlyArray<Json>
  readonly events: ReadonlyArray<Json>
  readonly deliveries: ReadonlyArray<Json>
  readonly notices: ReadonlyArray<Json>
  readonly webhook: Json
  readonly cards: ReadonlyArray<{ readonly client: string; readonly status: number; readonly data: Json }>
}

/** The history of a run, in the order in which everything happened. */
export class History {
  readonly exchanges: Array<Exchange> = []
  readonly acts: Array<Act> = []
  readonly receptions: Array<ReceivedDelivery> = []
  readonly commits: Array<Commit> = []
  readonly notes: Array<Note> = []
  shops: ReadonlyArray<ShopEnd> = []
  clients: ReadonlyArray<string> = []
  /** The instant from which every clock is correct, every node runs and every receiver is healthy. */
  healed_at = 0
  ended_at = 0
  /** True after the run. Later events are not recorded. */
  isOver = false

  note(note: Note): void {
    if (!this.isOver) this.notes.push(note)
  }

  /** Records the changes of a commit whose instant the judge needs. */
  committed(at: number, node: string, change: Change): void {
    if (this.isOver) return
    const row: Json = change.row
    if (change._tag === "EventRaised") this.commits.push({ kind: "event", at, node, shop: row.shop_id, body: row.body })
    if (change._tag === "WebhookPut") this.commits.push({ kind: "webhook", at, shop: row.shop_id, row })
    if (change._tag === "AttemptAppended") this.commits.push({ kind: "attempt", at, shop: row.shop_id, row })
    if (change._tag === "NotificationAppended" || change._tag === "NoticeAppended")
      this.commits.push({
        kind: "message",
        at,
        shop: row.shop_id,
        row: { ...row, to: change._tag === "NoticeAppended" ? "owner" : "client" }
      })
  }
}
