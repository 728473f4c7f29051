import { describe, expect, it } from "vitest"
import { advanceReplay, startReplay } from "../../src/decisions/replayDeliveries.js"
import { removeWebhook, setWebhook } from "../../src/decisions/webhookSettings.js"
import {
  type DeliveryRecord,
  type DeliveryState,
  type EventRange,
  matchesReplayFilter,
  type Replayable
} from "../../src/domain/Delivery.js"
import type { EventId } from "../../src/domain/Identifier.js"
import { statusResult } from "../../src/testing/TestDispatcher.js"
import { HOUR, SHOP, START, TestShop } from "../decisions/fixtures.js"
import { HookedShop, ticket, URL_1 } from "./HookedShop.js"

const replayable = (n: number, delivery?: DeliveryRecord, attempts_made = 0): Replayable => ({
  event: { id: `event ${n}` as EventId, type: "ping", ticket_id: ticket(n), seq: n, created_at: START },
  delivery,
  is_in_flight: false,
  attempts_made
})

/** The event of `found` with this id. */
const replayableWithId = (id: EventId, n: number, delivery?: DeliveryRecord, attempts_made = 0): Replayable => {
  const row = replayable(n, delivery, attempts_made)
  return { ...row, event: { ...row.event, id } }
}

/** A shop with an open replay of these events. */
const replaying = (events: ReadonlyArray<Replayable>, shop = new HookedShop()) => {
  Object.assign(shop.slice, {
    replayable: ({ after_seq, until_seq }: { after_seq: number; until_seq: number }, max: number): EventRange => {
      const next = events.filter(({ event }) => event.seq > after_seq && event.seq < until_seq).slice(0, max)
      return { events: next, last_seq: next.length === max ? next.at(-1)!.event.seq : until_seq - 1 }
    }
  })
  shop.slice.head = { ...shop.slice.head, event_seq: events.length + 1 }
  return { shop, replay: shop.does(startReplay(SHOP, {})) }
}

const step = (shop: HookedShop, { id }: { readonly id: string }) => shop.does(advanceReplay(SHOP, id)).selected_count

describe("Specification, Sandbox: a replay", () => {
  it("a replay begins at the first event and ends before the events that were raised after it began", () => {
    const shop = new HookedShop()
    for (let i = 0; i < 3; i++) shop.raises()
    const replay = shop.wait(HOUR).does(startReplay(SHOP, { state: "dead" }))
    shop.raises()
    expect(replay).toMatchObject({ after_seq: 0, until_seq: 4, is_done: false, created_at: START + HOUR })
    expect(shop.slice.replays.get(replay.id)?.filter).toEqual({ state: "dead" })
  })

  it("a replay is refused if no webhook is set", () => {
    expect(new TestShop().refuses(startReplay(SHOP, {}))._tag).toBe("WebhookNotSet")
  })

  it("a replay handles a thousand events in each step, and is done at the step that reaches its end", () => {
    const { shop, replay } = replaying(Array.from({ length: 2000 }, (_, i) => replayable(i + 1)))
    const steps = []
    while (!shop.slice.replays.get(replay.id)!.is_done) steps.push(step(shop, replay))
    expect(steps).toEqual([1000, 1000])
    expect(shop.slice.deliveries.size).toBe(2000)
    expect(step(shop, replay)).toBe(0)
    expect(shop.last.changes).toEqual([])
  })

  it("the step after a step of a thousand events handles the one event that remains", () => {
    const { shop, replay } = replaying(Array.from({ length: 1001 }, (_, i) => replayable(i + 1)))
    const steps = []
    while (!shop.slice.replays.get(replay.id)!.is_done) steps.push(step(shop, replay))
    expect(steps).toEqual([1000, 1])
  })

  it("a step of a replay reads at most a thousand events, even if few of them match", () => {
    const { shop, replay } = replaying(Array.from({ length: 2000 }, (_, i) => replayable(i + 1)))
    const stretch: EventRange = { events: [replayable(400)], last_seq: 1000 }
    Object.assign(shop.slice, { replayable: () => stretch })
    expect(step(shop, replay)).toBe(1)
    expect([...shop.slice.deliveries.keys()]).toEqual(["event 400"])
    expect(shop.slice.replays.get(replay.id)).toMatchObject({ after_seq: 1000, is_done: false })
  })

  it("a step of an unknown replay is refused", () => {
    expect(new HookedShop().does(advanceReplay(SHOP, "nothing"))).toEqual({ selected_count: 0, is_done: true })
  })

  it("a delivered or dead event is sent again with eight attempts, the first at once, after all live ones, with further attempt numbers (Specification, Webhooks)", () => {
    const { shop, replay } = replaying([replayable(1, undefined, 8)])
    shop.wait(HOUR)
    expect(step(shop, replay)).toBe(1)
    expect(shop.delivery("event 1" as EventId)).toEqual({
      shop_id: SHOP,
      event_id: "event 1",
      type: "ping",
      ticket_id: ticket(1),
      seq: 1,
      attempts_made: 8,
      attempts_since_reset: 0,
      due_at: START + HOUR,
      generation: 1,
      is_replay: true,
      token: expect.any(Number)
    })
    expect(shop.attempts("event 1" as EventId, statusResult(500))).toBe("retry")
    expect(shop.rows("AttemptAppended")[0]?.n).toBe(9)
    expect(shop.delivery("event 1" as EventId)).toMatchObject({ is_replay: true, attempts_since_reset: 1 })
  })

  it("an event that is sent again within one millisecond has a higher token than before, so that no late record ends it (Specification, Webhooks)", () => {
    const shop = new HookedShop()
    const event = shop.raises(1)
    const tokens = [shop.delivery(event)!.token]
    for (let round = 1; round <= 3; round++) {
      for (let n = 1; n <= 8; n++) {
        const token = shop.delivery(event)!.token + 1
        shop.delivers(event, { token }).attempts(event, statusResult(500))
        tokens.push(token)
      }
      expect(shop.delivery(event)).toBeUndefined()
      const { replay } = replaying([replayableWithId(event, 1, undefined, 8 * round)], shop)
      step(shop, replay)
      const { token } = shop.delivery(event)!
      expect(token).toBeGreaterThan(Math.max(...tokens))
      tokens.push(token)
    }
  })

  it("a replay ends without sending anything if the webhook was removed, even if another is set later (Specification, Webhooks)", () => {
    const { shop, replay } = replaying([replayable(1)])
    shop.does(removeWebhook(SHOP))
    expect(shop.does(advanceReplay(SHOP, replay.id))).toEqual({ selected_count: 0, is_done: true })
    expect(shop.slice.replays.get(replay.id)).toEqual({ ...replay, is_done: true })
    shop.does(setWebhook(SHOP, { url: URL_1, secret: "whsec_2" }))
    expect(shop.does(advanceReplay(SHOP, replay.id))).toEqual({ selected_count: 0, is_done: true })
    expect(shop.slice.deliveries.size).toBe(0)
  })

  it("an event that waits for a retry stays live with eight new attempts, and is due from the time when it was raised (Specification, Webhooks)", () => {
    const shop = new HookedShop()
    const event = shop.raises(1)
    shop.delivers(event, { token: 7, attempts_made: 3, attempts_since_reset: 3, due_at: START + 9 * HOUR })
    const { replay } = replaying([replayableWithId(event, 1, shop.delivery(event)!, 3)], shop)
    shop.wait(HOUR)
    expect(step(shop, replay)).toBe(1)
    const expected = { attempts_made: 3, attempts_since_reset: 0, due_at: START, is_replay: false, token: 8 }
    expect(shop.delivery(event)).toMatchObject(expected)
    expect(shop.attempts(event, statusResult(200))).toBe("delivered")
  })

  it("an event in flight for a retry continues, and its failure is the first of eight new attempts (Specification, Webhooks)", () => {
    const shop = new HookedShop()
    const event = shop.raises(1)
    shop.delivers(event, { token: 7, attempts_made: 7, attempts_since_reset: 7, due_at: START })
    const row = shop.delivery(event)!
    const { replay } = replaying([{ ...replayableWithId(event, 1, row, 7), is_in_flight: true }], shop)
    expect(step(shop, replay)).toBe(1)
    expect(shop.last.changes.map(({ _tag }) => _tag)).toEqual(["DeliveryRenewed", "ReplayPut", "HeadPut"])
    expect(shop.delivery(event)).toEqual({ ...row, attempts_since_reset: 0 })
    expect(shop.attempts(event, statusResult(410), { token: 7 })).toBe("parked")
    expect(shop.delivery(event)).toMatchObject({ attempts_made: 8, attempts_since_reset: 1 })
    expect(shop.webhook.off_reason).toBe("gone")
  })

  it("an event without a finished attempt keeps all its attempts and its place among its ticket's events (Specification, Webhooks)", () => {
    const shop = new HookedShop()
    const event = shop.raises(1)
    const row = shop.delivery(event)!
    const { replay } = replaying([replayableWithId(event, 1, row)], shop)
    expect(step(shop, replay)).toBe(1)
    expect(shop.delivery(event)).toBe(row)
  })

  it("a parked event stays parked, and is due with all attempts when the webhook is on again (Specification, Webhooks)", () => {
    const shop = new HookedShop()
    const event = shop.raises(1)
    shop.attempts(event, statusResult(410))
    const { replay } = replaying([replayableWithId(event, 1, shop.delivery(event), 1)], shop)
    step(shop, replay)
    expect(shop.delivery(event)).toMatchObject({ attempts_made: 1, attempts_since_reset: 0, generation: 1 })
    expect(shop.webhook.off_reason).toBe("gone")
  })
})

describe("Specification, Sandbox: the events that a replay selects", () => {
  const event = { id: "e1" as EventId, created_at: START }
  it.each([
    [{}, true],
    [{ since: START }, true],
    [{ since: START + 1 }, false],
    [{ until: START }, false],
    [{ until: START + 1 }, true],
    [{ event_ids: ["e1" as EventId] }, true],
    [{ event_ids: ["e2" as EventId] }, false],
    [{ state: "dead" as const }, true],
    [{ state: "delivered" as const }, false],
    [{ since: START, until: START + 1, state: "dead" as const }, true],
    [{ since: START, until: START + 1, state: "parked" as const }, false]
  ])("the filter %j selects the event: %s", (filter, expected) => {
    expect(matchesReplayFilter(filter, event, "dead")).toBe(expected)
  })

  it("an event without a delivery matches none of the states", () => {
    const states: ReadonlyArray<DeliveryState> = ["pending", "delivered", "parked", "dead"]
    expect(states.map((state) => matchesReplayFilter({ state }, event, undefined))).toEqual([
      false,
      false,
      false,
      false
    ])
    expect(matchesReplayFilter({ event_ids: [event.id] }, event, undefined)).toBe(true)
  })
})
