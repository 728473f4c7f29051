import type { ClientFailure, WorkshopClient } from "@workshop/client"
import type { Ticket } from "@workshop/core"

/** An order of the ERP. */
export interface Order {
  /**
   * The ERP's own number, which becomes the ticket's `external_ref` and is part of the Idempotency-Key of its creation.
   */
  readonly reference: string
  readonly work: string
  readonly price_minor?: number
  readonly phone?: string
}

/** The result of importing an order. */
export type Imported =
  | { readonly reference: string; readonly outcome: "opened" | "known"; readonly number: number | null }
  | { readonly reference: string; readonly outcome: "refused" | "later"; readonly why: string }

const CHANGED = "the order was changed after its import"

/** Whether a ticket still has the data of its order, except the phone, which the service stores in another form. */
const isSame = ({ service, money }: Ticket, { work, price_minor }: Order): boolean =>
  service === work && (money.before_minor ?? money.price_minor) === (price_minor ?? null)

/**
 * Creates a ticket for an order, unless the order has one, so that a nightly import can run twice. It first searches
 * for the ticket by its `external_ref`, because an Idempotency-Key is valid only for its API key, and would not prevent
 * a second ticket after a change of the API key. The Idempotency-Key prevents a second ticket if an earlier create
 * still runs during the search.
 */
export const importOrder = async (client: WorkshopClient, order: Order): Promise<Imported> => {
  const { reference, work: service, price_minor, phone: client_phone } = order
  const found = await client.tickets.list({ external_ref: reference })
  if (!found.ok) return failed(reference, found.error)
  const known = found.value.at(-1)
  if (known !== undefined) {
    return isSame(known, order)
      ? { reference, outcome: "known", number: known.number }
      : { reference, outcome: "refused", why: CHANGED }
  }
  const created = await client.tickets.create(
    {
      service,
      type: "prepare",
      external_ref: reference,
      price_minor: price_minor ?? null,
      client_phone: client_phone ?? null
    },
    { idempotencyKey: `erp-${reference}` }
  )
  if (created.ok)
    return { reference, outcome: created.meta.replayed ? "known" : "opened", number: created.value.number }
  return failed(reference, created.error)
}

/** Maps a failure to the order's result: refused permanently, or to be retried later. */
const failed = (reference: string, error: ClientFailure): Imported => {
  switch (error.code) {
    case "VALIDATION_ERROR": {
      const why = error.details.issues.map(({ field, message }) => `${field} ${message}`).join("; ")
      return { reference, outcome: "refused", why }
    }
    case "PROFANITY":
      return { reference, outcome: "refused", why: `${error.details.field} holds a forbidden word` }
    case "CONFLICT":
      return { reference, outcome: "refused", why: `${error.details.reason}: ${CHANGED}` }
    case "TOO_MANY_ATTEMPTS":
      return { reference, outcome: "later", why: `${error.details.limit}, try in ${error.retry_after_seconds} s` }
    case "UNREACHABLE":
    case "UNAVAILABLE":
      return { reference, outcome: "later", why: error.message }
    default:
      // The key or the shop is wrong and not the order, so the import ends.
      throw new Error(`${error.code}: ${error.message}`)
  }
}

/** The references of all orders that are ready to be picked up. */
export const waiting = async (client: WorkshopClient): Promise<ReadonlyArray<string>> => {
  const references: Array<string> = []
  for await (const page of client.tickets.pages({ state: ["ready", "impossible"], limit: 100 })) {
    if (!page.ok) throw new Error(page.error.message)
    for (const { external_ref } of page.value) if (external_ref !== null) references.push(external_ref)
  }
  return references
}
