import { describe, expect, it } from "vitest"
import { firstDelivery, matchesReplayFilter, nextClaims, type ReplayFilter } from "../../src/domain/Delivery.js"
import type { EventRecord } from "../../src/domain/Event.js"
import type { EventId } from "../../src/domain/Identifier.js"
import type { Webhook } from "../../src/domain/Webhook.js"

const [A, B] = ["a", "b"] as unknown as readonly [EventId, EventId]
const event = { id: A, created_at: 100 }

describe("the events that a replay selects (Specification, Sandbox)", () => {
  it.each<readonly [ReplayFilter, boolean]>([
    [{}, true],
    [{ event_ids: [B, A] }, true],
    [{ event_ids: [B] }, false],
    [{ event_ids: [] }, false],
    [{ since: 99 }, true],
    [{ since: 100 }, true],
    [{ since: 101 }, false],
    [{ until: 101 }, true],
    [{ until: 100 }, false],
    [{ until: 99 }, false],
    [{ state: "dead" }, true],
    [{ state: "delivered" }, false],
    [{ since: 100, until: 101, state: "dead" }, true],
    [{ since: 101, until: 102, state: "dead" }, false],
    [{ since: 99, until: 100, state: "dead" }, false],
    [{ since: 100, until: 101, state: "parked" }, false]
  ])("the filter %j selects the event: %j", (filter, isMatch) =>
    expect(matchesReplayFilter(filter, event, "dead")).toBe(isMatch)
  )

  it("an event that never had a delivery matches no state", () => {
    expect(matchesReplayFilter({}, event, undefined)).toBe(true)
    expect(matchesReplayFilter({ state: "pending" }, event, undefined)).toBe(false)
  })
})

describe("the delivery of an event that was just raised (Specification, Webhooks)", () => {
  it("a new delivery is due at once, with all its attempts, before everything replayed", () => {
    const raised = {
      shop_id: "s",
      id: A,
      type: "ping",
      ticket_id: null,
      seq: 4,
      created_at: 9
    } as unknown as EventRecord
    expect(firstDelivery(raised, { generation: 3 } as Webhook, 10)).toEqual({
      shop_id: "s",
      event_id: A,
      type: "ping",
      ticket_id: null,
      seq: 4,
      attempts_made: 0,
      attempts_since_reset: 0,
      due_at: 10,
      generation: 3,
      is_replay: false,
      token: 0
    })
  })
})

describe("the rule of claims (Specification, Webhooks)", () => {
  const waits = (seq: number, due_at = 0) => ({ seq, ticket: seq, is_replay: false, due_at })

  it("a claim fills as many slots as there are, the earliest due first, and puts a served shop last", () => {
    const shop = { in_flight: [], waiting: [waits(1, 5), waits(2, 3), waits(3, 4)] }
    const other = { in_flight: [], waiting: [] }
    const { claims, queue } = nextClaims([shop, other], 5, 2)
    expect(claims).toEqual([
      [0, waits(2, 3)],
      [0, waits(3, 4)]
    ])
    expect(queue).toEqual([other, { waiting: [waits(1, 5)], in_flight: [waits(2, 3), waits(3, 4)] }])
    expect(nextClaims([shop, other], 5, 0)).toEqual({ claims: [], queue: [shop, other] })
  })
})
