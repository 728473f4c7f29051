import { type Context, Effect } from "effect"
import type { ShopId } from "../../domain/Identifier.js"
import { ServiceLimits } from "../../domain/Limits.js"
import { type DeliveryTurn, TURNS_PER_CLAIM } from "../../ports/CellPorts.js"
import type { Deliveries } from "../../ports/StorePorts.js"
import { type AllCells, groupValues, mergeSorted } from "./OpenCells.js"

/** The maximum number of shops for which a process remembers when it last claimed their deliveries. */
const MAX_REMEMBERED_SHOPS = 100_000

/**
 * Claims from all cells in the order of one store: the shop that was served longest ago comes first. A cell orders only its own shops,
 * so this process remembers the order of its claims across cells.
 */
const claimAcrossCells = (allCells: AllCells) => {
  const served = new Map<ShopId, { readonly number: number; readonly turn: number }>()
  let lastPosition = 0

  const orderOf = ({ shop_id, turn }: DeliveryTurn): number => {
    const latest = served.get(shop_id)
    return latest?.number === Math.floor(turn / TURNS_PER_CLAIM) ? latest.turn : turn
  }
  /** Records the order of the claims of several cells, as if one claim had made them all. */
  const rememberClaimOrder = (claims: ReadonlyArray<readonly [ShopId, number]>) => {
    if (served.size > MAX_REMEMBERED_SHOPS) served.clear()
    lastPosition = Math.max(lastPosition + 1, ...claims.map(([, number]) => number))
    claims.forEach(([shop_id, number], i) => {
      served.set(shop_id, { number, turn: lastPosition * TURNS_PER_CLAIM + Math.min(i, TURNS_PER_CLAIM - 1) })
    })
  }

  return (now: number, max: number) =>
    Effect.gen(function* () {
      const turnsOfCells = yield* allCells.ask(({ access }) => access.turns(now, max))
      const slots = turnsOfCells
        .flatMap(([cell, turns]) => turns.map((turn) => ({ cell, rank: turn.rank, order: orderOf(turn) })))
        .sort((a, b) => a.rank - b.rank || a.order - b.order)
        .slice(0, max)
        .map(({ cell }) => cell)
      const claimed = yield* Effect.forEach(
        groupValues(slots, (cell) => cell),
        ([cell, { length }]) =>
          Effect.map(
            Effect.orElseSucceed(allCells.trackAvailability(cell, cell.access.claim(now, length)), () => ({
              number: 0,
              claims: []
            })),
            ({ number, claims }) => [cell, claims.map((claim) => ({ number, claim }))] as const
          ),
        { concurrency: "unbounded" }
      )
      const remainingClaims = new Map(claimed)
      const claims = slots.flatMap((cell) => remainingClaims.get(cell)?.shift() ?? [])
      rememberClaimOrder(claims.map(({ number, claim }) => [claim.shop_id, number]))
      return claims.map(({ claim }) => claim)
    })
}

/** The queue of deliveries of one store, from the queues of its cells. */
export const composeDeliveries = (allCells: AllCells): Context.Tag.Service<Deliveries> => ({
  claim: claimAcrossCells(allCells),
  reclaim: Effect.map(
    allCells.ask(({ deliveries }) => deliveries.reclaim),
    (counts) => counts.reduce((sum, [, count]) => sum + count, 0)
  ),
  next: (until) =>
    Effect.map(
      allCells.ask(({ deliveries }) => deliveries.next(until)),
      (found) => {
        const instants = found.flatMap(([, next]) => next ?? [])
        return instants.length === 0 ? null : Math.min(...instants)
      }
    ),
  changed: Effect.raceAll(allCells.cells.map(({ deliveries }) => deliveries.changed)),
  // Replay ids increase with start time, so merging by id keeps the oldest first.
  replays: Effect.map(
    allCells.gather(({ deliveries }) => deliveries.replays),
    (open) => mergeSorted(open, ({ id }) => id, ServiceLimits.replays_per_look)
  )
})
