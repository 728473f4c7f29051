import { describe, expect, it } from "vitest"
import { compareClaims, nextClaims } from "../../src/domain/Delivery.js"

const waitingDelivery = (seq: number, ticket: number | null, is_replay = false, due_at = 0) => ({
  seq,
  ticket,
  is_replay,
  due_at
})

describe("Specification, Webhooks: the order of claims", () => {
  it("live deliveries are claimed before replayed ones, then the earliest due, then the first raised", () => {
    const [late, early, replay, first] = [
      waitingDelivery(3, 1, false, 9),
      waitingDelivery(2, 1, false, 5),
      waitingDelivery(1, 1, true),
      waitingDelivery(0, 1, false, 9)
    ]
    expect([late, replay, first, early].sort(compareClaims)).toEqual([early, first, late, replay])
  })

  it("at most one delivery of a ticket and four of a shop are in flight, and each shop has one turn before any has a second", () => {
    const busy = {
      in_flight: [],
      waiting: [
        waitingDelivery(1, 1),
        waitingDelivery(2, 1),
        waitingDelivery(3, 2),
        waitingDelivery(4, null),
        waitingDelivery(5, null),
        waitingDelivery(6, null)
      ]
    }
    const quiet = { in_flight: [], waiting: [waitingDelivery(1, 1)] }
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
    expect(nextClaims([{ in_flight: [], waiting: [waitingDelivery(1, 1, false, 1)] }], 0, 10).claims).toEqual([])
  })
})
