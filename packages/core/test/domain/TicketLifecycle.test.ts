import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import {
  AbandonReason,
  closure,
  dateInState,
  fieldsOfMove,
  InvalidTransition,
  isOpen,
  moveTo,
  nextDeadline,
  SameState,
  stateDates,
  TicketState,
  TicketStatus,
  type TicketStatusFacts
} from "../../src/domain/TicketLifecycle.js"

const NOW = 1_772_442_000_000
const DAY = 86_400_000
const ticketIn = (state: TicketState, more: Partial<TicketStatusFacts> = {}): TicketStatusFacts => ({
  state,
  updated_at: NOW,
  ready_at: null,
  collected_at: null,
  shop_changed_at: NOW,
  ...more
})

describe("Specification, States: the state of a ticket", () => {
  it("an open ticket is one in workshop, ready or impossible (Specification, Lists and sync)", () => {
    const states = ["workshop", "ready", "impossible", "collected", "abandoned"] as const
    expect(states.map(isOpen)).toEqual([true, true, true, false, false])
  })

  it("a refused move lists the statuses that the ticket would accept now (Specification, Errors)", () => {
    const accepts = (ticket: TicketStatusFacts, refused: TicketStatus = "collected") =>
      Either.match(moveTo(ticket, refused, NOW), {
        onLeft: ({ allowed = [] }) => [...allowed].sort(),
        onRight: () => "not refused"
      })
    expect(accepts(ticketIn("workshop"))).toEqual(["impossible", "ready"])
    expect(accepts(ticketIn("ready", { ready_at: NOW }), "ready")).toEqual(["collected", "workshop"])
    expect(accepts(ticketIn("impossible"), "ready")).toEqual(["collected", "workshop"])
    expect(accepts(ticketIn("collected", { collected_at: NOW - DAY }))).toEqual(["workshop"])
    expect(accepts(ticketIn("collected", { collected_at: NOW - DAY - 1 }))).toEqual([])
    expect(accepts(ticketIn("abandoned"))).toEqual([])
  })

  it("a ticket has the dates of the moves that lead to its state (Specification, States)", () => {
    const dates = (state: TicketState) => stateDates.map((date) => dateInState(state, date))
    expect(stateDates).toEqual(["ready_at", "collected_at", "abandoned_at"])
    expect(dates("workshop")).toEqual(["never", "never", "never"])
    expect(dates("ready")).toEqual(["always", "never", "never"])
    expect(dates("impossible")).toEqual(["never", "never", "never"])
    expect(dates("collected")).toEqual(["sometimes", "always", "never"])
    expect(dates("abandoned")).toEqual(["sometimes", "never", "always"])
  })

  it("a request can set ready, impossible, workshop or collected, and only time makes a ticket abandoned (Specification, Endpoints)", () => {
    const isStatus = Schema.is(TicketStatus)
    const texts = ["ready", "impossible", "workshop", "collected", "abandoned", ""]
    expect(texts.filter((status) => isStatus(status))).toEqual(["ready", "impossible", "workshop", "collected"])
  })

  it("a ticket has one of five states, and one of two reasons if it is abandoned (Specification, Resources)", () => {
    const states = ["workshop", "ready", "impossible", "collected", "abandoned"]
    expect([...states, ""].filter((state) => Schema.is(TicketState)(state))).toEqual(states)
    const reasons = ["uncollected", "no_news"]
    expect([...reasons, ""].filter((reason) => Schema.is(AbandonReason)(reason))).toEqual(reasons)
  })

  const back = { ready_at: null, collected_at: null, outcome: null }
  it.each([
    ["workshop", "ready", "ticket.ready", { ready_at: NOW }],
    ["workshop", "impossible", "ticket.impossible", {}],
    ["ready", "collected", "ticket.collected", { collected_at: NOW, outcome: "ready" }],
    ["impossible", "collected", "ticket.collected", { collected_at: NOW, outcome: "impossible" }],
    ["ready", "workshop", "ticket.reopened", back],
    ["impossible", "workshop", "ticket.reopened", back],
    ["collected", "workshop", "ticket.reopened", back]
  ] as const)(
    "a move from %s to %s raises %s, and sets and clears its fields (Specification, States)",
    (from, to, event, fields) => {
      const move = Either.getOrThrow(moveTo(ticketIn(from, { collected_at: NOW - DAY }), to, NOW))
      expect(move).toMatchObject({ from, to, event })
      expect(fieldsOfMove(move, NOW)).toEqual(fields)
    }
  )

  it.each([
    ["workshop", "workshop", "SameState"],
    ["workshop", "collected", "InvalidTransition"],
    ["ready", "ready", "SameState"],
    ["ready", "impossible", "InvalidTransition"],
    ["impossible", "impossible", "SameState"],
    ["impossible", "ready", "InvalidTransition"],
    ["collected", "collected", "SameState"],
    ["collected", "ready", "InvalidTransition"],
    ["abandoned", "workshop", "TicketAbandoned"],
    ["abandoned", "ready", "TicketAbandoned"]
  ] as const)("a move from %s to %s is refused: %s (Specification, Errors)", (from, to, tag) => {
    const ticket = ticketIn(from, { collected_at: from === "collected" ? NOW - DAY : null })
    const refused = Either.getOrThrow(Either.flip(moveTo(ticket, to, NOW)))
    expect(refused._tag).toBe(tag)
  })

  it("a ticket collected more than a day ago refuses every status for that reason (Specification, States)", () => {
    for (const to of ["workshop", "ready", "impossible", "collected"] as const) {
      const refused = Either.flip(moveTo(ticketIn("collected", { collected_at: NOW - DAY - 1 }), to, NOW))
      expect(Either.getOrThrow(refused)._tag).toBe("ReopenWindowPassed")
    }
  })

  it("the text of a refusal names the statuses that the ticket would accept, if there are any (Specification, Errors)", () => {
    const refused = { from: "ready", to: "ready", state: "ready", updated_at: NOW } as const
    expect(new SameState({ ...refused, allowed: ["collected", "workshop"] }).message).toBe(
      "The ticket is already ready. It accepts collected or workshop."
    )
    expect(new InvalidTransition({ ...refused, allowed: [] }).message).toBe(
      "A ticket that is ready cannot become ready"
    )
  })

  it("a ready ticket without a ready_at is never closed (Specification, States)", () => {
    expect(closure(ticketIn("ready"))).toBeNull()
  })

  it("the next deadline of a ticket is its closure, or the end of the day in which it may be reopened (Specification, States)", () => {
    expect(nextDeadline(ticketIn("workshop"), NOW)).toEqual({ at: NOW + 60 * DAY, kind: "closure" })
    expect(nextDeadline(ticketIn("impossible"), NOW)).toBeNull()
    const collected = ticketIn("collected", { collected_at: NOW })
    expect(nextDeadline(collected, NOW + DAY)).toEqual({ at: NOW + DAY, kind: "reopen_end" })
    expect(nextDeadline(collected, NOW + DAY + 1)).toBeNull()
  })

  it("a ticket in the workshop awaits closure as no_news, a ready one as uncollected, and no other state awaits a closure (Specification, States)", () => {
    expect(closure(ticketIn("workshop", { shop_changed_at: NOW }))).toEqual({
      due_at: NOW + 60 * DAY,
      reason: "no_news"
    })
    expect(closure(ticketIn("ready", { ready_at: NOW - DAY, shop_changed_at: NOW }))).toEqual({
      due_at: NOW + 59 * DAY,
      reason: "uncollected"
    })
    for (const state of ["impossible", "collected", "abandoned"] as const) expect(closure(ticketIn(state))).toBeNull()
  })

  it("sixty days are 60 times 24 hours, even if the shop's clocks change meanwhile (Specification, States)", () => {
    expect(closure(ticketIn("workshop", { shop_changed_at: 0 }))?.due_at).toBe(5_184_000_000)
  })
})
