import type { ClientFailure, WorkshopClient } from "@workshop/client"
import type { Ticket } from "@workshop/core"

/** A till's data on its disk: its own copy of the tickets, the place of its sync, and the sales that were not sent yet. */
export interface TillDisk {
  /** The shop of these tickets; undefined before the till's first sync. */
  shop_id: string | undefined
  readonly tickets: Map<string, Ticket>
  /** `synced_until` of the last page that was kept; undefined before the first. */
  syncedUntil: string | undefined
  /** Sales taken without a connection. Each has had its idempotency key since it was typed in. */
  readonly outbox: Map<string, Sale>
  /** Keeps all of this as it is now. A till that dies meanwhile finds what was kept before. */
  readonly save: () => void
}

/** A sale, as it is typed in at the till. */
export interface Sale {
  readonly service: string
  readonly price_minor: number
}

/** Notes a sale. It goes out with the next sync, under this key however often that is tried: one sale, one ticket. */
export const take = (disk: TillDisk, sale: Sale): void => {
  disk.outbox.set(crypto.randomUUID(), sale)
  disk.save()
}

/** Sends the sales in the outbox. A sale that the service refuses for good is returned, so that the till shows it. */
const sendOutbox = async (client: WorkshopClient, disk: TillDisk): Promise<ReadonlyArray<string>> => {
  const refused: Array<string> = []
  for (const [idempotencyKey, sale] of disk.outbox) {
    const made = await client.tickets.create(sale, { idempotencyKey })
    // A replay is the ticket as it was at first: a copy that the sync has brought since is newer.
    if (made.ok) {
      if (!made.meta.replayed || !disk.tickets.has(made.value.id)) disk.tickets.set(made.value.id, made.value)
    } else if (made.error.code === "VALIDATION_ERROR" || made.error.code === "PROFANITY")
      refused.push(made.error.message)
    // Anything else may pass: it stays, and keeps its key.
    else continue
    disk.outbox.delete(idempotencyKey)
    disk.save()
  }
  return refused
}

/** The result of a sync. */
export interface Synced {
  /** Why sales were refused for good. */
  readonly refused: ReadonlyArray<string>
  /** How many changes were read; one may come again. */
  readonly changes: number
  /** Why it stopped before the end; it goes on from there next time. */
  readonly problem: ClientFailure | null
}

/**
 * Brings the copy up to date: every change since last time, in order, written by id. The tickets of a page and
 * `synced_until` are kept together, so that a till that dies on the way begins again where it was: no gap, ever.
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
