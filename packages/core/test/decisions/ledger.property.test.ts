import fc from "fast-check"
import { expect, it } from "vitest"
import { arbitrary, commandOf } from "./arbitraryActs.js"
import { AMIRA, KARIM, PROGRAM, TestShop } from "./fixtures.js"

const { stamps, redeem, create, move, program, wait, offerAnswer } = arbitrary
const acts = fc.array(
  fc.oneof(
    { arbitrary: stamps, weight: 4 },
    { arbitrary: redeem, weight: 3 },
    { arbitrary: move, weight: 3 },
    create,
    program,
    wait,
    offerAnswer
  ),
  { maxLength: 60, size: "max" }
)

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, n) => total + n, 0)

it("after any acts a card is the sum of its ledger, its balance is never below zero and its lifetime never decreases (Specification, Clients and loyalty)", () => {
  fc.assert(
    fc.property(acts, (acts) => {
      const shop = new TestShop({ program: PROGRAM })
      shop.meets(AMIRA)
      shop.meets(KARIM)
      const lifetimes = new Map<string, number>()
      for (const act of acts) {
        if (act[0] === "wait") shop.wait(act[1])
        const command = commandOf(act, shop)
        if (command === null) continue
        shop.tries(command)
        for (const [id, card] of shop.slice.cards) {
          const lines = shop.everyRow("LedgerAppended").filter(({ client_id }) => client_id === id)
          expect(card).toMatchObject({
            balance: sum(lines.map(({ stamps }) => stamps)),
            lifetime: sum(lines.map(({ stamps }) => Math.max(0, stamps))),
            rewards_redeemed: lines.filter(({ kind }) => kind === "redeem").length,
            updated_at: lines.at(-1)?.created_at
          })
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
