import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { changeStatus } from "../../src/decisions/changeStatus.js"
import type { MoveRefusal, TicketState, TicketStatus } from "../../src/domain/TicketLifecycle.js"
import { HOUR, NOBODY, SHOP, TestShop } from "./fixtures.js"

type Row = readonly [
  from: TicketState,
  waited: string,
  asked: TicketStatus,
  result: string,
  state: TicketState,
  allowed: ReadonlyArray<TicketStatus> | null
]

const WAITS: Record<string, number> = { "": 0, "1 h": HOUR, "24 h": 86_400_000, "24 h + 1 ms": 86_400_001 }

// Written out from Specification, States: the state, how long ago the ticket was collected, the requested status,
// the event or the refusal, the state afterwards, and the statuses that a refusal lists as accepted.
const MATRIX: ReadonlyArray<Row> = [
  ["workshop", "", "ready", "ticket.ready", "ready", null],
  ["workshop", "", "impossible", "ticket.impossible", "impossible", null],
  ["workshop", "", "workshop", "SameState", "workshop", ["ready", "impossible"]],
  ["workshop", "", "collected", "InvalidTransition", "workshop", ["ready", "impossible"]],
  ["ready", "", "ready", "SameState", "ready", ["workshop", "collected"]],
  ["ready", "", "impossible", "InvalidTransition", "ready", ["workshop", "collected"]],
  ["ready", "", "workshop", "ticket.reopened", "workshop", null],
  ["ready", "", "collected", "ticket.collected", "collected", null],
  ["impossible", "", "ready", "InvalidTransition", "impossible", ["workshop", "collected"]],
  ["impossible", "", "impossible", "SameState", "impossible", ["workshop", "collected"]],
  ["impossible", "", "workshop", "ticket.reopened", "workshop", null],
  ["impossible", "", "collected", "ticket.collected", "collected", null],
  ["collected", "", "ready", "InvalidTransition", "collected", ["workshop"]],
  ["collected", "", "impossible", "InvalidTransition", "collected", ["workshop"]],
  ["collected", "", "workshop", "ticket.reopened", "workshop", null],
  ["collected", "", "collected", "SameState", "collected", ["workshop"]],
  ["collected", "1 h", "ready", "InvalidTransition", "collected", ["workshop"]],
  ["collected", "1 h", "impossible", "InvalidTransition", "collected", ["workshop"]],
  ["collected", "1 h", "workshop", "ticket.reopened", "workshop", null],
  ["collected", "1 h", "collected", "SameState", "collected", ["workshop"]],
  ["collected", "24 h", "ready", "InvalidTransition", "collected", ["workshop"]],
  ["collected", "24 h", "impossible", "InvalidTransition", "collected", ["workshop"]],
  ["collected", "24 h", "workshop", "ticket.reopened", "workshop", null],
  ["collected", "24 h", "collected", "SameState", "collected", ["workshop"]],
  ["collected", "24 h + 1 ms", "ready", "ReopenWindowPassed", "collected", []],
  ["collected", "24 h + 1 ms", "impossible", "ReopenWindowPassed", "collected", []],
  ["collected", "24 h + 1 ms", "workshop", "ReopenWindowPassed", "collected", []],
  ["collected", "24 h + 1 ms", "collected", "ReopenWindowPassed", "collected", []],
  ["abandoned", "", "ready", "TicketAbandoned", "abandoned", []],
  ["abandoned", "", "impossible", "TicketAbandoned", "abandoned", []],
  ["abandoned", "", "workshop", "TicketAbandoned", "abandoned", []],
  ["abandoned", "", "collected", "TicketAbandoned", "abandoned", []]
]

describe("Specification, States: the moves of a status request", () => {
  it("the table of this test has a row for every state and every status", () => {
    expect(new Set(MATRIX.map(([from, waited, requested]) => `${from} ${waited} ${requested}`)).size).toBe((4 + 4) * 4)
  })

  for (const [from, waited, requested, result, state, allowed] of MATRIX) {
    const since = waited === "" ? "" : ` since ${waited}`
    it(`a ticket ${from}${since} asked to be ${requested}: ${result}, then ${state} (Specification, States)`, () => {
      const shop = new TestShop()
      const id = shop.ticketIn(from)
      const outcome = shop.wait(WAITS[waited]!).tries(changeStatus(SHOP, id, requested))

      expect(shop.record(id).state).toBe(state)
      if (allowed === null) {
        expect(Either.isRight(outcome)).toBe(true)
        expect(Either.getOrThrow(outcome)).toMatchObject({ id, state })
        expect(shop.eventTypes).toEqual([result])
        const ticket = Either.getOrThrow(outcome)
        expect(shop.events[0]!.data).toEqual(result === "ticket.reopened" ? { ticket, from } : { ticket })
      } else {
        const refusal = Either.getOrThrow(Either.flip(outcome)) as MoveRefusal
        expect(refusal).toMatchObject({ _tag: result, from, to: requested })
        expect([...refusal.allowed!].sort()).toEqual([...allowed].sort())
      }
    })
  }

  it("a collected ticket that was impossible can be reopened within the same time (Specification, States)", () => {
    const shop = new TestShop()
    const id = shop.ticketIn("impossible")
    shop.moves(id, "collected")
    expect(shop.wait(86_400_001).refuses(changeStatus(SHOP, id, "workshop"))._tag).toBe("ReopenWindowPassed")
    shop.now -= 1
    // The refused move did not advance the shop's clock, so this move counts as a millisecond earlier.
    shop.moves(id, "workshop")
    expect(shop.record(id).state).toBe("workshop")
  })

  it("the time for a reopening counts from the latest collection, not from the first (Specification, States)", () => {
    const shop = new TestShop()
    const id = shop.ticketIn("collected")
    shop.wait(20 * HOUR).moves(id, "workshop", "ready", "collected")
    shop.wait(24 * HOUR).moves(id, "workshop")
    expect(shop.record(id).state).toBe("workshop")
  })

  it("a status request for another shop's or an unknown ticket is not found (Specification, Endpoints)", () => {
    const shop = new TestShop()
    for (const status of ["ready", "impossible", "workshop", "collected"] as const) {
      expect(shop.refuses(changeStatus(SHOP, NOBODY as never, status))._tag).toBe("TicketNotFound")
    }
  })

  it("the message of each refusal says what would be accepted (Specification, Errors)", () => {
    const shop = new TestShop()
    const ready = shop.ticketIn("ready")
    expect(shop.refuses(changeStatus(SHOP, ready, "ready")).message).toMatch(/already ready.*collected/)
    expect(shop.refuses(changeStatus(SHOP, ready, "impossible")).message).toMatch(/cannot become impossible/)
    const collected = shop.ticketIn("collected")
    expect(shop.wait(25 * HOUR).refuses(changeStatus(SHOP, collected, "ready")).message).toMatch(/24 hours/)
    const abandoned = shop.ticketIn("abandoned")
    expect(shop.refuses(changeStatus(SHOP, abandoned, "ready")).message).toMatch(/abandoned/)
  })
})
