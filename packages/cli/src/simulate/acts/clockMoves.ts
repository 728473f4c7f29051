import type { Errand, Stage } from "../Errand.js"
import { atTill, statusErrand } from "./tillActs.js"

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

interface Gap {
  readonly weight: number
  readonly least: number
  readonly most: number
}

/** How long it takes until the next thing happens: mostly seconds, at times days, and once in a while sixty of them. */
const GAPS: readonly [Gap, ...ReadonlyArray<Gap>] = [
  { weight: 70, least: 200, most: 20 * SECOND },
  { weight: 16, least: MINUTE, most: 20 * MINUTE },
  { weight: 8, least: HOUR, most: 12 * HOUR },
  { weight: 1.6, least: DAY, most: 4 * DAY },
  { weight: 0.25, least: 60 * DAY, most: 60 * DAY }
]

/** A move of the sandbox clock, and what is tried at the very instant it leads to. */
export interface Leap {
  readonly move: Readonly<Record<string, unknown>>
  readonly there: ReadonlyArray<Errand> | null
}

/** To the last instant at which a ticket may be reopened, or at which it closes; or one millisecond beside it. */
const toEdge = (stage: Stage): Leap | null => {
  const { town, dice } = stage
  const at = atTill(stage)
  if (at === null) return null
  const edges = [...at.shop.tickets.values()].flatMap((ticket) => {
    const of = ticket.state === "collected" ? ticket.collected_at : ticket.state === "ready" ? ticket.ready_at : null
    if (of === null) return []
    const edge = Date.parse(of) + (ticket.state === "collected" ? DAY : 60 * DAY) + dice.between(-1, 1)
    return edge > town.now ? [{ ticket, edge }] : []
  })
  const found = dice.pick(edges)
  if (found === undefined) return null
  return {
    move: { set: new Date(found.edge).toISOString() },
    there: [statusErrand(at.shop, at.key, found.ticket, "workshop")]
  }
}

/** How the clock moves next. */
export const drawLeap = (stage: Stage): Leap => {
  const edge = stage.dice.chance(0.012) ? toEdge(stage) : null
  if (edge !== null) return edge
  const { least, most } = stage.dice.weighted(GAPS)
  return { move: { advance_ms: stage.dice.between(least, most) }, there: null }
}
