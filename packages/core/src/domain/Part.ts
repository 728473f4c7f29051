import { Schema } from "effect"
import { type Instant, toIso, toIsoOrNull } from "./Instant.js"

/** Whether the part is on its way or in the workshop. */
export const PartStatus = Schema.Literal("ordered", "received").annotations({ identifier: "PartStatus" })
export type PartStatus = typeof PartStatus.Type

/** A part the workshop waits for (Specification, Tickets). */
export const Part = Schema.Struct({
  label: Schema.String,
  status: PartStatus,
  ordered_at: Schema.String,
  expected_at: Schema.NullOr(Schema.String),
  received_at: Schema.NullOr(Schema.String)
}).annotations({ identifier: "Part", description: "A part ordered for the ticket" })
export type Part = typeof Part.Type

/** A part as it is stored. */
export interface PartRecord {
  readonly label: string
  readonly status: PartStatus
  readonly ordered_at: Instant
  readonly expected_at: Instant | null
  readonly received_at: Instant | null
}

/** The part as it is answered. */
export const partView = (part: PartRecord): Part => ({
  label: part.label,
  status: part.status,
  ordered_at: toIso(part.ordered_at),
  expected_at: toIsoOrNull(part.expected_at),
  received_at: toIsoOrNull(part.received_at)
})
