import type { ShopId } from "./Identifier.js"
import { type Instant, toIso, toIsoOrNull } from "./Instant.js"
import { Limits } from "./Limits.js"
import { computeRemaining } from "./Money.js"
import { type NotifiedChannel, numberLabel, type Part, type TicketType } from "./Ticket.js"
import { type AbandonReason, isOpen, type TicketState } from "./TicketLifecycle.js"
import type { TrackedTicket } from "./TrackedTicket.js"

/** A step of a ticket on its page. */
export interface TrackingStep {
  /** The name of the step: a state, or the creation of the ticket. */
  readonly step: "received" | TicketState
  /**
   * The progress of the step. `current` marks the step that the ticket is at; no step is current after the item was
   * collected.
   */
  readonly progress: "done" | "current" | "upcoming"
  /** When the step was reached; null if it was not, or if the instant is not stored. */
  readonly at: string | null
}

/**
 * Everything that a ticket's page may show. The client's name and phone number, the note for the workshop, the shop's own reference and the
 * quote have no field here, so no template can show them. Instants are ISO 8601 in UTC, amounts are in minor units.
 */
export interface TrackingView {
  /** The name of the shop. */
  readonly shop_name: string
  /** The IANA time zone of the shop, such as `Africa/Tunis`, in which the page shows dates. */
  readonly time_zone: string
  /** The ISO 4217 code of the currency of the amounts, such as `TND`. */
  readonly currency: string
  /** The number of decimals of the currency: 1,000 minor units with 3 decimals are 1.000. */
  readonly decimals: number
  /** The code in the page's address, such as `7K3M-Q9XD`. */
  readonly tracking_code: string
  /** The number on the receipt. */
  readonly number_label: string
  /** Whether something was brought in for repair, or ordered. */
  readonly type: TicketType
  /** The state of the ticket (Specification, States). */
  readonly state: TicketState
  /** Why the service closed the ticket; null in any state but `abandoned`. */
  readonly abandon_reason: AbandonReason | null
  /** The items that were brought or ordered; the service if there are none. */
  readonly items: ReadonlyArray<string>
  /** The steps up to the end of the ticket, in their order. */
  readonly steps: ReadonlyArray<TrackingStep>
  /** The promised date. Like `delay` and `part`, it is set only while the ticket is in the workshop. */
  readonly promised_at: string | null
  /** The latest delay, with the date that was promised before; null if there was none. */
  readonly delay: { readonly previous_promised_at: string | null; readonly reason: string | null } | null
  /** The part that the workshop ordered; null if there is none. */
  readonly part: Pick<Part, "label" | "status" | "expected_at" | "received_at"> | null
  /** The price, in minor units; null if it is unknown. */
  readonly price_minor: number | null
  /** The deposit that was paid, in minor units; null if there was none. */
  readonly deposit_minor: number | null
  /** The amount that remains to be paid, in minor units; null if it is unknown, or after the item has left the shop. */
  readonly remaining_minor: number | null
  /** When and how the client was notified last; null if they were not. */
  readonly notified: { readonly at: string; readonly channel: NotifiedChannel | null } | null
  /** When the ticket last changed. */
  readonly updated_at: string
}

type TrackedTicketFields = TrackedTicket["ticket"]

const itemsOf = ({ items, item, service }: TrackedTicketFields): ReadonlyArray<string> =>
  items.length > 0 ? items.map(({ label }) => label) : [item ?? service]

const makeStep = (name: TrackingStep["step"], progress: TrackingStep["progress"], at: Instant | null = null) => ({
  step: name,
  progress,
  at: toIsoOrNull(at)
})

/** The steps of a ticket up to its end, which differ if the work cannot be done or nobody collected the item. */
const stepsOf = (ticket: TrackedTicketFields): ReadonlyArray<TrackingStep> => {
  const { state, created_at, ready_at, collected_at, abandoned_at } = ticket
  const received = makeStep("received", "done", created_at)
  switch (state) {
    case "workshop":
      return [
        received,
        makeStep("workshop", "current"),
        makeStep("ready", "upcoming"),
        makeStep("collected", "upcoming")
      ]
    case "ready":
      return [
        received,
        makeStep("workshop", "done"),
        makeStep("ready", "current", ready_at),
        makeStep("collected", "upcoming")
      ]
    case "impossible":
      return [
        received,
        makeStep("workshop", "done"),
        makeStep("impossible", "current"),
        makeStep("collected", "upcoming")
      ]
    case "collected": {
      const end = ready_at === null ? makeStep("impossible", "done") : makeStep("ready", "done", ready_at)
      return [received, makeStep("workshop", "done"), end, makeStep("collected", "done", collected_at)]
    }
    case "abandoned": {
      const end = ready_at === null ? [] : [makeStep("ready", "done", ready_at)]
      return [received, makeStep("workshop", "done"), ...end, makeStep("abandoned", "current", abandoned_at)]
    }
  }
}

/** The part of a ticket and its shop that a client may see. */
export const trackingView = ({ ticket, shop }: TrackedTicket): TrackingView => {
  const { state, delay, part, price_minor, deposit_minor, notified_at } = ticket
  const isInWorkshop = state === "workshop"
  return {
    shop_name: shop.name,
    time_zone: shop.time_zone,
    currency: shop.currency,
    decimals: shop.decimals,
    tracking_code: ticket.tracking_code,
    number_label: numberLabel(ticket.number),
    type: ticket.type,
    state,
    abandon_reason: ticket.abandon_reason,
    items: itemsOf(ticket),
    steps: stepsOf(ticket),
    promised_at: isInWorkshop ? toIsoOrNull(ticket.promised_at) : null,
    delay:
      isInWorkshop && delay !== null
        ? { previous_promised_at: toIsoOrNull(delay.previous_promised_at), reason: delay.reason }
        : null,
    part:
      isInWorkshop && part !== null
        ? {
            label: part.label,
            status: part.status,
            expected_at: toIsoOrNull(part.expected_at),
            received_at: toIsoOrNull(part.received_at)
          }
        : null,
    price_minor,
    deposit_minor,
    remaining_minor: isOpen(state) ? computeRemaining(price_minor, deposit_minor) : null,
    notified: notified_at === null ? null : { at: toIso(notified_at), channel: ticket.notified_channel },
    updated_at: toIso(ticket.updated_at)
  }
}

/** Whether a ticket ended so long ago that its page is not shown, so that fewer codes can be guessed. */
const isPast = ({ collected_at, abandoned_at }: TrackedTicketFields, now: Instant): boolean => {
  const ended_at = abandoned_at ?? collected_at
  return ended_at !== null && now - ended_at > Limits.tracking_after_end_ms
}

/**
 * The view of the ticket with a tracking code, from all tickets that have the code; null if no page may be shown. No
 * page is shown for a shop that is not active or not approved, or, if `shop_id` is given, for any other shop. If two
 * tickets have the code, neither is shown, because either client would see the other's.
 */
export const trackingPageOf = (
  tickets: ReadonlyArray<TrackedTicket>,
  now: Instant,
  shop_id?: ShopId
): TrackingView | null => {
  const visibleTickets = tickets.filter(
    ({ ticket, shop }) =>
      shop.approved && shop.active && (shop_id === undefined || shop.id === shop_id) && !isPast(ticket, now)
  )
  return visibleTickets.length === 1 ? trackingView(visibleTickets[0]!) : null
}
