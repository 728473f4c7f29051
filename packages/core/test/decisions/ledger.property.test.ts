import fc from "fast-check"
import { expect, it } from "vitest"
import type { Command } from "../../src/decisions/Command.js"
import { changeStatus } from "../../src/decisions/changeStatus.js"
import { createTicket } from "../../src/decisions/createTicket.js"
import { giveStamps, redeemReward } from "../../src/decisions/giveStamps.js"
import { changeShop } from "../../src/decisions/ownShop.js"
import type { TicketId } from "../../src/domain/Identifier.js"
import { AMIRA, HOUR, KARIM, KEY, OTHER_KEY, PROGRAM, SHOP, TestShop, ticketInput } from "./fixtures.js"

const client = fc.constantFrom(AMIRA.id, KARIM.id)
const caller_id = fc.constantFrom(KEY, OTHER_KEY)
const status = fc.constantFrom("ready", "collected", "workshop", "impossible")

const acts = fc.array(
  fc.oneof(
    fc.record({ act: fc.constant("give"), client, caller_id, count: fc.integer({ min: 1, max: 10 }) }),
    fc.record({ act: fc.constant("redeem"), client, caller_id }),
    fc.record({ act: fc.constant("create"), client }),
    fc.record({ act: fc.constant("move"), which: fc.nat(5), status }),
    fc.record({
      act: fc.constant("program"),
      active: fc.boolean(),
      stamps_required: fc.integer({ min: 1, max: 12 }),
      stamps_per_ticket: fc.nat(4)
    }),
    fc.record({ act: fc.constant("wait"), ms: fc.nat(30 * HOUR) })
  ),
  { maxLength: 60 }
)
type Act = (typeof acts extends fc.Arbitrary<infer L> ? L : never) extends ReadonlyArray<infer A> ? A : never

const commandOf = (act: Act, shop: TestShop): Command<unknown, unknown> | null => {
  if ("count" in act)
    return giveStamps(SHOP, { client_id: act.client, caller_id: act.caller_id, count: act.count as never })
  if ("caller_id" in act) return redeemReward(SHOP, { client_id: act.client, caller_id: act.caller_id })
  if ("client" in act)
    return createTicket(SHOP, ticketInput({ client_id: act.client }), { via: "api", forbidden: null })
  if ("status" in act) {
    const ids = [...shop.slice.tickets.keys()]
    const id = ids[act.which % Math.max(1, ids.length)]
    return id === undefined ? null : changeStatus(SHOP, id as TicketId, act.status as "ready")
  }
  if ("active" in act) {
    const { active, stamps_required, stamps_per_ticket } = act
    return changeShop(SHOP, { program: { active, stamps_required, stamps_per_ticket } } as never)
  }
  shop.wait(act.ms)
  return null
}

it("the card is the sum of its ledger after any acts, its balance never below zero, its lifetime never falling (contract §6)", () => {
  fc.assert(
    fc.property(acts, (acts) => {
      const shop = new TestShop({ program: PROGRAM })
      shop.meets(AMIRA)
      shop.meets(KARIM)
      const lifetimes = new Map<string, number>()
      for (const act of acts) {
        const command = commandOf(act, shop)
        if (command === null) continue
        shop.tries(command)
        for (const [id, card] of shop.slice.cards) {
          const lines = shop.everyRow("LedgerAppended").filter(({ client_id }) => client_id === id)
          const given = lines.filter(({ stamps }) => stamps > 0)
          expect(card.balance).toBe(lines.reduce((sum, { stamps }) => sum + stamps, 0))
          expect(card.lifetime).toBe(given.reduce((sum, { stamps }) => sum + stamps, 0))
          expect(card.rewards_redeemed).toBe(lines.filter(({ kind }) => kind === "redeem").length)
          expect(card.updated_at).toBe(lines.at(-1)?.created_at)
          expect(card.balance).toBeGreaterThanOrEqual(0)
          expect(card.lifetime).toBeGreaterThanOrEqual(lifetimes.get(id) ?? 0)
          lifetimes.set(id, card.lifetime)
        }
      }
      const earned = shop.everyRow("LedgerAppended").flatMap(({ ticket_id }) => ticket_id ?? [])
      expect(new Set(earned).size).toBe(earned.length)
    }),
    { numRuns: 60 }
  )
})
