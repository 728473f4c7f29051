import { type Change, type SandboxData, stampLimitOf } from "@workshop/core/store"
import { type Context, Effect } from "effect"
import type { Memory } from "./Memory.js"
import type { ShopData } from "./ShopData.js"

const changesOf = (memory: Memory, { state, events, ledger, notices }: ShopData): ReadonlyArray<Change> => {
  const { head, webhook } = state
  const inboxes = [...memory.inboxes.values()].flat().filter(({ shop_id }) => shop_id === state.shop.id)
  const tickets = [...state.tickets.values()].sort((a, b) => a.change_seq - b.change_seq)
  const attempts = [...state.attempts.values()].flat()
  const put = <Tag extends Change["_tag"], Row>(_tag: Tag, rows: Iterable<Row>) =>
    Array.from(rows, (row) => ({ _tag, row }) as unknown as Change)
  return [
    ...put("HeadPut", [head]),
    ...put("WebhookPut", webhook === null ? [] : [webhook]),
    ...put("LinkPut", state.links.values()),
    ...put("TicketPut", tickets),
    ...put("CardPut", state.cards.values()),
    ...put("OfferPut", state.offers.values()),
    ...put("KeyPut", state.keys.values()),
    ...Array.from(state.stamp_limits, ([key, row]): Change => ({ _tag: "StampLimitPut", key: stampLimitOf(key), row })),
    ...put("IdempotencyRecordPut", state.idempotency_records.values()),
    ...put("LedgerAppended", ledger),
    ...put("NotificationAppended", inboxes),
    ...put("NoticeAppended", notices),
    ...put("EventRaised", events),
    ...put("AttemptAppended", attempts),
    ...put("DeliveryPut", state.deliveries.values()),
    ...put("ReplayPut", state.replays.values()),
    ...put("QueuedNotificationPut", state.queuedNotifications.values())
  ]
}

/** The port for all data of a shop or of a sandbox. */
export const memorySandboxData = (memory: Memory): Context.Tag.Service<SandboxData> => ({
  ofShop: (shop_id) => Effect.sync(() => changesOf(memory, memory.dataOf(shop_id))),
  clear: Effect.sync(() => {
    if (memory.isSandboxMade) memory.clear()
    return memory.isSandboxMade
  })
})
