import type { Instant } from "../domain/Instant.js"
import { MOST_IN_FLIGHT_PER_SHOP } from "../ports/Deliveries.js"

/** A delivery in the queue. */
export interface Queued {
  /** The place of its event in the shop's order. */
  readonly seq: number
  /** Deliveries of one ticket go one after another; null: of no ticket. */
  readonly ticket: number | null
  readonly is_replay: boolean
  readonly due_at: Instant
}

/** A shop whose webhook is on. */
export interface QueuedShop {
  readonly waiting: ReadonlyArray<Queued>
  readonly in_flight: ReadonlyArray<Queued>
}

/** The delivery of a shop that goes next: live before replayed, the earliest first, none of a ticket that has one on its way. */
const nextOf = ({ waiting, in_flight }: QueuedShop, now: Instant): Queued | undefined => {
  if (in_flight.length >= MOST_IN_FLIGHT_PER_SHOP) return undefined
  const busy = new Set(in_flight.map(({ ticket }) => ticket))
  const free = waiting.filter(({ ticket, due_at }) => due_at <= now && (ticket === null || !busy.has(ticket)))
  return [...free].sort((a, b) => Number(a.is_replay) - Number(b.is_replay) || a.due_at - b.due_at || a.seq - b.seq)[0]
}

/** What was claimed, each with the place of its shop in the queue before; and the queue afterwards. */
export interface NextClaims<Shop> {
  readonly claims: ReadonlyArray<readonly [place: number, delivery: Queued]>
  readonly queue: ReadonlyArray<Shop>
}

/**
 * The claims that a queue gives next, in their order, said as plainly as can be: it stands for no store, and every store is held to
 * it (Specification, Webhooks). The queue has the shop that was served longest ago first. A shop that is served goes to the end, so
 * each shop that has something due gets its turn before any gets its second.
 */
export const nextClaims = <Shop extends QueuedShop>(
  queue: ReadonlyArray<Shop>,
  now: Instant,
  slots: number
): NextClaims<Shop> => {
  const claims: Array<readonly [number, Queued]> = []
  let turns = queue.map((shop, place) => ({ shop, place }))
  while (claims.length < slots) {
    const turn = turns.find(({ shop }) => nextOf(shop, now) !== undefined)
    if (turn === undefined) break
    const { shop, place } = turn
    const next = nextOf(shop, now)!
    claims.push([place, next])
    const waiting = shop.waiting.filter((one) => one !== next)
    const served = { ...shop, waiting, in_flight: [...shop.in_flight, next] }
    turns = [...turns.filter((one) => one !== turn), { shop: served, place }]
  }
  return { claims, queue: turns.map(({ shop }) => shop) }
}
