import type { ClientFailure, WorkshopClient } from "@workshop/client"
import type { Ticket } from "@workshop/core"

/** A till's stored data: its copy of the tickets, the position of its sync, and the sales that were not sent yet. */
export interface TillDisk {
  /** The shop of these tickets; undefined before the till's first sync. */
  shop_id: string | undefined
  readonly tickets: Map<string, Ticket>
  /** The `synced_until` of the last stored page; undefined before the first page. */
  syncedUntil: string | undefined
  /** The sales that were not sent yet, by their idempotency keys, which they have from the beginning. */
  readonly outbox: Map<string, Sale>
  /**
   * Saves all the data. If the process crashes meanwhile, the file has the data of the previous
   * save.
   */
  readonly save: () => void
}

/** A sale at the till. */
export interface Sale {
  readonly service: string
  readonly price_minor: number
}

/** Saves a sale, which the next sync sends. All its retries have the same key, so that the sale gets one ticket. */
export const take = (disk: TillDisk, sale: Sale): void => {
  disk.outbox.set(crypto.randomUUID(), sale)
  disk.save()
}

/** Sends the sales in the outbox. Returns those that the service refuses permanently, so that the till shows them. */
const sendOutbox = async (client: WorkshopClient, disk: TillDisk): Promise<ReadonlyArray<string>> => {
  const refused: Array<string> = []
  for (const [idempotencyKey, sale] of disk.outbox) {
    const made = await client.tickets.create(sale, { idempotencyKey })
    // A replayed response has the ticket's first state, so a copy from a later sync is newer.
    if (made.ok) {
      if (!made.meta.replayed || !disk.tickets.has(made.value.id)) disk.tickets.set(made.value.id, made.value)
    } else if (made.error.code === "VALIDATION_ERROR" || made.error.code === "PROFANITY")
      refused.push(made.error.message)
    // After any other failure the sale stays in the outbox with its key, because a retry may succeed.
    else continue
    disk.outbox.delete(idempotencyKey)
    disk.save()
  }
  return refused
}

/** The result of a sync. */
export interface Synced {
  /** The messages of permanently refused sales. */
  readonly refused: ReadonlyArray<string>
  /** The number of changes that were read; the next sync may read some again. */
  readonly changes: number
  /** The failure that stopped the sync, which the next call continues; null at the end. */
  readonly problem: ClientFailure | null
}

/**
 * Applies every change since the last sync to the copy, in order, by id. The tickets of a page and its `synced_until`
 * are saved together, so that a till that crashes continues without a gap.
 */
export const sync = async (client: WorkshopClient, disk: TillDisk): Promise<Synced> => {
  const refused = await sendOutbox(client, disk)
  let changes = 0
  for await (const page of client.tickets.changes({ since: disk.syncedUntil })) {
    if (!page.ok) return { refused, changes, problem: page.error }
    for (const ticket of page.value) disk.tickets.set(ticket.id, ticket)
    disk.syncedUntil = page.meta.synced_until
    disk.save()
    changes += page.value.length
  }
  return { refused, changes, problem: null }
}
