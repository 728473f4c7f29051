import type { EventId, ShopId, TicketId } from "@workshop/core"
import { type DeliveryRecord, presentSchedule, type Webhook } from "@workshop/core/store"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { DueQueue } from "../src/DueQueue.js"
import { ShopDeliveryQueue } from "../src/ShopDeliveryQueue.js"

const SEED = Number(process.env.TEST_SEED ?? 20_261_120)
const LEASE = 15n

const hook: Webhook = {
  shop_id: "shop" as ShopId,
  url: "https://shop.example/",
  secret: "whsec_1",
  previous_secret: null,
  previous_until: null,
  off_reason: null,
  failures_in_row: 0,
  first_failure_at: null,
  failure_steps_notified: 0,
  generation: 1,
  enabled_at: 0
}

const delivery = (seq: number, ticket: number, rest: Partial<DeliveryRecord> = {}): DeliveryRecord => ({
  shop_id: hook.shop_id,
  event_id: `e${seq}` as EventId,
  type: "ping",
  ticket_id: ticket === 0 ? null : (`t${ticket}` as TicketId),
  seq,
  attempts_made: 0,
  attempts_since_reset: 0,
  due_at: 0,
  generation: 1,
  is_replay: false,
  token: 0,
  ...rest
})

/** A reference implementation, which scans every row to determine the next claim. */
class NaiveQueue {
  readonly rows = new Map<EventId, DeliveryRecord>()
  readonly flying = new Map<EventId, bigint>()
  webhook = hook

  candidates(): ReadonlyArray<DeliveryRecord & { readonly standsAt: number }> {
    if (this.webhook.off_reason !== null || this.flying.size >= 4) return []
    const rows = [...this.rows.values()].map((row) => ({ ...row, standsAt: presentSchedule(row, this.webhook).due_at }))
    const untried = (row: DeliveryRecord) => presentSchedule(row, this.webhook).attempts_since_reset === 0
    const sameTicket = (a: DeliveryRecord, b: DeliveryRecord) => a.ticket_id !== null && a.ticket_id === b.ticket_id
    return rows.filter(
      (row) =>
        !this.flying.has(row.event_id) &&
        !rows.some((other) => sameTicket(row, other) && this.flying.has(other.event_id)) &&
        !(
          untried(row) &&
          rows.some((o) => sameTicket(row, o) && o.is_replay === row.is_replay && untried(o) && o.seq < row.seq)
        )
    )
  }

  claimable(now: number): EventId | undefined {
    const [first] = this.candidates()
      .filter(({ standsAt }) => standsAt <= now)
      .sort((a, b) => Number(a.is_replay) - Number(b.is_replay) || a.standsAt - b.standsAt || a.seq - b.seq)
    return first?.event_id
  }

  next(): number | undefined {
    const dues = this.candidates().map(({ standsAt }) => standsAt)
    return dues.length === 0 ? undefined : Math.min(...dues)
  }
}

type Act =
  | { readonly do: "raise"; readonly ticket: number }
  | { readonly do: "claim" }
  | { readonly do: "land"; readonly nth: number; readonly result: "arrives" | "fails" }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "turn"; readonly on: boolean }
  | { readonly do: "replay"; readonly seq: number }
  | { readonly do: "reclaim" }

const acts = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant("raise" as const), ticket: fc.nat(3) }) },
    { weight: 8, arbitrary: fc.constant({ do: "claim" as const }) },
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant("land" as const),
        nth: fc.nat(3),
        how: fc.constantFrom("arrives" as const, "fails" as const)
      })
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 12 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("turn" as const), on: fc.boolean() }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("replay" as const), seq: fc.nat(20) }) },
    { weight: 1, arbitrary: fc.constant({ do: "reclaim" as const }) }
  ),
  { maxLength: 120 }
) as fc.Arbitrary<Array<Act>>

/** The queue and the reference implementation, to which a test applies the same actions. */
class Twins {
  readonly naive = new NaiveQueue()
  readonly queue = new ShopDeliveryQueue(this.naive.rows)
  now = 0
  #seq = 0

  constructor() {
    this.queue.webhook(hook)
  }

  put(row: DeliveryRecord): void {
    this.naive.rows.set(row.event_id, row)
    this.naive.flying.delete(row.event_id)
    this.queue.put(row)
  }

  claim(): EventId | undefined {
    const expected = this.naive.claimable(this.now)
    const claimed = this.queue.claim(this.now, BigInt(this.now) + LEASE)?.event_id
    expect(claimed).toBe(expected)
    if (claimed !== undefined) this.naive.flying.set(claimed, BigInt(this.now) + LEASE)
    return claimed
  }

  land(event_id: EventId, result: "arrives" | "fails"): void {
    const row = this.naive.rows.get(event_id)!
    const { generation } = this.naive.webhook
    const attempts_since_reset = presentSchedule(row, this.naive.webhook).attempts_since_reset + 1
    if (result === "fails") {
      this.put({ ...row, generation, attempts_since_reset, attempts_made: row.attempts_made + 1, due_at: this.now + 7 })
      return
    }
    this.naive.rows.delete(event_id)
    this.naive.flying.delete(event_id)
    this.queue.remove(row)
  }

  does(act: Act): void {
    switch (act.do) {
      case "raise":
        this.#seq++
        this.put(delivery(this.#seq, act.ticket, { due_at: this.now, generation: this.naive.webhook.generation }))
        return
      case "claim":
        this.claim()
        return
      case "land": {
        const event_id = [...this.naive.flying.keys()][act.nth]
        if (event_id !== undefined) this.land(event_id, act.result)
        return
      }
      case "wait":
        this.now += act.ms
        return
      case "turn":
        this.#turn(act.on)
        return
      case "replay":
        if (act.seq > 0 && act.seq <= this.#seq) this.#replay(act.seq)
        return
      case "reclaim": {
        const ended = [...this.naive.flying].filter(([, until]) => until <= BigInt(this.now))
        for (const [event_id] of ended) this.naive.flying.delete(event_id)
        expect(this.queue.reclaim(BigInt(this.now))).toBe(ended.length)
        return
      }
    }
  }

  #turn(on: boolean): void {
    const { webhook } = this.naive
    if (on === (webhook.off_reason === null)) return
    this.naive.webhook = on
      ? { ...webhook, off_reason: null, generation: webhook.generation + 1, enabled_at: this.now }
      : { ...webhook, off_reason: "failing" }
    this.queue.webhook(this.naive.webhook)
  }

  /** Replays any event, even one that the service's rules would not replay. */
  #replay(seq: number): void {
    const known = this.naive.rows.get(`e${seq}` as EventId)
    const ticket = known?.ticket_id == null ? 0 : Number(known.ticket_id.slice(1))
    const { generation } = this.naive.webhook
    this.put(delivery(seq, ticket, { due_at: this.now, generation, is_replay: true, token: (known?.token ?? 0) + 1 }))
  }
}

describe("The queue of one shop (Specification, Webhooks)", () => {
  it(`after any sequence of actions, the queue claims the same deliveries as a scan of every row (seed ${SEED})`, () => {
    fc.assert(
      fc.property(acts, (done) => {
        const twins = new Twins()
        for (const act of done) {
          twins.does(act)
          expect(twins.queue.next()).toBe(twins.naive.next())
          expect(twins.queue.inFlight).toBe(twins.naive.flying.size)
        }
        twins.does({ do: "turn", on: true })
        for (let idle = 0; idle < 2; twins.now += 7) {
          let landed = 0
          for (const event_id of [...twins.naive.flying.keys()]) twins.land(event_id, "arrives")
          for (let id = twins.claim(); id !== undefined; id = twins.claim(), landed++) twins.land(id, "arrives")
          idle = landed === 0 ? idle + 1 : 0
        }
        expect(twins.naive.rows.size).toBe(0)
      }),
      { seed: SEED, numRuns: 600 }
    )
  })

  class CountedRows extends Map<EventId, DeliveryRecord> {
    looks = 0
    override get(key: EventId) {
      this.looks++
      return super.get(key)
    }
  }

  it.each([
    ["each delivery of another ticket", (n: number) => n],
    ["all deliveries of one ticket", () => 1],
    ["all deliveries without a ticket", () => 0]
  ])("a claim and its result read a few rows even if many deliveries wait: %s", (_, ticketOf) => {
    const rows = new CountedRows()
    const queue = new ShopDeliveryQueue(rows)
    queue.webhook(hook)
    const MANY = 10_000
    for (let seq = 1; seq <= MANY; seq++) {
      rows.set(`e${seq}` as EventId, delivery(seq, ticketOf(seq)))
      queue.put(rows.get(`e${seq}` as EventId)!)
    }
    rows.looks = 0
    for (let n = 1; n <= MANY; n++) {
      const claimed = queue.claim(1, 100n)!
      expect(claimed.seq).toBe(n)
      if (n % 3 === 0) {
        const failed = { ...claimed, attempts_since_reset: 1, due_at: 1_000_000 }
        rows.set(claimed.event_id, failed)
        queue.put(failed)
      } else {
        rows.delete(claimed.event_id)
        queue.remove(claimed)
      }
    }
    expect(rows.looks / MANY).toBeLessThan(20)
  })
})

describe("DueQueue", () => {
  it("a DueQueue removes stale entries before they outnumber the others", () => {
    const current = new Map<number, object>()
    const queue = new DueQueue<{ due_at: number; seq: number }>((due) => current.get(due.seq) === due)
    for (let moved = 0; moved < 10_000; moved++) {
      const due = { due_at: 1_000_000 - moved, seq: moved % 10 }
      current.set(due.seq, due)
      queue.push(due)
      expect(queue.size).toBeLessThanOrEqual(64)
    }
    expect(queue.first()?.due_at).toBe(990_001)
  })
})
