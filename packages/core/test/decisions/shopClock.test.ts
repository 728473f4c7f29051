import { Either } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { decide, execute } from "../../src/decisions/Command.js"
import { changeStatus, closeTicket } from "../../src/decisions/changeStatus.js"
import { createTicket } from "../../src/decisions/createTicket.js"
import { fingerprintOf, type IdempotencyKey, makeIdempotent } from "../../src/decisions/Idempotency.js"
import { recordAttempt } from "../../src/decisions/recordAttempt.js"
import { pingWebhook, setWebhook } from "../../src/decisions/webhookSettings.js"
import { identifiersAhead_ms } from "../../src/domain/Shop.js"
import { errorResult } from "../../src/testing/TestDispatcher.js"
import { anyAct, commandOf } from "./arbitraryActs.js"
import { AMIRA, DAY, HOUR, KEY, momentAt, PROGRAM, SHOP, START, snapshot, TestShop, ticketInput } from "./fixtures.js"

const create = createTicket(SHOP, ticketInput(), { via: "api", foundWords: [] })

describe("Specification, Lists and sync: the shop's clock", () => {
  it("a command earlier than the shop's latest instant is recorded at the latest instant (Specification, Lists and sync)", () => {
    const shop = new TestShop()
    shop.wait(HOUR).does(create)
    const later = shop.wait(-30 * 60_000).does(create)
    expect(later.created_at).toBe("2026-03-02T10:00:00.000Z")
    expect(shop.events[0]!.created_at).toBe("2026-03-02T10:00:00.000Z")
    expect(shop.slice.head.last_recorded_at).toBe(START + HOUR)
  })

  it("identifiers are made from the shop's instant, so that they sort in the order of their creation (Specification, Lists and sync; Tickets)", () => {
    const shop = new TestShop()
    const first = shop.create()
    const second = shop.wait(-DAY).create()
    expect(second.slice(0, 13)).toBe(first.slice(0, 13))
  })

  it("windows, closures and idempotency keys follow the clock, even after it was set back (Specification, Lists and sync)", () => {
    const shop = new TestShop()
    const collected = shop.ticketIn("collected")
    const stale = shop.create()
    const again = makeIdempotent(
      { caller_id: KEY, operation: "tickets.create", key: "a" as IdempotencyKey, request: {} },
      create
    )
    shop.does(again)
    shop.wait(60 * DAY).does(pingWebhook(SHOP))
    shop.wait(-60 * DAY)
    expect(shop.does(closeTicket(SHOP, stale))).toBeNull()
    expect(shop.does(again).replayed).toBe(true)
    expect(shop.does(changeStatus(SHOP, collected, "workshop")).state).toBe("workshop")
    const ready = shop.ticketIn("ready")
    const { created_at, updated_at, ready_at, shop_changed_at } = shop.record(ready)
    expect([created_at, updated_at]).toEqual([START + 60 * DAY, START + 60 * DAY])
    expect([ready_at, shop_changed_at]).toEqual([START, START])
    expect(shop.wait(60 * DAY - 1).does(closeTicket(SHOP, ready))).toBeNull()
    expect(shop.wait(1).does(closeTicket(SHOP, ready))?.state).toBe("abandoned")
  })

  it("an hourly window lasts an hour, even if the clock is set back by an hour meanwhile (Specification, Lists and sync)", () => {
    const shop = new TestShop()
    shop.wait(HOUR).create()
    shop.wait(-HOUR).create()
    expect(shop.slice.head.tickets_per_hour).toEqual({ used: 1, resets_at: START + HOUR })
    const daily = shop.slice.head.tickets_per_day
    expect(daily).toEqual({ used: 2, resets_at: Date.parse("2026-03-02T23:00:00.000Z") })
  })

  it("deliveries, retries and notifications become due by the clock, even after it was set back (Specification, Lists and sync)", () => {
    const shop = new TestShop()
    shop.does(setWebhook(SHOP, { url: "https://shop.example/", secret: "whsec_1" }))
    shop.wait(61 * DAY).does(pingWebhook(SHOP))
    shop.wait(-61 * DAY)
    const { id: event_id } = shop.does(pingWebhook(SHOP))
    const row = shop.slice.deliveries.get(event_id)!
    expect([row.due_at, shop.events.at(-1)!.created_at]).toEqual([START, "2026-05-02T09:00:00.000Z"])
    const attempted = { event_id, token: row.token, url: "https://shop.example/", started_at: START, jitter: 0 }
    shop.does(recordAttempt(SHOP, { ...attempted, sent: errorResult("timeout") }))
    expect(shop.slice.deliveries.get(event_id)!.due_at).toBe(START + 60_000)
    expect(shop.slice.webhook!.first_failure_at).toBe(START)
    const client = shop.meets(AMIRA)
    const ticket = shop.create({ client_id: client })
    shop.does(changeStatus(SHOP, ticket, "ready"))
    expect([...shop.slice.queuedNotifications.values()].map(({ due_at }) => due_at)).toEqual([START])
  })

  it("identifiers increase with each command of one millisecond, for any number of commands (Specification, Lists and sync)", () => {
    const shop = new TestShop()
    const ids = []
    for (let n = 0; n < 40; n++) ids.push(shop.create(), ...shop.events.slice(-1).map(({ id }) => id))
    const many = Array.from({ length: 20 }, (_, n) => ({ label: `Part ${n}` }))
    for (let n = 0; n < 250; n++) {
      const id = shop.create({ items: many })
      ids.push(id, ...shop.record(id).items.map((item) => item.id))
      if (n % 100 === 99) shop.wait(-2 * HOUR)
    }
    expect(shop.record(ids[0]!).created_at).toBe(shop.record(ids.at(-21)!).created_at)
    shop.wait(8 * HOUR)
    ids.push(shop.create())
    expect([...ids].sort()).toEqual(ids)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it("identifiers are ahead of their tickets' created_at by at most the time that the shop's head counts, even if a millisecond used all its numbers (Specification, Lists and sync)", () => {
    const shop = new TestShop()
    const many = Array.from({ length: 20 }, (_, n) => ({ label: `Part ${n}` }))
    const ids = Array.from({ length: 250 }, (_, n) => {
      if (n % 100 === 99) shop.wait(-2 * HOUR)
      return shop.create({ items: many })
    })
    shop.wait(8 * HOUR)
    for (let n = 0; n < 5; n++) ids.push(shop.wait(1).create())
    const ahead = identifiersAhead_ms(shop.slice.head)
    expect(ahead).toBeGreaterThan(0)
    for (const id of ids) {
      const by = Number.parseInt(id.replace("-", "").slice(0, 12), 16) - shop.record(id).created_at
      expect(by).toBeGreaterThanOrEqual(0)
      expect(by).toBeLessThanOrEqual(ahead)
    }
    expect([...ids].sort()).toEqual(ids)
  })

  it("a shop without commands accepts any instant, even in the year 1970 (Specification, Lists and sync)", () => {
    const shop = new TestShop()
    shop.now = 0
    expect(shop.does(create).created_at).toBe("1970-01-01T00:00:00.000Z")
  })
})

describe("docs/how-it-is-built.md: a decision", () => {
  it("a command names one shop, and the rows that must be loaded (docs/how-it-is-built.md)", () => {
    const move = changeStatus(SHOP, "t" as never, "ready")
    expect(move.shop_id).toBe(SHOP)
    expect(move.loadRequests).toEqual([{ _tag: "Ticket", id: "t" }])
    expect(create.loadRequests).toEqual([])
    const key = { caller_id: KEY, operation: "tickets.create", key: "a" as IdempotencyKey }
    expect(makeIdempotent({ ...key, request: {} }, move).loadRequests).toEqual([
      ...move.loadRequests,
      { _tag: "IdempotencyRecord", key }
    ])
  })

  it("decide does not change the state, and execute applies the changes to it (docs/how-it-is-built.md)", () => {
    const { slice } = new TestShop()
    const before = JSON.stringify(snapshot(slice))
    const decided = decide(create, slice, momentAt(START, 1))
    expect(JSON.stringify(snapshot(slice))).toBe(before)
    expect(execute(create, slice, momentAt(START, 1))).toEqual(decided)
    expect(slice.tickets.size).toBe(1)
    expect(slice.head).toMatchObject({ next_number: 2, change_seq: 2, event_seq: 2, last_recorded_at: START })
  })

  it("a refusal changes nothing, not even the shop's clock (docs/how-it-is-built.md)", () => {
    const shop = new TestShop()
    shop.create()
    const before = JSON.stringify(snapshot(shop.slice))
    const late = execute(changeStatus(SHOP, "x" as never, "ready"), shop.slice, momentAt(START + DAY, 9))
    expect(Either.isLeft(late)).toBe(true)
    expect(JSON.stringify(snapshot(shop.slice))).toBe(before)
  })

  it("the same rows, command and moment give the same decision, and none of them is modified (docs/how-it-is-built.md)", () => {
    fc.assert(
      fc.property(fc.array(anyAct, { maxLength: 40, size: "max" }), fc.nat(1000), (acts, draw) => {
        const shop = new TestShop({ program: PROGRAM })
        for (const act of acts) {
          if (act[0] === "wait") shop.wait(act[1])
          const command = commandOf(act, shop)
          if (command === null) continue
          const before = JSON.stringify(snapshot(shop.slice))
          const moment = momentAt(shop.now, 1_000_000 + draw)
          const first = decide(command, shop.slice, moment)
          expect(decide(command, shop.slice, moment)).toEqual(first)
          expect(JSON.stringify(snapshot(shop.slice))).toBe(before)
          expect(moment).toEqual(momentAt(shop.now, 1_000_000 + draw))
          shop.tries(command)
        }
      }),
      { numRuns: 60 }
    )
  })

  it("the last change of each decision with changes is the shop's head (docs/how-it-is-built.md)", () => {
    const shop = new TestShop()
    shop.create()
    expect(shop.last.changes.at(-1)?._tag).toBe("HeadPut")
    expect(shop.rows("HeadPut")).toHaveLength(1)
  })

  it("the fingerprint of a long request is 256 bits in lower-case hexadecimal (Specification, Idempotency)", () => {
    expect(fingerprintOf({ service: "Hem".repeat(200) })).toMatch(/^[0-9a-f]{64}$/)
    expect(fingerprintOf({ service: "Hem" })).toBe('{"service":"Hem"}')
  })

  it("a request with an explicit default is the same as one without it (Specification, Idempotency)", () => {
    const defaults = { type: "repair" }
    expect(fingerprintOf({ type: "repair", service: "Hem" }, defaults)).toBe(
      fingerprintOf({ service: "Hem" }, defaults)
    )
    expect(fingerprintOf({ type: "prepare", service: "Hem" }, defaults)).not.toBe(
      fingerprintOf({ service: "Hem" }, defaults)
    )
  })
})
