import type { Ticket } from "../../testkit/Shapes.js"
import { isGood, ms, reporter } from "./Reading.js"
import type { ShopTrace, Trace, Violation } from "./Trace.js"

const LAST = 9999

const report = reporter("numbers", "Specification, Resources; Tickets")

const label = (number: number): string => String(number).padStart(4, "0")

/** At which number a shop went on, told by its owner, and when. */
const restarts = ({ exchanges }: Trace, shop: string) =>
  exchanges.flatMap((one) => {
    const next = (one.body as { readonly next_number?: number } | undefined)?.next_number
    const isRestart = one.method === "PATCH" && one.path === `/sandbox/shops/${shop}` && isGood(one)
    return isRestart && next !== undefined ? [{ at: one.now, next }] : []
  })

const inShop = (trace: Trace, { id, events, listed }: ShopTrace): ReadonlyArray<Violation> => {
  const found: Array<Violation> = []
  const told = restarts(trace, id)
  let expected = 1
  const numbers = new Map<string, Ticket>()
  for (const { type, created_at, data } of events) {
    if (type !== "ticket.created" || data.ticket === undefined) continue
    const { ticket } = data
    while (told[0] !== undefined && told[0].at <= ms(created_at)) expected = told.shift()!.next
    if (ticket.number !== expected)
      found.push(
        ...report(`ticket ${ticket.id} has number ${ticket.number}, where ${expected} was next`, { shop: id, ticket })
      )
    if (ticket.number_label !== label(ticket.number))
      found.push(...report(`the label of ${ticket.number} is ${ticket.number_label}`, { shop: id, ticket }))
    expected = ticket.number === LAST ? 1 : ticket.number + 1
    numbers.set(ticket.id, ticket)
  }
  for (const ticket of listed) {
    const created = numbers.get(ticket.id)
    if (created === undefined)
      found.push(...report(`ticket ${ticket.id} was never created by an event`, { shop: id, ticket }))
    else if (created.number !== ticket.number)
      found.push(...report(`ticket ${ticket.id} changed its number`, { shop: id, was: created, is: ticket }))
  }
  const kept = new Set(listed.map((ticket) => ticket.id))
  for (const [ticket, created] of numbers)
    if (!kept.has(ticket)) found.push(...report(`ticket ${ticket} is gone from the list`, { shop: id, created }))
  return found
}

/** Numbers run from 1 to 9999 and start again, with none twice and none left out. */
export const checkNumbers = (trace: Trace): ReadonlyArray<Violation> =>
  trace.shops.flatMap((shop) => inShop(trace, shop))
