import { Either, Schema } from "effect"
import type { ClientId, ShopId, TicketId } from "../domain/Identifier.js"
import { InvalidInput } from "../domain/InvalidInput.js"
import { Limits } from "../domain/Limits.js"
import { AmountMinor } from "../domain/Money.js"
import { optional, refuseUnknownFields, Text } from "../domain/Text.js"
import { QuoteClosed, quoteView, type TicketRecord } from "../domain/Ticket.js"
import { isOpen } from "../domain/TicketLifecycle.js"
import { actOnTicket, type TicketAct } from "./actOnTicket.js"

/** The client's response to a proposed price. */
export const QuoteAnswer = Schema.Literal("accepted", "refused")
export type QuoteAnswer = typeof QuoteAnswer.Type

/** A new price and the shop's note. */
export const QuoteInput = Schema.Struct({
  price_minor: AmountMinor,
  note: optional(Text(Limits.note_characters))
})
  .pipe(Schema.brand("QuoteInput"))
  .annotations({ identifier: "QuoteInput", ...refuseUnknownFields })
/** A new price in minor units with an optional note, which {@link QuoteInput} has checked. */
export type QuoteInput = typeof QuoteInput.Type

const refuseClosedQuote = ({ quote, state, updated_at }: TicketRecord) =>
  new QuoteClosed({ status: quote?.status ?? null, state, updated_at })

/** Raises the quote's event by its status: proposed, accepted or refused (Specification, Webhooks). */
const raiseQuote: TicketAct<never>["raise"] = (changes, ticket, { record: { id, quote } }) => {
  if (quote !== null) changes.raiseEvent(`quote.${quote.status}`, { ticket, quote: quoteView(quote) }, id)
}

/** Proposes a new price, which replaces an earlier proposal. It is never below the deposit (Specification, Tickets). */
export const proposeQuote = (shop_id: ShopId, id: TicketId, { price_minor, note }: QuoteInput) =>
  actOnTicket<QuoteClosed | InvalidInput>(shop_id, id, {
    actor: "shop",
    refusalOf: (record) => (record.state === "collected" ? refuseClosedQuote(record) : null),
    patch: (record, { now }) =>
      price_minor < (record.deposit_minor ?? 0)
        ? Either.left(
            new InvalidInput({
              issues: [{ field: "price_minor", message: "must not be less than the ticket's deposit" }]
            })
          )
        : Either.right({
            quote: { status: "proposed", price_minor, note: note ?? null, proposed_at: now, answered_at: null }
          }),
    raise: raiseQuote
  })

/**
 * Records the client's answer to the proposed price, while the item is in the shop. If the client accepts, the quote becomes the price, and
 * `before_minor` keeps the earlier one (Specification, Tickets). If the act names a client, the ticket is not found unless it is theirs.
 */
export const answerQuote = (shop_id: ShopId, id: TicketId, status: QuoteAnswer, client?: ClientId) =>
  actOnTicket(shop_id, id, {
    actor: "client",
    only_client: client,
    refusalOf: (record) => (isOpen(record.state) ? null : refuseClosedQuote(record)),
    patch: (record, { now }) => {
      const { quote, price_minor } = record
      if (quote?.status !== "proposed") return Either.left(refuseClosedQuote(record))
      const answeredQuote = { ...quote, status, answered_at: now }
      return Either.right(
        status === "accepted"
          ? { quote: answeredQuote, before_minor: price_minor, price_minor: quote.price_minor }
          : { quote: answeredQuote }
      )
    },
    raise: raiseQuote
  })
