import { describe, expect, it } from "vitest"
import { compareClaims, nextClaims } from "../../src/domain/Delivery.js"

const queued = (seq: number, ticket: number | null, is_replay = false, due_at = 0) => ({
  seq,
  ticket,
  is_replay,
  due_at
})

describe("Specification, Webhooks: the order of claims", () => {
  it("live deliveries are claimed before replayed ones, then the earliest due, then the first raised", () => {
    const [late, early, replay, first] = [
      queued(3, 1, false, 9),
      queued(2, 1, false, 5),
      queued(1, 1, true),
      queued(0, 1, false, 9)
    ]
    expect([late, replay, first, early].sort(compareClaims)).toEqual([early, first, late, replay])
  })

  it("at most one delivery of a ticket and four of a shop are in flight, and each shop has one turn before any has a second", () => {
    const busy = {
      in_flight: [],
      waiting: [queued(1, 1), queued(2, 1), queued(3, 2), queued(4, null), queued(5, null), queued(6, null)]
    }
    const quiet = { in_flight: [], waiting: [queued(1, 1)] }
    const { claims } = nextClaims([busy, quiet], 0, 10)
    expect(claims.map(([place, { seq }]) => [place, seq])).toEqual([
      [0, 1],
      [1, 1],
      [0, 3],
      [0, 4],
      [0, 5]
    ])
  })

  it("no delivery is claimed before it is due", () => {
    expect(nextClaims([{ in_flight: [], waiting: [queued(1, 1, false, 1)] }], 0, 10).claims).toEqual([])
  })
})
