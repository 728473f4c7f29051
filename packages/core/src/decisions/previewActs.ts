import { Either } from "effect"
import type { ShopId, TicketId } from "../domain/Identifier.js"
import { type TicketBounds, TicketNotFound, type TicketRecord, ticketBounds } from "../domain/Ticket.js"
import type { TicketStatus } from "../domain/TicketLifecycle.js"
import { toUnchangedDecision } from "./ChangeSet.js"
import type { Command } from "./Command.js"
import { changeStatus, recordNotified } from "./changeStatus.js"
import { answerQuote, proposeQuote, QuoteInput } from "./quotes.js"
import type { Refusal } from "./Refusal.js"
import { announceDelay, attachPhoto, DelayInput, PartInput, PhotoInput, recordPart } from "./ticketProgress.js"

type Act = (shop_id: ShopId, record: TicketRecord, bounds: TicketBounds) => Command<unknown, Refusal>

const makeStatusAct =
  (to: TicketStatus): Act =>
  (shop_id, { id }, bounds) =>
    changeStatus(shop_id, id, to, bounds)

/** The commands of all acts on a ticket, by name, with example inputs that are valid for the ticket. */
export const ticketActs = {
  "status:ready": makeStatusAct("ready"),
  "status:impossible": makeStatusAct("impossible"),
  "status:workshop": makeStatusAct("workshop"),
  "status:collected": makeStatusAct("collected"),
  notified: (shop_id, { id }, bounds) => recordNotified(shop_id, id, "call", bounds),
  quote: (shop_id, { id, deposit_minor }) =>
    proposeQuote(shop_id, id, QuoteInput.make({ price_minor: deposit_minor ?? 0 })),
  accept: (shop_id, { id }) => answerQuote(shop_id, id, "accepted"),
  refuse: (shop_id, { id }) => answerQuote(shop_id, id, "refused"),
  delay: (shop_id, { id, updated_at }) => announceDelay(shop_id, id, DelayInput.make({ promised_at: updated_at })),
  part: (shop_id, { id }) => recordPart(shop_id, id, PartInput.make({ label: "Part", status: "ordered" })),
  photo: (shop_id, { id }) => attachPhoto(shop_id, id, PhotoInput.make({ photo_url: "https://photo.example/" }))
} as const satisfies Readonly<Record<string, Act>>

/** The name of an act of {@link ticketActs}. */
export type TicketActName = keyof typeof ticketActs

/** An act on a ticket, with the refusal that it would get now, or null if the ticket would accept it. */
export interface ActPreview {
  readonly act: TicketActName
  readonly refusal: Refusal | null
}

/** Runs the decision of every act on the ticket in its current state, without saving. */
export const previewActs = (
  shop_id: ShopId,
  id: TicketId,
  bounds: TicketBounds = ticketBounds
): Command<ReadonlyArray<ActPreview>, TicketNotFound> => ({
  shop_id,
  loadRequests: [{ _tag: "Ticket", id }],
  run: (state, moment) => {
    const record = state.tickets.get(id)
    if (record === undefined) return Either.left(new TicketNotFound())
    return toUnchangedDecision(
      (Object.keys(ticketActs) as Array<TicketActName>).map((act) => {
        const decision = ticketActs[act](shop_id, record, bounds).run(state, moment)
        return { act, refusal: Either.isLeft(decision) ? decision.left : null }
      })
    )
  }
})
