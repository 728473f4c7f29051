import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import type { Ticket } from "@workshop/core"
import type { Sale, TillDisk } from "./Till.js"

/** The contents of the file. */
interface Kept {
  readonly shop_id?: string
  readonly syncedUntil?: string
  readonly tickets: ReadonlyArray<Ticket>
  readonly outbox: ReadonlyArray<readonly [key: string, sale: Sale]>
}

const EMPTY: Kept = { tickets: [], outbox: [] }

/**
 * A till's data in one JSON file. It writes a new file and then renames it, so that a crash leaves
 * either the old or the new file. It writes the whole file for every page, so a till with many
 * thousands of tickets needs a database.
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
