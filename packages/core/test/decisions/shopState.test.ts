import { describe, expect, it } from "vitest"
import { apply, type Change, type ShopState } from "../../src/decisions/ShopState.js"
import type { AttemptRecord } from "../../src/domain/Delivery.js"
import type { EventId } from "../../src/domain/Identifier.js"
import { statusResult } from "../../src/testing/TestDispatcher.js"
import { AMIRA, KEY, SHOP, START, snapshot, TestShop } from "./fixtures.js"

const EVENT = "event 1" as EventId
const RECORD = { shop_id: SHOP, caller_id: KEY, operation: "tickets.create", key: "a" }

/** A change of this kind, with only the fields of its row that matter. */
const change = (_tag: Change["_tag"], row: object, rest: object = {}) => ({ _tag, row, ...rest }) as unknown as Change

/** Returns the row that a later command loads. */
type Place = (state: ShopState) => unknown

describe("docs/write-a-store.md: a change is seen by later commands", () => {
  it.each<readonly [string, Change, Place]>([
    ["the settings", change("ShopPut", { id: SHOP }), ({ shop }) => shop],
    ["the counters", change("HeadPut", { shop_id: SHOP }), ({ head }) => head],
    ["the webhook", change("WebhookPut", { shop_id: SHOP }), ({ webhook }) => webhook],
    ["a ticket", change("TicketPut", { id: "t" }), ({ tickets }) => tickets.get("t" as never)],
    ["a link", change("LinkPut", { client_id: AMIRA.id }), ({ links }) => links.get(AMIRA.id)],
    ["a card", change("CardPut", { client_id: AMIRA.id }), ({ cards }) => cards.get(AMIRA.id)],
    ["an offer", change("OfferPut", { id: "o" }), ({ offers }) => offers.get("o" as never)],
    ["a key", change("KeyPut", { id: KEY }), ({ keys }) => keys.get(KEY)],
    ["a delivery", change("DeliveryPut", { event_id: EVENT }), ({ deliveries }) => deliveries.get(EVENT)],
    ["a renewed delivery", change("DeliveryRenewed", { event_id: EVENT }), ({ deliveries }) => deliveries.get(EVENT)],
    ["a replay", change("ReplayPut", { id: "r" }), ({ replays }) => replays.get("r")],
    [
      "a queued notification",
      change("QueuedNotificationPut", { id: "m" }),
      ({ queuedNotifications }) => queuedNotifications.get("m")
    ],
    [
      "a record of an idempotency key",
      change("IdempotencyRecordPut", RECORD),
      (state) => state.idempotency_records.get(`${KEY} tickets.create a`)
    ],
    [
      "the stamps that a caller gave a client",
      change("StampLimitPut", { used: 2 }, { key: { caller_id: KEY, client_id: AMIRA.id } }),
      (state) => state.stamp_limits.get(`${KEY} ${AMIRA.id}`)
    ]
  ])("later commands load the changed data: %s", (_, put, place) => {
    const { slice } = new TestShop()
    apply(slice, put)
    expect(place(slice)).toBe(put.row)
  })

  it.each<readonly [string, Change, Change, (state: ShopState) => unknown, unknown]>([
    [
      "the webhook",
      change("WebhookPut", { shop_id: SHOP }),
      change("WebhookRemoved", { shop_id: SHOP }),
      ({ webhook }) => webhook,
      null
    ],
    [
      "a link",
      change("LinkPut", { client_id: AMIRA.id }),
      change("LinkRemoved", { client_id: AMIRA.id }),
      ({ links }) => links.size,
      0
    ],
    ["an offer", change("OfferPut", { id: "o" }), change("OfferRemoved", { id: "o" }), ({ offers }) => offers.size, 0],
    [
      "a delivery",
      change("DeliveryPut", { event_id: EVENT }),
      change("DeliveryRemoved", { event_id: EVENT }),
      ({ deliveries }) => deliveries.size,
      0
    ],
    [
      "a queued notification",
      change("QueuedNotificationPut", { id: "m" }),
      change("QueuedNotificationRemoved", { id: "m" }),
      ({ queuedNotifications }) => queuedNotifications.size,
      0
    ],
    [
      "a record of an idempotency key",
      change("IdempotencyRecordPut", RECORD),
      change("IdempotencyRecordRemoved", RECORD),
      (state) => state.idempotency_records.size,
      0
    ]
  ])("later commands do not load a removed row: %s", (_, put, removed, left, expected) => {
    const { slice } = new TestShop()
    apply(slice, put)
    expect(left(slice)).not.toBe(expected)
    apply(slice, removed)
    expect(left(slice)).toBe(expected)
  })

  it("a record of an idempotency key that is put again moves to the end, because it expires last", () => {
    const { slice } = new TestShop()
    const again = change("IdempotencyRecordPut", RECORD)
    for (const one of [again, change("IdempotencyRecordPut", { ...RECORD, key: "b" }), again]) apply(slice, one)
    expect([...slice.idempotency_records.values()].map(({ key }) => key)).toEqual(["b", "a"])
  })

  it("later commands read the new text of an event that is written again", () => {
    const { slice } = new TestShop()
    const rewritten: Array<unknown> = []
    Object.assign(slice, { events: { rewrite: (row: unknown) => rewritten.push(row) } })
    apply(slice, change("EventRewritten", { id: EVENT }))
    expect(rewritten).toEqual([{ id: EVENT }])
  })

  it("a changed row that no command loads leaves the state unchanged", () => {
    const { slice } = new TestShop()
    const before = JSON.stringify(snapshot(slice))
    const kept = ["AttemptRewritten", "AuditAppended", "EventRaised", "LedgerAppended", "NoticeAppended"] as const
    for (const tag of [...kept, "NotificationAppended", "NotificationRemoved"] as const) apply(slice, change(tag, {}))
    expect(JSON.stringify(snapshot(slice))).toBe(before)
  })
})

describe("Specification, Webhooks: the order of an event's attempts in the log", () => {
  const attempt = (n: number, status: number, started_at: number, head = "") =>
    ({ ...statusResult(status), event_id: EVENT, n, started_at, head }) as AttemptRecord

  const [early, late] = [START, START + 9]

  it.each([
    ["an attempt alone", [], attempt(1, 200, early), [0]],
    ["by number, whenever they began", [attempt(2, 500, early)], attempt(1, 500, late), [1, 0]],
    ["by number, although an earlier one arrived", [attempt(1, 200, late)], attempt(2, 500, early), [0, 1]],
    ["of one number by their start", [attempt(1, 500, late)], attempt(1, 500, early), [1, 0]],
    ["of one number the one that arrived last", [attempt(1, 200, early)], attempt(1, 500, late), [1, 0]],
    ["of one number and start as they are logged", [attempt(1, 500, early, "a")], attempt(1, 500, early, "b"), [0, 1]],
    ["between others", [attempt(1, 500, early), attempt(3, 500, late)], attempt(2, 500, early), [0, 2, 1]]
  ])("attempts in the log are sorted: %s", (_, log, row, order) => {
    const { slice } = new TestShop()
    for (const one of [...log, row]) apply(slice, { _tag: "AttemptAppended", row: one })
    const all = [...log, row]
    expect(slice.attempts.get(EVENT)).toEqual(order.map((at) => all[at]))
  })
})
