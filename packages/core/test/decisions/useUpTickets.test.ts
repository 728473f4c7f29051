import { describe, expect, it } from "vitest"
import { createTicket } from "../../src/decisions/createTicket.js"
import { useUpTickets } from "../../src/decisions/useUpTickets.js"
import type { LimitReached } from "../../src/domain/LimitWindow.js"
import { HOUR, MINUTE, SHOP, START, TestShop, ticketInput } from "./fixtures.js"

describe("docs/sandbox.md: a limit on tickets that a tester uses up", () => {
  it.each([
    ["tickets_per_hour", START + HOUR],
    ["tickets_per_day", Date.parse("2026-03-02T23:00:00Z")]
  ] as const)("%s refuses the next ticket until its window ends", (policy, resets_at) => {
    const shop = new TestShop()
    shop.create()
    shop.wait(MINUTE).does(useUpTickets(SHOP, policy))
    const refused = shop.refuses(createTicket(SHOP, ticketInput(), { via: "api", foundWords: [] })) as LimitReached
    expect(refused.usages).toEqual([expect.objectContaining({ policy, remaining: 0, resets_at })])
    shop.now = resets_at
    shop.create()
  })
})
