import type { ClientFailure, WorkshopClient } from "@workshop/client"
import type { Ticket } from "@workshop/core"

/** An order as the ERP knows it. */
export interface Order {
  /** The ERP's own number: it becomes the ticket's `external_ref`, and the Idempotency-Key of its creation. */
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

/** Whether a ticket still says what the order says. The phone is left out: the service keeps it in another form. */
const isSame = ({ service, money }: Ticket, { work, price_minor }: Order): boolean =>
  service === work && (money.before_minor ?? money.price_minor) === (price_minor ?? null)

/**
 * Opens a ticket for an order. The same order again finds its first ticket: a nightly import may be run twice. The
 * ticket is looked for by its `external_ref` first, because an Idempotency-Key belongs to an API key: under the next
 * API key it would open a second ticket. It still holds what the look-up cannot see, a create whose answer got lost.
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
  const made = await client.tickets.create(
    {
      service,
      type: "prepare",
      external_ref: reference,
      price_minor: price_minor ?? null,
      client_phone: client_phone ?? null
    },
    { idempotencyKey: `erp-${reference}` }
  )
  if (made.ok) return { reference, outcome: made.meta.replayed ? "known" : "opened", number: made.value.number }
  return failed(reference, made.error)
}

/** Maps a failure to the order's result: refused for good, or to be tried later. */
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
      return { reference, outcome: "later", why: `${error.details.limit}, try in ${error.retry_after_s} s` }
    case "UNREACHABLE":
    case "UNAVAILABLE":
      return { reference, outcome: "later", why: error.message }
    default:
      // Our key, our shop, our mistake: no order is at fault, so the import ends here.
      throw new Error(`${error.code}: ${error.message}`)
  }
}

/** The references of all orders that wait to be picked up. */
export const waiting = async (client: WorkshopClient): Promise<ReadonlyArray<string>> => {
  const references: Array<string> = []
  for await (const page of client.tickets.pages({ state: ["ready", "impossible"], limit: 100 })) {
    if (!page.ok) throw new Error(page.error.message)
    for (const { external_ref } of page.value) if (external_ref !== null) references.push(external_ref)
  }
  return references
}
