import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import type { Ticket } from "@workshop/core"
import type { Sale, TillDisk } from "./Till.js"

/** A disk's file. */
interface Kept {
  readonly shop_id?: string
  readonly syncedUntil?: string
  readonly tickets: ReadonlyArray<Ticket>
  readonly outbox: ReadonlyArray<readonly [key: string, sale: Sale]>
}

const EMPTY: Kept = { tickets: [], outbox: [] }

/**
 * A till's disk in one JSON file, which is there whole or as it was before: it is written aside, and takes the other's
 * place once it is on the disk. It is rewritten with every page, so a till with many thousands of tickets needs a database.
 */
export const openDisk = (path: string): TillDisk => {
  const kept: Kept = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : EMPTY
  const disk: TillDisk = {
    shop_id: kept.shop_id,
    syncedUntil: kept.syncedUntil,
    tickets: new Map(kept.tickets.map((ticket) => [ticket.id, ticket])),
    outbox: new Map(kept.outbox),
    save: () => {
      const { shop_id, syncedUntil, tickets, outbox } = disk
      mkdirSync(dirname(path), { recursive: true })
      const text = JSON.stringify({ shop_id, syncedUntil, tickets: [...tickets.values()], outbox: [...outbox] })
      writeFileSync(`${path}.new`, text, { mode: 0o600, flush: true })
      renameSync(`${path}.new`, path)
    }
  }
  return disk
}
