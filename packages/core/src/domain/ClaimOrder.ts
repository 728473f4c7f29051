import type { Instant } from "./Instant.js"
import { Limits } from "./Limits.js"

/** A delivery in the queue. */
export interface Queued {
  /** The place of its event in the shop's order. */
  readonly seq: number
  /** Deliveries of one ticket go one after another; null: of no ticket. */
  readonly ticket: number | null
  readonly is_replay: boolean
  readonly due_at: Instant
}

/** The fields by which a shop's due deliveries are ordered, ascending: live before replayed, then the earliest (Specification, Webhooks). */
export const claimOrder = ["is_replay", "due_at", "seq"] as const satisfies ReadonlyArray<keyof Queued>

/** Compares two due deliveries of a shop by {@link claimOrder}: negative where `a` goes first. */
export const compareClaims = (a: ClaimRank, b: ClaimRank): number =>
  claimOrder.reduce((order, field) => order || Number(a[field]) - Number(b[field]), 0)

/** What the order of claims depends on. */
export type ClaimRank = Pick<Queued, (typeof claimOrder)[number]>

/** A shop whose webhook is on. */
export interface QueuedShop {
  readonly waiting: ReadonlyArray<Queued>
  readonly in_flight: ReadonlyArray<Queued>
}

/** The delivery of a shop that goes next: none of a ticket that has one in flight, and no more than a shop may have in flight. */
const nextOf = ({ waiting, in_flight }: QueuedShop, now: Instant): Queued | undefined => {
  if (in_flight.length >= Limits.deliveries_in_flight_per_shop) return undefined
  const busy = new Set(in_flight.map(({ ticket }) => ticket))
  const free = waiting.filter(({ ticket, due_at }) => due_at <= now && (ticket === null || !busy.has(ticket)))
  return [...free].sort(compareClaims)[0]
}

/** What was claimed, each with the place of its shop in the queue before; and the queue afterwards. */
export interface NextClaims<Shop> {
  readonly claims: ReadonlyArray<readonly [place: number, delivery: Queued]>
  readonly queue: ReadonlyArray<Shop>
}

/**
 * The rule of claims (Specification, Webhooks), written without regard to speed: the contract suite compares every store with it. The
 * queue has the shop that was served longest ago first. A shop that is served goes to the end, so each shop that has something due
 * gets its turn before any gets its second.
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
