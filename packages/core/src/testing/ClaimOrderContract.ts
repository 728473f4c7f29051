import { Effect } from "effect"
import { PCGRandom } from "effect/Utils"
import { nextAttempt, nextClaims, type Queued, type QueuedShop } from "../domain/Delivery.js"
import type { EventId, ShopId } from "../domain/Identifier.js"
import { MINUTE_MS } from "../domain/Instant.js"
import { type Claim, Reads } from "../ports/StorePorts.js"
import { type Bench, cases, each, same } from "./ContractCase.js"
import { SettableClock } from "./SettableClock.js"
import { answered, record, type TestDispatcher } from "./TestDispatcher.js"

interface Shop extends QueuedShop {
  readonly shop_id: ShopId
  /** How often each event was tried. */
  readonly tried: ReadonlyMap<number, number>
}

const SCHEDULES = 12
const ACTS = 40
const TICKETS = 6
/** Fewer than a claim looks at of a shop: what lies further back may wait for the next claim. */
const MOST_WAITING = 12

/** The schedule of a seed: a queue whose shops raise events, whose claims are cut anywhere and whose attempts end in any order. */
const follow = (dispatcher: TestDispatcher, seed: number) =>
  Effect.gen(function* () {
    const random = new PCGRandom(seed)
    const one = (most: number) => random.integer(most)
    const clock = yield* SettableClock.current
    const events = new Map<string, EventId>()
    const held = new Map<string, Claim>()
    let queue: ReadonlyArray<Shop> = []
    const change = (shop_id: ShopId, to: (shop: Shop) => Partial<Shop>) => {
      queue = queue.map((shop) => (shop.shop_id === shop_id ? { ...shop, ...to(shop) } : shop))
    }

    const raise = Effect.fnUntraced(function* (shop_id: ShopId) {
      const { waiting, in_flight } = queue.find((shop) => shop.shop_id === shop_id)!
      const n = Math.min(1 + one(3), MOST_WAITING - waiting.length - in_flight.length)
      if (n <= 0) return
      const tickets = Array.from({ length: n }, () => (one(3) === 0 ? null : 1 + one(TICKETS)))
      yield* dispatcher.raise(shop_id, ...tickets)
      const due_at = clock.unsafeCurrentTimeMillis()
      const found = (yield* (yield* Reads).events(shop_id)).slice(-n)
      const raised = found.map(({ seq, id }, i): Queued => {
        events.set(`${shop_id} ${seq}`, id)
        return { seq, ticket: tickets[i]!, is_replay: false, due_at }
      })
      change(shop_id, (shop) => ({ waiting: [...shop.waiting, ...raised] }))
    })

    const claim = Effect.fnUntraced(function* (step: string) {
      const slots = 1 + one(9)
      const before = queue
      const { claims, queue: after } = nextClaims(before, clock.unsafeCurrentTimeMillis(), slots)
      const expected = claims.map(([place, { seq }]) => events.get(`${before[place]!.shop_id} ${seq}`))
      const found = yield* dispatcher.claim(slots)
      yield* same(`${step}: a claim of ${slots}`, each(found, "event_id"), expected)
      for (const one of found) held.set(one.event_id, one)
      queue = after
    })

    const land = Effect.fnUntraced(function* () {
      const busy = queue.filter(({ in_flight }) => in_flight.length > 0)
      if (busy.length === 0) return
      const { shop_id, in_flight, tried } = busy[one(busy.length)]!
      const landed = in_flight[one(in_flight.length)]!
      const isFailed = one(6) === 0
      yield* record(held.get(events.get(`${shop_id} ${landed.seq}`)!)!, answered(isFailed ? 500 : 200))
      const made = (tried.get(landed.seq) ?? 0) + 1
      const due_at = isFailed ? nextAttempt(made, clock.unsafeCurrentTimeMillis(), 0) : null
      change(shop_id, (shop) => ({
        tried: new Map(shop.tried).set(landed.seq, made),
        in_flight: shop.in_flight.filter((one) => one !== landed),
        waiting: due_at === null ? shop.waiting : [...shop.waiting, { ...landed, due_at }]
      }))
    })

    for (let n = 3 + one(4); n > 0; n--) {
      const shop_id = yield* dispatcher.open
      queue = [...queue, { shop_id, waiting: [], in_flight: [], tried: new Map() }]
      yield* raise(shop_id)
    }
    for (let act = 0; act < ACTS; act++) {
      const kind = one(10)
      if (kind < 3) yield* raise(queue[one(queue.length)]!.shop_id)
      else if (kind < 6) yield* claim(`seed ${seed}, act ${act}`)
      else if (kind < 9) yield* land()
      else {
        // Leases are not what is asked here: none ends.
        while (queue.some(({ in_flight }) => in_flight.length > 0)) yield* land()
        clock.advance(one(MINUTE_MS))
      }
    }
    for (const { shop_id } of queue) yield* dispatcher.turnOff(shop_id)
  })

/** The order of claims agrees with `nextClaims` of the domain (Specification, Webhooks). */
export const claimOrderContract = cases(
  Object.fromEntries(
    Array.from({ length: SCHEDULES }, (_, seed) => [
      `random schedule ${seed}: claims come in the order of the reference, however they are cut`,
      function* ({ dispatcher }: Bench) {
        yield* follow(dispatcher, seed)
      }
    ])
  )
)
