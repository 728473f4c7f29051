import { Schema } from "effect"
import { type Instant, toIso, toIsoOrNull } from "./Instant.js"

/** A later promise; the ticket's `promised_at` holds the new one (Specification, Tickets). */
export const Delay = Schema.Struct({
  previous_promised_at: Schema.NullOr(Schema.String),
  reason: Schema.NullOr(Schema.String),
  announced_at: Schema.String
}).annotations({ identifier: "Delay", description: "The last postponement of the promised date" })
export type Delay = typeof Delay.Type

/** A delay as it is stored. */
export interface DelayRecord {
  readonly previous_promised_at: Instant | null
  readonly reason: string | null
  readonly announced_at: Instant
}

/** The delay as it is answered. */
export const delayView = (delay: DelayRecord): Delay => ({
  previous_promised_at: toIsoOrNull(delay.previous_promised_at),
  reason: delay.reason,
  announced_at: toIso(delay.announced_at)
})
