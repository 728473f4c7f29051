import { Data, Schema } from "effect"
import { type Instant, toIso, toIsoOrNull } from "./Instant.js"
import { isOpen, type TicketPresent } from "./TicketLifecycle.js"

/** A new price that the shop proposed to its client (Specification, Tickets). */
export const Quote = Schema.Struct({
  status: Schema.Literal("proposed", "accepted", "refused").annotations({ identifier: "QuoteStatus" }),
  price_minor: Schema.Int,
  note: Schema.NullOr(Schema.String),
  proposed_at: Schema.String,
  answered_at: Schema.NullOr(Schema.String)
}).annotations({ identifier: "Quote", description: "A new price proposed to the client" })
export type Quote = typeof Quote.Type

/** A quote as it is stored. */
export interface QuoteRecord {
  readonly status: Quote["status"]
  readonly price_minor: number
  readonly note: string | null
  readonly proposed_at: Instant
  readonly answered_at: Instant | null
}

/** The quote as it is answered. */
export const quoteView = (quote: QuoteRecord): Quote => ({
  status: quote.status,
  price_minor: quote.price_minor,
  note: quote.note,
  proposed_at: toIso(quote.proposed_at),
  answered_at: toIsoOrNull(quote.answered_at)
})

/** The quote was answered already, none was proposed, or the ticket has left the shop (Specification, Sandbox). */
export class QuoteClosed extends Data.TaggedError("QuoteClosed")<
  TicketPresent & { readonly status: Quote["status"] | null }
> {
  override get message() {
    if (!isOpen(this.state)) return `The ticket is ${this.state}, so its price can no longer change`
    return this.status === null
      ? "No price was proposed for this ticket"
      : `The proposed price was ${this.status} already`
  }
}
