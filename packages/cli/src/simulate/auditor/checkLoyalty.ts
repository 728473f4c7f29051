import type { Card } from "../../testkit/Shapes.js"
import { type Operation, operationsOf } from "./Operations.js"
import { actOf, check, eventsByTicket, ms, settingsAt } from "./queries.js"
import type { Loyalty, ShopTrace, Trace } from "./Trace.js"

type Program = Loyalty["program"]

const programAt = (trace: Trace, shop: string) => {
  const settings = settingsAt(trace, shop)
  return (now: number): Program =>
    (settings(now).program as Program | undefined) ?? { active: false, stamps_required: 10, stamps_per_ticket: 1 }
}

/** The stamps that tickets earned for each client: once in a ticket's life, when it is first ready or collected as ready. */
const earned = (shop: ShopTrace, program: (now: number) => Program): Map<string, number> => {
  const stamps = new Map<string, number>()
  for (const events of eventsByTicket(shop.events).values()) {
    const first = events.find(({ type, created_at, data }) => {
      const { client, outcome } = data.ticket
      const earns = type === "ticket.ready" || (type === "ticket.collected" && outcome === "ready")
      return earns && client !== null && program(ms(created_at)).active
    })
    const client = first?.data.ticket.client?.id
    if (first === undefined || client === undefined) continue
    stamps.set(client, (stamps.get(client) ?? 0) + program(ms(first.created_at)).stamps_per_ticket)
  }
  return stamps
}

/** The card that a client must have, from everything that was acknowledged. */
const ledger = (operations: ReadonlyArray<Operation>, tickets: number, program: (now: number) => Program) => {
  let [balance, lifetime, redeemed] = [tickets, tickets, 0]
  for (const { kind, results } of operations)
    for (const { data } of results) {
      if (kind === "stamps") {
        const { added } = data as { readonly added: number }
        balance += added
        lifetime += added
      } else {
        const { reward } = data as { readonly reward: { readonly redeemed_at: string } }
        balance -= program(ms(reward.redeemed_at)).stamps_required
        redeemed += 1
      }
    }
  return { balance, lifetime, rewards_redeemed: redeemed }
}

const cardWrong = (card: Card, expected: ReturnType<typeof ledger>, required: number): string | null => {
  for (const name of ["balance", "lifetime", "rewards_redeemed"] as const)
    if (card[name] !== expected[name]) return `${name} is ${card[name]}, where ${expected[name]} was acknowledged`
  const available = Math.floor(card.balance / required)
  return card.rewards_available === available
    ? null
    : `rewards_available is ${card.rewards_available}, and not ${available}`
}

/** A card is the sum of what tickets earned, what was given and what was redeemed. */
export const checkLoyalty = check("loyalty", "Specification, Endpoints; Clients and loyalty", function* (trace) {
  const operations = operationsOf(trace).filter(({ kind }) => kind !== "create")
  for (const shop of trace.shops) {
    const program = programAt(trace, shop.id)
    const tickets = earned(shop, program)
    for (const { client, status, data } of shop.cards) {
      const theirs = operations.filter((one) => one.shop === shop.id && actOf(one.exchanges[0]!)?.id === client)
      // Where nobody knows what became of a request, the card may show either.
      if (status !== 200 || data === null || theirs.some(({ isUnknown }) => isUnknown)) continue
      const expected = ledger(theirs, tickets.get(client) ?? 0, program)
      const message = cardWrong(data.card, expected, data.program.stamps_required)
      if (message !== null)
        yield [`the card of ${client}: ${message}`, { shop: shop.id, client, card: data.card, expected }]
    }
  }
})
