import type { ClientId, ShopId } from "@workshop/core"
import type { Change } from "@workshop/core/store"
import { describe, expect, it } from "vitest"
import { BatchChanges } from "../src/commands/SaveStatements.js"
import { combineStatements } from "../src/fast/combineStatements.js"

const shop_id = "shop" as ShopId
const client_id = "client" as ClientId

const link: Change = { _tag: "LinkPut", row: { shop_id, client_id, known_at: 1, blocked_at: null } }
const card = (balance: number): Change => ({
  _tag: "CardPut",
  row: { shop_id, client_id, balance, lifetime: balance, rewards_redeemed: 0, updated_at: 1 }
})
const message = (_tag: "QueuedNotificationPut" | "QueuedNotificationRemoved", id: string, due_at = 1) =>
  ({ _tag, row: { shop_id, id, receiver: "owner", attempts_made: 0, due_at } }) as Change & { readonly row: unknown }

const saving = (...changes: ReadonlyArray<Change>): BatchChanges => {
  const batch = new BatchChanges()
  for (const change of changes) batch.add(change, shop_id)
  return batch
}

const rowsOf = (batch: BatchChanges) =>
  batch.statements().map(({ name, values }) => [name, typeof values[0] === "string" ? JSON.parse(values[0]) : values])

describe("the changes of a batch", () => {
  it("changes in any order are saved by one statement, because each connection would prepare another statement for each order", () => {
    const one = saving(
      link,
      message("QueuedNotificationRemoved", "m1"),
      card(1),
      message("QueuedNotificationPut", "m2")
    )
    const other = saving(
      message("QueuedNotificationPut", "m2"),
      card(1),
      message("QueuedNotificationRemoved", "m1"),
      link
    )
    expect(combineStatements(one.statements())).toEqual(combineStatements(other.statements()))
  })

  it("several changes of one key are saved as one row with the last values", () => {
    expect(rowsOf(saving(card(1), card(2), card(3)))).toEqual([["put loyalty_card", [card(3).row]]])
  })

  it("the last change of a key decides whether its row is saved or removed", () => {
    const [put, again] = [message("QueuedNotificationPut", "m1"), message("QueuedNotificationPut", "m1", 2)]
    const removed = message("QueuedNotificationRemoved", "m1")
    expect(rowsOf(saving(put, removed))).toEqual([["remove queued_notification", [[shop_id], ["m1"]]]])
    expect(rowsOf(saving(removed, again))).toEqual([["put queued_notification", [again.row]]])
    expect(saving(removed, again).isEmpty).toBe(false)
    expect(saving().isEmpty).toBe(true)
  })
})
