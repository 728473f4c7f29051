import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { nextNumber, numberLabel, preferredByNumber, TicketNumber } from "../../src/domain/Ticket.js"
import type { TicketState } from "../../src/domain/TicketLifecycle.js"

describe("Specification, Resources: ticket numbers", () => {
  it("each number is followed by the next, and 9999 by 1 (Specification, Resources)", () => {
    expect([1, 2, 998, 9998, 9999].map(nextNumber)).toEqual([2, 3, 999, 9999, 1])
  })

  it("ten thousand steps visit every number once and return to the first (Specification, Tickets)", () => {
    const visited = new Set<number>()
    let number = 1
    for (let step = 0; step < 9999; step++) {
      visited.add(number)
      number = nextNumber(number)
    }
    expect(visited.size).toBe(9999)
    expect(number).toBe(1)
  })

  it("the label of a number has four digits (Specification, Tickets)", () => {
    expect([1, 42, 420, 9999].map(numberLabel)).toEqual(["0001", "0042", "0420", "9999"])
  })

  it("a ticket number is 1 to 9999 (Specification, Lists and sync)", () => {
    const accepts = (n: unknown) => Either.isRight(Schema.decodeUnknownEither(TicketNumber)(n))
    expect([1, 9999].every(accepts)).toBe(true)
    expect([0, 10_000, -1, 1.5, "1"].some(accepts)).toBe(false)
  })

  it("by-number returns the newest open ticket, else the newest, and then the others, newest first (Specification, Lists and sync)", () => {
    const byNumber = (...tickets: ReadonlyArray<readonly [id: string, state: TicketState]>) =>
      preferredByNumber(tickets, ([, state]) => state, 2).map(([id]) => id)
    expect(byNumber(["d", "collected"], ["c", "ready"], ["b", "workshop"], ["a", "abandoned"])).toEqual(["c", "d", "b"])
    expect(byNumber(["c", "collected"], ["b", "abandoned"])).toEqual(["c", "b"])
    expect(byNumber()).toEqual([])
  })
})
