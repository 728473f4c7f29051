import { Either } from "effect"
import { describe, expect, it } from "vitest"
import {
  closure,
  isOpen,
  moveTo,
  type Standing,
  type TicketState,
  type TicketStatus
} from "../../src/domain/TicketLifecycle.js"

const NOW = 1_772_442_000_000
const DAY = 86_400_000
const standing = (state: TicketState, more: Partial<Standing> = {}): Standing => ({
  state,
  updated_at: NOW,
  ready_at: null,
  collected_at: null,
  shop_changed_at: NOW,
  ...more
})

describe("Specification, States: the state of a ticket", () => {
  it("open means workshop, ready or impossible (Specification, Lists and sync)", () => {
    const states = ["workshop", "ready", "impossible", "collected", "abandoned"] as const
    expect(states.map(isOpen)).toEqual([true, true, true, false, false])
  })

  it("a refused move lists the statuses that the ticket would accept now (Specification, Errors)", () => {
    const accepts = (ticket: Standing, refused: TicketStatus = "collected") =>
      Either.match(moveTo(ticket, refused, NOW), {
        onLeft: ({ allowed = [] }) => [...allowed].sort(),
        onRight: () => "not refused"
      })
    expect(accepts(standing("workshop"))).toEqual(["impossible", "ready"])
    expect(accepts(standing("ready", { ready_at: NOW }), "ready")).toEqual(["collected", "workshop"])
    expect(accepts(standing("impossible"), "ready")).toEqual(["collected", "workshop"])
    expect(accepts(standing("collected", { collected_at: NOW - DAY }))).toEqual(["workshop"])
    expect(accepts(standing("collected", { collected_at: NOW - DAY - 1 }))).toEqual([])
    expect(accepts(standing("abandoned"))).toEqual([])
  })

  it("the closure that awaits it, and when (Specification, States)", () => {
    expect(closure(standing("workshop", { shop_changed_at: NOW }))).toEqual({
      due_at: NOW + 60 * DAY,
      reason: "no_news"
    })
    expect(closure(standing("ready", { ready_at: NOW - DAY, shop_changed_at: NOW }))).toEqual({
      due_at: NOW + 59 * DAY,
      reason: "uncollected"
    })
    for (const state of ["impossible", "collected", "abandoned"] as const) expect(closure(standing(state))).toBeNull()
  })

  it("sixty days are 60 times 24 hours, whatever the clocks of the shop do (Specification, States)", () => {
    expect(closure(standing("workshop", { shop_changed_at: 0 }))?.due_at).toBe(5_184_000_000)
  })
})
