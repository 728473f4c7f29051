import { Audit, type AuditEntry, EventId, NO_SHOP, ShopId } from "@workshop/core"
import { toIso } from "@workshop/core/internal"
import type { Column } from "@workshop/core/internal/terminal"
import { Effect } from "effect"
import { flagsOf } from "../terminal/commands.js"
import { wholeNumber } from "../terminal/decoders.js"
import { rowsOutput } from "../terminal/Output.js"
import { fieldFlag, idFrom, ownerCommand } from "./ownerCommand.js"

/** The entries to list; null means any. */
interface EntryFilter {
  readonly shop: string | null
  readonly before: string | null
  readonly limit: number
}

const entryView = ({ shop_id, created_at, ...entry }: AuditEntry) => ({
  ...entry,
  shop_id: shop_id === NO_SHOP ? null : shop_id,
  created_at: toIso(created_at)
})

const columns: ReadonlyArray<Column<ReturnType<typeof entryView>>> = [
  { title: "WHEN", cell: ({ created_at }) => created_at, isWhole: true },
  { title: "WHO", cell: ({ actor }) => actor },
  { title: "WHAT", cell: ({ act }) => act },
  { title: "SHOP", cell: ({ shop_id }) => shop_id ?? "-", isWhole: true },
  { title: "DETAILS", cell: ({ details }) => JSON.stringify(details) }
]

/** Entries of the audit log, the latest first. */
export const listEntries = Effect.fnUntraced(function* ({ shop, before, limit }: EntryFilter) {
  const shop_id = shop === null ? null : yield* idFrom(ShopId, "a shop", shop)
  const entry = before === null ? null : yield* idFrom(EventId, "an entry", before)
  const entries = yield* Audit.list(shop_id, entry, limit)
  return rowsOutput(entries.map(entryView), columns, "The audit log has no entries yet.")
})

const own = flagsOf("audit")
const field = fieldFlag("audit")

/** `workshop audit`: lists what owners and operators did. */
export const auditCommand = ownerCommand({
  name: "audit",
  examples: ["workshop audit --shop 0197...", "workshop audit --limit 1000 --json"],
  options: {
    shop: field("--shop <id>", "Print only entries about this shop."),
    before: field("--before <id>", "Print only entries that are older than the entry with this id."),
    limit: own.value("--limit <number>", "Print at most this many entries, latest first.", {
      decoder: wholeNumber(1, 10_000),
      fallback: "100"
    })
  },
  run: listEntries
})
