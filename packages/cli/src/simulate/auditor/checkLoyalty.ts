import { type Deed, deedsOf } from "./Deeds.js"
import type { ClosedShop, Evidence, SeenCard, SeenLoyalty, Violation } from "./Evidence.js"
import { actOf, eventsByTicket, ms, settingsAt } from "./Reading.js"

const violation = (message: string, evidence: unknown): Violation => ({
  rule: "loyalty",
  section: "Specification, Endpoints; Clients and loyalty",
  message,
  evidence
})

type Program = SeenLoyalty["program"]

const programAt = (evidence: Evidence, shop: string) => {
  const settings = settingsAt(evidence, shop)
  return (now: number): Program =>
    (settings(now).program as Program | undefined) ?? { active: false, stamps_required: 10, stamps_per_ticket: 1 }
}

/** What tickets earned for each client: once in a ticket's life, when it is first ready or collected as ready. */
const earned = (shop: ClosedShop, program: (now: number) => Program): Map<string, number> => {
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

/** What a client's card must show, from everything that was acknowledged. */
const ledger = (deeds: ReadonlyArray<Deed>, tickets: number, program: (now: number) => Program) => {
  let [balance, lifetime, redeemed] = [tickets, tickets, 0]
  for (const { kind, results } of deeds)
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

const cardWrong = (card: SeenCard, expected: ReturnType<typeof ledger>, required: number): string | null => {
  for (const name of ["balance", "lifetime", "rewards_redeemed"] as const)
    if (card[name] !== expected[name]) return `${name} is ${card[name]}, where ${expected[name]} was acknowledged`
  const available = Math.floor(card.balance / required)
  return card.rewards_available === available
    ? null
    : `rewards_available is ${card.rewards_available}, and not ${available}`
}

const inShop = (evidence: Evidence, shop: ClosedShop, deeds: ReadonlyArray<Deed>): ReadonlyArray<Violation> => {
  const program = programAt(evidence, shop.id)
  const tickets = earned(shop, program)
  return shop.cards.flatMap(({ client, status, data }) => {
    if (status !== 200 || data === null) return []
    const theirs = deeds.filter(
      (deed) => deed.shop === shop.id && deed.kind !== "create" && actOf(deed.exchanges[0]!)?.id === client
    )
    // Where nobody knows what became of a request, the card may show either.
    if (theirs.some(({ isUnknown }) => isUnknown)) return []
    const expected = ledger(theirs, tickets.get(client) ?? 0, program)
    const message = cardWrong(data.card, expected, data.program.stamps_required)
    return message === null
      ? []
      : [violation(`the card of ${client}: ${message}`, { shop: shop.id, client, card: data.card, expected })]
  })
}

/** A card is the sum of what tickets earned, what was given and what was redeemed. */
export const checkLoyalty = (evidence: Evidence): ReadonlyArray<Violation> => {
  const deeds = deedsOf(evidence)
  return evidence.shops.flatMap((shop) => inShop(evidence, shop, deeds))
}
