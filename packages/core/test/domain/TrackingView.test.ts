import { describe, expect, it } from "vitest"
import type { ShopId } from "../../src/domain/Identifier.js"
import type { ShopRecord } from "../../src/domain/Shop.js"
import type { TicketRecord } from "../../src/domain/Ticket.js"
import { type TrackedTicket, trackedTicket } from "../../src/domain/TrackedTicket.js"
import { trackingPageOf, trackingView } from "../../src/domain/TrackingView.js"

const T0 = Date.parse("2026-11-20T09:00:00.000Z")
const DAY = 86_400_000
const at = (days: number) => new Date(T0 + days * DAY).toISOString()
const [SHOP, OTHER] = ["shop-1", "shop-2"] as unknown as readonly [ShopId, ShopId]

const shop = {
  ...{ id: SHOP, name: "Atelier Lac", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" },
  ...{ tracking_base_url: null, approved: true, active: true, api_enabled: true, forbidden_words: ["hush"] },
  ...{ program: {}, allowed_words: [], languages: [], created_at: T0 }
} as unknown as ShopRecord

const record = {
  ...{ shop_id: SHOP, id: "ticket-1", number: 42, state: "workshop", outcome: null, type: "repair", service: "Resole" },
  ...{
    item: "Brown boots",
    description: "PRIVATE: rude customer",
    items: [],
    price_minor: 45_000,
    deposit_minor: 10_000
  },
  ...{ before_minor: null, client_id: "PRIVATE-client", client_phone: "+21620PRIVATE", tracking_code: "7K3M-Q9XD" },
  quote: { status: "proposed", price_minor: 50_000, note: "PRIVATE note", proposed_at: T0, answered_at: null },
  ...{ promised_at: T0 + 3 * DAY, delay: null, part: null, photo_url: "https://PRIVATE.example/photo.jpg" },
  ...{
    created_at: T0,
    updated_at: T0 + DAY,
    ready_at: null,
    collected_at: null,
    abandoned_at: null,
    abandon_reason: null
  },
  ...{ notified_at: null, notified_channel: null, created_via: "api", external_ref: "PRIVATE-ref", change_seq: 1 },
  ...{ shop_changed_at: T0, stamps_earned: false, moves_per_day: null, notifications_per_day: null }
} as unknown as TicketRecord

const tracked = (ticket: Partial<TicketRecord> = {}, of: Partial<ShopRecord> = {}): TrackedTicket =>
  trackedTicket({ ...record, ...ticket }, { ...shop, ...of })
const view = (ticket: Partial<TicketRecord> = {}) => trackingView(tracked(ticket))

describe("the contents of a ticket's page", () => {
  it("a page has these fields and no others, so that no template can show a name, a phone number or the workshop's note", () => {
    expect(view()).toEqual({
      ...{ shop_name: "Atelier Lac", time_zone: "Africa/Tunis", currency: "TND", decimals: 3 },
      ...{ tracking_code: "7K3M-Q9XD", number_label: "0042", type: "repair", state: "workshop", abandon_reason: null },
      items: ["Brown boots"],
      steps: [
        { step: "received", progress: "done", at: at(0) },
        { step: "workshop", progress: "current", at: null },
        { step: "ready", progress: "upcoming", at: null },
        { step: "collected", progress: "upcoming", at: null }
      ],
      ...{ promised_at: at(3), delay: null, part: null },
      ...{ price_minor: 45_000, deposit_minor: 10_000, remaining_minor: 35_000, notified: null, updated_at: at(1) }
    })
  })

  it("a page shows nothing private of a ticket in any state", () => {
    for (const state of ["workshop", "ready", "impossible", "collected", "abandoned"] as const) {
      const text = JSON.stringify([tracked({ state }), view({ state })])
      expect(text).not.toMatch(/PRIVATE|hush|ticket-1/)
    }
  })

  it("a page names each item of a ticket with several, and the service of an item without a name", () => {
    const thing = (label: string) => ({ id: label, label, service: null, price_minor: null, done: false })
    expect(view({ items: [thing("Boots"), thing("Bag")] }).items).toEqual(["Boots", "Bag"])
    expect(view({ item: null }).items).toEqual(["Resole"])
  })

  const ready_at = T0 + 2 * DAY
  it.each<[string, Partial<TicketRecord>, ReadonlyArray<readonly [string, string, string | null]>]>([
    [
      "ready",
      { state: "ready", ready_at },
      [
        ["workshop", "done", null],
        ["ready", "current", at(2)],
        ["collected", "upcoming", null]
      ]
    ],
    [
      "impossible",
      { state: "impossible" },
      [
        ["workshop", "done", null],
        ["impossible", "current", null],
        ["collected", "upcoming", null]
      ]
    ],
    [
      "collected",
      { state: "collected", ready_at, collected_at: T0 + 4 * DAY },
      [
        ["workshop", "done", null],
        ["ready", "done", at(2)],
        ["collected", "done", at(4)]
      ]
    ],
    [
      "collected as it was",
      { state: "collected", collected_at: T0 + 4 * DAY },
      [
        ["workshop", "done", null],
        ["impossible", "done", null],
        ["collected", "done", at(4)]
      ]
    ],
    [
      "never collected",
      { state: "abandoned", ready_at, abandoned_at: T0 + 62 * DAY },
      [
        ["workshop", "done", null],
        ["ready", "done", at(2)],
        ["abandoned", "current", at(62)]
      ]
    ],
    [
      "without news",
      { state: "abandoned", abandoned_at: T0 + 60 * DAY },
      [
        ["workshop", "done", null],
        ["abandoned", "current", at(60)]
      ]
    ]
  ])("a page shows the steps of a ticket that is %s", (_, ticket, steps) =>
    expect(
      view(ticket)
        .steps.slice(1)
        .map(({ step, progress, at }) => [step, progress, at])
    ).toEqual(steps)
  )

  const delay = { previous_promised_at: T0 + DAY, reason: "The heel is late", announced_at: T0 }
  const part = {
    label: "Heel",
    status: "ordered",
    ordered_at: T0,
    expected_at: T0 + 2 * DAY,
    received_at: null
  } as const
  it("a page shows the promised time, its delay and the missing part while the ticket is in the workshop, and not afterwards", () => {
    const news = { delay, part }
    expect(view(news)).toMatchObject({
      promised_at: at(3),
      delay: { previous_promised_at: at(1), reason: "The heel is late" },
      part: { label: "Heel", status: "ordered", expected_at: at(2), received_at: null }
    })
    expect(view({ ...news, state: "ready", ready_at })).toMatchObject({ promised_at: null, delay: null, part: null })
  })

  it("a page shows the channel and the time of the notification, and only the time if an older release did not record the channel", () => {
    expect(view({ notified_at: T0, notified_channel: "sms" }).notified).toEqual({ at: at(0), channel: "sms" })
    expect(view({ notified_at: T0 }).notified).toEqual({ at: at(0), channel: null })
  })

  it("a page shows nothing to pay after the item has left the shop", () =>
    expect(view({ state: "collected", collected_at: T0 }).remaining_minor).toBeNull())
})

describe("the ticket that a code selects", () => {
  const ended = (days: number) => ({ state: "abandoned", abandoned_at: T0 - days * DAY }) as const

  it.each<[string, ReadonlyArray<TrackedTicket>, ShopId | undefined]>([
    ["nobody's", [], undefined],
    ["of a shop that is not approved", [tracked({}, { approved: false })], undefined],
    ["of a shop that is deactivated", [tracked({}, { active: false })], undefined],
    ["of another shop than the one whose pages these are", [tracked()], OTHER],
    ["abandoned more than 30 days ago", [tracked({ ...ended(30), abandoned_at: T0 - 30 * DAY - 1 })], undefined],
    ["collected more than 30 days ago", [tracked({ state: "collected", collected_at: T0 - 31 * DAY })], undefined],
    ["of two tickets that may both be shown", [tracked(), tracked({}, { id: OTHER })], undefined]
  ])("no ticket is shown for a code that is %s", (_, tickets, shop_id) =>
    expect(trackingPageOf(tickets, T0, shop_id)).toBeNull()
  )

  it("a ticket is shown for 30 days after its end", () => {
    expect(trackingPageOf([tracked(ended(30))], T0)).not.toBeNull()
    expect(trackingPageOf([tracked({ state: "collected", collected_at: T0 - 30 * DAY })], T0)).not.toBeNull()
  })

  it("of two tickets with one code, the one that may be shown is selected", () => {
    const tickets = [tracked({}, { id: OTHER, name: "Atelier Port" }), tracked()]
    expect(trackingPageOf(tickets, T0, SHOP)?.shop_name).toBe("Atelier Lac")
    expect(trackingPageOf([tracked(ended(31)), tracked()], T0)).not.toBeNull()
  })
})
